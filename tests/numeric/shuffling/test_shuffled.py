"""Shuffled batches: what every bound must satisfy, and what it is between."""

from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.compare import compare
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    ClippedConvex,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.taut_string import taut_string
from lastiterate.numeric.shuffling.shuffled import View, mean_routes, worst_routes

# One participation moves an update by 2 eta K / b = 1, and the noise is 1.
_RUN = NoisySGD(20, 0.1, 1.0, 5.0, 5, batch_size=1, sampling="shuffled")
_ASSUMPTIONS: list[Assumption] = [
    *(Smooth(0.3), Convex(1.0), StronglyConvex(1.0, 0.5), Holder(0.5, 0.5), Clipped()),
    *(Sum(Smooth(0.1), Holder(0.1, 0.5)), Minimum(Smooth(0.3), Clipped()), Tabulated((1.0, 2.0), (0.5, 1.0))),
]
_CLOSE = 1 + 1e-9


@st.composite
def _runs(draw: st.DrawFn) -> tuple[NoisySGD, Assumption]:
    batches = draw(st.integers(2, 6))
    run = NoisySGD(
        steps=draw(st.integers(1, 25)),
        step_size=0.1,
        noise_std=draw(st.floats(0.3, 3.0)),
        clip_norm=5.0,
        dataset_size=2 * batches,
        batch_size=2,
        sampling="shuffled",
        diameter=draw(st.one_of(st.just(inf), st.floats(0.05, 5.0))),
    )
    return run, draw(st.sampled_from(_ASSUMPTIONS))


def _mean(run: NoisySGD, assumption: Assumption, order: float) -> float:
    worst = worst_routes(run, assumption)[0].pair
    return min(one.rdp(order) for one in mean_routes(View(run, assumption), order, worst))


@given(_runs(), st.sampled_from([1.1, 2.0, 10.0]))
@settings(max_examples=60)
def test_between_what_is_trivial_and_what_is_exact(case: tuple[NoisySGD, Assumption], order: float) -> None:
    """Never above composition or one last step; the mean never above the worst; never below linear losses."""
    run, assumption = case
    found = bound(run, assumption, order=order)
    s, sigma = 2 * 0.1 * 5.0 / 2, run.noise_std_at(0)
    epochs = -(-run.steps // run.batches)
    cost = bound(run, assumption).cost
    assert cost <= epochs * (s / sigma) ** 2 * _CLOSE
    if np.isfinite(run.diameter):
        assert (
            cost <= (float(assumption.expansion(run, 0, differs=True).ball(run.diameter)) / sigma) ** 2 * _CLOSE
        )
    assert found.epsilon <= order / 2 * cost * _CLOSE
    if not np.isfinite(run.diameter):
        assert found.epsilon >= _mixture(run, assumption) * (1 - 1e-9)


def _mixture(run: NoisySGD, assumption: Assumption) -> float:
    """A lower bound of the divergence at every order from 1 on: linear losses, or quadratics where they contract.

    The other run is N(0, v); this one is N(m, v) with m random over orders. Of all laws with the same mean and variance
    the Gaussian has the least Kullback-Leibler divergence from N(0, v).
    """
    c = 1 - 0.1 * assumption.m if isinstance(assumption, StronglyConvex) else 1.0
    left = c ** np.arange(run.steps - 1, -1, -1.0)
    s, per = 2 * 0.1 * 5.0 / 2, run.batches
    v = run.noise_std_at(0) ** 2 * float(np.sum(left**2))
    mean, spread = 0.0, 0.0
    for first in range(0, run.steps, per):
        part = np.zeros(per)
        part[: len(left[first : first + per])] = s * left[first : first + per]
        mean, spread = mean + part.mean(), spread + part.var()
    ratio = (v + spread) / v
    return float(0.5 * (ratio - 1 - np.log(ratio) + mean**2 / v))


@pytest.mark.parametrize("assumption", [Smooth(0.3), Convex(1.0), StronglyConvex(1.0, 0.5)])
@pytest.mark.parametrize("D", [inf, 0.7])
def test_every_order_of_a_short_run(assumption: Assumption, D: float) -> None:
    """The exact program of each order, from the cyclic ones where the positions agree, and the worst of all."""
    run = replace(_RUN, steps=8, dataset_size=4, diameter=D)
    worst = bound(run, assumption).cost
    for position in range(4):
        cyclic = optimum(ShiftProgram(replace(run, sampling="cyclic"), assumption, position))
        assert float(cyclic.cost) <= worst * _CLOSE
    for alpha in (1.5, 4.0):
        assert _mean(run, assumption, alpha) <= alpha / 2 * worst * _CLOSE


@pytest.mark.parametrize("assumption", _ASSUMPTIONS)
@pytest.mark.parametrize("D", [inf, 1.5])
def test_monotone_in_noise_steps_clip_norm_and_diameter(assumption: Assumption, D: float) -> None:
    # In steps: by whole epochs. A cut epoch is dear: its participation follows the one before more closely.
    run = replace(_RUN, steps=17, diameter=D)
    for order in (None, 3.0):

        def loss(changed: NoisySGD, order: float | None = order) -> float:
            found = bound(changed, assumption, order=order)
            return found.cost if order is None else found.epsilon

        here = loss(run)
        slack = 1.01 if order else 1 + 1e-6  # of the search over windows and of the grid
        assert loss(replace(run, noise_std=1.1)) <= here * slack
        assert loss(replace(run, steps=22)) >= here / slack
        assert loss(replace(run, clip_norm=5.5)) >= here / slack
        assert loss(replace(run, diameter=0.8 * D)) <= here * slack


@pytest.mark.parametrize("assumption", _ASSUMPTIONS[:5])
def test_units_do_not_matter(assumption: Assumption) -> None:
    run = replace(_RUN, diameter=1.5)
    scaled = replace(run, step_size=0.1 * 4, noise_std=4.0, diameter=6.0)  # lengths in other units
    changed = {
        Smooth: lambda a: Smooth(a.L / 4),
        Convex: lambda a: Convex(a.L / 4),
        StronglyConvex: lambda a: StronglyConvex(a.L / 4, a.m / 4),
        Holder: lambda a: Holder(a.L / 2, a.lam),
        Clipped: lambda a: a,
    }[type(assumption)](assumption)
    for order in (None, 2.0):
        one, other = bound(run, assumption, order=order), bound(scaled, changed, order=order)
        assert one.cost == pytest.approx(other.cost, rel=1e-6)
        assert order is None or one.epsilon == pytest.approx(other.epsilon, rel=1e-6)


@pytest.mark.parametrize("assumption", _ASSUMPTIONS[:5])
def test_one_batch_is_a_full_batch(assumption: Assumption) -> None:
    full = NoisySGD(50, 0.1, 1.0, 2.0, 5, diameter=1.0)
    shuffled = replace(full, batch_size=5, sampling="shuffled")
    for asked in ({}, {"order": 2.0}, {"delta": 1e-5}):
        one, other = bound(shuffled, assumption, **asked), bound(full, assumption, **asked)
        assert one.cost == other.cost
        assert one.claim == other.claim


def test_a_constant_schedule_is_a_constant() -> None:
    """A schedule takes the worst order by value iteration where constants have a closed form."""
    for assumption in (Convex(1.0), StronglyConvex(1.0, 0.5)):
        for D in (inf, 1.5):
            run = replace(_RUN, diameter=D)
            nearly = replace(run, noise_std=[1.0] * 19 + [1.0 + 1e-12])
            here, there = bound(run, assumption).cost, bound(nearly, assumption).cost
            assert here * (1 - 1e-9) <= there <= here * 1.01
            assert _mean(run, assumption, 2.0) == pytest.approx(_mean(nearly, assumption, 2.0), rel=1e-3)


def test_schedules_of_every_kind_have_a_bound() -> None:
    run = replace(_RUN, step_size=[0.1 / (1 + t / 10) for t in range(20)], diameter=1.5)
    for assumption in _ASSUMPTIONS:
        worst, mean = bound(run, assumption), bound(run, assumption, order=2.0)
        assert mean.epsilon <= worst.candidate.rdp(2.0)
        every = replace(run, step_size=0.1)
        assert worst.cost <= bound(every, assumption).cost * 1.3


def test_delta_takes_the_smaller_route() -> None:
    found = bound(_RUN, Convex(1.0), delta=1e-5)
    assert found.claim == "ours/shuffled/mean"
    assert found.epsilon < gdp_epsilon(found.mu, 1e-5)
    assert found.epsilon == bound(_RUN, Convex(1.0)).dp(1e-5), "found again from another question"
    assert "permutation" in " ".join(found.assumptions)
    long = bound(replace(_RUN, steps=2000), Convex(1.0), delta=1e-5)
    assert long.claim == "ours/shuffled/worst"


@pytest.mark.nightly
def test_every_route_is_a_row_and_ours_is_the_least() -> None:
    for assumption in _ASSUMPTIONS:
        run = replace(_RUN, diameter=1.0)
        rows = compare(run, assumption, order=2.0)
        ours = next(row for row in rows if row.name == "bound")
        assert ours.epsilon == min(row.epsilon for row in rows if row.usable)
        by_name = {row.name: row.epsilon for row in rows}
        assert len(by_name) == len(rows)
        assert by_name["mean"] == _mean(run, assumption, 2.0)
        assert by_name["worst"] <= min(by_name["composition"], by_name["last_step"])
        assert next(row for row in rows if row.kind == "lower").epsilon <= ours.epsilon


def test_calibration_meets_its_target() -> None:
    found = calibrate(replace(_RUN, steps=10), StronglyConvex(1.0, 0.5), epsilon=0.5, order=2.0)
    assert found.epsilon <= 0.5
    assert (
        bound(
            replace(found.run, noise_std=0.99 * found.run.noise_std), StronglyConvex(1.0, 0.5), order=2.0
        ).epsilon
        > 0.5
    )


def test_a_large_run_is_a_matter_of_its_last_epochs() -> None:
    run = replace(_RUN, steps=10**6, dataset_size=100, diameter=2.0)
    short = replace(run, steps=10**4)
    assert _mean(run, Convex(1.0), 2.0) == pytest.approx(_mean(short, Convex(1.0), 2.0))


def test_shifts_depend_on_the_order() -> None:
    found = bound(_RUN, Holder(1.0, 0.5))
    with pytest.raises(InputError, match="sampling='shuffled'"):
        _ = found.shifts
    late = bound(_RUN, Convex(1.0))
    assert np.sum(late.shifts**2) == pytest.approx(late.cost)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("L", [30.0, 1e9, 1e29])
def test_epochs_that_grow_beyond_floats(L: float) -> None:
    """31^200 and more in an epoch: no more than composition, no less than the participation of the last step."""
    run = NoisySGD(400, 1.0, 1.0, 1.0, 1000, batch_size=5, sampling="shuffled", diameter=3.0)
    found = bound(run, Smooth(L), order=2.0).epsilon
    assert 2 / 5 * (2 / 5) < found <= 2 * (2 / 5) ** 2 * (1 + 1e-9)


def test_other_batches_have_no_order() -> None:
    with pytest.raises(InputError, match="sampling='cyclic'"):
        worst_routes(replace(_RUN, sampling="cyclic"), Convex(1.0))
    with pytest.raises(InputError, match="sampling='shuffled'"):
        ShiftProgram(_RUN, Convex(1.0))
    long = replace(_RUN, step_size=3.0)
    assert bound(long, Convex(1.0)).cost <= bound(long, Smooth(1.0)).cost


@pytest.mark.parametrize(
    "assumption",
    [
        Convex(1.0),
        Convex(9.0),
        Convex(inf),
        ClippedConvex(1.0),
        ClippedConvex(inf),
        Smooth(0.3),
        Holder(0.5, 0.5),
        Clipped(),
    ],
)
@pytest.mark.parametrize("decay", [0.0, 0.2])
def test_a_drift_is_no_less_than_an_update(assumption: Assumption, decay: float) -> None:
    """Otherwise each participation by itself costs too little: long and clipped steps of convex losses expand."""
    run = replace(_RUN, step_size=0.5, noise_std=0.3, weight_decay=decay)
    view = View(run, assumption)
    known = view.drift()
    assert known is not None
    x = np.geomspace(1e-3, 1e3, 40)
    assert np.all(known[0].value(x) * run.noise_std * (1 + 1e-12) >= view.free(0).value(x * run.noise_std))


def test_all_orders_of_a_run_that_is_cut() -> None:
    """Seven steps in epochs of three: the last epoch meets the sample in one order out of three."""
    run = replace(_RUN, steps=7, dataset_size=3)
    costs = []
    for places in product(range(3), repeat=3):
        met = np.array([t % 3 == places[t // 3] for t in range(7)])
        # Linear losses: N(number of participations, 7) against N(0, 7), a lower bound of each order's cost.
        costs.append(met.sum() ** 2 / 7)
    worst = bound(run, Convex(1.0)).cost
    assert worst >= max(costs)
    assert worst == pytest.approx(1 + 1 + 1 / 3)  # at steps 2, 5 and 6: the first in the three steps up to 5
    assert _mean(run, Convex(1.0), 1.01) * 2 / 1.01 >= np.mean(costs)


def test_late_is_the_worst_of_all_orders(subtests: pytest.Subtests) -> None:
    for steps in [7, 8, 9]:
        for D in [inf, 3.0, 0.7, 0.1]:
            for assumption in [Convex(1.0), StronglyConvex(1.0, 0.5), StronglyConvex(4.0, 4.0)]:
                with subtests.test(assumption=assumption, D=D, steps=steps):
                    run = replace(_RUN, steps=steps, dataset_size=3, diameter=D)
                    c = float(assumption.expansion(run, 0, differs=False).slope(np.zeros(1))[0])
                    costs = []
                    for places in product(range(3), repeat=3):
                        step = np.array([float(t % 3 == places[t // 3]) for t in range(steps)])
                        tracked = [0.0]
                        for moved in step:
                            tracked.append(min(D, c * tracked[-1] + moved))
                        string = taut_string(np.full(steps, c), step, np.ones(steps), np.array(tracked[:-1]))
                        costs.append(float(np.sum(string.shifts**2)))
                    assert bound(run, assumption).cost == pytest.approx(max(costs), rel=1e-9)


@pytest.mark.nightly
@given(_runs(), st.sampled_from([1.1, 2.0, 20.0]))
@settings(max_examples=40)
def test_never_below_a_certified_witness(case: tuple[NoisySGD, Assumption], order: float) -> None:
    run, assumption = case
    assert lower_bound(run, assumption, order=order).value <= bound(run, assumption, order=order).epsilon


def test_the_last_epoch_may_be_cut_and_no_other() -> None:
    for steps, last in ((10, 4), (11, 1), (13, 3)):
        view = View(replace(_RUN, steps=steps, dataset_size=5), Smooth(0.3))
        lengths = [epoch.weight.size for k in range(view.count) if (epoch := view.epoch(k)) is not None]
        whole = View(replace(_RUN, steps=5), Smooth(0.3)).epoch(0)
        assert whole is not None
        assert lengths[:-1] == [whole.weight.size] * (view.count - 1)
        assert (lengths[-1] == whole.weight.size) is (steps % 5 == 0), last
