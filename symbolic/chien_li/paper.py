"""Where a line of the paper stands, and the names that several of its modules share."""

from typing import Final

from lastiterate.symbolic.claim import Source

__all__ = ["CLAMPED", "LINEAR", "QUADRATIC", "at"]

FILE: Final = "004_62071bf32927f9d4.txt"

LINEAR: Final = "linear"
QUADRATIC: Final = "quadratic"
CLAMPED: Final = "clamped"


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/004_62071bf32927f9d4.txt, number in the paper, equation.

    >>> at(118, "Lemma 3.4").file
    '004_62071bf32927f9d4.txt'
    """
    return Source(FILE, line, number, equation)
