"""Attacks on the rules of the kernel: finite chains on which a planted fault gives a false profile."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random
from typing import NamedTuple

from finite_chains import (
    CLOSER,
    CONCLUSION,
    Chain,
    Law,
    Least,
    Metric,
    Split,
    bell,
    both_runs,
    cycle,
    envelope,
    exceeded,
    law,
    metric,
    mixed,
    near_pairs,
    priced,
    pushed,
    start_laws,
)
from sympy import Integer, Rational, S, Symbol, true
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import Hypothesis, UnprovedError, Variable
from lastiterate.symbolic.kernel.lemmas import Coin, Expansion, Guide, Shift
from lastiterate.symbolic.kernel.profiles import Order
from lastiterate.symbolic.kernel.rules import Kernel, contract, observe


def _exact(condition: Boolean, _: frozenset[Boolean]) -> str:
    if condition.doit() != true:
        raise UnprovedError(f"{condition} is not true.")
    return "exact numbers"


_kernel = Kernel(_exact)
_z = Symbol("z", nonnegative=True)


class Attacked(NamedTuple):
    """A rule: ``violated`` tries one random instance, as stated ("") or with one of the planted ``faults``."""

    violated: Callable[[Random, str], bool]
    faults: tuple[str, ...]


def violations(rule: str, count: int, fault: str = "", seed: int = 1) -> int:
    """The number of random instances, of ``count``, on which the rule is violated."""
    random = Random(seed)  # noqa: S311 no secret is drawn
    return sum(ATTACKED[rule].violated(random, fault) for _ in range(count))


def _end(fault: str, far: int) -> int:
    """The distance at the end that a rule claims, one less with the fault `CLOSER`."""
    return max(far - (fault == CLOSER), 0)


def _order(random: Random) -> Order:
    return random.choice(tuple(Order))


def _chain(random: Random, fault: str) -> bool:
    k = random.randint(2, 4)
    d, order = metric(random, k), _order(random)
    z, far = random.randint(0, 3), random.randint(0, 3)
    (p, q), (one, other) = start_laws(random, k), both_runs(random, k)
    within = {"second at equal points": 0, "second one closer": max(z - 1, 0)}.get(fault, z)
    first = priced(fault, "first", [(p, q)], d, z)
    second = priced(fault, "second", near_pairs(d, within, one, other), d, far)
    made = _kernel.chain(
        _kernel.suppose(order, (S.Zero, S.One), (S.Zero, Integer(z)), first, "first"),
        _kernel.suppose(order, (S.One, Integer(2)), (Integer(z), Integer(far)), second, "second"),
    )
    return exceeded(
        envelope([(pushed(p, one), pushed(q, other))], d, _end(fault, far)), made.profile, fault=fault
    )


def _contract(random: Random, fault: str) -> bool:
    k = random.randint(2, 4)
    d, order = metric(random, k), _order(random)
    z, end = random.randint(0, 2), random.randint(0, 2)
    (p, q), (one, other) = start_laws(random, k), both_runs(random, k)
    wide = max(max(row) for row in d)
    before = priced(fault, "before", [(p, q)], d, z)
    near = priced(fault, "near", near_pairs(d, 0 if fault == "near at equal points" else z, one, other), d, end)
    far = priced(
        fault,
        "far",
        near_pairs(d, min(z + 1, wide - 1) if fault == "far from nearer" else wide, one, other),
        d,
        end,
    )
    ends = (S.One, Integer(2))
    spans = (
        _kernel.suppose(order, (S.Zero, S.One), (S.Zero, Integer(z)), before, "before"),
        _kernel.suppose(order, ends, (Integer(z), Integer(end)), near, "near"),
        _kernel.suppose(order, ends, (Integer(wide), Integer(end)), far, "far"),
    )
    atoms = len(before.pairs)
    splits = [[(Integer(i >= cut), Integer(i >= cut)) for i in range(atoms)] for cut in range(atoms + 1)]
    splits.append([(S.One, Rational(random.randint(0, 4), 4)) for _ in range(atoms)])
    kept = (S.One, S.Zero)  # of the mass where run 2 has none
    block = contract(_kernel, *spans, Integer(wide))
    claimed = Least(tuple(Split(block.profile, (*split, kept)) for split in splits))
    truth = envelope([(pushed(p, one), pushed(q, other))], d, _end(fault, end))
    nodes = [Rational(1, 2), S.One, Integer(2), *(y for y, _ in truth.pairs)]
    return exceeded(truth, claimed, nodes, fault=fault)


def _mean(random: Random, fault: str) -> bool:
    k, values = random.randint(2, 4), random.randint(2, 3)
    d, order, z, far = metric(random, k), _order(random), random.randint(0, 2), random.randint(0, 2)
    chains = [both_runs(random, k) for _ in range(values)]
    weights, others = (law(random, values) for _ in range(2))
    profiles = [priced(fault, "a case", near_pairs(d, z, *chain), d, far) for chain in chains]
    variable = Variable("R", S.Zero)
    cases = [
        _kernel.suppose(order, (S.Zero, S.One), (Integer(z), Integer(far)), one, "case", (variable,))
        for one in profiles
    ]
    said = others if fault == "other weights" else weights
    made = _kernel.mean(
        variable, [(Rational(w.numerator, w.denominator), one) for w, one in zip(said, cases, strict=True)]
    )
    laws = (weights, others if fault == "no common law" else weights)
    one, other = (
        tuple(mixed(law_of, [chain[run][x] for chain in chains]) for x in range(k))
        for run, law_of in enumerate(laws)
    )
    truth = envelope(near_pairs(d, z, one, other), d, _end(fault, far))
    profile = Least(tuple(profiles)) if fault == "the least of the cases" else made.profile
    nodes = [y for table in (truth, *profiles) for y, _ in table.pairs]
    return exceeded(truth, profile, nodes, fault=fault)


def _mean_on_an_event(random: Random, fault: str) -> bool:
    """One case holds on an event that is likelier than its weight, the other for every value; and some mass fails."""
    k, values = random.randint(2, 4), random.randint(2, 3)
    d, order, z, far = metric(random, k), _order(random), random.randint(0, 2), random.randint(0, 2)
    chains, chances = [both_runs(random, k) for _ in range(values)], law(random, values)
    event = random.sample(range(values), random.randint(1, values - 1))
    likely = sum((chances[value] for value in event), Fraction(0))
    weight = likely * random.choice((Fraction(1, 2), Fraction(1)))
    if fault == "a weight above the chance of its event":
        weight = (1 + likely) / 2
    failure = (1 - weight) * random.choice((Fraction(0), Fraction(1, 3)))
    everywhere = event if fault == "both cases on the event alone" else range(values)
    variable, drawn = Variable("R", S.Zero), frozenset({Hypothesis("R is in the event")})
    profiles, cases = [], []
    for part, supposed in ((event, drawn), (everywhere, frozenset[Hypothesis]())):
        pairs = [pair for value in part for pair in near_pairs(d, z, *chains[value])]
        profiles.append(priced(fault, "a case", pairs, d, far))
        ends, apart = (S.Zero, S.One), (Integer(z), Integer(far))
        cases.append(_kernel.suppose(order, ends, apart, profiles[-1], "case", (variable,), supposed))
    shares = [Rational(w.numerator, w.denominator) for w in (weight, 1 - weight - failure, failure)]
    made = _kernel.mean(variable, zip(shares[:2], cases, strict=True), shares[2], (drawn, frozenset()))
    one, other = (
        tuple(mixed(chances, [chain[run][x] for chain in chains]) for x in range(k)) for run in range(2)
    )
    truth = envelope(near_pairs(d, z, one, other), d, _end(fault, far))
    nodes = [y for table in (truth, *profiles) for y, _ in table.pairs]
    return exceeded(truth, made.profile, nodes, fault=fault)


def _shifted(noise: Law, by: int) -> Law:
    return tuple(noise[(y - by) % len(noise)] for y in range(len(noise)))


def _shift(fault: str, noise: Law, d: Metric, length: int) -> Shift:
    pairs = [(_shifted(noise, h), noise) for h in range(len(d)) if d[0][h] <= length]
    return Shift(Integer(length), priced(fault, "shift", pairs, d))


def _lipschitz(random: Random, d: Metric) -> tuple[int, ...]:
    """A map of the cycle that brings no two points farther apart: what a projection may do."""
    k = len(d)
    turn = random.randrange(k)
    return random.choice(
        (tuple(range(k)), tuple((turn - x) % k for x in range(k)), tuple(min(x, k - x) for x in range(k)))
    )


def _maps(random: Random, k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The update of both runs: a random map, and its translation or another."""
    one = tuple(range(k)) if random.random() < 0.3 else tuple(random.randrange(k) for _ in range(k))
    by = random.randrange(k)
    return one, (tuple((x + by) % k for x in one) if random.random() < 0.6 else tuple(random.sample(one, k)))


def _after(maps: tuple[int, ...], noise: Law, last: tuple[int, ...]) -> Chain:
    return tuple(_projected(_shifted(noise, to), last) for to in maps)


def _projected(noisy: Law, last: tuple[int, ...]) -> Law:
    mass = [Fraction(0)] * len(noisy)
    for y, chance in enumerate(noisy):
        mass[last[y]] += chance
    return tuple(mass)


def _apart(d: Metric, z: int, one: tuple[int, ...], other: tuple[int, ...]) -> int:
    k = len(d)
    return max(d[one[x]][other[y]] for x in range(k) for y in range(k) if d[x][y] <= z)


def _expansion(after: int, guide: Guide) -> Expansion:
    return Expansion(_z, Integer(after), guide, ("finite",))


def _step(random: Random, fault: str) -> bool:
    k = random.randint(2, 6)
    d, order, z, length = cycle(k), _order(random), random.randint(0, 2), random.randint(0, 2)
    (one, other), noise, last = _maps(random, k), law(random, k), _lipschitz(random, d)
    after = _apart(d, z, one, one if fault == "the sample's own part forgotten" else other)
    if fault == "one closer":
        after = max(after - 1, 0)
    if fault == "an expanding map at last":
        last = tuple(2 * x % k for x in range(k))
    far = Integer(max(after - length, 0))
    shift = _shift(fault, noise, d, length)
    made = _kernel.step(order, S.Zero, (Integer(z), far), _expansion(after, Guide.OTHER), shift, S.Zero)
    chains = [_after(one, noise, last), _after(other, noise, last)]
    if fault == "noise that depends on the state":
        chains[1] = _after(other, law(random, k), last)
    truth = envelope(near_pairs(d, z, chains[0], chains[1]), d, _end(fault, int(far)))
    return exceeded(truth, made.profile, fault=fault)


def _coin(random: Random, fault: str) -> bool:
    order, weights = _order(random), law(random, 2)
    if random.random() < 0.5:
        k, z, length = random.randint(2, 4), random.randint(0, 2), random.randint(0, 2)
        coins, first, second = [_maps(random, k) for _ in range(2)], law(random, k), law(random, k)
    else:  # the coin turns the way that the noise has to hide: what is left of the noise shows it
        k, z, length = random.randint(4, 5), 1, 1
        plain, turned, by = tuple(range(k)), tuple(-x % k for x in range(k)), random.randrange(1, k)
        coins = [(plain, plain), (turned, tuple((x + by) % k for x in turned))]
        first, second = bell(random, k), bell(random, k)
    d = cycle(k)
    last = _lipschitz(random, d)
    noise = tuple(sum((first[x] * second[(y - x) % k] for x in range(k)), Fraction(0)) for y in range(k))
    run = random.randrange(2)  # whose map the third point follows
    after = max(
        _apart(d, z, coin[run], coin[run]) for coin in (coins[:1] if fault == "one coin's expansion" else coins)
    )
    split = (noise, noise) if fault == "no split" else (first, second)

    def step(which: int, xi: Law, end: tuple[int, ...]) -> Chain:
        chains = [_after(coin[which], xi, end) for coin in coins]
        return tuple(mixed(weights, [chain[x] for chain in chains]) for x in range(k))

    still = tuple(range(k))
    price = priced(fault, "coin", list(zip(step(0, split[0], still), step(1, split[0], still), strict=True)), d)
    far = Integer(max(after - length, 0))
    shift = _shift(fault, split[1], d, length)
    made = _kernel.step(
        order, S.Zero, (Integer(z), far), _expansion(after, Guide.OWN), shift, S.Zero, Coin(price)
    )
    truth = envelope(near_pairs(d, z, step(0, noise, last), step(1, noise, last)), d, _end(fault, int(far)))
    return exceeded(truth, made.profile, fault=fault)


def _observe(random: Random, fault: str) -> bool:
    k, outcomes = random.randint(2, 4), random.randint(2, 4)
    order = _order(random)
    pairs = [(law(random, outcomes), law(random, outcomes)) for _ in range(k)]
    reached = [random.choices(range(k), k=outcomes) for _ in range(k)]
    apart = fault == "a function for each run"
    others = [random.choices(range(k), k=outcomes) for _ in range(k)] if apart else reached

    def after(laws: list[Law], function: list[list[int]]) -> Chain:
        still = tuple(tuple(Fraction(x == y) for y in range(k)) for x in range(k))
        return tuple(
            pushed(one, [still[to] for to in where]) for one, where in zip(laws, function, strict=True)
        )

    made = observe(_kernel, order, S.Zero, Coin(priced(fault, "outcome", pairs, cycle(outcomes))))
    one, other = after([p for p, _ in pairs], reached), after([q for _, q in pairs], others)
    return exceeded(envelope(near_pairs(cycle(k), 0, one, other), cycle(k), 0), made.profile, fault=fault)


ATTACKED: Mapping[str, Attacked] = {
    "observe": Attacked(_observe, ("outcome 5% low", "outcome in the other order", "a function for each run")),
    "chain": Attacked(
        _chain,
        (
            "first 5% low",
            "second 5% low",
            "first in the other order",
            "second in the other order",
            "second at equal points",
            "second one closer",
        ),
    ),
    "contract": Attacked(
        _contract,
        (
            "before 5% low",
            "near 5% low",
            "far 5% low",
            "near in the other order",
            "far in the other order",
            "far from nearer",
            "near at equal points",
        ),
    ),
    "mean": Attacked(
        _mean,
        (
            "a case 5% low",
            "a case in the other order",
            "other weights",
            "no common law",
            "the least of the cases",
        ),
    ),
    "mean on an event": Attacked(
        _mean_on_an_event,
        (
            "a case 5% low",
            "a case in the other order",
            "a weight above the chance of its event",
            "both cases on the event alone",
        ),
    ),
    "step": Attacked(
        _step,
        (
            "shift 5% low",
            "the sample's own part forgotten",
            "one closer",
            "noise that depends on the state",
            "an expanding map at last",
        ),
    ),
    "step with a coin": Attacked(
        _coin, ("shift 5% low", "coin 5% low", "coin in the other order", "no split", "one coin's expansion")
    ),
}
"""Every rule that computes a profile or a distance, and the faults that its attack must find."""

BETTER: Mapping[str, tuple[str, ...]] = {
    rule: (CONCLUSION,) if rule == "observe" else (CONCLUSION, CLOSER) for rule in ATTACKED
}
"""Conclusions that are better than those of the rules by the least that a chain can show."""
