"""One application of a rule: its side conditions are shown, and what it concludes is written down."""

from collections.abc import Iterable

from sympy import Expr, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import (
    Ground,
    Hypothesis,
    Span,
    UnprovedError,
    Variable,
    line,
    record,
    show,
)
from lastiterate.symbolic.kernel.profiles import Order, Profile
from lastiterate.symbolic.kernel.substitution import same


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
    """Draw the conclusion of a rule once its side conditions are shown: a draft, which the rule returns."""
    if not isinstance(kernel, Ground):
        raise UnprovedError(f"A kernel is needed, got {type(kernel).__name__}.")
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
