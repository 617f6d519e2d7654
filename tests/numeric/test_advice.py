"""Advice is made of bounds: each of its numbers is held against `bound` at the run that it speaks of."""

from dataclasses import replace
from math import inf

import pytest

import lastiterate as li
from lastiterate.numeric.advice import HELPS
from lastiterate.numeric.run import NoisySGD

DELTA = 1e-5
PLAN = NoisySGD(2000, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0)
OPEN = NoisySGD(300, 0.1, 0.05, 1.0, dataset_size=100, batch_size=10, sampling="cyclic")


DRAWN = replace(OPEN, sampling="poisson", adjacency="add_remove")


def composed(run: NoisySGD, steps: int) -> float:
    return li.bound(
        replace(run, steps=steps, diameter=inf, weight_decay=0.0), li.Clipped(), delta=DELTA
    ).epsilon


@pytest.fixture(scope="module")
def told() -> li.Advice:
    return li.advise(PLAN, li.Convex(1.0), delta=DELTA)


def test_numbers_are_those_of_bounds(told: li.Advice) -> None:
    assert told.helps
    assert told.found.epsilon == li.bound(PLAN, li.Convex(1.0), delta=DELTA).epsilon
    assert told.composed == composed(PLAN, PLAN.steps)
    assert 0 < told.below <= told.found.epsilon
    for knob in told.knobs:
        assert knob.epsilon == li.bound(knob.run, li.Convex(1.0), delta=DELTA).epsilon
    assert [knob.epsilon for knob in told.knobs] == sorted(knob.epsilon for knob in told.knobs)


def test_it_helps_from_there_on_and_stopping_there_costs_no_more(told: li.Advice) -> None:
    def share(steps: int) -> float:
        return li.bound(replace(PLAN, steps=steps), li.Convex(1.0), delta=DELTA).epsilon / composed(PLAN, steps)

    assert told.helps_from is not None
    assert told.stop_after is not None
    assert share(told.helps_from) <= HELPS < share(told.helps_from - 1)
    assert composed(PLAN, told.stop_after) <= told.found.epsilon < composed(PLAN, told.stop_after + 1)


def test_linear_losses_lose_what_the_binomial_mixture_says() -> None:
    """Full batches: a Gaussian that is moved by all steps, so that composition is what linear losses lose."""
    told = li.advise(OPEN, li.Convex(1.0), delta=DELTA)
    full = li.advise(replace(OPEN, batch_size=None, sampling="full", steps=30), li.Convex(1.0), delta=DELTA)
    assert full.linear == pytest.approx(full.composed, rel=1e-3)
    assert told.linear <= told.composed


@pytest.mark.parametrize(
    ("assumption", "said"),
    [
        (li.Convex(1.0), "only a domain of finite diameter"),
        (li.Smooth(3.0), "a factor 1 + step_size L = 1.3 in every step"),
        (li.Clipped(), "2 K step_size = 0.2 in every step"),
        (li.Holder(1.0, 0.5), "nothing is forgotten by itself"),
    ],
)
@pytest.mark.sweep(1)
def test_where_nothing_is_gained_it_says_why(assumption: li.Assumption, said: str) -> None:
    told = li.advise(DRAWN, assumption, delta=DELTA)
    assert not told.helps
    assert told.helps_from is None
    assert told.in_words.startswith("Releasing only the last iterate gains nothing here: ")
    assert said in told.in_words


@pytest.mark.nightly
def test_decay_and_domain_are_tried_as_far_as_the_assumption_admits() -> None:
    changes = " ".join(knob.change for knob in li.advise(OPEN, li.Convex(1.0), delta=DELTA).knobs)
    for word in ("a domain of diameter", "weight decay", "half the steps", "shuffled", "without replacement"):
        assert word in changes
    assert "cyclic" not in changes


def test_a_decay_whose_product_with_the_step_size_rounds_to_one_is_left_out() -> None:
    run = li.NoisySGD(10, 0.1, 0.5, 1.0, dataset_size=10, diameter=1.0)
    assert not any("weight decay" in knob.change for knob in li.advise(run, li.Convex(1.0), delta=DELTA).knobs)


def test_schedules_are_refused() -> None:
    with pytest.raises(li.InputError, match="a schedule over steps=2"):
        li.advise(NoisySGD(2, (0.1, 0.2), 1.0, 1.0, 5), li.Convex(1.0), delta=DELTA)
