"""Checks that say nothing: both sides are one expression, or a premise is the conclusion."""

from sympy import And, Eq, Le, Lt
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.checks import Check, Comparison, Identity
from lastiterate.symbolic.relations import Relation


def says_nothing(check: Check, assumptions: tuple[Boolean, ...]) -> str:
    """Reason why a check says nothing under the assumptions, in a sentence; "" where it says something.

    >>> from sympy.abc import x
    >>> says_nothing(Identity(x + x, 2 * x), ())
    'Both sides are one expression, so that nothing is said.'
    """
    if not isinstance(check, Identity | Comparison):
        return ""
    relation = Relation.EQUAL if isinstance(check, Identity) else check.relation
    kinds = {Relation.EQUAL: (Eq,), Relation.BELOW: (Lt,)}.get(relation, (Eq, Le, Lt))
    if check.left == check.right and Lt not in kinds[:1]:
        return "Both sides are one expression, so that nothing is said."
    claimed: list[Relational] = [kind(check.left, check.right, evaluate=False) for kind in kinds]
    premises = [part for one in (*assumptions, *getattr(check, "given", ())) for part in And.make_args(one)]
    if any(premise in (one, one.reversed) for one in claimed for premise in premises):
        return "The conclusion is one of the premises, so that nothing is said."
    return ""
