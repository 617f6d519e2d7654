"""Where a line of the two versions stands, and the units of its smooth losses."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sympy import Symbol

from lastiterate.symbolic.claim import Source
from lastiterate.symbolic.notation import L

__all__ = ["EARLIER", "LATER", "SMOOTH", "at", "earlier"]

LATER: Final = "000_b80854f0281a567d.txt"
"""The version of the AAAI 2026 proceedings."""

EARLIER: Final = "003_44d8e3677abe08fa.txt"
"""The version in ICML style, with explicit constants in Theorems 3.3 and 3.4."""

SMOOTH: Final[Mapping[Symbol, str]] = MappingProxyType({L: "gradient / length"})
"""The unit of L where it is a Lipschitz constant of gradients (order lambda = 1)."""


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim in the later version.

    >>> at(205, "Theorem 3.4", "(12)").file
    '000_b80854f0281a567d.txt'
    """
    return Source(LATER, line, number, equation)


def earlier(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim in the earlier version.

    >>> earlier(204, "Theorem 3.4", "(14)").file
    '003_44d8e3677abe08fa.txt'
    """
    return Source(EARLIER, line, number, equation)
