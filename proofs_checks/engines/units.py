"""Units: whether every sum of a formula adds like things, and whether its two sides are alike.

A unit is a product of powers of base units (length, gradient), read from the table of notation. A formula that
adds a length to a number cannot be right in every system of units, whatever its constants are; one that passes
may still be wrong.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines.answers import held, refuted
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.claim import Units
from lastiterate.symbolic.letters import UNITS
from lastiterate.symbolic.notation import MEANING, lam

Unit = Mapping[str, sp.Expr]
"""Powers of base units; empty for a number."""

NUMBER: Final[Unit] = MappingProxyType({})

BASES: Final = frozenset({"length", "gradient"})
"""What the units of the table are made of."""

_EXPONENTS: Final[dict[str, sp.Expr]] = {"lambda": lam}
_FACTOR = re.compile(r"\(([a-z0-9 ^]+)\)\^(\S+)|([a-z]+|1)(?:\^(\S+))?")
_POWER = re.compile(r"(-?\d+)|\((-?\d+)/([1-9]\d*)\)")


class _UnlikeError(Exception):
    """Two things that do not have the same unit, each with its unit in words."""

    def __init__(self, first: str, second: str, where: str) -> None:
        super().__init__(where)
        self.first, self.second, self.where = first, second, where


def _times(units: Iterable[Unit], power: sp.Expr = sp.S.One) -> Unit:
    total: dict[str, sp.Expr] = {}
    for unit in units:
        for base, exponent in unit.items():
            total[base] = total.get(base, sp.S.Zero) + power * exponent
    return {base: exponent for base, exponent in total.items() if sp.simplify(exponent) != 0}


def _exponent(text: str, whole: str) -> sp.Expr:
    if text in _EXPONENTS:
        return _EXPONENTS[text]
    found = _POWER.fullmatch(text)
    if not found:
        raise InputError(f"unit needs powers such as 2, (1/2) or lambda, got unit={whole!r}; write it so.")
    return sp.Integer(found[1]) if found[1] else sp.Rational(int(found[2]), int(found[3]))


def _product(text: str, whole: str) -> Unit:
    units: list[Unit] = []
    place = 0
    for found in _FACTOR.finditer(text):
        if text[place : found.start()].strip():
            break
        place = found.end()
        inside, outer, base, power = found.groups()
        if inside:
            units.append(_times([_product(inside, whole)], _exponent(outer, whole)))
        elif base != "1" and base not in BASES:
            raise InputError(
                f"unit needs base units among {', '.join(sorted(BASES))}, got unit={whole!r}; "
                "say in the check what it is there."
            )
        elif base != "1":
            units.append({base: _exponent(power, whole) if power else sp.S.One})
    if text[place:].strip() or not text.strip():
        raise InputError(
            f"unit needs base units with powers, such as 'gradient / length^2', got unit={whole!r}; write it so."
        )
    return _times(units)


def parse_unit(text: str) -> Unit:
    """The unit that a line of the table of notation names.

    Args:
        text: base units with powers, at most one " / ", "1" for a number.

    Returns:
        The power of each base unit.

    Raises:
        InputError: the text is no such product.

    >>> parse_unit("gradient / length^2")
    {'gradient': 1, 'length': -2}
    >>> parse_unit("(gradient length)^(1/2)")
    {'gradient': 1/2, 'length': 1/2}
    """
    above, slash, below = text.partition(" / ")
    unit = _product(above, text)
    return _times([unit, _times([_product(below, text)], sp.S.NegativeOne)]) if slash else unit


def unit_text(unit: Unit) -> str:
    """A unit in words.

    >>> unit_text(parse_unit("gradient / length^2"))
    'gradient length^-2'
    """
    powers = (base if power == 1 else f"{base}^{power}" for base, power in sorted(unit.items()))
    return " ".join(powers) or "a number"


def _alike(first: Unit, second: Unit) -> bool:
    return not _times([first, _times([second], sp.S.NegativeOne)])


def _common(parts: Iterable[sp.Expr], table: Mapping[sp.Symbol, str], where: str) -> Unit | None:
    """The unit that all parts have; None where all are zero."""
    before: tuple[sp.Expr, Unit] | None = None
    for part in parts:
        unit = _unit(part, table)
        if unit is None:
            continue
        if before is not None and not _alike(before[1], unit):
            first, second = (f"{e}: {unit_text(u)}" for e, u in (before, (part, unit)))
            raise _UnlikeError(first, second, where)
        before = before or (part, unit)
    return None if before is None else before[1]


def _number(part: sp.Expr, table: Mapping[sp.Symbol, str], where: str) -> None:
    unit = _unit(part, table)
    if unit:
        raise _UnlikeError(f"{part}: {unit_text(unit)}", "a number", where)


def _power(expression: sp.Pow, table: Mapping[sp.Symbol, str]) -> Unit | None:
    _number(expression.exp, table, "an exponent")
    unit = _unit(expression.base, table)
    return None if unit is None else _times([unit], expression.exp)


def _symbol(symbol: sp.Symbol, table: Mapping[sp.Symbol, str]) -> Unit:
    if symbol not in table:
        raise InputError(f"units needs a unit for every symbol, got none for symbol={symbol}; add it.")
    return parse_unit(table[symbol])


def _unit(expression: sp.Expr, table: Mapping[sp.Symbol, str]) -> Unit | None:
    """The unit of an expression; None for zero, which has every unit.

    Raises:
        _UnlikeError: something in it adds or compares unlike things.
    """
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
        return None if None in units else _times([unit for unit in units if unit is not None])
    if isinstance(expression, sp.exp):
        _number(expression.args[0], table, "an exponent")
        return NUMBER
    if isinstance(expression, sp.Pow):
        return _power(expression, table)
    if isinstance(expression, sp.Abs):
        return _unit(expression.args[0], table)
    if isinstance(expression, sp.Piecewise):
        for _, condition in (piece.args for piece in expression.args):
            for relation in condition.atoms(sp.Rel):
                _common((relation.lhs, relation.rhs), table, "two sides of a condition")
        return _common((piece.args[0] for piece in expression.args), table, "two cases")
    if isinstance(expression, sp.Sum):
        return _unit(expression.function, {**table, **{limit[0]: "1" for limit in expression.limits}})
    if isinstance(expression, sp.Function):
        for part in expression.args:
            _number(part, table, f"the argument of {expression.func}")
        return NUMBER
    raise UnsupportedError(f"the units engine cannot read {type(expression).__name__}")


def decide(check: Units, assumptions: tuple[Boolean, ...]) -> Outcome:  # noqa: ARG001
    """Decide a `Units` check; the assumptions play no part, since a unit holds at every point.

    Raises:
        InputError: a symbol has no unit, or a unit cannot be read.
        UnsupportedError: an expression of a kind that has no rule here.
    """
    for side in (check.left, check.right):
        if side.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            raise InputError(f"units needs formulas without infinities, got {side}; write it out.")
    table = {symbol: unit for symbol, (_, unit) in MEANING.items()} | UNITS | dict(check.units)
    try:
        unit = _common((check.left, check.right), table, "the two sides")
    except _UnlikeError as unlike:
        return refuted(check, Counterexample({}, unlike.first, "has the unit of", unlike.second, unlike.where))
    return held(check, Grade.PROVED, f"every sum adds like things; each side is {unit_text(unit or NUMBER)}")
