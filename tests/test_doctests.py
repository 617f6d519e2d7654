"""Every example in a docstring runs, and says what it says it says."""

import doctest
import linecache
import pkgutil
from importlib import import_module

import pytest

import lastiterate

_NAMES = ["lastiterate", *(found.name for found in pkgutil.walk_packages(lastiterate.__path__, "lastiterate."))]
_PACKAGES = sorted({name.split(".")[1] for name in _NAMES[1:]})


@pytest.mark.parametrize("package", _PACKAGES)
def test_examples(package: str) -> None:
    if package in ("runtime", "opacus"):
        pytest.importorskip("torch")
        pytest.importorskip("opacus")
    names = [name for name in _NAMES if f"{name}.".startswith(f"lastiterate.{package}.")]
    linecache.clearcache()  # a doctest looks at every file that is kept there before it begins
    assert [name for name in names if doctest.testmod(import_module(name)).failed] == []


def test_examples_of_the_package() -> None:
    assert doctest.testmod(lastiterate).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    numeric = [name for name in _NAMES if name.startswith("lastiterate.numeric.")]
    count = sum(len(test.examples) for name in numeric for test in finder.find(import_module(name)))
    assert count >= 20
