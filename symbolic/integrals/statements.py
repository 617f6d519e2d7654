"""Statements that several papers make, written out apart from the deductions that reach them."""

from typing import Final

from sympy import Expr, Function, S, Sum, Symbol, symbols
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.integrals.language import (
    FORMER,
    KERNEL,
    KERNEL_2,
    LATTER,
    At,
    Every,
    Joint,
    Next,
    Prefix,
    Supremum,
)
from lastiterate.symbolic.integrals.terms import Point
from lastiterate.symbolic.notation import alpha
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, ForAll, Image, RenyiDivergence, closed

POINT: Final = Point("x")
INDEX: Final = Symbol("i", integer=True, nonnegative=True)
COUNT: Final = Symbol("k", integer=True, nonnegative=True)
EPSILON_1, EPSILON_2 = symbols("epsilon_1 epsilon_2", nonnegative=True)
COST: Final = Function("e", nonnegative=True)(INDEX)

_given: Final = Supremum(RenyiDivergence(alpha, At(KERNEL, POINT), At(KERNEL_2, POINT)), POINT)
STEP: Final = Supremum(
    RenyiDivergence(alpha, At(Next(FORMER, INDEX - 1), POINT), At(Next(LATTER, INDEX - 1), POINT)), POINT
)
"""The divergence of the i-th variables given all before, whatever these are."""


def post_processing(order: Expr, *conditions: Boolean) -> ForAll:
    """No map, random or not, raises the divergence of two laws."""
    after = RenyiDivergence(order, Image(MAP, FIRST), Image(MAP, SECOND))
    return closed(after <= RenyiDivergence(order, FIRST, SECOND), *conditions)


def composition(*conditions: Boolean) -> ForAll:
    """Of two variables: the divergence of the first, and the worst of the second given the first."""
    both = RenyiDivergence(alpha, Joint(FIRST, KERNEL), Joint(SECOND, KERNEL_2))
    return closed(both <= RenyiDivergence(alpha, FIRST, SECOND) + _given, *conditions)


def two_mechanisms() -> ForAll:
    """Two mechanisms, the second of which sees what the first has put out."""
    both = RenyiDivergence(alpha, Joint(FIRST, KERNEL), Joint(SECOND, KERNEL_2))
    budgets = RenyiDivergence(alpha, FIRST, SECOND) <= EPSILON_1, _given <= EPSILON_2
    return closed(both <= EPSILON_1 + EPSILON_2, alpha >= 1, *budgets)


def sequences(condition: Boolean) -> ForAll:
    """Of k variables: the worst divergence of each given all before."""
    return closed(_sequence() <= Sum(STEP, (INDEX, 1, COUNT)), condition)


def many_mechanisms() -> ForAll:
    """k mechanisms, each of which sees what those before have put out."""
    return closed(_sequence() <= Sum(COST, (INDEX, 1, COUNT)), alpha >= 1, Every(STEP <= COST, INDEX))


def _sequence() -> Expr:
    return S.One * RenyiDivergence(alpha, Prefix(FORMER, COUNT), Prefix(LATTER, COUNT))
