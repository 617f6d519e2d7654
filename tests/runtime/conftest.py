import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))  # for `known`, `opacus_training` and `pictures`


def _search(monkeypatch: pytest.MonkeyPatch, **settings: int) -> None:
    from lastiterate.runtime.constants import worst_case_constants

    for name, value in settings.items():
        monkeypatch.setattr(worst_case_constants, name, value)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of few starts and steps, for tests of what is said of its result."""
    _search(monkeypatch, _STARTS=4, _CURVED=4, _SCREENED=8, _ITERATIONS=3, _BENDING=3)


@pytest.fixture
def light_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of a third of its steps and fewer starts, enough for known constants of few parameters."""
    _search(monkeypatch, _STARTS=32, _CURVED=8, _SCREENED=200, _ITERATIONS=20, _BENDING=10)


@pytest.fixture
def short_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few starts and steps against assumptions that hold, or are far off, for tests of who asks and what is said."""
    from lastiterate.runtime.constants import refutation

    monkeypatch.setattr(refutation, "_STARTS", 8)
    monkeypatch.setattr(refutation, "_ITERATIONS", 8)
