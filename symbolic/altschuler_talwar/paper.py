"""Where a line of the paper stands."""

from typing import Final

from lastiterate.symbolic.claim import Source

__all__ = ["at"]

FILE: Final = "001_96660e9b2b742051.txt"


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/001_96660e9b2b742051.txt, number in the paper, equation.

    >>> at(760, "B.1").file
    '001_96660e9b2b742051.txt'
    """
    return Source(FILE, line, number, equation)
