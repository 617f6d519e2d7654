"""Citations: a result of another work is taken over, unless a solver finds a point at which its line fails."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from sympy import And, Basic, Expr, Ge, Gt, Le, Lt, Ne, S
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.answers import held, refuted
from lastiterate.proofs_checks.engines.possible import impossible, relations
from lastiterate.proofs_checks.engines.side_conditions import as_check
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Cited
from lastiterate.symbolic.statement import Constant, Probability, QuantityBase


def decide(check: Cited, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Name the work, or the point at which the line fails.

    Raises:
        NoPointError: no numbers meet the premises.
    """
    found = broken(check, assumptions)
    if found is not None:
        return refuted(check, found, f"the line taken from {check.source} fails")
    return replace(held(check, Grade.CITED, f"taken from {check.source}"), rests_on=(str(check.source),))


@cache
def broken(cited: Cited, assumptions: tuple[Boolean, ...]) -> Counterexample | None:
    """A point at which what is cited fails; None where none is found, or where it is not of numbers alone.

    Raises:
        NoPointError: no numbers meet the premises.
    """
    given = tuple(one for one in relations((*assumptions, *cited.given)) if not one.atoms(AppliedUndef))
    why = impossible(given) if given else ""
    if why:
        raise NoPointError(why)
    spoken = {letter for one in cited.given if one not in given for letter in one.free_symbols}
    for relation in _of_numbers(cited.conclusion):
        if not relation.free_symbols & spoken:
            outcome = decide_check(as_check(relation, given), ())
            if outcome.counterexample is not None:
                return outcome.counterexample
    return None


def _of_numbers(conclusion: Basic) -> Iterator[Relational]:
    """Relations of numbers that a conclusion implies: few quantities may be below 0, and no probability above 1."""
    for part in And.make_args(conclusion) if isinstance(conclusion, Boolean) else ():
        if isinstance(part, Relational) and not isinstance(part, Ne) and not part.has(QuantityBase, AppliedUndef):
            yield part
        elif isinstance(part, Le | Lt | Ge | Gt) and not part.has(Constant, AppliedUndef):
            if isinstance(part.lts, QuantityBase) and not (part.lts.is_signed or part.gts.has(QuantityBase)):
                yield Le(S.Zero, part.gts, evaluate=False)
            elif isinstance(part.gts, Probability) and not part.lts.has(QuantityBase):
                yield Le(part.lts, S.One, evaluate=False)


def near_misses(check: Cited, assumptions: tuple[Boolean, ...], room: Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """None: nothing is decided."""
    return ()
