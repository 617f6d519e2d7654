"""Long runs of Poisson batches in stretches: the recursion on finite chains, and no growth with the length of a run."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log
from random import Random
from typing import Any

import pytest

import lastiterate as li
from lastiterate.numeric.accounting.conversion import repeated_rdp
from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.certificates.description import seal_nodes
from lastiterate.proofs_checks.certificates.checker import Refused, accepted

_RUN = li.NoisySGD(10_000, 0.1, 0.05, 1.0, 1000, batch_size=50, sampling="poisson", diameter=1.0)
_CURVED = li.StronglyConvex(6.84, 0.068)
Law = list[Fraction]


def _law(random: Random) -> Law:
    weights = [random.randint(1, 9) for _ in range(3)]
    return [Fraction(one, sum(weights)) for one in weights]


def _moment(p: Law, q: Law) -> Fraction:
    """exp(D_2) of two laws on three points."""
    return sum((x**2 / y for x, y in zip(p, q, strict=True)), Fraction(0))


def _after(law: Law, kernel: list[Law]) -> Law:
    return [sum((mass * row[j] for mass, row in zip(law, kernel, strict=True)), Fraction(0)) for j in range(3)]


def _truth(random: Random, bad: Fraction, count: int) -> tuple[Fraction, Fraction, Fraction]:
    """What a good stretch costs from any two states, a bad one from one state, and both runs after ``count`` of them.

    The runs have the same good and bad stretches.
    """
    good = [[_law(random)] * 3 for _ in range(2)]
    worse = [[_law(random) for _ in range(3)] for _ in range(2)]
    inside = max(_moment(x, y) for x, y in product(*good))
    stretch = max(_moment(x, y) for x, y in zip(*worse, strict=True))
    total = Fraction(0)
    for ways in product((True, False), repeat=count):
        pair = [[Fraction(1), Fraction(0), Fraction(0)]] * 2
        for way in ways:
            pair = [_after(law, kernel) for law, kernel in zip(pair, good if way else worse, strict=True)]
        chance = bad ** ways.count(False) * (1 - bad) ** ways.count(True)
        total += chance * _moment(*pair)
    return inside, stretch, total


def _claimed(inside: float, failure: float, stretch: float, count: int) -> float:
    return exp(repeated_rdp(log(inside), failure, log(stretch), count, 0.0, 2.0))


def test_no_finite_chain_costs_more() -> None:
    random = Random(0)  # noqa: S311 no secret is drawn
    noticed = dict.fromkeys(("no bad stretch", "half the cost", "one stretch less"), 0)
    for count in (1, 2, 3, 4) * 50:
        bad = Fraction(random.randint(2, 8), 10)
        good, worse, truth = _truth(random, bad, count)
        inside, failure, stretch, total = map(float, (good, bad, worse, truth))
        assert total <= _claimed(inside, failure, stretch, count) * (1 + 1e-12)
        noticed["no bad stretch"] += total > _claimed(inside, 0.0, stretch, count)
        noticed["half the cost"] += total > _claimed(inside, failure, stretch**0.5, count)
        noticed["one stretch less"] += total > _claimed(inside, failure, stretch, count - 1)
    assert min(noticed.values()) >= 5, noticed


@pytest.mark.parametrize("rest", [0.0, 0.3])
def test_the_closed_form_is_the_recursion(rest: float) -> None:
    inside, failure, stretch, order = 0.2, 1e-3, 0.7, 3.0
    moment = exp((order - 1) * rest)
    for count in range(1, 6):
        moment = (1 - failure) * exp((order - 1) * inside) + failure * exp((order - 1) * stretch) * moment
        found = repeated_rdp(inside, failure, stretch, count, rest, order)
        assert found == pytest.approx(log(moment) / (order - 1), rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("assumption", [_CURVED, li.Smooth(0.1)])
@pytest.mark.sweep(1)
def test_a_longer_run_costs_no_more(assumption: li.Assumption) -> None:
    """A composition of all steps is what an event of any size was held against once, and it grows with the run."""
    start = replace(_RUN, diameter=0.5)
    known = bound(replace(start, steps=10**6), assumption, order=8.0).epsilon
    for steps in (10**6 + 1, 10**15):
        assert bound(replace(start, steps=steps), assumption, order=8.0).epsilon <= known * (1 + 1e-9)


def test_no_cliff_where_compositions_were_the_only_other_bound() -> None:
    before, after = (bound(replace(_RUN, steps=steps), _CURVED, order=8.0) for steps in (10**5, 10**6))
    assert before.epsilon <= after.epsilon <= 1.001 * before.epsilon


@pytest.mark.nightly
@pytest.mark.parametrize("assumption", [li.Convex(6.84), li.Minimum(_CURVED, li.Smooth(6.84))])
@pytest.mark.sweep(1)
def test_no_cliff_at_a_delta(assumption: li.Assumption) -> None:
    """The window that is best is longer than the one that is best for every size, and as long for every longer run."""
    before, after = (bound(replace(_RUN, steps=steps), assumption, delta=1e-6) for steps in (10**6, 10**12))
    assert after.epsilon <= 1.001 * before.epsilon


@pytest.mark.parametrize("order", [1.5, 64.0])
@pytest.mark.nightly
def test_no_cliff_at_other_orders(order: float) -> None:
    before, *after = (bound(replace(_RUN, steps=steps), _CURVED, order=order) for steps in (10**5, 10**6, 10**12))
    assert max(one.epsilon for one in after) <= 1.002 * before.epsilon


def _certificate() -> Any:
    return bound(replace(_RUN, steps=10**9), _CURVED, order=8.0).certificate()


def test_a_certificate_of_stretches() -> None:
    certificate = _certificate()
    assert certificate["proof"]["rule"] == "stretches"
    assert "1000000000 steps" in accepted(certificate)
    inside, composed = certificate["proof"]["of"]
    shorter, longer = (certificate["proof"]["steps"] + change for change in (-64, 10**9))
    forgeries: list[dict[str, Any]] = [
        {"steps": shorter},
        {"steps": longer},
        {"of": [inside, inside]},
        {"of": [composed, composed]},
        {"of": [inside]},
        {"rdp": [certificate["proof"]["rdp"][0] * 99, certificate["proof"]["rdp"][1] - 7]},
    ]
    for changes in forgeries:
        forged = json.loads(json.dumps(certificate))
        forged["proof"] |= changes
        with pytest.raises(Refused):
            accepted(seal_nodes(forged))
