"""The two sides of a refuted statement along one of its parameters, the others kept at the counterexample.

A plot is an illustration in floating point; what counts is the certified enclosure beside it.
"""

# Sympy has no stubs; what pyright infers from its sources is wider than what it documents.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false

from collections.abc import Callable, Iterator, Mapping
from math import inf, isfinite, nan

import sympy as sp
from markupsafe import Markup

from lastiterate.proofs_checks.engines.attack import course
from lastiterate.proofs_checks.feasible_points import free_symbols
from lastiterate.proofs_checks.pages.charts import curves
from lastiterate.proofs_checks.verdict import Counterexample
from lastiterate.symbolic.claim import Check, Claim, Inequality, IntervalInequality, UpperBound

__all__ = ["plot"]

POINTS = 41
LEAST = 25
"""Of the points, so many must be defined and within the assumptions for a plot to be worth drawing."""


def plot(claim: Claim, check: Check, found: Counterexample) -> Markup:
    """The plot of a counterexample; "" where there is nothing to vary."""
    if isinstance(check, UpperBound):
        return _bound(check, found)
    if isinstance(check, Inequality | IntervalInequality):
        return next(_sweeps(claim, check, found), Markup(""))
    return Markup("")


def _bound(check: UpperBound, found: Counterexample) -> Markup:
    """The claimed bound and the certified divergence of the attack over the number of steps."""
    setting = {name: float(value) for name, value in found.at.items()}
    top = 4 * setting["T"] if isfinite(setting["D"]) else 30 * setting["T"]
    steps = sorted({round(max(top, 10) ** (k / 15)) for k in range(16)})
    pairs = [course(check, {**setting, "T": float(T)}) for T in steps]
    values = [list(side) for side in zip(*pairs, strict=True)]
    if not all(any(isfinite(v) for v in side) for side in values):
        return Markup("")
    lines = [("right", "claimed bound", values[0]), ("left", "certified divergence", values[1])]
    return curves(steps, lines, "T, number of steps", setting["T"])


def _sweeps(claim: Claim, check: Inequality | IntervalInequality, found: Counterexample) -> Iterator[Markup]:
    """A plot for each real parameter along which enough is defined and the sides move."""
    symbols = [s for s in free_symbols(check.left, check.right) if str(s) in found.at]
    conditions = [*claim.assumptions, *getattr(check, "given", ())]
    if set(free_symbols(check.left, check.right)) != set(symbols):
        return
    at = {s: float(sp.Rational(found.at[str(s)])) for s in symbols}
    usable = [a for a in conditions if a.free_symbols <= set(symbols)]
    sides = _function(symbols, [check.left, check.right])
    admits = _function(symbols, usable)
    for symbol in symbols:
        if symbol.is_integer or at[symbol] <= 0:
            continue
        low, high = at[symbol] / 10, at[symbol] * 10
        if isinstance(check, IntervalInequality):
            low, high = max(low, float(check.box[symbol][0])), min(high, float(check.box[symbol][1]))
        if not low < high or low <= 0:
            continue
        x = [low * (high / low) ** (k / (POINTS - 1)) for k in range(POINTS)]
        points = [{**at, symbol: value} for value in x]
        rows = [sides(p) if all(value == 1 for value in admits(p)) else [nan, nan] for p in points]
        defined = [row for row in rows if all(map(isfinite, row))]
        if len(defined) >= LEAST and any(row != defined[0] for row in defined):
            left, right = ([row[k] if all(map(isfinite, row)) else inf for row in rows] for k in (0, 1))
            yield curves(x, [("left", "left side", left), ("right", "right side", right)], str(symbol), at[symbol])


def _function(symbols: list[sp.Symbol], parts: list[sp.Basic]) -> Callable[[Mapping[sp.Symbol, float]], list[float]]:
    function = sp.lambdify(symbols, parts, modules="math")

    def evaluate(point: Mapping[sp.Symbol, float]) -> list[float]:
        try:
            return [value if isinstance(value, bool) else float(value) for value in function(*map(point.get, symbols))]
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):
            return [nan] * len(parts)

    return evaluate
