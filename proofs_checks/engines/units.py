"""Units: all terms of a sum, and both sides of a formula, must have the same unit.

A unit is a product of powers of base units; the table of notation lists the units. A formula that passes may
still be wrong.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines.answers import changed, first_middle_last, held, refuted, terms_of
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check, Units
from lastiterate.symbolic.notation import GRADIENT, LENGTH, MEANING, NUMBER, UNITS, D, unit_text
from lastiterate.symbolic.unevaluated import carried_out

Table = Mapping[sp.Symbol, sp.Expr]
"""Unit of each letter."""

_BASES: Final = {LENGTH, GRADIENT, NUMBER}


class _UnlikeError(Exception):
    """Two parts with different units, and their place."""


def _alike(first: sp.Expr, second: sp.Expr) -> bool:
    powers = (first / second).as_powers_dict().items()
    return all(base == NUMBER or sp.simplify(power) == 0 for base, power in powers)


def _common(parts: Iterable[sp.Expr], table: Table, where: str) -> sp.Expr | None:
    units = {part: _unit(part, table) for part in parts}
    known = [(part, unit) for part, unit in units.items() if unit is not None]
    for part, unit in known[1:]:
        if not _alike(known[0][1], unit):
            raise _UnlikeError(
                *(f"{one} in [{unit_text(its)}]" for one, its in (known[0], (part, unit))), where
            )
    return known[0][1] if known else None


def _number(part: sp.Expr, table: Table, where: str) -> None:
    _common((part, sp.S.One), table, where)


def _symbol(symbol: sp.Symbol, table: Table) -> sp.Expr:
    unit = table.get(symbol)
    if unit is None:
        raise InputError(f"units needs a unit for every symbol, got none for symbol={symbol}; add it.")
    if not isinstance(unit, sp.Expr) or not unit.as_powers_dict().keys() <= _BASES:
        raise InputError(
            f"units needs products of powers of LENGTH and GRADIENT, got {symbol}={unit}; write it as such a product."
        )
    return unit


def _unit(expression: sp.Expr, table: Table) -> sp.Expr | None:
    """Unit of an expression; None for zero, which has every unit."""
    if expression.is_zero:
        return None
    if expression.is_number and not expression.free_symbols:
        return NUMBER
    if isinstance(expression, sp.Symbol):
        return _symbol(expression, table)
    if isinstance(expression, sp.Add):
        return _common(expression.args, table, "two terms of a sum")
    if isinstance(expression, sp.Min | sp.Max):
        return _common(expression.args, table, "two sides of a minimum or maximum")
    if isinstance(expression, sp.Mul):
        units = [_unit(part, table) for part in expression.args]
        return None if None in units else sp.Mul(*units)
    if isinstance(expression, sp.Pow):
        _number(expression.exp, table, "an exponent")
        unit = _unit(expression.base, table)
        return None if unit is None else sp.expand_power_base(unit**expression.exp)
    if isinstance(expression, sp.Abs):
        return _unit(expression.args[0], table)
    if isinstance(expression, sp.Sum):
        for _, *ends in (limit.args for limit in expression.limits):
            for end in ends:
                _number(end, table, "an end of a sum")
        return _unit(expression.function, {**table, **{limit[0]: NUMBER for limit in expression.limits}})
    if isinstance(expression, sp.Function) and not isinstance(
        expression, sp.sign | sp.Heaviside | sp.Piecewise
    ):
        for part in expression.args:
            _number(part, table, f"the argument of {expression.func}")
        return NUMBER
    raise UnsupportedError(f"the units engine cannot read {type(expression).__name__}")


def decide(check: Units, assumptions: tuple[Boolean, ...]) -> Outcome:  # noqa: ARG001
    """Decide a `Units` check; the assumptions do not matter."""
    for side in (check.left, check.right):
        if side.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise InputError(f"units may not contain infinity or NaN, got {side}; write it without them.")
    table = {symbol: unit for symbol, (_, unit) in MEANING.items()} | UNITS | dict(check.units)
    try:
        unit = _common((carried_out(check.left), carried_out(check.right)), table, "the two sides") or NUMBER
    except _UnlikeError as unlike:
        first, second, where = unlike.args
        return refuted(check, Counterexample({}, first, "has the unit of", second, where))
    return held(
        check, Grade.PROVED, f"the terms of every sum have the same unit; each side is in [{unit_text(unit)}]"
    )


def near_misses(check: Units, assumptions: tuple[Boolean, ...], room: sp.Expr) -> tuple[Check, ...]:  # noqa: ARG001
    """Checks with a term multiplied by a length."""
    return tuple(changed(check, term, D) for term in first_middle_last(list(terms_of(check, "left", "right"))))
