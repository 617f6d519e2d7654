"""(epsilon, delta) of runs with random batches: valid, smallest, and the route is named."""

from dataclasses import replace
from math import comb, exp, inf, log, log1p, sqrt

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from lastiterate.numeric.accounting.conversion import gdp_epsilon, rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.losses.assumptions import Convex, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.windows import composition_route
from lastiterate.numeric.subsampling.without_replacement import convert_routes, without_replacement_routes

_RUN = NoisySGD(
    steps=2000, step_size=0.05, noise_std=0.02, clip_norm=1.0, dataset_size=1000, batch_size=50,
    sampling="without_replacement", diameter=1.0,
)  # fmt: skip


def _delta_of_linear_losses(run: NoisySGD, epsilon: float, other: float, rest: float) -> float:
    """The larger delta of both directions: gradient -K against ``other`` K, ``rest`` K elsewhere; batches of one."""
    steps, q = run.steps, run.batch / run.dataset_size
    move = run.step_size_at(0) * run.clip_norm
    width = run.noise_std_at(0) * sqrt(steps)
    met = np.arange(steps + 1)
    weights = np.log([comb(steps, k) * q**k * (1 - q) ** (steps - k) for k in met])
    reach = steps * move + 12 * width
    x, h = np.linspace(-reach, reach, 40_001, retstep=True)
    p, other_law = (
        np.exp(
            logsumexp(
                weights + norm.logpdf(x[:, None], -move * (met * one + (steps - met) * rest), width), axis=1
            )
        )
        for one in (-1.0, other)
    )
    gaps = (p - exp(epsilon) * other_law, other_law - exp(epsilon) * p)
    return max(float(np.sum(np.maximum(gap, 0.0)) * h) for gap in gaps)


@pytest.mark.parametrize(("noise", "steps"), [(0.5, 1), (1.0, 3), (0.3, 8)])
def test_above_linear_losses(noise: float, steps: int) -> None:
    run = replace(
        _RUN, steps=steps, noise_std=noise, step_size=1.0, dataset_size=10, batch_size=1, diameter=inf
    )
    found = bound(run, Smooth(1.0), delta=1e-3)
    for other, rest in [(1.0, 0.0), (1.0, 1.0), (0.0, -1.0), (0.5, 1.0)]:
        assert _delta_of_linear_losses(run, found.epsilon, other, rest) <= 1e-3
    assert _delta_of_linear_losses(run, (0.99 if steps == 1 else 0.5) * found.epsilon, 1.0, 1.0) > 1e-3


def test_a_bound_that_may_fail_pays_for_it_at_an_order() -> None:
    """Where nearly all of delta is spent on the event, the Renyi divergence of the mixture is converted."""
    run, failure = replace(_RUN, steps=4, noise_std=0.002), 1e-3 * (1 - 1e-9)
    inside = replace(composition_route(run), pair=DominatingPair(0.01, (), failure))

    *_, found = convert_routes(run, lambda *_, **__: [inside], 1e-3)
    assert found.renyi is not None
    order, epsilon = found.renyi
    outside = composition_route(run).rdp(order)
    rarely, mostly = log(failure) + (order - 1) * outside, log1p(-failure) + (order - 1) * order * 0.01 / 2
    assert epsilon == pytest.approx(np.logaddexp(rarely, mostly) / (order - 1), rel=1e-9)
    assert epsilon > order * 0.01 / 2
    assert found.dp(1e-3) == pytest.approx(rdp_to_dp(order, epsilon, 1e-3))


def test_poisson_batches_may_fail_below_delta() -> None:
    run = replace(_RUN, sampling="poisson", adjacency="", steps=1000)
    found = bound(run, StronglyConvex(1.0, 0.5), delta=1e-5)
    assert found.route == "window of shifts through PLD"
    assert 0 < found.candidate.pair.failure < 1e-5
    assert found.epsilon < 0.9 * poisson_routes(run, Convex(1.0), 8.0)[0].pair.dp(1e-5)


@pytest.mark.parametrize(
    ("run", "assumption", "route"),
    [
        (replace(_RUN, diameter=inf), Convex(1.0), "composition through PLD"),
        (_RUN, StronglyConvex(1.0, 0.5), "window of shifts through PLD"),
        (
            replace(_RUN, batch_size=990, noise_std=(0.02, 0.03) * 1000),
            StronglyConvex(1.0, 0.5),
            "worst batches through GDP",
        ),
    ],
)
def test_the_route_is_named_and_smallest(run: NoisySGD, assumption: Convex, route: str) -> None:
    found = bound(run, assumption, delta=1e-5)
    assert found.route == route
    assert found.order is None
    assert found.epsilon == found.candidate.pair.dp(1e-5)
    assert str(found).endswith("1e-05)-DP")
    assert found.as_dict()["route"] == route
    for order in (3.0, 10.0, 30.0):
        for one in without_replacement_routes(run, assumption, order):
            assert found.epsilon <= rdp_to_dp(order, one.rdp(order), 1e-5)
            assert found.epsilon <= 1.02 * one.pair.dp(1e-5)


def test_renyi_serves_where_floats_do_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DominatingPair, "dp", lambda *_: inf)
    found = bound(replace(_RUN, steps=50, diameter=inf), Convex(1.0), delta=1e-5)
    assert found.order is not None
    assert found.route == f"composition through RDP, order {found.order:.4g}"
    assert found.epsilon == rdp_to_dp(found.order, found.candidate.pair.rdp(found.order), 1e-5)


def test_never_above_the_gaussian() -> None:
    worst = next(
        one
        for one in without_replacement_routes(_RUN, StronglyConvex(1.0, 0.5), 2.0)
        if one.route == "worst batches"
    )
    gaussian = gdp_epsilon(sqrt(worst.pair.cost), 1e-6)
    assert bound(_RUN, StronglyConvex(1.0, 0.5), delta=1e-6).epsilon <= gaussian * (1 + 1e-12)


def test_a_target_is_met() -> None:
    found = calibrate(replace(_RUN, steps=300, diameter=inf), Convex(1.0), epsilon=0.7, delta=1e-5)
    assert 0.699 <= found.epsilon <= 0.7
