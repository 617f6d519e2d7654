"""Machine-checked theory for private training when only the last iterate is released.

``lastiterate check`` decides every claim of the papers, `bound` computes a rigorous privacy bound for a
described run, and `lastiterate.runtime` measures the constants of a trained network. Names are imported on
first use.
"""

from importlib import import_module
from pathlib import Path

if (
    not Path(__file__).with_name("numeric").is_dir()
):  # a clone without symbolic links: the folders lie next to src/
    __path__.append(str(Path(__file__).parents[2]))

_LISTED = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOME = {words[3]: words[1] for line in _LISTED.splitlines() if (words := line.split())[:1] == ["from"]}
"""Public name -> the module that defines it."""

_EXTRAS = {"torch": "runtime"}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a public name on first use; ``__version__`` is the installed version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("lastiterate")
    if name not in _HOME:
        raise AttributeError(f"module 'lastiterate' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        if (extra := _EXTRAS.get(error.name or "")) is None:
            raise
        raise ImportError(
            f"{name} needs {error.name}, which is not installed; run pip install 'lastiterate[{extra}]'."
        ) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
