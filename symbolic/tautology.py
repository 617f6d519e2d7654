"""Checks and statements that say nothing: both sides are one expression, a premise is the conclusion, or a constant."""

from sympy import And, Eq, Implies, Le, Lt
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanAtom, false

from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.statement import Exists, ForAll, Statement


def constant(statement: Statement) -> str:
    """Reason why a statement says nothing: it is true or false as it stands, or a condition is false; "" otherwise.

    >>> from sympy.abc import mu
    >>> constant(ForAll((), (), mu**0 < 1)), constant(ForAll((mu,), (), mu < 1))
    ('its body is the constant False', '')
    """
    if not isinstance(statement, ForAll | Exists):
        return f"its body is the constant {statement}" if isinstance(statement, BooleanAtom) else ""
    return "one of its conditions is the constant False" if false in statement.conditions else constant(statement.body)


def says_nothing(check: Check, assumptions: tuple[Boolean, ...]) -> str:
    """Reason why a check says nothing under the assumptions, in a sentence; "" where it says something.

    >>> from sympy.abc import x
    >>> from lastiterate.symbolic.checks import Identity
    >>> says_nothing(Identity(x + x, 2 * x), ())
    'Both sides are one expression, so that nothing is said.'
    """
    said, premises = check.says, assumptions
    if isinstance(said, Implies):
        said, premises = said.args[1], (*assumptions, said.args[0])
    if not isinstance(said, Relational):
        return ""
    if said.lhs == said.rhs and not isinstance(said, Lt):
        return "Both sides are one expression, so that nothing is said."
    stronger = [kind(*said.args, evaluate=False) for kind in (Eq, Lt, Le)] if isinstance(said, Le) else [said]
    supposed = [part for one in premises for part in And.make_args(one)]
    if any(premise in (one, one.reversed) for one in stronger for premise in supposed):
        return "The conclusion is one of the premises, so that nothing is said."
    return ""
