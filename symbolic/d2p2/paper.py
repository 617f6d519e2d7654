"""Where a line of the D2P2-SGD paper stands."""

from typing import Final

from lastiterate.symbolic.claim import Source

__all__ = ["at"]

FILE: Final = "002_eb02520b5be3e2ca.txt"


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/002_eb02520b5be3e2ca.txt, number in the paper, equation.

    >>> at(118, "Theorem 1").file
    '002_eb02520b5be3e2ca.txt'
    """
    return Source(FILE, line, number, equation)
