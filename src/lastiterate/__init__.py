"""Machine-checked theory for private training when only the last iterate is released.

Three doors: ``lastiterate check`` decides every claim of the papers, `bound` turns a described run into a
rigorous privacy bound, and `lastiterate.runtime` measures the constants of a trained network. Names are
imported when they are first used, so that ``import lastiterate`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

_HOME: dict[str, str] = {}

__all__: list[str] = []


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'lastiterate' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
