"""Where a line of the two versions stands, and the mutant that most modules need."""

from typing import Final

from lastiterate.symbolic.claim import Engine, Identity, Inequality, Mutant, Source

__all__ = ["EARLIER", "LATER", "at", "earlier", "wrong"]

LATER: Final = "000_b80854f0281a567d.txt"
"""The version of the AAAI 2026 proceedings."""

EARLIER: Final = "003_44d8e3677abe08fa.txt"
"""The version in ICML style, with explicit constants in Theorems 3.3 and 3.4."""


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


def wrong(name: str, check: Identity | Inequality) -> Mutant:
    """A mutant of an identity or of an algebraic inequality, caught by the engine of its type."""
    return Mutant(name, check, Engine.IDENTITY if isinstance(check, Identity) else Engine.INEQUALITY)
