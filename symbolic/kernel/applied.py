"""One application of a rule: its side conditions are shown, and what it concludes is written down."""

from collections.abc import Iterable
from typing import Protocol

from sympy import Expr, false, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import (
    FalseLineError,
    Hypothesis,
    Prover,
    Shown,
    Span,
    UnprovedError,
    Variable,
    line,
    record,
)
from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.substitution import Whichever, same


class Ground(Protocol):
    """What shows side conditions, and what is given of the numbers."""

    @property
    def prover(self) -> Prover: ...

    @property
    def given(self) -> frozenset[Boolean]: ...


def apply(
    kernel: Ground,
    rule: str,
    order: Order,
    ends: tuple[Expr, Expr],
    distances: tuple[Expr, Expr],
    profile: Profile,
    conditions: Iterable[Boolean],
    premises: tuple[Span, ...] = (),
    hypotheses: Iterable[Hypothesis] = (),
) -> Span:
    """What a rule concludes, once the side conditions are shown: a draft, which the rule returns."""
    if profile.order not in {None, order}:
        raise UnprovedError(f"A judgement {order} needs a profile of that order, got one of {profile.order}.")
    given = kernel.given.union(*(premise.given for premise in premises))
    with line(f"rule {rule}, step {ends[0]}"):
        shown = tuple(show(kernel, one, given) for one in dict.fromkeys(conditions) if one != true)
    return record(
        None,
        order=order, start=ends[0], end=ends[1], near=distances[0], far=distances[1], profile=profile,
        given=given, hypotheses=frozenset(hypotheses).union(*(premise.hypotheses for premise in premises)),
        scope=frozenset[Variable]().union(*(premise.scope for premise in premises)),
        drawn=frozenset[Variable]().union(*(premise.drawn for premise in premises)),
        rule=rule, premises=premises, shown=shown, cites=(),
    )  # fmt: skip


def show(kernel: Ground, condition: Boolean, given: frozenset[Boolean]) -> Shown:
    """Show a side condition from what is given.

    Raises:
        UnprovedError: it is not shown, or something is given of a letter that stands for any value.
    """
    if condition == false:
        raise FalseLineError("A side condition is false.")
    if any(one.atoms(Whichever) for one in given):
        raise UnprovedError("Nothing may be given of a letter that stands for any value.")
    return Shown(condition, given, "given" if condition in given else kernel.prover(condition, given))


def alike(one: Span, other: Span) -> list[Boolean]:
    """Conditions under which two judgements speak of the same steps, order and distances."""
    if one.order is not other.order:
        raise UnprovedError(f"Judgements of one order are needed, got {one.order} and {other.order}.")
    pairs = ((one.start, other.start), (one.end, other.end), (one.near, other.near), (one.far, other.far))
    return [condition for pair in pairs for condition in same(*pair)]


def separate(parts: Iterable[Span], others: Iterable[Span]) -> None:
    """Raise an error where a variable is averaged over in one part and used in the other."""
    one, other = ([(span.drawn, span.scope) for span in each] for each in (parts, others))
    for drawn, scope in one:
        for drawn_too, scope_too in other:
            shared = drawn & (drawn_too | scope_too) | scope & drawn_too
            if shared:
                raise UnprovedError(f"A variable is averaged over in one part and used in the other: {shared}.")
