"""Renyi divergences of what a derivation reaches, held against a bound."""

from collections.abc import Iterable
from functools import lru_cache

from sympy import Basic, Dummy, Ge, Gt, Le, Lt, nan, oo, simplify, true, zoo
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.possible import impossible, relations
from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.checks import RenyiBound
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
        if check.bound.has(oo, nan, zoo):
            raise UnprovedError(f"a finite bound is needed, and not {check.bound}")
        for condition in (
            *(one for one in found.conditions if one != true),
            Le(found.value, check.bound, evaluate=False),
        ):
            if condition in given or supposed_order(condition, given):
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
        if not isinstance(one, Le | Lt | Ge | Gt):
            continue
        if one.has(largest_order) and one.lts == condition.lts and one.gts.func == condition.gts.func:
            pairs = zip(one.gts.args, condition.gts.args, strict=True)
            if all(simplify(left - right) == 0 for left, right in pairs):
                return True
    return False


@lru_cache(maxsize=1024)  # near misses and mutants suppose what their check does
def unmeetable(given: frozenset[Basic]) -> str:
    """Reason why relations cannot be met, "" where they can; alpha* may be any positive number there."""
    said = list(relations(given))
    orders = sorted({one for part in said for one in part.atoms(AppliedUndef) if one.func == largest_order}, key=str)
    letters = {order: Dummy(str(order.func), positive=True) for order in orders}
    named = (one.xreplace(letters) for one in said)
    return impossible(sorted((one for one in named if not one.atoms(AppliedUndef)), key=str))
