"""Where a line of the paper stands, its letters, and what an event shows.

The paper's Lipschitz constant L is the notation's K, its smoothness M is L, and its noise sigma, added to the
gradient, is sigma_DP: the iterate gets eta sigma_DP.
"""

from typing import Final

from sympy import Expr, log

from lastiterate.symbolic.claim import Source

__all__ = ["at", "event"]

FILE: Final = "001_96660e9b2b742051.txt"


def at(line: int, number: str, equation: str = "") -> Source:
    """The source of a claim: line in shared/seeds/001_96660e9b2b742051.txt, number in the paper, equation.

    >>> at(760, "B.1").file
    '001_96660e9b2b742051.txt'
    """
    return Source(FILE, line, number, equation)


def event(order: Expr, first: Expr, second: Expr) -> Expr:
    """What an event of these two probabilities shows: a lower bound of D_order, the law of ``first`` first.

    Source: data processing; the term of the complement is dropped.

    >>> from sympy import Rational
    >>> event(Rational(2), Rational(1, 2), Rational(1, 32)).simplify()
    log(8)
    """
    return (order * log(first) - (order - 1) * log(second)) / (order - 1)
