"""Equalities and recursions, by Sympy and by exact arithmetic.

To show an identity, several routes of simplification must reach zero; to refute it, one admissible rational
point where the difference is certainly not zero. A residue that no route removes is "not shown", never
"false".
"""

# Sympy and z3 have no stubs; what pyright infers from their sources is wider than what they document.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportAssignmentType=false

from collections.abc import Callable, Iterator, Sequence

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.z3_terms import entails
from lastiterate.proofs_checks.feasible_points import Point, as_text, free_symbols, points, side, sign_at
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.claim import Check, Engine, Identity, Recursion
from lastiterate.symbolic.notation import PREVIOUS

__all__ = ["decide"]

SPOTS = 12
"""Points at which an identity is tried before any simplification."""

SMALL = 5
"""Indices past the start at which a recursion is unrolled and compared with its closed form."""


def _hyperbolic(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.expand(expression.rewrite(sp.exp)))


def _powers(expression: sp.Expr) -> sp.Expr:
    return sp.powsimp(sp.expand(sp.expand_power_exp(sp.expand_power_base(expression, force=False))))


ROUTES: tuple[tuple[str, Callable[[sp.Expr], sp.Expr]], ...] = (
    ("expand", sp.expand),
    ("together", lambda e: sp.expand(sp.numer(sp.together(e)))),
    ("cancel", sp.cancel),
    ("powsimp", _powers),
    ("powsimp of the numerator", lambda e: _powers(sp.numer(sp.together(_powers(e))))),
    ("radsimp", lambda e: sp.expand(sp.radsimp(e))),
    ("factor", sp.factor),
    ("simplify", sp.simplify),
    ("exponential form", _hyperbolic),
    ("trigsimp", sp.trigsimp),
)
"""Routes to zero, cheapest first."""


def _vanishes(difference: sp.Expr, conditions: Sequence[Boolean]) -> tuple[str, sp.Expr]:
    """The route that reaches zero, or "" with the shortest residue."""
    residue = difference.doit()
    if residue == 0:
        return "doit", residue
    for condition in conditions:
        if isinstance(condition, sp.Eq):
            for symbol, value in (condition.args, condition.args[::-1]):
                if symbol.is_Symbol and symbol not in value.free_symbols:
                    residue = residue.xreplace({symbol: value})
                    break
    residue = _pieces_decided(residue, conditions)
    if residue == 0:
        return "cases that the assumptions decide", residue
    shortest = residue
    for name, route in ROUTES:
        try:
            left = route(residue)
        except (sp.PolynomialError, NotImplementedError, ValueError, TypeError, AttributeError):
            continue
        if left == 0:
            return name, left
        shortest = min(shortest, left, key=sp.count_ops)
    return "", shortest


def _pieces_decided(expression: sp.Expr, conditions: Sequence[Boolean]) -> sp.Expr:
    """Min, Max, Abs and Piecewise with every case settled that the assumptions imply or exclude."""
    if not expression.has(sp.Piecewise, sp.Min, sp.Max, sp.Abs):
        return expression
    expression = expression.replace(
        lambda part: isinstance(part, sp.Min | sp.Max | sp.Abs), lambda part: part.rewrite(sp.Piecewise)
    )
    settled: dict[sp.Basic, Boolean] = {}
    for piecewise in expression.atoms(sp.Piecewise):
        for _, condition in (piece.args for piece in piecewise.args):
            if condition != sp.true and entails(conditions, condition):
                settled[condition] = sp.true
            elif condition != sp.true and entails(conditions, sp.Not(condition)):
                settled[condition] = sp.false
    return expression.subs(settled)


def _refutation(left: sp.Expr, right: sp.Expr, tried: Iterator[Point]) -> Counterexample | None:
    """The first admissible point where the two sides certainly differ."""
    for point in tried:
        if sign_at(left - right, point) in (1, -1):
            return Counterexample(as_text(point), side(left, point), "==", side(right, point))
    return None


def _equal(
    check: Check, left: sp.Expr, right: sp.Expr, conditions: tuple[Boolean, ...], symbols: tuple[sp.Symbol, ...]
) -> Outcome:
    tried = list(points(symbols, conditions, SPOTS))
    wrong = _refutation(left, right, iter(tried))
    if wrong:
        return Outcome(check.name, Engine.IDENTITY, Status.REFUTED, counterexample=wrong)
    route, residue = _vanishes(left - right, conditions)
    if route:
        detail = f"the difference is zero by {route}, and at {len(tried)} exact points"
        return Outcome(check.name, Engine.IDENTITY, Status.HELD, Grade.PROVED, detail)
    detail = f"not shown; no spot check differs; residue: {residue}"
    return Outcome(check.name, Engine.IDENTITY, Status.UNDECIDED, detail=detail)


def _recursion(check: Recursion, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Base case and induction step by Sympy, and the unrolled recursion at exact points.

    The step alone is not enough: it passes every particular solution, whatever its start.
    """
    index, start = check.index, sp.Integer(check.start)
    used = set(free_symbols(check.initial, check.step, check.closed_form)) - {index, PREVIOUS}
    symbols = tuple(sorted(used, key=str))
    conditions = tuple(condition for condition in assumptions if index not in condition.free_symbols)
    for point in points(symbols, conditions, SPOTS // 2):
        unrolled = check.initial.xreplace(point)
        for i in range(SMALL + 1):
            here = {**point, index: start + i}
            if i:
                unrolled = check.step.xreplace({**here, PREVIOUS: unrolled})
            wrong = _refutation(check.closed_form.xreplace(here), unrolled, iter([{}]))
            if wrong:
                found = Counterexample(as_text(here), wrong.left, "==", wrong.right, "closed form, recursion")
                kind = "base case" if i == 0 else "unrolled recursion"
                return Outcome(
                    check.name, Engine.IDENTITY, Status.REFUTED, detail=f"the {kind} fails", counterexample=found
                )
    base = _vanishes(check.closed_form.xreplace({index: start}) - check.initial, conditions)
    before = check.closed_form.xreplace({index: index - 1})
    step = _vanishes(check.step.xreplace({PREVIOUS: before}) - check.closed_form, conditions)
    for part, (route, residue) in (("base case", base), ("induction step", step)):
        if not route:
            detail = f"{part} not shown; the first {SMALL} indices agree; residue: {residue}"
            return Outcome(check.name, Engine.IDENTITY, Status.UNDECIDED, detail=detail)
    detail = f"base case by {base[0]}, induction step by {step[0]}, agreement at the first {SMALL + 1} indices"
    return Outcome(check.name, Engine.IDENTITY, Status.HELD, Grade.PROVED, detail)


def decide(check: Check, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Identity` or a `Recursion` under the assumptions.

    Raises:
        NoPointError: no sample satisfies the assumptions.
        TypeError: the check is of another type.
    """
    if isinstance(check, Recursion):
        return _recursion(check, assumptions)
    if not isinstance(check, Identity):
        raise TypeError(f"the identity engine decides Identity and Recursion, got {type(check).__name__}")
    symbols = free_symbols(check.left, check.right)
    relevant = _connected(assumptions, symbols)
    return _equal(check, check.left, check.right, relevant, symbols)


def _connected(assumptions: tuple[Boolean, ...], symbols: tuple[sp.Symbol, ...]) -> tuple[Boolean, ...]:
    """The assumptions that speak, directly or through one another, of the symbols."""
    reached = set(symbols)
    while True:
        more = {s for a in assumptions if a.free_symbols & reached for s in a.free_symbols}
        if more <= reached:
            return tuple(a for a in assumptions if a.free_symbols & reached)
        reached |= more
