"""Exact rational points that satisfy a claim's assumptions.

At an admissible point every assumption, as the claim states it, is certainly true, and each value has the
declared properties of its symbol (integer, positive, nonnegative).
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache
from itertools import tee
from typing import NamedTuple

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks import declared
from lastiterate.proofs_checks.exact_values import Point, truth_at, value_at


class NoPointError(ValueError):
    """No sample satisfies the assumptions, so nothing was checked."""


def free_symbols(*parts: sp.Basic | Iterable[sp.Basic]) -> tuple[sp.Symbol, ...]:
    """Free symbols of expressions and conditions, sorted by name."""
    items = [item for part in parts for item in ([part] if isinstance(part, sp.Basic) else part)]
    return tuple(sorted(set().union(*(item.free_symbols for item in items)), key=str))


def connected(assumptions: Sequence[Boolean], symbols: Iterable[sp.Symbol]) -> tuple[Boolean, ...]:
    """Assumptions that involve the symbols, or that are linked to them through other assumptions."""
    reached = set(symbols)
    while True:
        more = {s for a in assumptions if a.free_symbols & reached for s in a.free_symbols}
        if more <= reached:
            return tuple(a for a in assumptions if a.free_symbols & reached)
        reached |= more


class Range(NamedTuple):
    """Range of a letter; None for a missing end."""

    low: sp.Rational | None
    high: sp.Rational | None
    low_open: bool


def range_of(symbol: sp.Symbol, conditions: Sequence[Boolean]) -> Range:
    """Range from the declaration and from numerical bounds among the conditions."""
    low: sp.Rational | None = sp.S.Zero if symbol.is_nonnegative else None
    open_ = bool(symbol.is_positive)
    high: sp.Rational | None = sp.S.Zero if symbol.is_nonpositive else None
    for condition in conditions:
        if not isinstance(condition, sp.Gt | sp.Ge | sp.Lt | sp.Le):
            continue
        small, large, strict = condition.lts, condition.gts, isinstance(condition, sp.Gt | sp.Lt)
        if large == symbol and small.is_Rational and (low is None or small >= low):
            low, open_ = small, strict or (open_ and small == low)
        if small == symbol and large.is_Rational and (high is None or large < high):
            high = large
    return Range(low, high, open_)


def _draw(symbol: sp.Symbol, bounds: Range, generator: random.Random) -> sp.Expr:
    """Random short number in the range, spread over scales; closed ends are included."""
    low = min(sp.Integer(-8), (bounds.high or sp.S.Zero) - 8) if bounds.low is None else bounds.low
    if symbol.is_integer:
        first = int(sp.ceiling(low)) + (1 if bounds.low_open and low.is_Integer else 0)
        last = first + 12 if bounds.high is None else min(int(sp.floor(bounds.high)), first + 40)
        return sp.Integer(generator.choice((first, generator.randint(first, max(first, last)))))
    if not bounds.low_open and generator.random() < 0.05:
        return low
    if bounds.high is None:
        step = sp.Rational(generator.randint(1, 40), generator.choice((1, 2, 3, 4, 5, 8, 10, 20)))
        return low + step
    share = sp.Rational(generator.randint(1, 39), 40)
    if generator.random() < 0.2:
        share = sp.Rational(1, generator.choice((50, 200, 1000)))
        share = share if generator.random() < 0.5 else 1 - share
    return low + share * (bounds.high - low)


def definitions(conditions: Sequence[Boolean]) -> dict[sp.Symbol, sp.Expr]:
    """Letters that equations define -> their values in other letters."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for condition in conditions:
        if isinstance(condition, sp.Eq):
            for symbol, value in (condition.args, condition.args[::-1]):
                used = {s for d in found.values() for s in d.free_symbols}
                new = symbol.is_Symbol and not ({symbol} & (found.keys() | value.free_symbols | used))
                if new and not (value.free_symbols & found.keys()):
                    found[symbol] = value
                    break
    return found


def find_points(
    symbols: Sequence[sp.Symbol], conditions: Sequence[Boolean], wanted: int, *, seed: int = 0, tries: int = 200
) -> Iterator[Point]:
    """Up to ``wanted`` admissible rational points, determined by the input.

    Raises:
        NoPointError: none of ``tries * wanted`` candidates satisfies the conditions.
    """
    for point in copy(_stream(tuple(symbols), tuple(conditions), wanted, seed, tries)):
        if isinstance(point, Exception):
            if not isinstance(point, NoPointError):
                _stream.cache_clear()  # a lack of time may be temporary
            raise point
        yield dict(point)


@lru_cache(maxsize=1024)  # near misses and mutants often have the letters and the premises of their check
def _stream(
    symbols: tuple[sp.Symbol, ...], conditions: tuple[Boolean, ...], wanted: int, seed: int, tries: int
) -> Iterator[Point | Exception]:
    """Iterator over the points and the exception, if one ends them; copies share the points drawn so far."""

    def points() -> Iterator[Point | Exception]:
        try:
            yield from _drawn_points(symbols, conditions, wanted, seed, tries)
        except Exception as error:
            yield error

    return tee(points(), 1)[0]


def _drawn_points(
    symbols: tuple[sp.Symbol, ...], conditions: tuple[Boolean, ...], wanted: int, seed: int, tries: int
) -> Iterator[Point]:
    meant = definitions(conditions)
    everything = set(symbols) | set(free_symbols(conditions))
    drawn = sorted(everything - meant.keys(), key=str)
    ranges = {symbol: range_of(symbol, conditions) for symbol in drawn}
    generator = random.Random(seed)  # noqa: S311
    found = 0
    for _ in range(tries * wanted):
        point: Point = {symbol: _draw(symbol, ranges[symbol], generator) for symbol in drawn}
        for symbol, value in meant.items():
            point[symbol] = value_at(value, point)
        if not all(
            value.is_Rational and declared.admits_value(symbol, value) for symbol, value in point.items()
        ):
            continue
        if all(truth_at(condition, point) for condition in conditions):
            found += 1
            yield point
            if found == wanted:
                return
    if not found:
        raise NoPointError(
            f"no sample satisfies the assumptions {', '.join(str(c) for c in conditions)}; "
            "they contradict each other, or leave too small a set."
        )
