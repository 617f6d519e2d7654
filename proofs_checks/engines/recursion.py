"""Closed forms of recursions: base case, induction step, and the recursion unrolled at exact points."""

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.declared import admits
from lastiterate.proofs_checks.defined import complex_valued, defined_at, unmet
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided
from lastiterate.proofs_checks.engines.equality import compared, differ, shown, vanishes
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, as_text, truth_at
from lastiterate.proofs_checks.feasible_points import free_symbols, points
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Recursion
from lastiterate.symbolic.notation import PREVIOUS

POINTS = 6
"""Points at which the recursion is unrolled."""

SMALL = 5
"""Indices past the start to which it is unrolled and compared with its closed form."""


def recursion(check: Recursion, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide a `Recursion` under the assumptions.

    The step alone is not enough: it passes every particular solution, whatever its start.

    Raises:
        NoPointError: no sample satisfies the assumptions.
        InputError: the index does not run over the whole numbers past the start, or a side is not written out.
    """
    _written_out(check)
    index, start = check.index, sp.Integer(check.start)
    used = set(free_symbols(check.initial, check.step, check.closed_form)) - {index, PREVIOUS}
    symbols = tuple(sorted(used, key=str))
    conditions = tuple(condition for condition in assumptions if index not in condition.free_symbols)
    of_index = tuple(condition for condition in assumptions if index in condition.free_symbols)
    confirmed = 0
    for point in points(symbols, conditions, POINTS):
        for here, left, right in _unrolled(check, point, of_index):
            same = compared(left, right, {})
            if same is False:
                found = replace(differ(left, right, {}, "closed form, recursion"), at=as_text(here))
                return refuted(
                    check, found, f"the {'base case' if here[index] == start else 'unrolled recursion'} fails"
                )
            if not same:
                break
            confirmed += 1
    later = (*conditions, *_hereditary(of_index, index, start, conditions), sp.Ge(index, start + 1, evaluate=False))
    before, base = check.closed_form.xreplace({index: index - 1}), check.closed_form.xreplace({index: start})
    stepped = check.step.xreplace({PREVIOUS: before})
    letter = sp.Dummy("the value before", real=True if not complex_valued(before) else None)
    known = (*later, sp.Eq(letter, before, evaluate=False))
    # A premise is taken to be defined, so what the letter stands for must be shown to be without it.
    undefined = unmet((base, check.initial), conditions, shown) or unmet((before, check.closed_form), later, shown)
    undefined = undefined or unmet((stepped, check.step.xreplace({PREVIOUS: letter})), known, shown)
    if undefined:
        return undecided(check, undefined)
    shown_base, shown_step = vanishes(base - check.initial, conditions), vanishes(stepped - check.closed_form, later)
    for part, (route, residue) in (("base case", shown_base), ("induction step", shown_step)):
        if not route:
            return undecided(check, f"{part} not shown; {confirmed} exact points agree; residue: {residue}")
    if not confirmed:
        return undecided(check, "no admissible point was found at which the recursion and its closed form agree")
    return held(
        check,
        Grade.PROVED,
        f"base case by {shown_base[0]}, induction step by {shown_step[0]}, agreement at {confirmed} exact points",
    )


def _written_out(check: Recursion) -> None:
    """Raise unless the index may be every whole number past the start, and the sides hold their own letters only."""
    if not isinstance(check.start, int):
        raise InputError(f"A recursion needs a whole number to begin at, got start={check.start!r}; write one.")
    if check.index == PREVIOUS or not all(admits(check.index, sp.Integer(check.start + k)) for k in range(1, SMALL)):
        raise InputError(
            f"index needs to be declared so that it may be every whole number past start={check.start}, "
            f"got index={check.index}; declare it an integer from there on."
        )
    if PREVIOUS in check.initial.free_symbols | check.closed_form.free_symbols:
        raise InputError(
            f"initial and closed_form need to be free of the value before, got initial={check.initial} and "
            f"closed_form={check.closed_form}; write them out."
        )
    if check.index in check.initial.free_symbols:
        raise InputError(f"initial needs to be free of the index, got initial={check.initial}; put the start in.")


def _unrolled(
    check: Recursion, point: Point, of_index: tuple[Boolean, ...]
) -> Iterator[tuple[Point, sp.Expr, sp.Expr]]:
    """The closed form and the recursion at the first indices, as long as the assumptions on the index hold."""
    value = check.initial.xreplace(point)
    for i in range(SMALL + 1):
        here = {**point, check.index: sp.Integer(check.start + i)}
        if i:
            step = check.step.xreplace(here)
            if not defined_at((value,), {}) or not defined_at((step,), {PREVIOUS: value}):
                return
            value = step.xreplace({PREVIOUS: value})
        if not all(truth_at(condition, here) for condition in of_index):
            return
        yield here, check.closed_form.xreplace(here), value


def _hereditary(
    of_index: tuple[Boolean, ...], index: sp.Symbol, start: sp.Integer, conditions: tuple[Boolean, ...]
) -> tuple[Boolean, ...]:
    """The assumptions on the index if they also hold, and are defined, one index earlier; otherwise none."""
    later = (*conditions, *of_index, sp.Ge(index, start + 1, evaluate=False))
    earlier = [condition.xreplace({index: index - 1}) for condition in of_index]
    hold = all(condition == sp.true or entails(later, condition) for condition in earlier)
    return of_index if hold and not unmet(earlier, later, shown) else ()
