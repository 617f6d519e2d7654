"""Boxes with exact ends, and what can be said of a condition all over one."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf, sqrt

import sympy as sp
from flint import arb, fmpq
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.interval import Interval
from lastiterate.numeric.enclosure.tape import Tape
from lastiterate.proofs_checks.exact_values import Point, exact, truth

Edges = tuple[tuple[fmpq, fmpq], ...]
"""A box: exact (low, high) for each symbol."""


@dataclass
class Problem:
    """A problem: the gap is to be nonnegative (positive if strict) on the root box, where the conditions hold.

    Attributes:
        gap: an expression in the symbols.
        strict: whether zero is a failure.
        symbols: one for each edge of the box.
        conditions: premises that may cut the box.
        root: the box.
        budget: most boxes to look at.
        boxes: boxes looked at so far.
        zero_tests: exact tests of a zero that are left; each may take long.
        sides: what must be defined at a point for the claim to fail there; the gap, where it is empty.
        generator: of the points that are tried.
        lowest: the least gap at a point tried so far, as a float, and the point.
    """

    gap: sp.Expr
    strict: bool
    symbols: tuple[sp.Symbol, ...]
    conditions: tuple[Boolean, ...]
    root: Edges
    budget: int
    boxes: int = 0
    zero_tests: int = 12
    sides: tuple[sp.Expr, ...] = ()
    generator: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311
    lowest: tuple[float, tuple[fmpq, ...]] = (inf, ())


@dataclass
class Answer:
    """Answer of branch and bound.

    Attributes:
        held: shown on the whole admissible part of the box.
        witness: an admissible point where the claim certainly fails.
        boxes: number of boxes looked at.
        stuck: a box that could not be decided, for the reader.
    """

    held: bool
    witness: Point | None = None
    boxes: int = 0
    stuck: str = ""


def interval_of(edge: tuple[fmpq, fmpq]) -> Interval:
    """The edge at the working precision, rounded outwards."""
    low = arb(edge[0])
    return low.lower(), (low if edge[0] == edge[1] else arb(edge[1])).upper()


def rational(value: fmpq) -> sp.Rational:
    """The same number in Sympy."""
    return sp.Rational(int(value.p), int(value.q))


def edge_of(ends: tuple[sp.Rational, sp.Rational]) -> tuple[fmpq, fmpq]:
    """An interval of Sympy's rationals as an edge."""
    return exact(ends[0]), exact(ends[1])


def split_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """The middle, or near the geometric mean where the edge spans scales."""
    low, high = edge
    if low > 0 and high > 16 * low:
        middle = sp.Rational(sqrt(float(rational(low)) * float(rational(high)))).limit_denominator(10**6)
        if low < exact(middle) < high:
            return exact(middle)
    return (low + high) / 2


def short_point(edge: tuple[fmpq, fmpq]) -> fmpq:
    """A number with a short name near the middle, for a counterexample that reads well."""
    middle = rational(split_point(edge))
    for limit in (2, 10, 100, 1000):
        short = exact(middle.limit_denominator(limit))
        if edge[0] < short < edge[1]:
            return short
    return split_point(edge)


@lru_cache(maxsize=4096)
def tape_of(expression: sp.Expr, symbols: tuple[sp.Symbol, ...]) -> Tape:
    """The compiled expression, kept for the next time."""
    return Tape(expression, symbols)


def status(condition: Boolean, symbols: tuple[sp.Symbol, ...], box: Sequence[Interval]) -> bool | None:
    """Tell whether a condition holds all over the box, nowhere in it, or neither is clear."""

    def on_box(relation: sp.Rel) -> bool | None:
        if isinstance(relation, sp.Eq | sp.Ne):
            low, high = tape_of(relation.lhs - relation.rhs, symbols).value(box)
            return isinstance(relation, sp.Ne) if low > 0 or high < 0 else None
        low, high = tape_of(relation.gts - relation.lts, symbols).value(box)
        if isinstance(relation, sp.Gt | sp.Lt):
            return True if low > 0 else False if high <= 0 else None
        return True if low >= 0 else False if high < 0 else None

    return truth(condition, on_box)
