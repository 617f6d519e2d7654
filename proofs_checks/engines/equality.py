"""Equality of two expressions: by routes of simplification, and at an exact point where both are defined."""

from collections.abc import Callable, Mapping, Sequence

import sympy as sp
from sympy.logic.boolalg import And, Boolean, Or

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.defined import complex_valued, defined_at
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.exact_values import Point, as_text, enclosures, side, sign_at
from lastiterate.proofs_checks.verdict import Counterexample

_TINY = 1e-20
"""Two values nearer than this are taken to confirm an identity; they prove nothing."""

_ACCURATE = 32
"""Bits of a part of a complex number that is taken to be known; Sympy keeps as many as are right."""

CASES = 3
"""How often a residue is split into two cases."""


def _hyperbolic(expression: sp.Expr) -> sp.Expr:
    return sp.simplify(sp.expand(expression.rewrite(sp.exp)))


def _powers(expression: sp.Expr) -> sp.Expr:
    return sp.powsimp(sp.expand(sp.expand_power_exp(sp.expand_power_base(expression, force=False))))


def _parts(expression: sp.Expr) -> sp.Expr:
    """In real letters for the parts of each complex one."""
    pairs = {s: sp.Dummy(real=True) + sp.I * sp.Dummy(real=True) for s in expression.free_symbols if not s.is_real}
    return sp.simplify(sp.expand(expression.xreplace(pairs), complex=True)) if pairs else expression


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
    ("error functions", lambda e: sp.expand(e.rewrite(sp.erf))),
    ("real and imaginary parts", _parts),
)
"""Routes to zero, cheapest first."""


def vanishes(difference: sp.Expr, conditions: Sequence[Boolean]) -> tuple[str, sp.Expr]:
    """The route by which the difference is zero wherever the conditions hold, or "" with the shortest residue."""
    residue = difference.doit()
    if residue == 0:
        return "doit", residue
    for condition in conditions:
        if isinstance(condition, sp.Eq):
            for symbol, value in (condition.args, condition.args[::-1]):
                if symbol.is_Symbol and symbol not in value.free_symbols:
                    residue = residue.xreplace({symbol: value})
                    break
    conditions = tuple(one for one in conditions if not complex_valued(one))  # z3 takes all letters for real ones
    residue = _pieces_decided(residue, conditions)
    if residue == 0:
        return "cases that the assumptions decide", residue
    route, shortest = _by_routes(residue)
    if not route and _by_cases(residue, conditions, CASES):
        return "cases", sp.S.Zero
    return route, shortest


def _by_routes(residue: sp.Expr) -> tuple[str, sp.Expr]:
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


def _by_cases(residue: sp.Expr, conditions: Sequence[Boolean], depth: int) -> bool:
    """Tell whether the residue is zero in each of the cases that it falls into, by sign or by its pieces."""
    if complex_valued(residue) or entails(conditions, sp.Eq(residue, 0, evaluate=False)):
        return not complex_valued(residue)
    pieces = [condition for piecewise in residue.atoms(sp.Piecewise) for _, condition in piecewise.args]
    split = next((condition for condition in pieces if isinstance(condition, sp.Rel)), None)
    if split is None or depth == 0:
        return False
    for case in (split, sp.Not(split)):
        here = (*conditions, case)
        part, signs = residue.subs(split, case is split), _signs(residue.free_symbols, here)
        if entails(here, sp.false) or part == 0:
            continue
        if not _by_routes(part.xreplace(signs))[0] and not _by_cases(part, here, depth - 1):
            return False
    return True


def _signs(symbols: set[sp.Symbol], conditions: Sequence[Boolean]) -> dict[sp.Symbol, sp.Expr]:
    """Letters of a declared sign for those whose sign the conditions give."""
    known: dict[sp.Symbol, sp.Expr] = {}
    for symbol in symbols:
        for sign, fact in ((1, "positive"), (-1, "positive"), (1, "nonnegative"), (-1, "nonnegative")):
            relation = sp.Gt if fact == "positive" else sp.Ge
            unknown = not symbol.is_nonnegative and not symbol.is_nonpositive and symbol not in known
            if unknown and entails(conditions, relation(sign * symbol, 0)):
                known[symbol] = sign * sp.Dummy(symbol.name, **{fact: True, "integer": symbol.is_integer})
    return known


def _pieces_decided(expression: sp.Expr, conditions: Sequence[Boolean]) -> sp.Expr:
    """Min, Max, Abs and Piecewise with every case settled that the assumptions imply or exclude."""
    if complex_valued(expression) or not expression.has(sp.Piecewise, sp.Min, sp.Max, sp.Abs):
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


def compared(left: sp.Expr, right: sp.Expr, point: Point) -> bool | None:
    """Tell whether both sides are defined at a point and equal there, or certainly different; None if unclear."""
    if not defined_at((left, right), point):
        return None
    if complex_valued(left, right):
        return _complex_zero(sp.N((left - right).xreplace(point).doit(), 30, maxn=400))
    sign = sign_at(left - right, point, nearly=True)
    try:
        near = sign is None and any(abs(ball) < _TINY for ball in enclosures(left - right, point))
    except UnsupportedError:
        near = False
    return sign == 0 if sign is not None else near or None


def _complex_zero(off: sp.Expr) -> bool | None:
    """Tell whether a number is nearly zero, or certainly not; None for one whose digits have cancelled out."""
    if not off.is_number or not off.is_finite:
        return None
    if abs(off) < _TINY:
        return True
    accurate = (part for part in off.as_real_imag() if getattr(part, "_prec", _ACCURATE) >= _ACCURATE)
    return False if any(abs(part) > _TINY for part in accurate) else None


def differ(left: sp.Expr, right: sp.Expr, point: Point, sides: str = "") -> Counterexample:
    """The counterexample at a point where the two sides differ."""
    if complex_valued(left, right):
        values = [str(sp.N(part.xreplace(point).doit(), 20)) for part in (left, right)]
    else:
        values = [side(part, point) for part in (left, right)]
    return Counterexample(as_text(point), values[0], "==", values[1], sides)


def shown(premises: Sequence[Boolean], condition: Boolean) -> bool:
    """Tell whether a condition follows, a complex number being two real ones."""
    found = {symbol for part in (*premises, condition) for symbol in part.free_symbols if symbol.is_real is not True}
    if not found and not condition.has(sp.I):
        return entails(premises, condition)
    pairs = {symbol: sp.Dummy(real=True) + sp.I * sp.Dummy(real=True) for symbol in found}
    split = [_split(premise, pairs) for premise in premises]
    asked = _split(condition, pairs)
    return asked is not None and entails([premise for premise in split if premise is not None], asked)


def _split(condition: Boolean, pairs: Mapping[sp.Symbol, sp.Expr]) -> Boolean | None:
    """A condition on complex numbers as one on their parts; None for an order, which they have not."""
    if isinstance(condition, And | Or):
        parts = [_split(part, pairs) for part in condition.args]
        return None if None in parts else condition.func(*parts)
    if not condition.free_symbols & pairs.keys() and not condition.has(sp.I):
        return condition
    if not isinstance(condition, sp.Eq | sp.Ne):
        return None
    parts = sp.expand((condition.lhs - condition.rhs).xreplace(pairs), complex=True).as_real_imag()
    joined = And if isinstance(condition, sp.Eq) else Or
    return joined(*(condition.func(part, 0) for part in parts))
