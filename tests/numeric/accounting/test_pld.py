"""Epsilon through privacy-loss distributions."""

from itertools import pairwise, product
from math import exp, expm1, inf, log, sqrt

import mpmath
import numpy as np
import pytest
from flint import arb
from hockey_stick import hockey_stick_gaussian, hockey_stick_mixtures
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sympy import Float, Integer, Rational

from lastiterate.numeric.accounting.conversion import gdp_epsilon, rdp_to_dp
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledSteps
from lastiterate.numeric.accounting.pld import Composition, LatticeLaw, Release, _convolved, _lost
from lastiterate.numeric.divergences import Mixture, s_up
from lastiterate.numeric.rounding import precision
from lastiterate.symbolic.kernel.profiles import Order, PoissonStep, Profile, SwapStep

_ADJACENCIES = ("add_remove", "replace")


def _profile(q: float, noise: float, t: float, side: str) -> tuple[float, float]:
    """The least delta of one step at e^eps = t, below and above, for t >= 1."""
    if side == "replace":
        found = hockey_stick_gaussian(1.0, noise, t=1 + (t - 1) / q)
        return q * found.lower, q * found.upper
    mixture, base = Mixture(q, 0.0, 1.0), Mixture(0.0, 0.0, 1.0)
    laws = (mixture, base) if side == "remove" else (base, mixture)
    found = hockey_stick_mixtures(*laws, noise, t=t)
    return found.lower, found.upper


def _one(q: float, noise: float, adjacency: str, count: int, cost: float = 0.0) -> DominatingPair:
    return DominatingPair(cost, (SampledSteps(q, noise, adjacency, count),))


@pytest.mark.parametrize(
    ("side", "stated"),
    [
        ("remove", PoissonStep(Rational(1, 10), Integer(4), Order.FIRST)),
        ("add", PoissonStep(Rational(1, 10), Integer(4), Order.SECOND)),
        ("replace", SwapStep(Rational(1, 10), Integer(4))),
    ],
)
def test_a_lattice_has_the_chords_of_the_kernels_profile(side: str, stated: Profile) -> None:
    """What `ours/pld/theorem` composes: the profile at every node, and between two of them a line."""
    release, spacing, z = Release(0.1, arb(2), side, 1), 2.0**-5, np.linspace(-4, 5, 30)
    losses, nodes = release.on_lattice(spacing, z), release.nodes(spacing, z)
    ratios = np.exp(losses.index * spacing)
    ends = [0.0, *(exp(k * spacing) for k in nodes), 2 * exp(nodes[-1] * spacing)]
    values = [1.0, *(float(stated.at(Float(end, 25))) for end in ends[1:-1])]
    for (left, right), (high, low) in zip(pairwise(ends), pairwise([*values, values[-1]]), strict=True):
        for part in (0.0, 0.3):
            g = left + part * (right - left)
            found = losses.infinite + losses.mass @ np.maximum(1 - g / ratios, 0)
            assert found == pytest.approx(high + part * (low - high), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("cost", [1e-4, 1.0, 30.0])
def test_a_gaussian_alone_is_exact(cost: float) -> None:
    exact = gdp_epsilon(sqrt(cost), 1e-5)
    assert exact <= DominatingPair(cost).dp(1e-5) <= exact * (1 + 1e-14)


@pytest.mark.parametrize(("cost", "delta"), [*product([1e-3, 1.0, 30.0], [1e-3, 1e-6, 1e-12])])
def test_a_gaussian_on_the_lattice(cost: float, delta: float) -> None:
    exact = gdp_epsilon(sqrt(cost), delta)
    found = _one(1e-9, 100.0, "replace", 1, cost).dp(delta)
    assert exact <= found <= 1.003 * exact + 1e-6


@pytest.mark.parametrize("adjacency", _ADJACENCIES)
def test_a_rate_of_one_is_gaussian(adjacency: str) -> None:
    assert _one(1.0, 2.0, adjacency, 8, cost=2.0).dp(1e-5) == pytest.approx(gdp_epsilon(2.0, 1e-5))


@settings(max_examples=25)
@given(
    st.floats(-4, -0.05).map(lambda x: 10**x),
    st.floats(-0.7, 1.3).map(lambda x: 10**x),
    st.floats(-9, -2).map(lambda x: 10**x),
    st.sampled_from(_ADJACENCIES),
)
def test_one_step_against_the_profile(q: float, noise: float, delta: float, adjacency: str) -> None:
    found = _one(q, noise, adjacency, 1).dp(delta)
    sides = ("replace",) if adjacency == "replace" else ("remove", "add")
    assert all(_profile(q, noise, exp(found), side)[0] <= delta for side in sides)
    if found > 0.003:
        assert max(_profile(q, noise, exp(0.995 * found - 0.002), side)[1] for side in sides) > delta


@pytest.mark.parametrize(
    ("q", "noise", "side"), [*product([0.01, 0.4], [0.5, 2.0], ["remove", "add", "replace"])]
)
def test_two_steps_by_quadrature(q: float, noise: float, side: str) -> None:
    g = 1 / noise

    def loss(z: float) -> float:
        return float(np.log1p(q * expm1(g * z - g * g / 2)))

    def single(eps: float) -> float:
        t = exp(eps)
        if t < 1:
            other = {"remove": "add", "add": "remove"}.get(side, side)
            return 1 - t + t * _profile(q, noise, 1 / t, other)[1]
        return _profile(q, noise, t, side)[1]

    def composed(eps: float) -> float:
        """The profile of one step averaged over the loss of the other."""

        def parts(z: float) -> float:
            up, down = norm.pdf(z) * exp(loss(z)) * single(eps - loss(z)), norm.pdf(z) * single(eps + loss(z))
            return {"remove": up, "add": down, "replace": up + down}[side]

        start = g / 2 if side == "replace" else -9.0
        total = sum(quad(parts, a, b, limit=60, epsrel=1e-6)[0] for a, b in [(start, 2 + g), (2 + g, 9 + g)])
        return total + ((1 - q) * (1 - 2 * norm.cdf(-g / 2)) * single(eps) if side == "replace" else 0.0)

    delta = 1e-5
    composition = Composition.of([Release(q, arb(g), side, 2)], delta)
    assert composition is not None
    found = composition.epsilon(delta)
    assert composed(found) <= delta * (1 + 1e-5)
    assert composed(found * 0.995) > delta


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("q", "noise", "count", "delta"),
    [(0.01, 1.0, 1000, 1e-5), (0.2, 5.0, 300, 1e-8), (0.001, 0.6, 20_000, 1e-6)],
)
def test_against_dp_accounting(q: float, noise: float, count: int, delta: float) -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    law = {
        pessimistic: pld.from_gaussian_mechanism(
            noise, sampling_prob=q, value_discretization_interval=2e-4, pessimistic_estimate=pessimistic
        ).self_compose(count)
        for pessimistic in (True, False)
    }
    found = _one(q, noise, "add_remove", count).dp(delta)
    assert law[False].get_epsilon_for_delta(delta) <= found <= 1.003 * law[True].get_epsilon_for_delta(delta)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("q", "noise", "count", "delta"),
    [(0.01, 1.0, 1000, 1e-5), (0.1, 5.0, 500, 1e-6), (0.001, 0.7, 20_000, 1e-6)],
)
def test_inside_the_brackets_of_prv_accountant(q: float, noise: float, count: int, delta: float) -> None:
    """Gopi, Lee & Wutschitz 2021 certify both ends, up to rounding."""
    prv = pytest.importorskip("prv_accountant")
    step = prv.PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=noise)
    accountant = prv.PRVAccountant(
        prvs=[step], max_self_compositions=[count], eps_error=0.01, delta_error=delta / 1000
    )
    below, _, above = accountant.compute_epsilon(delta=delta, num_self_compositions=[count])
    assert below <= _one(q, noise, "add_remove", count).dp(delta) <= above


@pytest.mark.nightly
def test_below_what_renyi_gives(subtests: pytest.Subtests) -> None:
    for count, delta in [(1, 1e-2), (1000, 1e-30), (10**6, 1e-6), (10**8, 1e-2), (10**8, 1e-30)]:
        with subtests.test(count=count, delta=delta):
            q, noise = 0.02, sqrt(count) / 20 + 1
            found = _one(q, noise, "add_remove", count).dp(delta)
            orders = [2, 5, 16, 64, 256, 512]
            assert 0 <= found <= min(rdp_to_dp(a, count * s_up(q, noise, alpha=a).upper, delta) for a in orders)


def test_little_noise_and_schedules() -> None:
    found = _one(0.3, 0.02, "add_remove", 3).dp(1e-5)
    assert 3 * 0.5 * 50**2 < found < gdp_epsilon(50 * sqrt(3), 1e-5)
    many = DominatingPair(0.1, tuple(SampledSteps(0.01, 1 + k / 100, "replace", 10) for k in range(100)))
    low = DominatingPair(0.1, (SampledSteps(0.01, 1.99, "replace", 1000),))
    high = DominatingPair(0.1, (SampledSteps(0.01, 1.0, "replace", 1000),))
    found = many.dp(1e-6)
    assert low.dp(1e-6) < found < high.dp(1e-6)


def test_failure_is_taken_off_delta() -> None:
    plain = _one(0.1, 2.0, "replace", 50)
    failing = DominatingPair(0.0, plain.steps, failure=6e-6)
    assert failing.dp(1e-5) == pytest.approx(plain.dp(4e-6), rel=1e-5)
    assert DominatingPair(0.0, plain.steps, failure=1e-5).dp(1e-5) == inf


def test_nothing_released_costs_nothing() -> None:
    assert DominatingPair(0.0).dp(1e-5) == 0.0
    assert _one(0.01, 5.0, "replace", 1).dp(0.5) == 0.0


@pytest.mark.parametrize("side", ["remove", "add", "replace"])
@pytest.mark.parametrize(("q", "noise"), [(0.3, 1.0), (0.01, 0.5), (1.0, 2.0)])
def test_the_lattice_lies_above_the_profile(side: str, q: float, noise: float) -> None:
    if q == 1 and side != "remove":
        pytest.skip("a Gaussian is one release whatever the side")
    release = Release(q, 1 / arb(noise), side, 1)  # noise is a power of two, or the ball is wide
    losses = release.on_lattice(2.0**-12, np.linspace(*release.ends(1e-9), 700))
    assert sum(losses.mass) + losses.infinite == pytest.approx(1, abs=1e-12)
    assert sum(losses.mass) + losses.infinite >= 1 - 1e-15
    for log_t in np.random.default_rng(5).uniform(0, 6, 60):
        above = losses.index * 2.0**-12 > log_t
        weights = -np.expm1(log_t - losses.index[above] * 2.0**-12)
        lattice = float(losses.mass[above] @ weights) + losses.infinite
        low, high = (
            _profile(q, noise, exp(log_t), side)
            if q < 1
            else 2 * (hockey_stick_gaussian(1.0, noise, t=exp(log_t)).lower,)
        )
        assert low <= lattice * (1 + 1e-12)
        assert lattice <= 1.05 * high + 3e-9  # and hardly above: it is a sketch on a coarse lattice


def test_the_error_of_the_transform_is_bounded() -> None:
    rng = np.random.default_rng(3)
    laws = [rng.exponential(size=64) ** 6 for _ in range(2)]
    laws = [np.asarray(one / one.sum()) for one in laws]
    counts = [1023, 4096]
    found, error = _convolved(laws, counts)
    with mpmath.workdps(60):
        points = [mpmath.expjpi(mpmath.mpf(-k) / 32) for k in range(64)]
        spectra = [
            [
                mpmath.fsum(mpmath.mpf(float(v)) * points[(j * k) % 64] for j, v in enumerate(one))
                for k in range(64)
            ]
            for one in laws
        ]
        power = [spectra[0][k] ** counts[0] * spectra[1][k] ** counts[1] for k in range(64)]
        exact = [
            mpmath.fsum(v * points[-(j * k) % 64] for k, v in enumerate(power)).real / 64 for j in range(64)
        ]
        gap = float(mpmath.fsum(abs(mpmath.mpf(float(a)) - b) for a, b in zip(found, exact, strict=True)))
    assert 0 < gap <= error < 1e-9


@pytest.mark.parametrize("counts", [[1], [5], [3, 7]])
def test_the_error_of_the_transform_is_that_of_its_roundings(counts: list[int]) -> None:
    """8 u log2(n) for the transform of a mass of 1, 5 u a product, in the l1 norm through Cauchy's inequality."""
    rng, u, length = np.random.default_rng(4), 2.0**-53, 64
    laws = [rng.exponential(size=length) for _ in counts]
    laws = [one / one.sum() for one in laws]
    _, error = _convolved(laws, counts)
    eta = 8 * u * 6
    sizes, relative = np.ones(33), np.zeros(33)
    for law, count in zip(laws, counts, strict=True):
        here = [
            abs(sum(law[j] * np.exp(-2j * np.pi * j * k / length) for j in range(length))) for k in range(33)
        ]
        sizes *= np.array(here) ** count
        relative += count * (eta / np.array(here) + 5 * u)
    wanted = sqrt(2 * float(((sizes * relative) ** 2).sum())) + eta * sqrt(2 * float((sizes**2).sum()))
    assert error == pytest.approx(wanted, rel=1e-5, abs=0)


def test_masses_are_those_of_a_law_that_is_not_tilted() -> None:
    found = _one(0.1, 1.0, "replace", 5).releases("replace")
    plain, tilted = Composition.of(found, 1e-6, tilt=0.0), Composition.of(found, 1e-6)
    assert plain is not None
    assert tilted is not None
    assert plain.masses().sum() == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match=r"^masses needs an untilted law, got tilt="):
        tilted.masses()


def test_a_target_just_below_the_profile_at_zero_is_met_next_to_zero() -> None:
    law = Composition.of(_one(0.1, 1.0, "replace", 5).releases("replace"), 0.05)
    assert law is not None
    delta = law.delta(0.0) * (1 - 1e-14)
    found = law.epsilon(delta)
    assert 0 <= found < 1e-9
    assert law.delta(found) <= delta


def test_more_is_never_less() -> None:
    values = [_one(0.05, 1.5, "replace", count, cost).dp(1e-6)
              for cost, count in [(0.0, 10), (0.0, 20), (0.5, 20), (0.5, 40)]]  # fmt: skip
    assert values == sorted(values)
    sides = [
        side for release in _one(0.1, 1.0, "add_remove", 5, 1.0).releases("add") for side in [release.side]
    ]
    assert sides == ["add", "remove"]
    assert _one(0.1, 1.0, "add_remove", 5).dp(log(2) * 1e-6) > 0


@pytest.mark.parametrize("side", ["remove", "add", "replace"])
@pytest.mark.parametrize(("q", "noise"), [(1e-5, 0.3), (0.01, 1.0), (0.3, 2.0)])
def test_the_slope_of_a_sketch_is_that_of_the_loss(side: str, q: float, noise: float) -> None:
    release = Release(q, 1 / arb(noise), side, 1)
    low, high = release.ends(1e-9)
    slope = release.sketch(low, high)[2]
    edges = np.linspace(low, high, len(slope) + 1)
    assert slope == pytest.approx(np.diff(release.loss(edges)) / np.diff(edges), rel=0.01)


def test_an_infinite_loss_of_any_release_is_one_of_the_sum() -> None:
    """Three releases, each of which is lost with probability 0.1; no finite sum reaches the end of the window."""
    each = LatticeLaw(np.array([0]), np.array([0.9]), 0.1)
    with precision():
        found = float(_lost([each], [3], 5, 1.0, 0.1))
    assert 1 - 0.9**3 <= found <= 3 * 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_an_error_of_the_weights_counts_where_it_matters_most(tilt: float) -> None:
    weights, error, epsilon = np.array([0.2, 0.3, 0.3, 0.2]), 0.01, 0.05
    law = Composition(0.1, tilt, -1, weights, arb(0), error, 1e-3)
    beyond = np.maximum(law.losses - epsilon, 0.0)
    each = np.exp(-tilt * law.losses) * -np.expm1(-beyond)
    assert law.delta(epsilon) >= weights @ each + error * each.max() + 1e-3
    assert law.delta(epsilon) <= weights @ each + error + 1e-3 + 1e-9
