"""Recomputation of a counterexample from its stored parameters, at any precision.

A report stores exact parameters and an enclosure of each side as text. The sides are computed again from the
claim's formulas, so that a reader need not trust the report.
"""

from dataclasses import dataclass, replace
from math import ceil

import sympy as sp
from flint import arb

from lastiterate.numeric.rounding import precision
from lastiterate.proofs_checks.attacks import Setting
from lastiterate.proofs_checks.declared import prepared
from lastiterate.proofs_checks.engines import attack, decide_check
from lastiterate.proofs_checks.exact_values import Point, enclosures
from lastiterate.proofs_checks.feasible_points import free_symbols
from lastiterate.proofs_checks.report.pages import find_refuted
from lastiterate.proofs_checks.verdict import ClaimReport, Counterexample, Outcome
from lastiterate.symbolic.checks import (
    Check,
    Identity,
    Inequality,
    IntervalInequality,
    Recursion,
    Relation,
    UpperBound,
    Value,
)
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.notation import PREVIOUS
from lastiterate.symbolic.unevaluated import carried_out


@dataclass(frozen=True)
class RecomputedPoint:
    """A recomputed counterexample; ``certain`` if its enclosures alone show a failure."""

    check: str
    found: Counterexample
    certain: bool


def recompute(claim: Claim, report: ClaimReport, digits: int = 50) -> tuple[RecomputedPoint, ...]:
    """Recompute each counterexample of a report, except those of mutants."""
    return tuple(_again(claim, check, found, digits) for check, _, found in find_refuted(claim, report))


def attack_at(check: UpperBound, setting: Setting) -> Outcome | None:
    """Refutation at a setting by the first attack that succeeds; None if all fail."""
    target = attack._target(check.bound)
    value = attack._bound(target, attack.altered_setting(check.altered, target.assumed)(setting))
    for run in attack._chosen(check, target.assumed):
        lower = run.lower(setting, target.assumed)
        found = (
            attack._refutation(check, setting, value, run, lower)
            if value is not None and lower is not None
            else None
        )
        if found is not None:
            return found
    return None


def _again(claim: Claim, written: Check, found: Counterexample, digits: int) -> RecomputedPoint:
    check, _ = prepared(written, claim.assumptions)  # a report distinguishes letters of one name
    bits = ceil(digits * 3.33) + 64
    if isinstance(check, Identity | Inequality | IntervalInequality | Recursion):
        left, right = _unrolled(check, found) if isinstance(check, Recursion) else (check.left, check.right)
        one, other = (_ball(side, _point(found, left, right), bits) for side in (left, right))
        again = replace(found, left=one.str(digits), right=other.str(digits))
        return RecomputedPoint(check.name, again, _broken(check, one, other))
    if isinstance(check, UpperBound):
        with precision(bits):  # balls inside, floats rounded outwards at the end
            outcome = attack_at(check, {name: float(value) for name, value in found.at.items()})
    else:  # a limit, a unit: the engine decides it again
        outcome = decide_check(check, claim.assumptions)
    anew = None if outcome is None else outcome.counterexample
    if anew is not None and isinstance(check, Value):
        anew = replace(anew, left=_ball(check.expression.doit(), {}, bits).str(digits))
    return RecomputedPoint(check.name, anew or found, anew is not None)


def _broken(check: Check, left: arb, right: arb) -> bool:
    if not isinstance(check, Inequality | IntervalInequality) or check.relation is Relation.EQUAL:
        return not left.overlaps(right)
    return bool(left >= right) if check.relation is Relation.BELOW else bool(left > right)


def _point(found: Counterexample, *parts: sp.Basic | int) -> Point:
    symbols = free_symbols(*(sp.sympify(part, strict=True) for part in parts))
    return {symbol: sp.Rational(found.at[str(symbol)]) for symbol in symbols if str(symbol) in found.at}


def _ball(expression: sp.Expr, point: Point, bits: int) -> arb:
    return next(enclosures(carried_out(sp.sympify(expression, strict=True)), point, (bits,)))


def _unrolled(check: Recursion, found: Counterexample) -> tuple[sp.Expr, sp.Expr]:
    point = _point(found, check.closed_form, check.initial, check.step, check.index)
    value = sp.sympify(check.initial, strict=True).xreplace(point)
    for i in range(check.start + 1, int(point[check.index]) + 1):
        value = check.step.xreplace({**point, check.index: sp.Integer(i), PREVIOUS: value})
    return check.closed_form.xreplace(point), value
