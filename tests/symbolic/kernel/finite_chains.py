"""Finite chains with exact rational laws: random instances on which a rule of the kernel can fail.

A law is a tuple of fractions over the points 0, ..., k - 1. E^z_g(P || Q) = max over sets A of P(A) - g Q(A^z) is then
the upper envelope of 2^k lines, exactly, so a rule is refuted by one instance and there is no tolerance. Laws, maps
and noise are drawn with a bias to what binds: points, translations, equal laws.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from random import Random
from typing import Final

from sympy import Expr, Rational

from lastiterate.symbolic.formulas.contraction import block
from lastiterate.symbolic.kernel.profiles import Atoms, Contracted, Profile

Law = tuple[Fraction, ...]
Chain = tuple[Law, ...]
"""The law after a step from each point."""

Pair = tuple[Law, Law]

Metric = tuple[tuple[int, ...], ...]


def cycle(k: int) -> Metric:
    """The cyclic group of k points; its distance is invariant under translations."""
    return tuple(tuple(min(abs(i - j), k - abs(i - j)) for j in range(k)) for i in range(k))


def metric(random: Random, k: int) -> Metric:
    """A random metric with whole distances."""
    d = [[0 if i == j else random.randint(1, 4) for j in range(k)] for i in range(k)]
    for i, j in product(range(k), repeat=2):
        d[i][j] = d[j][i] = min(d[i][j], d[j][i])
    for via, i, j in product(range(k), repeat=3):
        d[i][j] = min(d[i][j], d[i][via] + d[via][j])
    return tuple(map(tuple, d))


def law(random: Random, k: int) -> Law:
    """A random law: generic, on two points, or on one."""
    kind = random.random()
    if kind < 0.25:
        spikes = {random.randrange(k): 1}
    elif kind < 0.5:
        spikes = {random.randrange(k): random.randint(1, 4), random.randrange(k): random.randint(1, 4)}
    else:
        spikes = {point: random.choice((0, 1, 1, 2, 5)) for point in range(k)}
    total = sum(spikes.values())
    return tuple(Fraction(spikes.get(point, 0), total) for point in range(k)) if total else law(random, k)


def bell(random: Random, k: int) -> Law:
    """A law on a cycle that is high at 0 and low far from it."""
    heights = [random.choice(((1, 2, 3, 5, 8), (0, 1, 2), (0, 0, 0, 1))[min(y, k - y, 2)]) for y in range(k)]
    return tuple(Fraction(height, sum(heights)) for height in heights)


def pushed(start: Law, chain: Chain) -> Law:
    """The law after a step."""
    k = len(chain[0])
    return tuple(sum((start[x] * chain[x][y] for x in range(len(start))), Fraction(0)) for y in range(k))


def mixed(weights: Sequence[Fraction], laws: Sequence[Law]) -> Law:
    """sum of w P."""
    return tuple(
        sum((w * p[y] for w, p in zip(weights, laws, strict=True)), Fraction(0)) for y in range(len(laws[0]))
    )


@cache
def _enlarged(d: Metric, z: int) -> tuple[tuple[int, ...], ...]:
    """For every set of points (a bit each) the points within z of it."""
    k = len(d)
    near = [sum(1 << y for y in range(k) if d[x][y] <= z) for x in range(k)]
    sets = [0] * (1 << k)
    for one in range(1, 1 << k):
        low = (one & -one).bit_length() - 1
        sets[one] = sets[one & (one - 1)] | near[low]
    return tuple(tuple(y for y in range(k) if one >> y & 1) for one in sets)


def envelope(pairs: Iterable[tuple[Law, Law]], d: Metric, z: int) -> Atoms:
    """The least profile above E^z_g(P || Q) of every pair (P, Q), exactly."""
    best: dict[Fraction, Fraction] = {}
    for p, q in pairs:
        for plain, large in zip(_enlarged(d, 0), _enlarged(d, z), strict=True):
            a, b = sum((p[x] for x in plain), Fraction(0)), sum((q[x] for x in large), Fraction(0))
            best[b] = max(best.get(b, Fraction(0)), a)
    hull: list[tuple[Fraction, Fraction]] = []  # lines a - g b that are highest somewhere on g >= 0, b rising
    for b, a in sorted(best.items()):
        if hull and hull[-1][0] >= a:
            continue
        while len(hull) > 1 and _crossing(hull[-1], (a, b)) >= _crossing(hull[-2], hull[-1]):
            hull.pop()
        hull.append((a, b))
    nodes = [(_crossing(one, other), other[1] - one[1]) for one, other in pairwise(hull)]
    return Atoms(
        tuple((Rational(*y.as_integer_ratio()), Rational(*m.as_integer_ratio())) for y, m in sorted(nodes))
    )


def _crossing(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> Fraction:
    return (other[0] - one[0]) / (other[1] - one[1])


def lower(profile: Atoms, share: Fraction = Fraction(1, 20)) -> Atoms:
    """A profile that is too low by this share of the way down to max(1 - g, 0): how a wrong price is planted."""
    keep = Rational(*(1 - share).as_integer_ratio())
    pairs = {y: m * keep for y, m in profile.pairs}
    pairs[Rational(1)] = pairs.get(Rational(1), Rational(0)) + (1 - keep)
    return Atoms(tuple(sorted(pairs.items())))


CONCLUSION: Final = "conclusion 1% low"
CLOSER: Final = "conclusion one closer"


def exceeded(truth: Atoms, profile: Profile, at: Iterable[Rational] = (), *, fault: str = "") -> bool:
    """Tell whether the exact profile is above the claimed one: at a node of the claim, or else at one of these factors.

    Between the nodes of a claimed table the truth is convex and the claim is not curved, so the nodes decide. With the
    fault `CONCLUSION` the claimed profile is one percent of the way down to max(1 - g, 0).
    """
    nodes = [y for y, _ in profile.pairs] if isinstance(profile, Atoms) else at
    share = Rational(1, 100) if fault == CONCLUSION else Rational(0)
    return any(truth.at(g) > (1 - share) * profile.at(g) + share * max(1 - g, 0) for g in nodes)


@dataclass(frozen=True)
class Least:
    """The least of several profiles at every factor."""

    profiles: "tuple[Profile | Split, ...]"

    def at(self, g: Expr) -> Expr:
        return min(one.at(g) for one in self.profiles)


@dataclass(frozen=True)
class Split:
    """A bound of `Contracted` by shares (u/p, v/q) of each atom before, and of the mass beside."""

    whole: Contracted
    shares: tuple[tuple[Rational, Rational], ...]

    def at(self, g: Expr) -> Expr:
        before, (*shares, (singular, _)) = self.whole.before, self.shares
        parts = [(y * m * of_p, m * of_q) for (y, m), (of_p, of_q) in zip(before.pairs, shares, strict=True)]
        return block(g, parts, singular * before.rest, self.whole.near.at, self.whole.far.at)


def both_runs(random: Random, k: int) -> tuple[Chain, Chain]:
    """A step of both runs: from each point a random law, often the same in both runs, or that of a neighbour."""
    one = tuple(law(random, k) for _ in range(k))
    kind = random.random()
    if kind < 0.4:
        return one, tuple(law(random, k) if random.random() < 0.5 else row for row in one)
    return one, (one[1:] + one[:1] if kind < 0.6 else tuple(law(random, k) for _ in range(k)))


def start_laws(random: Random, k: int) -> Pair:
    """The laws of both runs before a step, at times the same."""
    p = law(random, k)
    return (p, p) if random.random() < 0.2 else (p, law(random, k))


def near_pairs(d: Metric, z: int, one: Chain, other: Chain) -> list[Pair]:
    """The laws from every two points at most z apart."""
    return [(one[x], other[y]) for x in range(len(d)) for y in range(len(d)) if d[x][y] <= z]


def _swapped(pairs: list[Pair]) -> list[Pair]:
    return [(q, p) for p, q in pairs]


def priced(fault: str, name: str, pairs: list[Pair], d: Metric, z: int = 0) -> Atoms:
    """The least profile of these pairs, or what a fault of this name makes of it."""
    exact = envelope(_swapped(pairs) if fault == f"{name} in the other order" else pairs, d, z)
    return lower(exact) if fault == f"{name} 5% low" else exact
