"""Random points of a box, 50 digits each: the weakest evidence, for what no other engine decides.

The points are the same in every run. Floats only raise a suspicion: a check is refuted when the failure is
certified by balls at that exact point. Both sides must be shown to be defined on the whole box; what is said of the
rest is said at the points alone, and that is the scope.
"""

import random
from collections.abc import Iterator
from typing import Any

import mpmath
import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.declared import admits_value
from lastiterate.proofs_checks.defined import defined_at, unmet
from lastiterate.proofs_checks.engines.answers import equation, held, refuted_at, undecided
from lastiterate.proofs_checks.engines.branch import inside_of, shown_on
from lastiterate.proofs_checks.engines.enclosure import box_of
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, relation_at, truth_at
from lastiterate.proofs_checks.feasible_points import NoPointError, completed, connected
from lastiterate.proofs_checks.verdict import Grade, Outcome
from lastiterate.symbolic.checks import Check, RandomPoints, Relation

DIGITS = 50
POINTS = 200
TRIES = 50


def _draw(symbol: sp.Symbol, low: sp.Rational, high: sp.Rational, generator: random.Random) -> sp.Rational:
    """A point of the interval: an end, even, or spread over scales towards the low end."""
    kind = generator.random()
    if symbol.is_integer and sp.ceiling(low) <= sp.floor(high):
        return sp.Integer(generator.randint(int(sp.ceiling(low)), int(sp.floor(high))))
    if kind < 0.1:
        return low
    if kind < 0.2:
        return high
    share = sp.Rational(generator.randint(0, 2**20), 2**20)
    if kind < 0.6:
        return low + (high - low) * share
    return low + (high - low) * sp.Rational(10.0 ** (-6 * float(share))).limit_denominator(10**9)


def _points(box: dict[sp.Symbol, tuple[sp.Rational, sp.Rational]], conditions: tuple[Boolean, ...]) -> Iterator[Point]:
    generator, found = random.Random(2025), 0  # noqa: S311
    contradictory = entails((*conditions, *inside_of(box)), sp.false)
    for _ in range(0 if contradictory else POINTS * TRIES):
        point = {s: _draw(s, low, high, generator) for s, (low, high) in box.items()}
        allowed = all(admits_value(symbol, value) for symbol, value in point.items())
        if allowed and all(truth_at(condition, point) for condition in conditions):
            found += 1
            yield point
        if found == POINTS:
            return
    if not found:
        asked = ", ".join(map(str, conditions)) or "what its symbols are declared to be"
        raise NoPointError(f"no sample of the box satisfies {asked}.")


def _suspicious(relation: Relation, left: Any, right: Any) -> bool | None:
    """Tell whether the 50-digit values break the relation; None where they are not real numbers."""
    if not all(isinstance(value, mpmath.mpf) and mpmath.isfinite(value) for value in (left, right)):
        return None
    slack = mpmath.mpf(10) ** (10 - DIGITS) * (1 + abs(left) + abs(right))
    if relation is Relation.EQUAL:
        return bool(abs(left - right) > slack)
    if relation is Relation.BELOW:
        return bool(left >= right - slack)
    return bool(left > right + slack)


def decide(check: RandomPoints, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Sample a `RandomPoints` check; the grade is SAMPLED at best."""
    if check.relation not in (Relation.EQUAL, Relation.AT_MOST, Relation.BELOW):
        raise UnsupportedError(f"The sampling engine cannot decide the relation {check.relation}; use ==, <= or <.")
    box = box_of(check)
    conditions = tuple(a for a in assumptions if a.free_symbols <= box.keys())
    outside = tuple(a for a in connected(assumptions, box) if a not in conditions)
    symbols = list(box)
    sides = [sp.lambdify(symbols, expression, modules="mpmath") for expression in (check.left, check.right)]
    tried = unclear = 0
    with mpmath.workdps(DIGITS):
        for point in _points(box, conditions):
            numbers = [
                int(point[s]) if s.is_integer else mpmath.mpf(int(point[s].p)) / int(point[s].q) for s in symbols
            ]
            left, right = (mpmath.mpmathify(f(*numbers)) for f in sides)
            tried += 1
            suspicion = _suspicious(check.relation, left, right)
            if suspicion is False:
                continue
            certain = suspicion and relation_at(check.left, check.relation, check.right, point) is False
            if certain and defined_at((check.left, check.right), point):
                found = completed(point, outside)
                if found is None:
                    return undecided(
                        check, f"fails at a point, but the box says nothing of {', '.join(map(str, outside))}"
                    )
                return refuted_at(check, found)
            unclear += not (suspicion and relation_at(check.left, check.relation, check.right, point))
    undefined = unmet((check.left, check.right), conditions, shown_on(box), "on the box")
    if undefined:
        return undecided(check, undefined)
    if unclear:
        return undecided(check, f"{unclear} of {tried} samples could not be decided")
    detail = f"{tried} samples, {DIGITS} digits each"
    ends = ", ".join(f"{symbol} in [{low}, {high}]" for symbol, (low, high) in box.items())
    scope = f"{tried} random points of the box {ends}"
    return held(check, Grade.SAMPLED, detail, scope)


def near_misses(check: RandomPoints, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Terms of an equation three percent more."""
    return equation(check, "left", "right") if check.relation is Relation.EQUAL else ()
