"""The mean over a variable of any number of values, of which one judgement speaks for each; see `Kernel.mean`."""

from sympy import Expr, Symbol

from lastiterate.symbolic.kernel.judgement import Hypothesis, Span, UnprovedError, Variable, record
from lastiterate.symbolic.kernel.profiles import Average


def average(variable: Variable, index: Symbol, count: Expr, weight: Expr, span: Span) -> Span:
    """The mean over a revealed variable; ``span`` is for its value number ``index``, of which ``weight`` is the chance.

    Both laws are mixtures with the same weights, and E^z_g is jointly convex in them.
    """
    fixed = (span.start, span.end, span.near, span.far, *span.given)
    if variable.follows or variable not in span.scope or any(index in one.free_symbols for one in fixed):
        raise UnprovedError(
            f"A mean over {variable} needs one law of it, revealed, and ends and conditions that do not name {index}."
        )
    law = Hypothesis(
        f"{variable.name} has one law in both runs and is independent of the state before; its value number {index}, "
        "of so many, has this chance",
        (count, weight),
    )
    return record(
        span,
        rule="mean",
        premises=(span,),
        shown=(),
        cites=(),
        profile=Average(weight, span.profile, index, count, span.profile.order),
        hypotheses=span.hypotheses | {law},
        scope=span.scope - {variable},
        drawn=span.drawn | {variable},
    )
