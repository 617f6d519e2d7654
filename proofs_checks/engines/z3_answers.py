"""Answers of z3: solutions of conditions, and conclusions from premises."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from math import ceil, inf
from time import monotonic
from typing import Final

import sympy as sp
import z3
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, BooleanAtom, Not, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines.time_limit import seconds_left
from lastiterate.proofs_checks.engines.z3_terms import Terms
from lastiterate.proofs_checks.feasible_points import NoPointError, find_points, free_symbols

EFFORT = 1_000_000
"""z3 resource units for one question (a few seconds); unlike time, the same on every machine."""
_LONGEST = 60.0
"""Largest number of seconds for one question, in case z3 overruns its resources."""
_LITTLE: Final = 20_000
"""Resource units for a first attempt (a few milliseconds), enough for 99 % of questions."""
_NLSAT: Final = z3.Tactic("qfnra-nlsat")
_SHORT: Final = 0.1
"""Largest number of seconds for a first attempt that overruns its resources."""


def ask_z3(terms: Terms, formulas: Iterable[z3.BoolRef]) -> z3.CheckSatResult:
    """Tell whether the formulas and the terms' side conditions have a solution, if z3 knows."""
    asked = [*formulas, *terms.side]
    answer = _soon(asked)
    return _for_long(asked)[0] if answer == z3.unknown else answer


def solve(terms: Terms, formulas: Iterable[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """Like `ask_z3`, with a solution if there is one; the solution is the same each time."""
    asked = [*formulas, *terms.side]
    answer = _soon(asked)
    return (answer, None) if answer == z3.unsat else _for_long(asked)


def _soon(asked: Sequence[z3.BoolRef]) -> z3.CheckSatResult:
    """Answer after little effort; the state of z3 affects only whether there is an answer."""
    return _checked(_NLSAT.solver(), asked, _LITTLE, _SHORT)


def _for_long(asked: Sequence[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
    """Answer and solution, from nlsat or, if nlsat gives up, from more general solvers."""
    # A separate context costs as much as a question. Without it, earlier questions could delay the answer from
    # milliseconds to minutes or prevent it, and change the solution. Each solver is created only when it is
    # asked, because an idle solver also affects the answers of the others.
    alone = z3.Context()
    translated = [one.translate(alone) if isinstance(one, z3.AstRef) else one for one in asked]
    nlsat, others = z3.Tactic("qfnra-nlsat", alone).solver, (partial(z3.SolverFor, "QF_NRA"), z3.Solver)
    begun, left = monotonic(), seconds_left()
    for make in (nlsat, *(partial(one, ctx=alone) for one in others)):
        solver = make()
        answer = _checked(solver, translated, EFFORT, _LONGEST)
        if answer == z3.sat:
            return answer, solver.model().translate(z3.main_ctx())
        if answer == z3.unsat:
            return answer, None
    if left < inf and monotonic() - begun >= min(left, _LONGEST):  # z3 does not tell which limit stopped it
        raise TimeoutError("z3 found no answer within the time limit of the check")  # more time may give one
    return z3.unknown, None


def _checked(solver: z3.Solver, asked: Sequence[z3.BoolRef], effort: int, longest: float) -> z3.CheckSatResult:
    solver.set("rlimit", effort)
    # A polynomial may overrun the resources. The time is doubled, because a busy machine's clock outruns its processor.
    solver.set("timeout", ceil(2000 * min(seconds_left(), longest)))
    solver.add(*asked)
    return solver.check()


def usable(conditions: Sequence[Boolean]) -> tuple[Boolean, ...]:
    """Conditions that z3 can take; a proof from fewer premises is still valid."""
    return tuple(condition for condition in conditions if _can_take(condition))


@lru_cache(maxsize=8192)
def _can_take(condition: Boolean) -> bool:
    try:
        Terms(whole=False).condition(condition)
    except UnsupportedError:
        return False
    return True


def entails(premises: Sequence[Boolean], conclusion: Boolean) -> bool:
    """Tell whether z3 proves the conclusion from the premises."""
    return _entails(tuple(premises), conclusion)


@lru_cache(maxsize=8192)
def _entails(premises: tuple[Boolean, ...], conclusion: Boolean) -> bool:
    symbols = {s for part in (*premises, conclusion) for s in part.free_symbols}
    for whole in (False, True) if any(s.is_integer for s in symbols) else (False,):
        terms = Terms(whole=whole)
        try:
            formulas = [terms.condition(premise) for premise in usable(premises)]
            formulas.append(z3.Not(terms.condition(conclusion)))
        except UnsupportedError:
            return False
        if ask_z3(terms, formulas) == z3.unsat:
            return True
    return False


FEW, MANY = 100, 20_000
"""Numbers of points tried before z3 is asked, and after z3 gave no answer."""


def impossible(assumptions: Sequence[Boolean]) -> str:
    """Reason why no point meets the assumptions; "" if there is one, possibly irrational (from z3)."""
    why = _without_point(assumptions, FEW)
    if not why or entails(assumptions, sp.false):
        return why
    return "" if consistent(tuple(assumptions)) else _without_point(assumptions, MANY)


def _without_point(assumptions: Sequence[Boolean], tries: int) -> str:
    try:
        next(find_points(free_symbols(assumptions), assumptions, 1, tries=tries))
    except NoPointError as error:
        return str(error)
    return ""


def require_possible(assumptions: Sequence[Boolean]) -> None:
    """Raise NoPointError if the assumptions are `impossible`."""
    if why := impossible(assumptions):
        raise NoPointError(why)


@lru_cache(maxsize=4096)
def consistent(conditions: tuple[Boolean, ...]) -> bool | None:
    """Tell whether numbers meet the conditions; None if z3 has no answer or treats parts as free letters."""
    terms = Terms(whole=True)
    try:
        answer = ask_z3(terms, [terms.condition(one) for one in conditions])
    except UnsupportedError:
        return None
    return False if answer == z3.unsat else True if answer == z3.sat and not terms.loose else None


def relations(said: Iterable[sp.Basic]) -> Iterator[Boolean]:
    """Relations between numbers among premises, and combinations of them; conjunctions are split."""
    for one in said:
        for part in And.make_args(one) if isinstance(one, Boolean) else ():
            if _of_relations(part):
                yield part


def _of_relations(part: Boolean) -> bool:
    if isinstance(part, And | Or | Not):
        return all(map(_of_relations, part.args))
    return isinstance(part, Relational | BooleanAtom)
