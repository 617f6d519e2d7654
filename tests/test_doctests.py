"""Every example in a docstring runs, and says what it says it says."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import lastiterate

_MODULES = ["lastiterate", *(found.name for found in pkgutil.walk_packages(lastiterate.__path__, "lastiterate."))]


@pytest.mark.parametrize("name", _MODULES)
def test_examples(name: str) -> None:
    if name.startswith("lastiterate.runtime"):
        pytest.importorskip("torch")
    if "opacus" in name:
        pytest.importorskip("opacus")
    outcome = doctest.testmod(import_module(name), verbose=False)
    assert outcome.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    numeric = [name for name in _MODULES if name.startswith("lastiterate.numeric.")]
    count = sum(len(test.examples) for name in numeric for test in finder.find(import_module(name)))
    assert count >= 20
