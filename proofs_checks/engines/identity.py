"""Equalities, by Sympy and by exact arithmetic.

An identity is shown if a simplification route reaches zero, refuted if the difference is certainly nonzero at
an admissible rational point, and otherwise undecided. Both sides must be shown to be defined, and must agree at
some point.
"""

from collections.abc import Callable, Sequence

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.defined import defined_at, unmet
from lastiterate.proofs_checks.engines.answers import equation, held, refuted, undecided
from lastiterate.proofs_checks.engines.z3_answers import entails, require_possible
from lastiterate.proofs_checks.exact_values import Point, enclosures, point_text, side, sign_at
from lastiterate.proofs_checks.feasible_points import connected, find_points, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Identity
from lastiterate.symbolic.unevaluated import carried_out


def summed(expression: sp.Expr) -> sp.Expr:
    """Replace sums over all indices from 0 to n >= 0 by the binomial theorem (0^0 = 1, as in Sympy).

    >>> from sympy.abc import i, x
    >>> n = sp.Symbol("n", integer=True, nonnegative=True)
    >>> summed(sp.Sum(sp.binomial(n, i) * x**i, (i, 0, n)))
    (x + 1)**n
    """
    return expression.replace(lambda part: isinstance(part, sp.Sum), lambda part: _binomial_power(part) or part)


def _binomial_power(total: sp.Sum) -> sp.Expr | None:
    if len(total.limits) != 1 or len(total.limits[0]) != 3:
        return None
    index, low, high = total.limits[0]
    if low != 0 or not (high.is_integer and high.is_nonnegative):
        return None
    scale, term = total.function.as_independent(index, as_Add=False)
    factors = sp.Mul.make_args(term)
    counts = [one for one in factors if one in (sp.binomial(high, index), sp.binomial(high, high - index))]
    bases = {index: sp.S.One, high - index: sp.S.One}
    for one in factors:
        if one in counts:
            continue
        base, exponent = one.as_base_exp()
        if exponent not in bases or base.has(index):
            return None
        bases[exponent] *= base
    return scale * (bases[index] + bases[high - index]) ** high if len(counts) == 1 else None


_TINY = 1e-20
"""Largest distance between two values that confirms an identity without proving it."""


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
    ("exponential form", lambda e: sp.simplify(sp.expand(e.rewrite(sp.exp)))),
    ("trigsimp", sp.trigsimp),
    ("error functions", lambda e: sp.expand(e.rewrite(sp.erf))),
)
"""Simplification routes, cheapest first."""


def _vanishes(difference: sp.Expr, conditions: Sequence[Boolean]) -> tuple[str, sp.Expr]:
    """Route by which the difference is zero under the conditions, or "" with the shortest residue."""
    residue = difference.doit()
    for condition in conditions:
        if isinstance(condition, sp.Eq):
            for symbol, value in (condition.args, condition.args[::-1]):
                if symbol.is_Symbol and symbol not in value.free_symbols:
                    residue = residue.xreplace({symbol: value})
                    break
    residue = shortest = _pieces_decided(residue, conditions)
    for name, route in ROUTES:
        try:
            left = route(residue)
        except (sp.PolynomialError, NotImplementedError, ValueError, TypeError, AttributeError):
            continue
        if left == 0:
            return name, left
        shortest = min(shortest, left, key=sp.count_ops)
    return ("z3", sp.S.Zero) if entails(conditions, sp.Eq(residue, 0, evaluate=False)) else ("", shortest)


def _pieces_decided(expression: sp.Expr, conditions: Sequence[Boolean]) -> sp.Expr:
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


def _compared(left: sp.Expr, right: sp.Expr, point: Point) -> bool | None:
    if not defined_at((left, right), point):
        return None
    sign = sign_at(left - right, point, nearly=True)
    try:
        near = sign is None and any(abs(ball) < _TINY for ball in enclosures(left - right, point))
    except UnsupportedError:
        near = False
    return sign == 0 if sign is not None else near or None


SPOTS = 12
"""Number of points at which an identity is tried before any simplification."""


def decide(check: Identity, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Identity`."""
    symbols, assumptions = free_symbols(check.left, check.right), (*assumptions, *check.given)
    conditions = connected(assumptions, symbols)
    if len(conditions) < len(assumptions):
        require_possible(assumptions)
    left, right = summed(carried_out(check.left)), summed(carried_out(check.right))
    confirmed = 0
    for point in find_points(symbols, conditions, SPOTS):
        same = _compared(left, right, point)
        if same is False:
            values = (side(part, point) for part in (left, right))
            return refuted(check, Counterexample(point_text(point), next(values), "==", next(values)))
        confirmed += bool(same)
    undefined = unmet((check.left, check.right, left, right), conditions, entails)
    undefined = undefined or unmet((left.doit(), right.doit()), conditions, entails)
    if undefined:
        return undecided(check, undefined)
    route, residue = _vanishes(left - right, conditions)
    if not route:
        return undecided(check, f"not shown; no spot check differs; residue: {residue}")
    if not confirmed:
        return undecided(check, "no admissible point was found at which both sides have a value and agree")
    return held(check, Grade.PROVED, f"the difference is zero by {route}, and at {confirmed} exact points")


def near_misses(check: Identity, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Check with a term of one side 3 % larger."""
    return equation(check, "left", "right")
