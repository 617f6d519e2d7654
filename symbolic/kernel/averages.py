"""The mean over a variable of any number of values, of which one judgement speaks for each; see `Kernel.mean`."""

from collections.abc import Iterable
from dataclasses import replace

from sympy import Add, Expr, Ge, Le, Symbol, simplify
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.applied import apply
from lastiterate.symbolic.kernel.composition import common, counts
from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError, Variable, of_event, record
from lastiterate.symbolic.kernel.profiles import Average, Mean
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.kernel.sealed import rule
from lastiterate.symbolic.kernel.substitution import same, whichever
from lastiterate.symbolic.kernel.term import put


@rule
def average(variable: Variable, index: Symbol, count: Expr, weight: Expr, span: Span) -> Span:
    """The mean over a revealed variable; ``span`` is for its value number ``index``, of which ``weight`` is the chance.

    Both laws are mixtures with the same weights, and E^z_g is jointly convex in them.
    """
    _shares(index, count, weight)
    fixed = (span.start, span.end, span.near, span.far, *span.given)
    if variable.follows or variable not in span.scope or any(index in one.free_symbols for one in fixed):
        raise UnprovedError(
            f"A mean over {variable} needs one law of it, revealed, and ends and conditions that do not name {index}."
        )
    law = Hypothesis(
        f"{variable.name} has one law in both runs and is independent of the state before; its value number {index}, "
        "of so many, has this chance",
        (count, weight),
        over=(index,),
    )
    return record(
        span,
        rule="mean",
        premises=(span,),
        shown=(),
        cites=(),
        profile=Average(weight, span.profile, index, count, span.profile.order),
        hypotheses=_over(index, span.hypotheses) | {law},
        scope=span.scope - {variable},
        drawn=span.drawn | {variable},
    )


@rule
def average_or(
    kernel: Kernel,
    variable: Variable,
    index: Symbol,
    count: Expr,
    weight: Expr,
    span: Span,
    event: frozenset[Hypothesis],
    chance: Expr,
    rest: Span,
) -> Span:
    """The mean over a revealed variable that is in one of ``count`` disjoint events, or in none, of chance ``chance``.

    ``span`` is for event number ``index``, of which ``event`` is what is supposed of the variable; its chance is
    ``weight`` times that of any, and the weights add up to 1. ``rest`` holds for every value. A further coin leaves
    just so much of each event. What is given of the numbers of an event is supposed of each.
    """
    own = frozenset(one for one in span.given if index in one.free_symbols)
    _shares(index, count, weight)
    of_rest = (*(one for each in rest.hypotheses for one in each.constants), *rest.given)
    fixed = (span.start, span.end, span.near, span.far, *of_rest)
    if put(rest.profile, {index: whichever(index)}) != rest.profile:
        raise UnprovedError(f"What holds for every value does not name {index}, got {rest.profile}.")
    if variable.follows or variable not in span.scope & rest.scope or any(index in one.free_symbols for one in fixed):
        raise UnprovedError(f"A mean over {variable} needs one law of it, revealed, and ends that do not name {index}.")
    if span.order is not rest.order:
        raise UnprovedError(f"Judgements of one order are needed, got {span.order} and {rest.order}.")
    parts = sorted(event, key=str)
    says = (
        f"{variable.name} has one law in both runs and is independent of the state before; it is in event number "
        f"{index}, disjoint from others, of so many, with at least this chance: {'; '.join(one.says for one in parts)}"
    )
    law = of_event(says, (count, (1 - chance) * weight), parts, index)
    inside = Average(weight, span.profile, index, count, span.profile.order)
    pairs = ((1 - chance, inside), (chance, rest.profile))
    profile = Mean(pairs, order=common((span.profile, rest.profile)))
    ends = same(span.start, rest.start) + same(span.end, rest.end)
    distances = same(span.near, rest.near) + same(span.far, rest.far)
    conditions = (Ge(chance, 0), Le(chance, 1), *ends, *distances)
    made = apply(
        kernel, "mean", span.order, (span.start, span.end), (span.near, span.far), profile, conditions, (span, rest)
    )
    adding = Hypothesis(f"the second, over {index} below the first, adds up to 1", (count, weight), over=(index,))
    own_of_each = _over(index, span.hypotheses - event)
    supposed = own_of_each | rest.hypotheses | set(_each(own, index, count)) | {law, adding}
    return record(
        made,
        given=made.given - own,
        hypotheses=frozenset(supposed),
        scope=made.scope - {variable},
        drawn=made.drawn | {variable},
    )


def _shares(index: Symbol, count: Expr, weight: Expr) -> None:
    """Raise an error unless weights are any chances, of which the hypotheses speak, or numbers that add up to 1."""
    counts(index, count)
    if weight.atoms(AppliedUndef):
        return
    some = [weight.subs(index, i) for i in range(int(count))] if count.is_Integer and weight.has(index) else ()
    of_all = all(one.is_nonnegative for one in some) and simplify(Add(*some) - 1) == 0 if some else None
    if not (simplify(weight * count - 1) == 0 if of_all is None and not weight.has(index) else of_all):
        raise UnprovedError(f"Weights that add up to 1 are needed, got {weight} for each of {count}.")


def _each(conditions: Iterable[Boolean], index: Symbol, count: Expr) -> list[Hypothesis]:
    says = f"for every {index} below the first this holds"
    return [Hypothesis(says, (count, one), over=(index,)) for one in conditions]


def _over(index: Symbol, hypotheses: Iterable[Hypothesis]) -> frozenset[Hypothesis]:
    """Suppositions of each value, said of all of them: no one value may be put for the index any more."""

    def names(one: Hypothesis) -> bool:
        return any(index in constant.free_symbols for constant in one.constants)

    return frozenset(replace(one, over=(*one.over, index)) if names(one) else one for one in hypotheses)
