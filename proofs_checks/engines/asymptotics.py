"""Bounds up to an unspecified constant: a proved constant, or a path along which no constant suffices.

z3 decides whether a constant suffices on the whole admissible region. No constant suffices if, along a path
into a corner of this region, every assumption holds from some point on and left / right tends to infinity.
Sympy computes these limits in one real variable (Gruntz's algorithm). Certified values of the ratio at
growing points must confirm the increase.
"""

from collections.abc import Mapping
from functools import reduce
from itertools import pairwise

import sympy as sp
from flint import arb
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import enclose
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import lower, precision
from lastiterate.proofs_checks.declared import conditions as declared
from lastiterate.proofs_checks.defined import needs
from lastiterate.proofs_checks.engines import inequality
from lastiterate.proofs_checks.engines.answers import held, refuted, undecided, without_near_misses
from lastiterate.proofs_checks.exact_values import by_sign, truth
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome, Status
from lastiterate.symbolic.checks import Asymptotic, Inequality, Relation, Unbounded
from lastiterate.symbolic.notation import growth

PROBES = (4, 16, 64, 256)
"""Values of `notation.growth` at which the ratio is enclosed."""

_STEPS = (
    sp.floor, sp.ceiling, sp.frac, sp.Mod, sp.sign, sp.Heaviside, sp.KroneckerDelta, sp.Piecewise, sp.Sum, sp.Product,
)  # fmt: skip
"""Functions with jumps, at which Sympy may return the value instead of the limit."""

_KINDS = ("integer", "even", "odd", "prime", "composite", "noninteger", "rational")

_REAL = sp.Symbol(growth.name, positive=True)
"""Growing real variable; a limit along the reals is also the limit along the whole numbers."""


def _limit(expression: sp.Expr) -> sp.Expr | None:
    try:
        found = sp.limit(expression, _REAL, sp.oo)
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return None
    return None if found.has(sp.Limit, sp.AccumBounds, sp.nan, sp.zoo, _REAL) else found


def _eventual_sign(expression: sp.Expr) -> int | None:
    """Sign of an expression from some point on; None if unclear."""
    if sp.simplify(expression) == 0:
        return 0
    for candidate in (expression, 1 / expression):  # the reciprocal of an expression that falls to 0 rises
        found = _limit(candidate)
        if found is not None and (found.is_extended_positive or found.is_extended_negative):
            return 1 if found.is_extended_positive else -1
    return None


def _settled(expression: sp.Expr) -> sp.Expr:
    def before(one: sp.Expr, other: sp.Expr) -> bool:
        sign = _eventual_sign(one - other)
        if sign is None:
            raise UnsupportedError(f"it is not clear which of {one} and {other} is eventually smaller")
        return sign <= 0

    def chosen(part: sp.Expr) -> sp.Expr:
        if isinstance(part, sp.Abs):
            inside = part.args[0]
            return inside if before(sp.S.Zero, inside) else -inside
        smallest = isinstance(part, sp.Min)
        return reduce(lambda one, other: one if before(one, other) == smallest else other, part.args)

    return expression.replace(lambda part: isinstance(part, sp.Min | sp.Max | sp.Abs), chosen)


def _eventually(condition: Boolean, on_path: Mapping[sp.Symbol, sp.Expr]) -> bool | None:
    def decided(relation: sp.Rel) -> bool | None:
        difference = (relation.lhs - relation.rhs).xreplace(on_path)
        return by_sign(relation.func, _eventual_sign(_settled(difference)))

    return truth(condition, decided)


def _on_reals(check: Asymptotic | Unbounded, conditions: tuple[Boolean, ...]) -> dict[sp.Symbol, sp.Expr]:
    """Path over the reals; InputError unless its values fit the declarations of their symbols."""
    for symbol in free_symbols(check.left, check.right, conditions):
        if symbol not in check.path:
            raise InputError(f"path needs a value for every symbol, got none for symbol={symbol}; add one.")
    values = {symbol: sp.sympify(value, strict=True) for symbol, value in check.path.items()}
    for symbol, value in values.items():
        lacks = [kind for kind in _KINDS if getattr(symbol, f"is_{kind}") and not getattr(value, f"is_{kind}")]
        if not value.free_symbols <= {growth} or lacks:
            said = "".join(f"{kind} " for kind in lacks)
            raise InputError(
                f"path needs {said}expressions in {growth} only, got {symbol}={value}; rewrite it."
            )
    return {symbol: value.xreplace({growth: _REAL}) for symbol, value in values.items()}


def _leaves(on_path: Mapping[sp.Symbol, sp.Expr], conditions: tuple[Boolean, ...]) -> str:
    for symbol, value in on_path.items():
        for sign in declared(symbol):
            if not _eventually(sign, {symbol: value}):
                return f"the declared {sign}"
    return next((str(condition) for condition in conditions if not _eventually(condition, on_path)), "")


def _course(
    check: Asymptotic | Unbounded, assumptions: tuple[Boolean, ...]
) -> tuple[sp.Expr | None, list[float]]:
    """Limit of left / right on the path, and lower bounds on the ratio at the probes."""
    conditions = (*assumptions, *check.given)
    on_path = _on_reals(check, conditions)
    if any(part.has(*_STEPS) for part in (check.left, check.right, *conditions)):
        raise UnsupportedError("limits of step functions, sums and products are not computed; bound them first")
    left_out = _leaves(on_path, conditions)
    if left_out:
        raise NoPointError(f"the path violates the assumptions: {left_out} does not hold eventually.")
    for need in (need for part in (check.left, check.right, *conditions) for need in needs(part)):
        if not _eventually(need.condition, on_path):
            raise NoPointError(f"{need.part} is not shown to be eventually defined on the path.")
    left, right = (_settled(side.xreplace(on_path)) for side in (check.left, check.right))
    if _eventual_sign(right) != 1:
        raise NoPointError("the right side must be eventually positive on the path.")
    with precision():
        values = [lower(enclose(left / right, {_REAL: arb(probe)})) for probe in PROBES]
    return _limit(sp.simplify(left / right)), values


def _constant(check: Asymptotic, assumptions: tuple[Boolean, ...]) -> Outcome:
    if check.constant is None or check.constant.free_symbols or check.constant.is_positive is not True:
        raise InputError(
            f"constant needs a positive number, got constant={check.constant}; give a constant, or a path."
        )
    bounded = Inequality(check.left, "<=", check.constant * check.right, check.given, check.name)
    outcome = inequality.decide(bounded, assumptions)
    if outcome.status is Status.HELD:
        return held(check, Grade.PROVED, f"the constant {check.constant} suffices everywhere; {outcome.detail}")
    return undecided(check, f"the constant {check.constant} is not shown to suffice; a larger one may")


def decide(check: Asymptotic | Unbounded, assumptions: tuple[Boolean, ...]) -> Outcome:
    """Decide an `Asymptotic` or `Unbounded` check."""
    if isinstance(check, Asymptotic) and not check.path:
        return _constant(check, assumptions)
    bounded = isinstance(check, Asymptotic)
    limit, values = _course(check, assumptions)
    diverges = limit is sp.oo and values[-1] > 0 and all(a < b for a, b in pairwise(values[1:]))
    if diverges if bounded else limit is not None and limit.is_finite:
        shown = ", ".join(
            f"{value:.6g} at {growth} = {probe}" for value, probe in zip(values, PROBES, strict=True)
        )
        at = {str(symbol): str(value) for symbol, value in check.path.items()}
        said = (str(Relation.UP_TO_CONSTANT), "constant") if bounded else ("grows", "without limit")
        note = f"the limit of left / right is {limit}"
        return refuted(check, Counterexample(at, f"left / right at least {shown}", *said, note))
    if diverges:
        detail = (
            f"the limit is infinite according to Sympy; at least {values[-1]:.6g} at {growth} = {PROBES[-1]}"
        )
        return held(check, Grade.PROVED, detail)
    found = "not found" if limit is None else limit
    return undecided(check, f"the limit of left / right on the path is {found}; values {values}")


near_misses = without_near_misses  # a constant or a path that fails decides nothing
