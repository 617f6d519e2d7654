"""Places of a claim: what stands in its checks and assumptions, and the claim with one of them off.

A number or a symbol is off by a share of itself. In a claim about units it is a length too much; in one up to a
constant a symbol is raised to a power that is off; a range is one longer or shorter, and a number that is printed
differs in its last digit, whatever the share. A condition that compares with 0 compares with the share instead.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines.units import decide
from lastiterate.proofs_checks.places.occurrences import Kind, Occurrence, occurrences
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.claim import Asymptotic, Check, Claim, Unbounded, Units, UpperBound, Value
from lastiterate.symbolic.notation import D, K, L, eta, lam, m, sigma

_CHOICE: Final = "at"
"""Field of a check that says what letters are in the statement of its claim."""

_EVIDENCE: Final = frozenset(
    {"path", "parameters", "tolerance", "units", "index", "attained", "constant", "altered", _CHOICE}
)
"""Fields of a check that say how it, or the statement, is decided, not what it says."""

_LETTERS: Final = (eta, sigma, K, D, L, lam, m)
"""Parameters of a bound that is attacked."""

Question = tuple[tuple[Check, tuple[Boolean, ...]], ...]
"""Checks to decide, each with the assumptions under which to decide it."""


@dataclass(frozen=True)
class Place:
    """A place of a claim.

    Attributes:
        check: name of the check in which it stands, "" for an assumption.
        kind: where it stands.
        words: what is there, for a reader.
        off: what there is to decide when it is off by a share of itself, negative for less.
        without: what there is to decide without the premise or the assumption in which it stands.
    """

    check: str
    kind: Kind
    words: str
    off: Callable[[sp.Rational], Question]
    without: Question | None = None


def places(claim: Claim, checks: Sequence[Check] | None = None) -> Iterator[Place]:
    """Every place of a claim, or of some of its checks; of several that are the same when they are off, the first.

    >>> from lastiterate.symbolic.claim import Identity, Source
    >>> from sympy.abc import x
    >>> toy = Claim("toy/square", "A square", Source("toy", "(1)"), Identity((x + 1) ** 2, x**2 + 2 * x + 1))
    >>> sorted({place.kind.value for place in places(toy)})
    ['coefficient', 'constant', 'exponent']
    """
    bare = [replace(check, mutants=()) for check in (claim.checks if checks is None else checks)]

    def under(conditions: tuple[Boolean, ...]) -> Question:
        return tuple((check, conditions) for check in bare)

    for check in bare:
        yield from _different(_of_check(check, claim.assumptions), ((check, claim.assumptions),))
    assumed = _of_conditions("", Kind.ASSUMPTION, claim.assumptions, under)
    yield from _different(assumed, under(claim.assumptions))


def choices(claim: Claim) -> Iterator[tuple[Place, int]]:
    """The places of what letters are in the statement of a claim, with the number of the check that chooses them."""
    for at, check in enumerate(claim.checks):
        if hasattr(check, _CHOICE):
            inside = _field(lambda changed: ((changed, claim.assumptions),), check, _CHOICE)
            found = _of_value(check, getattr(check, _CHOICE), inside)
            yield from ((place, at) for place in _different(found, ((check, claim.assumptions),)))


def _different(found: Iterator[Place], as_it_is: Question) -> Iterator[Place]:
    seen = [(as_it_is, as_it_is)]
    for place in found:
        with suppress(ValueError, TypeError, NotImplementedError):  # Sympy refuses to write it down
            changed = place.off(sp.Rational(1, 100)), place.off(sp.Rational(-1, 100))
            if changed not in seen:
                seen.append(changed)
                yield place


_Put = Callable[[Any], Question]
"""The question with something else in a place."""


def _of_check(check: Check, assumptions: tuple[Boolean, ...]) -> Iterator[Place]:
    def put(changed: Check) -> Question:
        return ((changed, assumptions),)

    if isinstance(check, UpperBound):
        for letter in _LETTERS:
            yield Place(check.name, Kind.PARAMETER, str(letter), _off(put, partial(_seen, check, letter)))
        return
    if isinstance(check, Value):
        yield Place(check.name, Kind.DIGIT, check.printed, _off(put, partial(_printed, check)))
    for field in fields(check):
        value, inside = getattr(check, field.name), _field(put, check, field.name)
        if field.name == "given":
            yield from _of_conditions(check.name, Kind.PREMISE, value, inside)
        elif field.name not in _EVIDENCE:
            yield from _of_value(check, value, inside)


def _off(put: _Put, change: Callable[[sp.Rational], Any]) -> Callable[[sp.Rational], Question]:
    return lambda share: put(change(share))


def _field(put: _Put, record: Any, name: str) -> _Put:
    return lambda new: put(replace(record, **{name: new}))


def _entry(put: _Put, entries: tuple[Any, ...], at: int) -> _Put:
    return lambda new: put((*entries[:at], new, *entries[at + 1 :]))


def _end(put: _Put, box: Mapping[Any, Any], key: Any) -> _Put:
    return lambda new: put({**box, key: new})


def _of_value(check: Check, value: Any, put: _Put) -> Iterator[Place]:
    """The places of a field, or of a part of one: an expression, a profile, the ends of a box."""
    if isinstance(value, sp.Basic):
        for one in occurrences(value):
            change = _change(check, one)
            if change is not None:
                words = f"{one.what} in {one.around}" if one.around != one.what else str(one.what)
                yield Place(check.name, one.kind, words, _off(put, _at(one, change)))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name not in ("index", "order", "variables"):
                yield from _of_value(check, getattr(value, field.name), _field(put, value, field.name))
    elif isinstance(value, tuple):
        for at, part in enumerate(value):
            yield from _of_value(check, part, _entry(put, value, at))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            ends = tuple(map(sp.sympify, part)) if isinstance(part, tuple) else part
            yield from _of_value(check, ends, _end(put, value, key))


def _at(one: Occurrence, change: Callable[[sp.Rational], sp.Basic]) -> Callable[[sp.Rational], sp.Basic]:
    return lambda share: one.put(change(share))


def _change(check: Check, one: Occurrence) -> Callable[[sp.Rational], sp.Basic] | None:
    """The number or symbol off by a share of itself; None where that would not be wrong."""
    if one.kind is Kind.RANGE and one.what.is_integer:
        return lambda share: one.what + (1 if share > 0 else -1)
    if one.kind is Kind.EXPONENT and isinstance(check, Units):
        no_unit = isinstance(one.around, sp.Pow) and _number(one.around.base, check)
        return None if no_unit else _scaled(one)
    if one.kind is not Kind.EXPONENT and isinstance(check, Units | Asymptotic | Unbounded):
        if not one.what.is_Symbol:
            return None
        return (lambda _: one.what * D) if isinstance(check, Units) else (lambda share: one.what ** (1 + share))
    return _scaled(one)


def _number(base: sp.Expr, check: Units) -> bool:
    """Tell whether a base has no unit, so that any power of it has none."""
    try:
        return decide(Units(base, sp.S.One, check.units), ()).status is Status.HELD
    except (InputError, UnsupportedError):
        return False


def _scaled(one: Occurrence) -> Callable[[sp.Rational], sp.Basic]:
    return lambda share: one.what * (1 + share)


def _seen(check: UpperBound, letter: sp.Symbol, share: sp.Rational) -> Check:
    return replace(check, altered={**check.altered, letter: check.altered.get(letter, letter) * (1 + share)})


def _printed(check: Value, share: sp.Rational) -> Check:
    printed = Decimal(check.printed)
    unit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    return replace(check, printed=str(printed + unit if share > 0 else printed - unit))


def _of_conditions(check: str, kind: Kind, conditions: tuple[Boolean, ...], put: _Put) -> Iterator[Place]:
    for at, condition in enumerate(conditions):
        without = put((*conditions[:at], *conditions[at + 1 :]))
        here = _entry(put, conditions, at)
        against_zero = isinstance(condition, Relational) and condition.rhs == 0
        if against_zero:
            yield Place(check, kind, f"0 in {condition}", _off(here, partial(_than, condition)), without)
        if not against_zero or isinstance(condition.lhs, sp.Add):
            for one in occurrences(condition):
                yield Place(check, kind, f"{one.what} in {condition}", _off(here, _at(one, _scaled(one))), without)


def _than(condition: Relational, share: sp.Rational) -> Boolean:
    """The condition with a share where it has 0."""
    return condition.func(condition.lhs, share, evaluate=False)
