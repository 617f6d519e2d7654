"""Deductions: the rules of the integral calculus reach an inequality, which is held against a quantified statement."""

from functools import cache

from sympy import Le
from sympy.core.relational import Relational

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.proofs_checks.engines.answers import held, undecided
from lastiterate.proofs_checks.engines.side_conditions import prove, replayed
from lastiterate.proofs_checks.feasible_points import free_symbols, points
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Deduced
from lastiterate.symbolic.integrals.couplings import Calculus
from lastiterate.symbolic.integrals.deductions import DEDUCTIONS
from lastiterate.symbolic.integrals.judgement import Judgement
from lastiterate.symbolic.integrals.rules import quantities
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.statement import ForAll, free


@cache
def deduce(name: str) -> Judgement:
    """The inequality that a deduction reaches.

    Raises:
        InputError: there is none of this name.
        UnprovedError: a rule does not apply; the deduction stops there.
    """
    if name not in DEDUCTIONS:
        raise InputError(
            f"derivation needs a name that the calculus knows, got derivation={name}; {suggestion(name, DEDUCTIONS)}"
        )
    made = DEDUCTIONS[name](Calculus(prove))
    replayed(made)
    return made


def decide(check: Deduced) -> Outcome:
    """Follow a deduction and hold its end against the statement; what does not follow is undecided, never refuted."""
    try:
        made = conclude(deduce(check.derivation), check.statement)
    except UnprovedError as error:
        return undecided(check, f"the deduction stops: {error}")
    return held(check, Grade.PROVED, f"{len(list(made.lines()))} rules")


def conclude(made: Judgement, statement: ForAll) -> Judgement:
    """The inequality of a statement from one that was deduced, under the conditions of the statement.

    Raises:
        UnprovedError: it does not follow.
        NoPointError: no numbers meet the conditions.
    """
    body, conditions = statement.body, frozenset(statement.conditions)
    if free(statement):
        raise UnprovedError(f"The statement needs a quantifier for each of its letters, got {free(statement)}.")
    numbers = frozenset(one for one in conditions if isinstance(one, Relational) and not quantities(one))
    for _ in points(free_symbols(*numbers), tuple(numbers), 1):
        break
    rules = Calculus(prove, conditions)
    for condition in made.given - conditions:
        if not isinstance(condition, Relational) or quantities(condition):
            raise UnprovedError(f"It supposes {condition}, which the statement does not.")
        rules.how(condition, numbers)
    if body == made.says:
        return made
    if not isinstance(body, Le):
        raise UnprovedError(f"An inequality is needed, got {body}.")
    return Calculus(prove, numbers).follow(made, body.lhs, body.rhs)
