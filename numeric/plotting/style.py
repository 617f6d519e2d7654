"""Style of all figures: colours that stay apart for every kind of colour vision, and places on a logarithmic axis."""

from collections.abc import Mapping
from typing import Final

__all__ = ["COLORS", "CYCLE", "paler", "spaced"]

COLORS: Final[Mapping[str, str]] = {
    "blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "purple": "#AA4499", "grey": "#777777",
    "black": "#000000",
}  # fmt: skip
"""The colours of Okabe and Ito that stay apart for every kind of colour vision."""

CYCLE: Final = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#B8860B", "#332288")
"""Colours for the members of a family, from first to last."""


def spaced(last: int, count: int) -> tuple[int, ...]:
    """About ``count`` iteration numbers from 1 to ``last``, evenly on a logarithmic axis, without repetition.

    >>> spaced(100, 5)
    (1, 3, 10, 32, 100)
    """
    return tuple(sorted({round(last ** (k / (count - 1))) for k in range(count)}))


def paler(color: str) -> str:
    """Half way to white.

    >>> paler("#0072B2")
    '#7fb8d8'
    """
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)
