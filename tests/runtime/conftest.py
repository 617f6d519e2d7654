import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))  # for `known`, `opacus_training` and `pictures`


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of few starts and steps, for tests of what is said of its result."""
    from lastiterate.runtime.constants import worst_case_constants

    for name, value in {"_STARTS": 4, "_CURVED": 4, "_SCREENED": 8, "_ITERATIONS": 3, "_BENDING": 3}.items():
        monkeypatch.setattr(worst_case_constants, name, value)
