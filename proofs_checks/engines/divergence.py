"""Renyi divergences of what a derivation reaches, held against a bound."""

from collections.abc import Iterable

from sympy import Basic, Le, simplify, true
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.divergence import RenyiBound
from lastiterate.symbolic.kernel.judgement import Guarantee, UnprovedError
from lastiterate.symbolic.kernel.renyi import largest_order, renyi
from lastiterate.symbolic.notation import alpha


def bounded(check: RenyiBound, made: Guarantee, given: frozenset[Boolean]) -> tuple[str, ...]:
    """The claims that the bound rests on beside the derivation.

    Raises:
        UnprovedError: the divergence is not shown to be at most the bound.
    """
    cites: tuple[str, ...] = ()
    for span in (made.first, made.second):
        found = renyi(span.profile, alpha, amplified=check.amplified)
        for condition in (*found.conditions, Le(found.value, check.bound)):
            if condition in (true, *given) or supposed_order(condition, given):
                continue
            if condition.has(largest_order):
                raise UnprovedError(f"{condition} is not supposed")
            prove(condition, given)
        cites = (*cites, *found.cites)
    return tuple(dict.fromkeys(cites))


def supposed_order(condition: Basic, given: Iterable[Basic]) -> bool:
    """Tell whether a condition is that the order is at most alpha* of certain arguments, and one that is given."""
    if not condition.has(largest_order):
        return False
    for one in given:
        if one.has(largest_order) and one.lts == condition.lts and one.gts.func == condition.gts.func:
            pairs = zip(one.gts.args, condition.gts.args, strict=True)
            if all(simplify(left - right) == 0 for left, right in pairs):
                return True
    return False
