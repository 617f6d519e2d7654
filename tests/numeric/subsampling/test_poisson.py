"""Poisson batches: random sizes, add and remove."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import binom

from lastiterate.numeric.accounting.batches import least_range, tail_from
from lastiterate.numeric.accounting.conversion import mixed_rdp
from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.calibrate import calibrate
from lastiterate.numeric.compare import compare
from lastiterate.numeric.divergences import s_up
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
)
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.lower.line import binomial_mixture, mixture_masses
from lastiterate.numeric.lower.masses import renyi_below
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.poisson import (
    _BLOCKS,
    _IN_BLOCKS,
    ContractingBlock,
    _block,
    _Search,
    poisson_routes,
)

_RUN = NoisySGD(
    200,
    step_size=0.1,
    noise_std=0.1,
    clip_norm=1.0,
    dataset_size=100,
    batch_size=5,
    sampling="poisson",
    diameter=1.0,
)
_KINDS = (
    Convex(1.0),
    StronglyConvex(1.0, 0.5),
    Smooth(0.5),
    Holder(0.5, 0.5),
    Clipped(),
    Minimum(Smooth(1.0), Clipped()),
)


@pytest.mark.parametrize("losses", [Convex(1.0), StronglyConvex(1.0, 0.5)], ids=str)
def test_each_step_that_a_window_rests_on_may_have_a_batch_outside(losses: Assumption) -> None:
    """At a delta. Where distances shrink, that before the window rests on the sizes of all earlier batches."""
    run, starts = replace(_RUN, steps=2000, noise_std=0.02), set()
    for found in _Search(run, losses, 4.0, 1e-5).for_sizes(2, 12, 1e-9, None):
        starts.add(found.window[0])
        steps = run.steps - found.window[0] if isinstance(losses, Convex) else run.steps
        assert steps * 1e-9 <= found.pair.failure <= steps * 1e-9 * (1 + 1e-12)
    assert max(starts) > 0


@pytest.mark.parametrize("order", [1.1, 2.0, 20.0])
def test_one_step_is_the_larger_direction_of_the_sampled_gaussian(order: float) -> None:
    found = bound(replace(_RUN, steps=1, diameter=inf), Convex(1.0), order=order)
    assert found.epsilon == pytest.approx(s_up(0.05, 0.1, alpha=order, shift=0.1 / 5).upper, rel=1e-9)
    assert found.claim == "ours/poisson/theorem"
    assert "nothing is assumed of the sizes" in " ".join(found.assumptions)
    assert "removing one sample of 100" in " ".join(found.assumptions)


@pytest.mark.nightly
@given(
    st.integers(1, 30), st.integers(1, 20), st.floats(0.02, 2.0), st.floats(1.1, 30.0), st.sampled_from(_KINDS)
)
@settings(max_examples=20)
def test_no_route_is_below_linear_losses(
    steps: int, batch: int, noise: float, order: float, assumption: Assumption
) -> None:
    run = replace(_RUN, steps=steps, batch_size=batch, noise_std=noise, diameter=inf)
    first, second = (
        binomial_mixture([(steps, Fraction(batch, 100), m / batch * (1 - 1e-14))], noise * steps**0.5)
        for m in (0.1, 0.0)
    )
    least = max(
        renyi_below(order, *mixture_masses(order, *pair)) for pair in ((first, second), (second, first))
    )
    for one in poisson_routes(run, assumption, order):
        assert one.rdp(order) >= least


@pytest.mark.parametrize("examples", [2, pytest.param(100, marks=pytest.mark.nightly)])
def test_no_route_is_below_any_witness_on_a_domain(examples: int) -> None:
    @settings(max_examples=examples)
    @given(
        st.integers(1, 40), st.integers(1, 30), st.floats(0.05, 1.0), st.floats(0.02, 3.0), st.floats(1.2, 15.0)
    )
    def check(steps: int, batch: int, noise: float, diameter: float, order: float) -> None:
        run = replace(_RUN, steps=steps, batch_size=batch, noise_std=noise, diameter=diameter)
        for assumption in (Convex(1.0), Smooth(2.0), Clipped()):
            least = lower_bound(run, assumption, order=order).value
            for one in poisson_routes(run, assumption, order):
                assert one.rdp(order) >= least

    check()


def _two_concave_steps(run: NoisySGD, curvature: float, order: float) -> float:
    """The larger divergence after two steps where all gradients are -curvature x but that of i*, which is K.

    The size of the second batch multiplies what the first step did: a law that no single Lipschitz constant describes.
    """
    others, q = run.dataset_size - 1, run.batch / run.dataset_size
    eta, sigma, r = run.step_size_at(0), run.noise_std_at(0), run.step_size_at(0) * run.clip_norm / run.batch
    x = np.linspace(-12 * sigma * (order + 1), 12 * sigma * (order + 1), 60_001)

    def law(present: bool) -> np.ndarray:
        terms = []
        for k, one, two in product(range(others + 1), (0, 1), (0, 1)):
            chance = comb(others, k) * q**k * (1 - q) ** (others - k)
            chance *= (q if one else 1 - q) * (q if two else 1 - q)
            grow = 1 + eta * curvature * k / run.batch
            mean = r * (one * grow + two) if present else 0.0
            var = sigma**2 * (grow**2 + 1)
            terms.append(log(chance) - (x - mean) ** 2 / (2 * var) - log(2 * np.pi * var) / 2)
        return np.asarray(logsumexp(np.array(terms), axis=0))

    p, base = law(present=True), law(present=False)
    width = log(x[1] - x[0])
    return max(
        float(logsumexp(order * a + (1 - order) * b) + width) / (order - 1) for a, b in ((p, base), (base, p))
    )


@pytest.mark.parametrize(("curvature", "order"), [(2.0, 2.0), (10.0, 2.0), (10.0, 5.0)])
def test_concave_quadratics_with_batches_of_random_size(curvature: float, order: float) -> None:
    run = replace(_RUN, steps=2, dataset_size=6, batch_size=2, noise_std=0.01, diameter=2.0)
    least = _two_concave_steps(run, curvature, order)
    assert least > 0
    for one in poisson_routes(run, Smooth(curvature), order):
        assert one.rdp(order) >= least


def test_the_size_of_a_batch_scales_its_step() -> None:
    z = np.array([0.01])
    assert Smooth(3.0).over_sizes(_RUN, 0, 0, 40).value(z) == pytest.approx(0.01 * (1 + 0.1 * 3 * 40 / 5))
    assert Convex(3.0).over_sizes(_RUN, 0, 0, 5).value(z) == pytest.approx(0.01)
    assert Convex(3.0).over_sizes(_RUN, 0, 0, 50).value(z) == pytest.approx(0.01 * (3.0 - 1))
    assert StronglyConvex(3.0, 1.0).over_sizes(_RUN, 0, 5, 10).value(z) == pytest.approx(0.01 * 0.9)
    assert StronglyConvex(3.0, 1.0).over_sizes(_RUN, 0, 0, 10).value(z) == pytest.approx(0.01)
    assert Clipped().over_sizes(_RUN, 0, 0, 99).value(z) == pytest.approx(0.01 + 0.1 * 2 * 99 / 5)


@pytest.mark.parametrize("assumption", _KINDS)
def test_certain_batches_are_full_batches_of_the_others(assumption: Assumption) -> None:
    """With b = n every sample is in every batch: the Gaussian program, with sensitivity eta K / b."""
    run = replace(_RUN, batch_size=100, steps=50, noise_std=0.02)
    found = bound(run, assumption, order=2.0)
    full = NoisySGD(50, 0.1, 0.02, 1.0, dataset_size=100, diameter=1.0)
    assert found.epsilon <= 2.0 / 2 * 50 * (0.1 / 100 / 0.02) ** 2 * (1 + 1e-9)
    assert found.epsilon <= bound(full, assumption, order=2.0).epsilon  # a sample replaced moves twice as much


@pytest.mark.parametrize("assumption", [Convex(1.0), StronglyConvex(1.0, 0.5), Smooth(0.01)])
def test_the_loss_converges(assumption: Assumption) -> None:
    run = replace(_RUN, diameter=0.1)
    losses = [bound(replace(run, steps=T), assumption, order=2.0).epsilon for T in (10, 10**5, 10**6)]
    assert losses[0] < losses[1]
    # Composition would be ten times as much; sizes of more steps are to be covered.
    assert losses[2] < 1.3 * losses[1]


@given(st.integers(2, 400), st.floats(1.3, 8.0), st.sampled_from(_KINDS[:4]))
@settings(max_examples=5)
def test_monotone(steps: int, order: float, assumption: Assumption) -> None:
    run = replace(_RUN, steps=steps, diameter=0.2)
    here = bound(run, assumption, order=order).epsilon
    loose = 1 + 2e-3  # shares are searched on nodes
    assert bound(replace(run, steps=steps + 5), assumption, order=order).epsilon >= here / loose
    assert bound(replace(run, noise_std=0.11), assumption, order=order).epsilon <= here * loose
    assert bound(replace(run, diameter=0.4), assumption, order=order).epsilon >= here / loose
    assert bound(replace(run, dataset_size=120), assumption, order=order).epsilon <= here * loose
    assert bound(run, assumption, order=order * 1.1).epsilon >= here / loose


@given(st.floats(-5, 5))
@settings(max_examples=5)
def test_units_of_length_do_not_matter(power: float) -> None:
    unit = 10.0**power
    scaled = replace(_RUN, noise_std=0.1 * unit, clip_norm=unit, diameter=unit)
    here, there = (bound(one, Convex(0.5), order=3.0).epsilon for one in (_RUN, scaled))
    assert there == pytest.approx(here, rel=1e-6)


def test_epsilon_delta_uses_an_event_less_likely_than_delta() -> None:
    run = replace(_RUN, steps=10**4, diameter=0.1)
    found = bound(run, Convex(1.0), delta=1e-5)
    assert found.candidate.pair.failure < 1e-5
    alone = [one for one in poisson_routes(run, Convex(1.0), 8.0, 1e-5) if one.route == "composition"]
    assert found.epsilon < bound(replace(run, diameter=inf), Convex(1.0), delta=1e-5).epsilon
    assert alone[0].pair.failure == 0.0


@pytest.mark.nightly
def test_blocks_of_strongly_convex_steps_contract() -> None:
    """A single batch may be empty, so that no range of sizes contracts; a block does, and the loss converges.

    From below: one participation moves the iterate by r, on average the distance of the runs is q r / (eta m), and
    the noise adds up to sigma^2 / (2 eta m); mixtures over sizes and participations are hardly wider than that.
    """
    run = replace(_RUN, steps=5000, dataset_size=1000, batch_size=20)
    routes = {one.route: one for one in poisson_routes(run, StronglyConvex(1.0, 0.5), 4.0)}
    window = routes["window of shifts"]
    assert window.rdp(4.0) < 0.05 * routes["composition"].rdp(4.0)
    assert 0 < window.pair.failure < 0.01  # outside the event a bound holds that is hardly larger
    apart, variance = 0.02 * (0.1 / 20) / 0.05, 0.1**2 / (2 * 0.05)
    assert window.rdp(4.0) > 4.0 / 2 * apart**2 / variance
    assert sum(step.count for step in window.pair.steps) == window.window[1] - window.window[0]
    unprojected = bound(replace(run, diameter=inf), StronglyConvex(1.0, 0.5), order=4.0)
    assert unprojected.epsilon < 0.1 * routes["composition"].rdp(4.0)


@pytest.mark.parametrize("assumption", [Convex(1.0), Smooth(0.5), StronglyConvex(1.0, 0.5)])
def test_a_window_is_the_last_steps_and_is_paid_for(assumption: Assumption) -> None:
    found = {one.route: one for one in poisson_routes(replace(_RUN, diameter=0.05), assumption, 4.0)}
    assert set(found) == {"composition", "window of shifts", "worst batches"}
    for one in found.values():
        assert 0 <= one.window[0] < one.window[1] == 200
    for route in ("composition", "window of shifts"):
        one = found[route]
        assert sum(step.count for step in one.pair.steps) == one.window[1] - one.window[0]
    assert found["composition"].window == (0, 200)
    worst = found["worst batches"]
    assert worst.pair.steps == ()
    assert worst.window[0] > 0 or isinstance(assumption, Clipped), "a narrow domain is soon forgotten"


@pytest.mark.nightly
def test_what_is_tracked_from_the_start_may_fail_in_every_block() -> None:
    run = replace(_RUN, steps=2**12, dataset_size=1000, batch_size=20, diameter=inf)
    assumption, delta = StronglyConvex(1.0, 0.5), 1e-5
    windows = [one for one in poisson_routes(run, assumption, 4.0, delta) if one.route == "window of shifts"]
    (failure,) = {one.pair.failure for one in windows} - {0.0}
    chances = []
    for width, depth in product(_BLOCKS, _IN_BLOCKS):
        blocks = run.steps // width
        known = _block(run, assumption, width, log(delta) - depth - log(blocks) - 1)
        chances += [] if known is None else [blocks * known.chance]
    assert chances
    assert any(failure == pytest.approx(chance, rel=1e-12, abs=0) for chance in chances)


def test_a_block_in_numbers() -> None:
    """Its contraction, reach and probability from the range of sizes that it says it is made of."""
    steps, log_chance = 64, log(1e-9)
    known = _block(replace(_RUN, diameter=inf), StronglyConvex(1.0, 0.5), steps, log_chance)
    assert known is not None
    low, high, _ = least_range(steps * 99, Fraction(5, 100), log_chance - log(2), both=True)
    # A block with more samples contracts more.
    below = tail_from(steps * 99, Fraction(95, 100), steps * 99 - low + 1)
    beyond = tail_from(99, Fraction(5, 100), 67)  # a batch of 66 is the last with 0.1 * 66 / 5 * (1 + 0.5) <= 2
    contraction = (1 - 0.1 * 0.5 * low / (5 * steps)) ** steps
    assert known.contraction == pytest.approx(contraction, rel=1e-12)
    assert known.reach == pytest.approx(steps * 0.1 * 1.0 / 5 / (1 - contraction), rel=1e-12)
    assert known.chance == pytest.approx(steps * beyond + below, rel=1e-12, abs=0)
    assert (known.steps, known.before) == (steps, 4)
    narrow = _block(replace(_RUN, diameter=0.01), StronglyConvex(1.0, 0.5), steps, log_chance)
    assert narrow is not None
    assert (narrow.reach, narrow.before) == (0.01, 0)
    assert high > low > 0


def test_no_block_without_a_contraction_that_is_sure() -> None:
    assert _block(_RUN, StronglyConvex(1.0, 1e-90), 64, log(1e-9)) is None, "no ball tells it from 1"
    assert _block(_RUN, StronglyConvex(1.0, 0.5), 1, log(1e-9)) is None, "a single batch may be empty"


def test_each_block_that_a_window_rests_on_may_not_contract() -> None:
    """Those of the window and those before it, after which little is left of the diameter; at most those of the run."""
    block = ContractingBlock(16, 0.5, 1.0, 3, 1e-9, (1, 9))
    assert [block.covered(length, 1000) for length in (16, 32, 160)] == [4, 5, 13]
    assert block.covered(96, 100) == 7
    run, losses = replace(_RUN, steps=2000), StronglyConvex(1.0, 0.5)
    covered = list[int]()
    for one in _Search(run, losses, 4.0, 1e-5).in_blocks(losses, None):
        known = one.choices.shares.block  # type: ignore[attr-defined]
        blocks = known.covered(2000 - one.window[0], 2000)
        covered.append(blocks)
        assert blocks * known.chance <= one.pair.failure <= blocks * known.chance * (1 + 1e-12)
    assert max(covered) > 1


def test_what_a_block_does() -> None:
    known = _block(_RUN, StronglyConvex(1.0, 0.5), 64, log(1e-9))
    assert known is not None
    assert 0.95**64 < known.contraction < 1
    assert known.chance <= 2e-9
    rng = np.random.default_rng(1)
    sizes = rng.binomial(99, 0.05, (2000, 64))
    products = np.prod(np.maximum(1 - 0.1 * 0.5 * sizes / 5, 0.1 * 1.0 * sizes / 5 - 1), axis=1)
    assert products.max() <= known.contraction
    distance = np.zeros(2000)
    for size in sizes.T:
        distance = (1 - 0.01 * size) * distance + 0.1 / 5
    assert distance.max() <= min(1.0, known.reach)
    assert _block(_RUN, StronglyConvex(10.0, 0.5), 64, log(1e-9)) is None  # a batch of 20 goes beyond 2 / L


def test_schedules() -> None:
    sizes = [0.1 / (1 + t / 500) for t in range(2000)]
    run = replace(_RUN, steps=2000, step_size=sizes, noise_std=[0.1 * 0.999**t + 0.05 for t in range(2000)])
    for assumption in (Convex(1.0), Smooth(0.1)):
        routes = {one.route: one.rdp(2.0) for one in poisson_routes(run, assumption, 2.0)}
        assert routes["window of shifts"] <= routes["composition"] * (1 + 1e-12)


@pytest.mark.nightly
def test_calibrate_and_compare() -> None:
    run = replace(_RUN, steps=50)
    assert calibrate(run, Convex(1.0), epsilon=0.01, order=2.0).epsilon <= 0.01
    rows = compare(run, Convex(1.0), order=2.0)
    bounds = [row for row in rows if row.usable]
    assert min(row.epsilon for row in bounds) == next(row.epsilon for row in rows if row.name == "bound")
    assert {row.claim for row in bounds} <= {"ours/poisson/theorem", "ours/contraction/poisson"}


@given(st.integers(1, 10**6), st.floats(1e-4, 0.9), st.floats(0.0, 12.0))
@settings(max_examples=50)
def test_tails_are_just_above_those_of_scipy(count: int, rate: float, depth: float) -> None:
    least = min(count, int(count * rate + depth * (count * rate * (1 - rate)) ** 0.5) + 1)
    exact, ours = float(binom.sf(least - 1, count, rate)), tail_from(count, Fraction(rate), least)
    assert ours >= exact * (1 - 1e-8)
    if depth > 3:
        assert ours <= 2 * exact + 1e-300


@given(st.integers(1, 10**5), st.integers(2, 60), st.floats(-300, -1))
@settings(max_examples=40)
def test_ranges_miss_no_more_than_they_say(count: int, parts: int, log_chance: float) -> None:
    rate = Fraction(1, parts)
    low, high, chance = least_range(count, rate, log_chance, both=True)
    assert 0 <= low <= high <= count
    outside = float(binom.sf(high, count, 1 / parts) + binom.cdf(low - 1, count, 1 / parts))
    assert outside * (1 - 1e-6) <= chance <= 2.1 * exp(log_chance)


@given(st.floats(0, 5), st.floats(0, 0.5), st.floats(0, 30), st.floats(1.05, 20))
@settings(max_examples=50)
def test_mixtures_over_sizes(inside: float, failure: float, outside: float, order: float) -> None:
    power, p = order - 1, failure
    ours = mixed_rdp(inside, failure, outside, order)
    if inside < outside:
        exact = (
            float(np.logaddexp(log1p(-p) + power * inside, (log(p) if p else -inf) + power * outside)) / power
        )
        assert ours == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert ours <= max(inside, outside)


def test_a_chain_of_ranges() -> None:
    """By hand: 1, 2 and 5 with probabilities .9, .09 and .01, each fails no more often than that."""
    exact = log(0.9 * exp(1.0) + 0.1 * exp(2.0) + 0.01 * exp(5.0))
    found = mixed_rdp(1.0, 0.1, 2.0, 2.0, [(0.01, 5.0)])
    assert found == pytest.approx(exact, rel=1e-12)
    assert found >= log(0.9 * exp(1.0) + 0.09 * exp(2.0) + 0.01 * exp(5.0))
    assert mixed_rdp(3.0, 0.1, 2.0, 2.0, [(0.01, 5.0)]) >= 3.0, "what is inside may be all there is"


@pytest.mark.nightly
@given(st.integers(1, 3000), st.floats(0.01, 1.0), st.floats(1.5, 8.0))
@settings(max_examples=6)
def test_shortened_runs_are_above_strongly_convex_losses(steps: int, diameter: float, order: float) -> None:
    run = replace(_RUN, steps=10**9 + steps, dataset_size=6, batch_size=5, diameter=diameter)
    long = min(one.rdp(order) for one in poisson_routes(run, StronglyConvex(1.0, 0.5), order))
    short = replace(run, steps=min(steps, 200))
    assert long >= lower_bound(short, StronglyConvex(1.0, 0.5), order=order).value


def test_bad_requests() -> None:
    with pytest.raises(InputError, match="order=None, delta=None"):
        bound(_RUN, Convex(1.0))
    with pytest.raises(InputError, match="call bound"):
        ShiftProgram(_RUN, Convex(1.0))


def test_blocks_that_contract_to_nothing() -> None:
    """0.2^256 is beyond the range of the search, and so is what a block of it leaves."""
    run = NoisySGD(300, 1.0, 0.03, 1.0, 8, batch_size=7, sampling="poisson", diameter=0.1)
    found = bound(run, StronglyConvex(0.8, 0.8), order=2.0).epsilon
    assert lower_bound(run, StronglyConvex(0.8, 0.8), order=2.0).value <= found < 66.0


def test_at_a_delta_a_range_of_sizes_may_fail_with_less_than_that_delta() -> None:
    """Of the ranges of sizes the widest window counts only those that a run of its length hardly ever leaves."""
    run = NoisySGD(20_000, 4.0, 0.08, 1.0, 4_000, 400, "poisson", 1.0)
    found = bound(run, Convex(0.25), delta=1e-5)
    assert found.epsilon < 3.3675, "10.74 where the range was chosen for a window of nine steps"
    assert "PLD" in found.route
