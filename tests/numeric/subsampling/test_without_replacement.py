"""Batches drawn without replacement."""

from dataclasses import replace
from math import comb, exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from lastiterate.numeric.accounting.dominating import step_rdp
from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.bound import estimate
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.compare import compare
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Convex,
    Holder,
    Measured,
    Smooth,
    StronglyConvex,
)
from lastiterate.numeric.rounding import printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.search import shoot
from lastiterate.numeric.subsampling.without_replacement import without_replacement_routes

_RUN = NoisySGD(
    1,
    step_size=1.0,
    noise_std=1.0,
    clip_norm=1.0,
    dataset_size=10,
    batch_size=1,
    sampling="without_replacement",
)


def _linear_losses(run: NoisySGD, order: float, other: float) -> tuple[float, float]:
    """D_alpha(P || Q), D_alpha(Q || P) by the trapezoid rule: gradient -K against ``other`` K, all others zero.

    The last iterate without projection is a mixture over the number of steps that met the sample.
    """
    steps, q = run.steps, run.batch / run.dataset_size
    move = run.step_size_at(0) * run.clip_norm / run.batch
    width = run.noise_std_at(0) * sqrt(steps)
    met = np.arange(steps + 1)
    weights = np.log([comb(steps, k) * q**k * (1 - q) ** (steps - k) for k in met])
    reach = steps * move * (order + 2) + 12 * width
    x, h = np.linspace(-reach, reach, 40_001, retstep=True)

    def log_density(sign: float) -> np.ndarray:
        z = (x[:, None] - sign * move * met) / width
        return logsumexp(weights - z**2 / 2, axis=1) - log(width * sqrt(2 * np.pi))

    p, q_law = log_density(1.0), log_density(-other)

    def renyi(a: np.ndarray, b: np.ndarray) -> float:
        return float(logsumexp(order * a + (1 - order) * b) + log(h)) / (order - 1)

    return renyi(p, q_law), renyi(q_law, p)


def test_the_setting_that_refutes_theorem_3_12() -> None:
    found = bound(_RUN, Smooth(1.0), order=20.0)
    assert 37.576226 <= found.epsilon <= 37.5763
    assert max(_linear_losses(_RUN, 20.0, 1.0)) == pytest.approx(7.6815868, abs=1e-6)
    assert max(_linear_losses(_RUN, 20.0, 0.0)) == pytest.approx(7.5762263, abs=1e-6)


@given(
    st.integers(1, 4),
    st.integers(1, 6),
    st.floats(0.3, 4.0),
    st.floats(1.1, 12.0),
    st.sampled_from([0.0, 1.0]),
)
@settings(max_examples=25)
def test_no_route_is_below_linear_losses(
    steps: int, batch: int, noise: float, order: float, other: float
) -> None:
    run = replace(_RUN, steps=steps, batch_size=batch, noise_std=noise)
    lower = max(_linear_losses(run, order, other))
    for assumption in (Convex(1.0), Clipped()):
        for one in without_replacement_routes(run, assumption, order):
            assert one.rdp(order) >= lower * (1 - 1e-9) - 1e-12


def test_the_whole_data_set_is_a_full_batch() -> None:
    run = NoisySGD(
        50, 0.1, 1.0, 2.0, dataset_size=5, batch_size=5, sampling="without_replacement", diameter=1.0
    )
    full = replace(run, sampling="full")
    assert bound(run, Smooth(1.0), order=2.0).epsilon == bound(full, Smooth(1.0), order=2.0).epsilon


_LONG = replace(_RUN, step_size=0.1, noise_std=0.1, dataset_size=100, batch_size=5, diameter=1.0)


@pytest.mark.parametrize("assumption", [Convex(1.0), StronglyConvex(1.0, 1.0), Smooth(0.5), Holder(0.5, 0.5)])
def test_the_loss_converges(assumption: object) -> None:
    losses = [bound(replace(_LONG, steps=T), assumption, order=2.0).epsilon for T in (10, 10**5, 10**7)]
    assert losses[0] < losses[1] == pytest.approx(losses[2], rel=1e-2)
    assert losses[1] <= min(
        one.rdp(2.0) for one in without_replacement_routes(replace(_LONG, steps=10**5), assumption, 2.0)
    )


def test_amplification_pays() -> None:
    run = replace(_LONG, steps=10**5)
    found = bound(run, Convex(1.0), order=2.0)
    routes = {one.route: one.rdp(2.0) for one in without_replacement_routes(run, Convex(1.0), 2.0)}
    assert found.route == "window of shifts"
    assert found.epsilon < 0.1 * routes["worst batches"]
    assert found.epsilon < 0.1 * routes["composition"]


@given(st.integers(1, 30), st.integers(1, 50), st.floats(1.2, 6.0))
@settings(max_examples=4)
def test_monotone(steps: int, batch: int, order: float) -> None:
    run = replace(_LONG, steps=steps, batch_size=batch)
    here = bound(run, Convex(1.0), order=order).epsilon  # the share of the noise is searched on a grid
    assert bound(replace(run, steps=steps + 1), Convex(1.0), order=order).epsilon >= here * (1 - 1e-3)
    assert bound(replace(run, noise_std=0.11), Convex(1.0), order=order).epsilon <= here * (1 + 1e-3)


def test_schedules_compose() -> None:
    run = replace(_LONG, steps=3, noise_std=(0.1, 0.2, 0.4), diameter=inf)
    alone = [
        bound(replace(_LONG, noise_std=s, diameter=inf), Convex(1.0), order=2.0).epsilon
        for s in (0.1, 0.2, 0.4)
    ]
    assert bound(run, Convex(1.0), order=2.0).epsilon == pytest.approx(sum(alone), rel=1e-12)


def test_small_q_is_the_known_order_of_magnitude() -> None:
    """For small q one step costs about q^2 (e^(d^2) - 1) at order 2, and never less."""
    run = replace(_RUN, dataset_size=10_000, noise_std=1.0)
    found = bound(run, Convex(1.0), order=2.0).epsilon
    assert found >= 1e-8 * (exp(4.0) - 1) * (1 - 1e-4)


@pytest.mark.nightly
def test_calibrate_and_compare_take_random_batches() -> None:
    run = replace(_LONG, steps=50)
    found = calibrate(run, Convex(1.0), epsilon=0.01, order=2.0)
    assert found.epsilon <= 0.01
    rows = compare(run, Convex(1.0), order=2.0)
    usable = [row for row in rows if row.usable]
    assert rows[1].name == "bound"
    assert rows[1].epsilon == min(row.epsilon for row in usable)
    assert {row.claim for row in usable} <= {"ours/sampled/theorem", "ours/contraction/without_replacement"}


def test_bad_requests() -> None:
    with pytest.raises(InputError, match="order=None, delta=None"):
        bound(_RUN, Convex(1.0))
    with pytest.raises(InputError, match="order=None, delta=None"):
        estimate(_RUN, Measured(Smooth(1.0), "a measurement"))
    with pytest.raises(InputError, match="batch_size=11"):
        replace(_RUN, batch_size=11)


def test_a_step_never_costs_more_than_the_whole_batch() -> None:
    """At extreme orders and with little noise the Gaussian cost of the whole batch is what is left."""
    for noise, order in ((1e-3, 2.0), (1.0, 1e5), (1.0, 1e7)):
        run = replace(_RUN, noise_std=noise)
        whole = order * (2.0 / noise) ** 2 / 2
        assert 0.9 * whole <= bound(run, Convex(1.0), order=order).epsilon <= whole * (1 + 1e-12)


def _scheduled(steps: int) -> NoisySGD:
    """Decaying step size and noise, as in Altschuler & Talwar 5.3 and D2P2-SGD."""
    sizes = [0.1 / (1 + t / steps) for t in range(steps)]
    return replace(_LONG, steps=steps, step_size=sizes, noise_std=[0.1 * 0.999**t + 0.02 for t in range(steps)])


@pytest.mark.nightly
@pytest.mark.parametrize("assumption", [Convex(1.0), StronglyConvex(1.0, 1.0), Smooth(0.5), Holder(0.5, 0.5)])
def test_schedules_have_windows(assumption: Assumption) -> None:
    routes = {one.route: one for one in without_replacement_routes(_scheduled(3000), assumption, 2.0)}
    window = routes["window of shifts"]
    assert window.rdp(2.0) == window.pair.rdp(2.0)
    assert sum(step.count for step in window.pair.steps) == window.window[1] - window.window[0]
    if isinstance(assumption, StronglyConvex):
        assert window.rdp(2.0) < 0.8 * routes["composition"].rdp(2.0)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "assumption", [Convex(1.0), StronglyConvex(1.0, 1.0), Smooth(0.5), Holder(0.5, 0.5), Clipped()]
)
@pytest.mark.sweep(2)
def test_a_share_for_each_step_is_never_worse_than_one_for_all(assumption: Assumption) -> None:
    """Against the best single share by an independent route: shooting with a toll, and a scan of shares."""
    run = replace(_LONG, steps=200)
    [ours] = [
        one.rdp(2.0)
        for one in without_replacement_routes(run, assumption, 2.0)
        if one.route == "window of shifts"
    ]
    expansion, q, best = assumption.expansion(run, 0, differs=False), 0.05, inf
    for share in np.linspace(0.02, 0.98, 25).tolist():
        toll = step_rdp(q, sqrt(share) * 0.1 / 0.04, "replace", 2.0)
        shot = shoot(expansion, 1.0, 200, toll * (1 - share) * 0.01)
        best = min(best, float(np.sum(shot**2)) / ((1 - share) * 0.01) + len(shot) * toll)
    assert ours <= best * (1 + 1e-4)


def test_a_constant_schedule_is_a_constant() -> None:
    steps = 400
    run = replace(_LONG, steps=steps, diameter=0.3)
    uneven = replace(run, noise_std=[0.1] * (steps - 1) + [0.1 * (1 + 1e-12)])
    here, there = (bound(one, Convex(1.0), order=2.0).epsilon for one in (run, uneven))
    assert there == pytest.approx(here, rel=1e-3)


@given(st.floats(-6, 6), st.sampled_from([Convex, Smooth]))
@settings(max_examples=5)
def test_units_of_length_do_not_matter(power: float, kind: type) -> None:
    unit = 10.0**power
    run = replace(_LONG, steps=300)
    scaled = replace(run, noise_std=0.1 * unit, clip_norm=unit, diameter=unit)
    here, there = (bound(one, kind(0.5), order=3.0).epsilon for one in (run, scaled))
    assert there == pytest.approx(here, rel=1e-6)


def test_a_number_for_random_batches_says_what_it_is() -> None:
    run = NoisySGD(3, 0.1, 1.0, 1.0, dataset_size=10, batch_size=2, sampling="without_replacement")
    renyi, pure = bound(run, Convex(1.0), order=2.5), bound(run, Convex(1.0), delta=1e-5)
    assert str(renyi) == f"(2.5, {printed_up(renyi.epsilon)})-RDP"
    assert str(pure) == f"({printed_up(pure.epsilon)}, 1e-05)-DP"
    said = renyi.as_dict()
    assert (said["kind"], said["order"], said["delta"], said["window"]) == ("bound", 2.5, None, [0, 3])
    assert not {"run", "composed"} & said.keys()
