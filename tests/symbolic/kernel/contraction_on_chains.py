"""Attacks on contraction by blocks: general kernels on a few points, every split by thresholds, and several blocks.

Points are at distance 1 from each other, or on a line where a distance is tracked; a block costs the least profile
above its pairs of kernels, at equal points near and at any two points far. Each fault is one that has been made
with this theorem: it must give a false bound.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random

from finite_chains import (
    Chain,
    Law,
    Metric,
    Pair,
    Split,
    both_runs,
    envelope,
    law,
    mixed,
    priced,
    pushed,
    start_laws,
)
from rules_on_chains import Attacked, _kernel, _order
from sympy import Integer, Rational, S, Symbol

from lastiterate.symbolic.formulas.contraction import block, shares
from lastiterate.symbolic.kernel.judgement import Span
from lastiterate.symbolic.kernel.profiles import EVERYTHING, Atoms, Damped, Equal, Order
from lastiterate.symbolic.kernel.rules import contract

_j = Symbol("j", integer=True, nonnegative=True)
_ENDS = (S.One, Integer(2))
_NODES = tuple(Rational(*one) for one in ((1, 4), (1, 2), (3, 4), (1, 1), (4, 3), (2, 1), (4, 1)))


def _apart(k: int) -> Metric:
    return tuple(tuple(int(x != y) for y in range(k)) for x in range(k))


def _all_pairs(one: Chain, other: Chain) -> list[Pair]:
    return [(p, q) for p in one for q in other]


def _shares(before: Atoms) -> list[tuple[tuple[Rational, Rational], ...]]:
    """Nothing kept, and the shares of every two thresholds among the ratios; with None all of p or q is kept."""
    ratios = [y for y, _ in before.pairs]
    found = [((S.Zero, S.Zero),) * (len(ratios) + 1)]
    for low in (None, *ratios):
        for high in (*ratios, None):
            if low is None or high is None or low <= high:
                of = [shares(y, low or y, high or y) for y in ratios]
                found.append((*of, (Integer(high is None), S.Zero)))
    return found


def _premises(order: Order, before: Atoms, near: Atoms, far: Atoms) -> tuple[Span, Span, Span]:
    still = (S.Zero, S.Zero)
    return (
        _kernel.suppose(order, (S.Zero, S.One), still, before, "before"),
        _kernel.suppose(order, _ENDS, still, near, "near"),
        _kernel.suppose(order, _ENDS, (S.One, S.Zero), far, "far"),
    )


def _bounds(order: Order, before: Atoms, near: Atoms, far: Atoms) -> list[Split]:
    """What the rule says of a block, one bound for each split."""
    made = contract(_kernel, *_premises(order, before, near, far), S.One)
    return [Split(made.profile, each) for each in _shares(before)]


def _of_no_pair(split: Split, mass: Rational, g: Rational) -> Rational:
    """The bound with another B than that of its split."""
    *kept, (singular, _) = split.shares
    parts = [(y * m * u, m * v) for (y, m), (u, v) in zip(split.whole.before.pairs, kept, strict=True)]
    near = block(g, parts, singular * split.whole.before.rest, split.whole.near.at, lambda _: S.Zero)
    left = 1 - singular * split.whole.before.rest - sum(u for u, _ in parts)
    return near + (left * split.whole.far.at(g * mass / left) if left != 0 else 0)


def _laws(random: Random, k: int) -> Pair:
    """Two laws; often two points, between which a far price binds."""
    if random.random() < 0.5:
        return start_laws(random, k)
    one, other = (tuple(Fraction(x == at) for x in range(k)) for at in random.sample(range(k), 2))
    return one, other


def _tracked(random: Random) -> tuple[Pair, Chain]:
    """On three points of a line: laws of which one is the other moved by at most 1, and the step of both runs."""
    p, step = law(random, 3), tuple(law(random, 3) for _ in range(3))
    to = (1, 2, 2) if random.random() < 0.7 else (1, 1, 2)
    q = tuple(sum((p[x] for x in range(3) if to[x] == y), Fraction(0)) for y in range(3))
    return (p, q), step


def _one_block(random: Random, fault: str) -> bool:
    k, order = random.randint(2, 3), _order(random)
    (p, q), (one, other) = _laws(random, k), both_runs(random, k)
    pairs = _all_pairs(one, other)
    if fault == "far from a tracked distance":
        (p, q), one = _tracked(random)
        other, k = one, 3
        pairs = [(one[x], one[y]) for x in range(k) for y in range(k) if abs(x - y) <= 1]
    if fault == "the domain after the block":
        last = random.sample(range(k), random.randint(1, k - 1))
        one, other = (tuple(_inside(random, row, last) for row in chain) for chain in (one, other))
        pairs = _all_pairs(tuple(one[x] for x in last), tuple(other[y] for y in last))
        p = tuple(Fraction(x == min(set(range(k)) - set(last))) for x in range(k))
    if fault == "a coin hidden near and revealed far":
        weights, chains = law(random, 2), [(one, other), both_runs(random, k)]
        one, other = (tuple(mixed(weights, [c[run][x] for c in chains]) for x in range(k)) for run in range(2))
        pairs = _all_pairs(*chains[0])
    if fault == "far of a longer block":
        pairs = _all_pairs(_twice(one), _twice(other))
    d = _apart(k)
    prices = (
        priced(fault, "before", [(p, q)], d),
        priced(fault, "near", list(zip(one, other, strict=True)), d),
        priced(fault, "far", pairs, d),
    )
    splits = _bounds(order, *prices)
    truth = envelope([(pushed(p, one), pushed(q, other))], d, 0)
    nodes = {*_NODES[2:6], *(y for y, _ in truth.pairs)}
    if fault == "A and B of no pair":
        heavier = [
            1 - sum(m * v for (_, m), (_, v) in zip(s.whole.before.pairs, s.shares, strict=False))
            for s in splits
        ]
        return any(
            truth.at(g) > _of_no_pair(split, mass, g)
            for g in nodes
            for split in splits
            for mass in (*heavier, S.One)
        )
    if fault == "no mass beside the atoms":
        return any(truth.at(g) > split.at(g) - split.whole.before.rest for g in nodes for split in splits)
    return any(truth.at(g) > split.at(g) for g in nodes for split in splits)


def _inside(random: Random, row: Law, points: Sequence[int]) -> Law:
    """A law on these points alone."""
    inner = law(random, len(points))
    return tuple(inner[points.index(x)] if x in points else Fraction(0) for x in range(len(row)))


def _twice(one: Chain) -> Chain:
    return tuple(pushed(row, one) for row in one)


def table(points: Mapping[Rational, Rational]) -> Atoms:
    """The lower envelope of upper bounds at some ratios, 1 at 0 and no more right of the last than there."""
    kept: list[tuple[Rational, Rational]] = []
    for x, y in [(S.Zero, S.One), *sorted(points.items())]:
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) >= _slope(kept[-1], (x, y)):
            kept.pop()
        kept.append((x, y))
    while len(kept) > 1 and kept[-2][1] <= kept[-1][1]:
        kept.pop()
    slopes = [_slope(*ends) for ends in pairwise(kept)] + [S.Zero]
    return Atoms(
        tuple((x, after - before) for (x, _), (before, after) in zip(kept[1:], pairwise(slopes), strict=True))
    )


def _slope(one: tuple[Rational, Rational], other: tuple[Rational, Rational]) -> Rational:
    return (other[1] - one[1]) / (other[0] - one[0])


def _several_blocks(random: Random, fault: str) -> bool:
    """Two or three blocks, from any two laws or from equal ones: tables through bounds at a few nodes."""
    k, order, count = 2, _order(random), random.randint(2, 3)
    p, q = start_laws(random, k)
    from_equal = random.random() < 0.5
    q = p if from_equal else q
    d, (one, other) = _apart(k), both_runs(random, k)
    near, far = envelope(zip(one, other, strict=True), d, 0), envelope(_all_pairs(one, other), d, 0)
    known = (
        Atoms(((S.One, S.One),))
        if from_equal or fault == "from equal points, whatever was before"
        else EVERYTHING
    )
    for _ in range(count - (fault == "one block fewer")):
        splits = _bounds(order, known, near, far)
        known = table({g: min(split.at(g) for split in splits) for g in _NODES})
    for _ in range(count):
        p, q = pushed(p, one), pushed(q, other)
    truth = envelope([(p, q)], d, 0)
    if fault == "a node left of each":
        return any(truth.at(g) > known.at(next(y for y in (*_NODES[1:], 8 * g) if y > g)) for g in _NODES[:-1])
    if fault == "5% low":
        return any(truth.at(g) > Rational(19, 20) * known.at(g) + max(1 - g, 0) / 20 for g in _NODES)
    return any(truth.at(g) > known.at(g) for g in (*_NODES, Rational(7, 8), Rational(3, 2)))


def _chords(random: Random, fault: str) -> bool:
    """The exact profile of two laws at a few ratios, and what is between them."""
    pair = law(random, 3), law(random, 3)
    truth = envelope([pair], _apart(3), 0)
    low, high = sorted(random.sample(_NODES, 2))
    share = Rational(random.randint(1, 3), 4)
    g = low + share * (high - low)
    if fault == "in the logarithm":
        g = Rational(Fraction(float(low ** (1 - share) * high**share)).limit_denominator(10**9))
    value = (1 - share) * truth.at(low) + share * truth.at(high)
    if fault == "the lower end":
        value = truth.at(high)
    return bool(truth.at(g) > value + (Rational(1, 10**8) if fault == "in the logarithm" else 0))


def _forgetting(random: Random, fault: str) -> bool:
    """Both runs make the same step."""
    k, order = random.randint(2, 4), _order(random)
    (p, q), (one, other) = _laws(random, k), both_runs(random, k)
    other = other if fault == "steps that differ" else one
    d = _apart(k)
    before = priced(fault, "before", [(p, q)], d)
    far = priced(fault, "far", _all_pairs(one, other), d)
    made = contract(_kernel, *_premises(order, before, Equal(), far), S.One)
    damped = _kernel.weaken(made, profile=Damped(before, far, _j, S.One)).profile
    truth = envelope([(pushed(p, one), pushed(q, other))], d, 0)
    nodes = {*_NODES, *(y for y, _ in truth.pairs)}
    if fault == "F at g":
        return any(truth.at(g) > before.at(g) * far.at(g) for g in nodes)
    return any(truth.at(g) > damped.at(g) for g in nodes)


POWER: Mapping[str, Mapping[str, int]] = {
    "one block": {
        "before 5% low": 145,
        "near 5% low": 35,
        "far 5% low": 225,
        "before in the other order": 23,
        "near in the other order": 55,
        "far in the other order": 120,
        "far from a tracked distance": 35,
        "the domain after the block": 30,
        "a coin hidden near and revealed far": 90,
        "far of a longer block": 275,
        "A and B of no pair": 40,
        "no mass beside the atoms": 735,
    },
    "several blocks": {
        "5% low": 95,
        "one block fewer": 25,
        "from equal points, whatever was before": 55,
        "a node left of each": 550,
    },
    "chords": {
        "in the logarithm": 385,
        "the lower end": 465,
    },
    "forgetting": {
        "before 5% low": 385,
        "far 5% low": 385,
        "F at g": 185,
        "steps that differ": 220,
    },
}
"""Faults that an attack must find, and on how many of 1,000 instances it does, as measured."""

_ATTACKS: Mapping[str, Callable[[Random, str], bool]] = {
    "one block": _one_block,
    "several blocks": _several_blocks,
    "chords": _chords,
    "forgetting": _forgetting,
}

CONTRACTED = {rule: Attacked(attack, tuple(POWER[rule])) for rule, attack in _ATTACKS.items()}
"""What is said of blocks, with the faults that an attack must find."""
