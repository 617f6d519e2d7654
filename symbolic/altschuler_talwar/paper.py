"""Where a line of the paper stands, its letters, and the mutants that all modules need.

The paper's Lipschitz constant L is the notation's K, its smoothness M is L, and its noise sigma, added to the
gradient, is sigma_DP: the iterate gets eta sigma_DP.
"""

from typing import Final

from sympy import Expr, log

from lastiterate.symbolic.claim import (
    Asymptotic,
    Check,
    Engine,
    Holds,
    Identity,
    Inequality,
    Mutant,
    Recursion,
    Source,
    Unbounded,
    Value,
)

__all__ = ["at", "event", "wrong"]

FILE: Final = "001_96660e9b2b742051.txt"

_ENGINES: Final = {
    Identity: Engine.IDENTITY,
    Recursion: Engine.IDENTITY,
    Inequality: Engine.INEQUALITY,
    Holds: Engine.ENCLOSURE,
    Value: Engine.ENCLOSURE,
    Asymptotic: Engine.ASYMPTOTICS,
    Unbounded: Engine.ASYMPTOTICS,
}


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/001_96660e9b2b742051.txt, number in the paper, equation.

    >>> at(760, "B.1").file
    '001_96660e9b2b742051.txt'
    """
    return Source(FILE, line, number, equation)


def wrong(name: str, check: Check) -> Mutant:
    """A mutant, caught by the engine of its check's type; for upper bounds write `Mutant` with its witness."""
    return Mutant(name, check, _ENGINES[type(check)])


def event(order: Expr, first: Expr, second: Expr) -> Expr:
    """What an event of these two probabilities shows: a lower bound of D_order, the law of ``first`` first.

    Source: data processing; the term of the complement is dropped.
    """
    return (order * log(first) - (order - 1) * log(second)) / (order - 1)
