"""Bounds that are joined: a statement a little stronger than what they cover together is left open."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from sympy import Basic, Expr, Min, Rational, Symbol, ceiling, floor, sqrt

from lastiterate.proofs_checks.engines.derivation import derive
from lastiterate.proofs_checks.implies import left_open
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Check, IntervalInequality, RenyiBound, UpperBound
from lastiterate.symbolic.claim import Claim, derived
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.notation import D, K, L, T, alpha, b, eta, m, n, sigma_dp, tau, w
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    BatchesOf,
    Convex,
    CyclicBatches,
    Diameter,
    ForAll,
    FullBatches,
    Neighbours,
    OneMore,
    Smooth,
    StronglyConvex,
    closed,
)

Change = Callable[[Expr], Expr]
Conditions = Mapping[Basic, Basic | None]

CONVEX = "altschuler_talwar/theorem_3_1"
STRONG = "altschuler_talwar/section_5_1/theorem_5_1"
CYCLIC = "altschuler_talwar/section_5_2/theorem_5_6"
_MORE, _LESS = Rational(101, 100), Rational(99, 100)
_window = ceiling(D * n / (K * eta))


def _claim(key: str) -> Any:
    return next(claim for claim in ledger.claims() if claim.key == key)


def _left_open(claim: Any, statement: ForAll, *checks: Check) -> str:
    supposed = claim.assumptions
    changed = Claim(
        "k", "t", claim.source, *(checks or claim.checks), assumptions=supposed, statement=statement
    )
    return left_open(changed)


def _changed(
    key: str, bound: Change = lambda bound: bound, conditions: Conditions = MappingProxyType({})
) -> str:
    """What is left open of a statement in which some parts have others in their place."""
    claim = _claim(key)
    body, said = claim.statement.body, [conditions.get(one, one) for one in claim.statement.conditions]
    found = closed(body.func(body.lhs, bound(body.rhs)), *(one for one in said if one is not None))
    assert found != claim.statement
    return _left_open(claim, found)


@pytest.mark.parametrize("key", [CONVEX, STRONG, CYCLIC])
def test_what_the_paper_prints_is_concluded(key: str) -> None:
    assert left_open(_claim(key)) == ""


def _scaled(factor: Expr) -> Change:
    return lambda bound: factor * bound


def _put(old: Expr, new: Expr | int) -> Change:
    return lambda bound: bound.subs(old, new)


@pytest.mark.parametrize(
    ("key", "bound"),
    [
        *((key, _scaled(_LESS)) for key in (CONVEX, CYCLIC)),
        (CONVEX, _put(T, _LESS * T)),
        (CONVEX, _put(T, T - 1)),
        (STRONG, _put(n, _MORE * n)),
        *((CYCLIC, _put(one, factor * one)) for one, factor in ((n, _MORE), (K, _LESS), (sigma_dp, _MORE))),
        (CONVEX, _put(_window, ceiling(_LESS * D * n / (K * eta)))),
        (CONVEX, _put(_window, floor(D * n / (K * eta)))),
        (CONVEX, _put(_window, D * n / (K * eta))),
        (CONVEX, lambda bound: bound - Rational(1, 10**6)),
        (CYCLIC, _put(1 / b**2, _LESS / b**2)),
        (CYCLIC, _put(1 / b**2, 0)),
        (CYCLIC, lambda bound: bound.replace(Min, lambda *parts: _LESS * Min(*parts) / 2)),
    ],
)
@pytest.mark.sweep(6)
def test_a_bound_one_percent_less_is_left_open(key: str, bound: Change) -> None:
    assert _changed(key, bound=bound)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (CONVEX, {Neighbours(SAMPLES, OTHER): None}),
        (CONVEX, {BatchesOf(b, n): None}),
        (CONVEX, {BatchesOf(b, n): FullBatches(n)}),
        (CONVEX, {BatchesOf(b, n): BatchesOf(b, n + 1)}),
        (CONVEX, {Diameter(D): None}),
        (CONVEX, {Diameter(D): Diameter(_MORE * D)}),
        (CONVEX, {Convex(L, K): Smooth(L)}),
        (CONVEX, {Convex(L, K): Convex(L, _MORE * K)}),
        (CONVEX, {eta * L <= 2: eta * L <= 2 * _MORE}),
        (CONVEX, {b <= n: None}),
        (CONVEX, {alpha > 1: None}),
        (CONVEX, {sigma_dp > 8 * sqrt(2) * K / b: sigma_dp > 8 * _LESS * sqrt(2) * K / b}),
        (CONVEX, {alpha <= largest_order(b / n, b * sigma_dp / (2 * sqrt(2) * K)): None}),
        (
            CONVEX,
            {
                alpha <= largest_order(b / n, b * sigma_dp / (2 * sqrt(2) * K)): alpha
                <= largest_order(b / n, _MORE * b * sigma_dp / (2 * sqrt(2) * K))
            },
        ),
        (STRONG, {StronglyConvex(m, L, K): StronglyConvex(_LESS * m, L, K)}),
        (CYCLIC, {CyclicBatches(b, n): BatchesOf(b, n)}),
        (CYCLIC, {eta * L <= 2: None}),
        (CYCLIC, {b <= n: None}),
    ],
)
def test_a_statement_that_supposes_less_is_left_open(key: str, values: Conditions) -> None:
    assert _changed(key, conditions=values)


def test_a_statement_about_no_run_is_left_open() -> None:
    claim = _claim(CYCLIC)
    nothing = closed(claim.statement.body, *claim.statement.conditions, b > n)
    assert _left_open(claim, nothing)


@pytest.mark.parametrize(
    "at",
    [{}, {w: _window}, {w: _window, tau: T}, {w: _window - 1, tau: T - _window + 1}, {w: T, tau: 0, D: D / 2}],
)
def test_a_window_is_one_of_the_steps_of_the_run(at: Mapping[Symbol, Expr]) -> None:
    claim = _claim(CYCLIC)
    checks = [replace(one, at=at) if "domain" in one.derivation else one for one in claim.checks]
    assert _left_open(claim, claim.statement, *checks)


@pytest.mark.parametrize("letter", [eta, sigma_dp, K, n, L, T, alpha])
def test_letters_of_the_run_are_not_chosen(letter: Symbol) -> None:
    claim = _claim(CYCLIC)
    checks = [replace(one, at={**one.at, letter: letter * _LESS}) for one in claim.checks]
    assert "letters of the run" in _left_open(claim, claim.statement, *checks)


def test_a_value_needs_what_another_check_says_of_it() -> None:
    claim = _claim(STRONG)
    others = [one for one in claim.checks if not isinstance(one, IntervalInequality)]
    assert _left_open(claim, claim.statement, *others)


def test_a_statement_in_the_words_of_a_check_supposes_what_its_derivation_does() -> None:
    """Else a bound without its class of losses, its batches and its data sets would be proved as it stands."""
    claim = _claim(CYCLIC)
    check = next(one for one in claim.checks if isinstance(one, RenyiBound))
    bare = closed(check.says.args[1] if check.given else check.says, *check.given, *claim.assumptions)
    assert bare == derived((check,), claim.assumptions)
    assert _left_open(claim, bare, check)
    made = derive(check.derivation, frozenset((*claim.assumptions, *check.given)))
    named = tuple(sorted({str(one) for end in (made.first, made.second) for one in end.hypotheses}))
    for listed, left in ((named, False), (named[1:], True)):
        supposes = replace(check, supposed=listed)
        assert bool(_left_open(claim, derived((supposes,), claim.assumptions), supposes)) is left
    attacked = UpperBound("altschuler_talwar", ())
    said = derived((attacked,), claim.assumptions)
    assert _left_open(claim, said, replace(check, supposed=named), attacked)


def test_a_bound_in_one_order_is_not_one_in_the_other() -> None:
    claim = _claim("liang/theorem_3_3/forward")
    said, rules = claim.statement, [check for check in claim.checks if isinstance(check, RenyiBound)]
    body: Any = said.body
    order, first, second = body.lhs.args
    larger, *others = said.conditions
    exchanged = body.func(body.lhs.func(order, second, first), body.rhs)
    assert _left_open(claim, said, *rules) == ""
    for other, conditions in (
        (exchanged, said.conditions),
        (exchanged, (*said.conditions, OneMore(SAMPLES, OTHER))),
        (body, (OneMore(SAMPLES, OTHER), *others)),
        (body, (Neighbours(SAMPLES, OTHER), *others)),
        (body, (larger.func(OTHER, SAMPLES), *others)),
    ):
        assert "in this order" in _left_open(claim, closed(other, *conditions), *rules)
    assert "does not assume" in _left_open(claim, closed(body, larger, *others[:-1]), *rules)
