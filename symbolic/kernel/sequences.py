"""Sequences beside a run, of which an induction speaks, and the steps before the one that is looked at."""

from collections.abc import Iterable
from dataclasses import dataclass

from sympy import Basic, Expr, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.applied import apply
from lastiterate.symbolic.kernel.composition import formed
from lastiterate.symbolic.kernel.judgement import STEPS_BEFORE, Hypothesis, Span, Variable, record
from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import UnprovedError, rule


@dataclass(frozen=True)
class Sequence:
    """u_0 = ``first`` and u_{j+1} = ``after``.

    Attributes:
        value: the letter for u_j, a real symbol of which no sign is declared.
        first: u_0.
        after: u_{j+1}: an expression in the values at j, or a letter of its own where u is any sequence.
        last: the letter for u_m.
        closed: u_j as an expression in the index; None where u_m stays a letter.
    """

    value: Symbol
    first: Expr
    after: Expr
    last: Symbol
    closed: Expr | None = None


def own_letters(
    index: Symbol, sequences: Iterable[Sequence], letters: Iterable[Symbol], conditions: Iterable[Boolean]
) -> None:
    """Raise an error unless each sequence has letters of its own, real ones, and no last value is spoken of before.

    Raises:
        UnprovedError: they have not.
    """
    plain = Symbol("plain", real=True).assumptions0
    own = [*(letter for one in sequences for letter in (one.value, one.last)), *letters]
    declared = [letter for letter in own if letter.assumptions0 != plain]
    if declared:
        raise UnprovedError(f"What holds of {declared} is to be shown; declare them as real symbols.")
    terms = [part for one in sequences for part in (one.first, one.after, one.closed) if part is not None]
    named = set[Basic]().union(*(one.free_symbols for one in (*terms, *conditions)))
    if len({index, *own}) <= len(own) or named & {one.last for one in sequences}:
        raise UnprovedError(f"Letters of its own for each sequence, and for its last value, are needed, got {own}.")


@rule
def steps_before(
    kernel: Kernel,
    order: Order,
    ends: tuple[Expr, Expr],
    distance: Expr,
    profile: Profile,
    index: Symbol,
    revealed: frozenset[Variable],
) -> Span:
    """The judgement about the steps before that an induction supposes, and of which it discharges the hypothesis."""
    own = Hypothesis(STEPS_BEFORE, symmetric=False, over=(index,))
    formed(profile)
    made = apply(kernel, "induction hypothesis", order, ends, (distance, distance), profile, (), (), {own})
    return record(made, scope=revealed)
