"""What an induction is about: sequences beside a run, and the steps before the one that is looked at."""

from dataclasses import dataclass

from sympy import Expr, Symbol

from lastiterate.symbolic.kernel.applied import apply
from lastiterate.symbolic.kernel.composition import formed
from lastiterate.symbolic.kernel.judgement import STEPS_BEFORE, Hypothesis, Span, Variable, record
from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import rule


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
    """What an induction supposes of the steps before, of which it discharges the hypothesis."""
    own = Hypothesis(STEPS_BEFORE, symmetric=False, over=(index,))
    formed(profile)
    made = apply(kernel, "induction hypothesis", order, ends, (distance, distance), profile, (), (), {own})
    return record(made, scope=revealed)
