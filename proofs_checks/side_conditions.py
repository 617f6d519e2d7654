"""Side conditions of derivations, shown by the engines that prove."""

from sympy import Eq, Ge, Gt, Le, Lt, Ne
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Identity, Inequality
from lastiterate.symbolic.kernel.judgement import UnprovedError

__all__ = ["prove"]


def prove(condition: Boolean, given: frozenset[Boolean]) -> str:
    """How a condition follows from the premises, for all values of its symbols that their declarations allow.

    Raises:
        UnprovedError: no engine proves it.
    """
    if isinstance(condition, And):
        return "; ".join(prove(part, given) for part in condition.args)
    if not isinstance(condition, Relational) or isinstance(condition, Ne):
        raise UnprovedError(f"No engine proves {condition}.")
    premises = tuple(sorted(given, key=str))
    if isinstance(condition, Eq):
        check: Identity | Inequality = Identity(condition.lhs, condition.rhs, given=premises)
    else:
        less, more = (condition.lts, condition.gts) if isinstance(condition, Le | Lt | Ge | Gt) else condition.args
        check = Inequality(less, "<" if isinstance(condition, Lt | Gt) else "<=", more, given=premises)
    outcome = decide_check(check, ())
    if outcome.status is not Status.HELD or outcome.grade is not Grade.PROVED:
        raise UnprovedError(
            f"{condition} is not shown from {set(premises)}: {outcome.detail or outcome.counterexample}."
        )
    return f"{outcome.engine}: {outcome.detail}" if outcome.detail else str(outcome.engine)
