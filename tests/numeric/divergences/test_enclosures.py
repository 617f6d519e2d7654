"""Enclosures against 40-digit quadrature, known values, and the traps of other libraries."""

from dataclasses import FrozenInstanceError
from math import isfinite

import numpy as np
import pytest
from flint import arb
from hockey_stick import hockey_stick_gaussian, hockey_stick_mixtures
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from mpmath import mp, mpf
from quadrature import hockey_stick, law, renyi, sampled

from lastiterate.numeric.divergences import (
    Enclosure,
    Mixture,
    renyi_gaussian,
    renyi_mixtures,
    replacement_step,
    s_down,
    s_up,
)
from lastiterate.numeric.divergences.mixtures import refine, renyi_moment
from lastiterate.numeric.divergences.sampled import _excess
from lastiterate.numeric.rounding import exact, precision

_QUICK = options(max_examples=25)
_RATE, _NOISE = st.floats(-8, 0).map(lambda p: 10**p), st.floats(-0.7, 1.5).map(lambda p: 10**p)
_ORDER = st.floats(-4, 2.4).map(lambda p: 1 + 10**p)


def _random(count: int, seed: int) -> list[tuple[float, float, float]]:
    draw = np.random.default_rng(seed)
    rates, noises = 10 ** draw.uniform(-4, 0, count), 10 ** draw.uniform(-0.5, 1.5, count)
    orders = np.minimum(1 + 10 ** draw.uniform(-3, 2.41, count), 256.0)
    orders[:: max(count // 3, 1)] = 256.0
    return [(float(q), float(s), float(a)) for q, s, a in zip(rates, noises, orders, strict=True)]


_FIXED = [
    (0.1, 1.0, 1.1),
    (0.4, 12.0, 59.3),
    (1e-12, 1.0, 1.5),
    (1e-12, 1.0, 32.5),
    (1.0, 2.0, 7.5),
    (0.999, 0.5, 255.5),
]


def _radius(ball: Enclosure) -> float:
    """Half the width divided by the lower end."""
    return (ball.upper - ball.lower) / 2 / ball.lower


def _inside(ball: Enclosure, truth: mpf, scale: mpf) -> None:
    with mp.workdps(60):
        slack = scale * mpf(10) ** -22
        assert mpf(ball.lower) - slack <= truth <= mpf(ball.upper) + slack


def _agree(q: float, noise: float, alpha: float) -> None:
    for up, function in ((True, s_up), (False, s_down)):
        ball, truth = function(q, noise, alpha=alpha), sampled(q, noise, alpha, up=up)
        _inside(ball, truth, truth)
        assert _radius(ball) <= 1e-10


@pytest.mark.nightly
def test_sampled_gaussian_against_quadrature(subtests: pytest.Subtests) -> None:
    for q, noise, alpha in _FIXED + _random(6, 0):
        with subtests.test(q=q, noise=noise, alpha=alpha):
            _agree(q, noise, alpha)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_sampled_gaussian_against_quadrature_at_length() -> None:
    for q, noise, alpha in _random(1000, 1):
        _agree(q, noise, alpha)


@pytest.mark.parametrize("alpha", [1.01, 2.5, 9.0, 40.5])
def test_pairs_of_mixtures_against_quadrature(alpha: float) -> None:
    for (p, a, b), (q, c, d) in [
        ((0.1, 0, 1), (0.1, 0, -1)),
        ((0.3, -1, 2), (0.6, -2, 1)),
        ((0.5, 0, 1), (1, 0, 0.5)),
    ]:
        ball = renyi_mixtures(Mixture(p, a, b), Mixture(q, c, d), 1.0, alpha=alpha)
        truth = renyi(law(p, a, b), law(q, c, d), alpha, 6)
        _inside(ball, truth, truth)
        assert _radius(ball) <= 1e-10


def test_the_numbers_of_the_audit() -> None:
    """n = 10, b = 1, eta = K = noise = 1, T = 1, alpha = 20."""
    assert s_up(0.1, 1.0, alpha=20, shift=2.0).middle == pytest.approx(37.576226217901, abs=1e-11)
    claimed = s_down(0.1, 1.0, alpha=20, shift=2.0)
    assert claimed.middle == pytest.approx(0.0807336, abs=5e-8)  # Chien & Li, theorem 3.12
    assert s_up(0.1, 1.0, alpha=20).middle == pytest.approx(7.5762263, abs=5e-8)
    witness = renyi_mixtures(Mixture(0.1, 0, 1), Mixture(0.1, 0, -1), alpha=20)  # linear losses +w and -w
    assert witness.middle == pytest.approx(7.6815868, abs=5e-8)
    assert claimed.upper < witness.lower


def test_whole_orders_by_the_sum_and_by_quadrature() -> None:
    for alpha in (2, 3, 17, 64):
        summed = s_up(0.03, 0.8, alpha=alpha)
        integrated = renyi_mixtures(Mixture(0.03, 0.0, 1.0), Mixture(0.0, 0.0, 1.0), 0.8, alpha=alpha)
        assert summed.lower <= integrated.upper
        assert integrated.lower <= summed.upper
        assert _radius(integrated) < 1e-12


@_QUICK
@given(q=_RATE, noise=_NOISE, alpha=_ORDER)
def test_up_is_at_least_down(q: float, noise: float, alpha: float) -> None:
    up, down = s_up(q, noise, alpha=alpha), s_down(q, noise, alpha=alpha)
    assert up.upper >= down.lower
    if 1e-6 < q < 1 and noise < 10:
        assert up.lower > down.upper
    if q < 1:
        assert down.lower <= -np.log1p(-q) * (1 + 1e-15)
    assert max(_radius(up), _radius(down)) <= 1e-10


@_QUICK
@given(q=_RATE, noise=_NOISE, alpha=_ORDER, factor=st.floats(1.01, 3))
def test_directions_of_change(q: float, noise: float, alpha: float, factor: float) -> None:
    for function in (s_up, s_down):
        here = function(q, noise, alpha=alpha).lower
        assert function(min(q * factor, 1.0), noise, alpha=alpha).upper >= here
        assert function(q, noise / factor, alpha=alpha).upper >= here
        assert function(q, noise, alpha=alpha * factor).upper >= here
        assert function(q, 4 * noise, alpha=alpha, shift=4.0).upper >= here  # units
        assert function(q, 4 * noise, alpha=alpha, shift=4.0).lower <= function(q, noise, alpha=alpha).upper


def test_extremes_are_resolved(subtests: pytest.Subtests) -> None:
    for noise in [0.01, 1.0, 1e4]:
        for q in [1e-50, 1e-12, 0.5, 1 - 2**-53, 1.0]:
            with subtests.test(q=q, noise=noise):
                for alpha in (1 + 1e-6, 1.5, 255.5):
                    up, down = s_up(q, noise, alpha=alpha), s_down(q, noise, alpha=alpha)
                    assert 0 < down.lower <= up.upper <= alpha / (2 * noise**2) * (1 + 1e-12)
                    assert isfinite(up.upper)
                    assert max(_radius(up), _radius(down)) <= 1e-10


def test_gaussians() -> None:
    assert 8.0 in renyi_gaussian(2.0, 1.0, alpha=4)
    assert renyi_gaussian(0.0, 3.0, alpha=5) == Enclosure(0.0, 0.0)


@pytest.mark.parametrize("t", [0.3, 0.95, 1.0, 1.05, 2.0, 30.0])
def test_profiles_against_quadrature(t: float) -> None:
    for (p, a, b), (q, c, d) in [
        ((0.1, 0, 1), (0.1, 0, -1)),
        ((0.3, -2, 3), (0.4, -1, 5)),
        ((0, 0, 0), (0.2, 0, 2)),
    ]:
        ball = hockey_stick_mixtures(Mixture(p, a, b), Mixture(q, c, d), t=t)
        truth = hockey_stick(law(p, a, b), law(q, c, d), t)
        _inside(ball, truth, mpf(1))
        assert ball.upper == 0 or _radius(ball) < 1e-10


def test_profiles_of_gaussians_and_of_the_sampled_gaussian() -> None:
    for t in (0.2, 1.0, 3.0, 50.0):
        plain = hockey_stick_gaussian(1.0, 0.5, t=t)
        mixed = hockey_stick_mixtures(Mixture(0, 1.0, 0), Mixture(0, 0, 0), 0.5, t=t)
        assert plain.lower <= mixed.upper
        assert mixed.lower <= plain.upper
        q = 0.1  # M - t N(0) = q (N(d) - (1 + (t - 1)/q) N(0))
        tau = 1 + (t - 1) / q
        sampled_profile = hockey_stick_mixtures(Mixture(q, 0, 1), Mixture(0, 0, 0), 0.5, t=t)
        expected = q * hockey_stick_gaussian(1.0, 0.5, t=tau).middle if tau > 0 else 1 - t
        assert sampled_profile.middle == pytest.approx(expected, rel=1e-12)


def test_profile_between_wide_apart_laws_and_in_short_units() -> None:
    far = hockey_stick_mixtures(Mixture(0.3, -2, 3), Mixture(0.4, -1, 5), 0.1, t=1.5)
    assert 0.99999 < far.lower < 1
    assert _radius(far) < 1e-10


def test_replacement_step_lies_between_a_witness_and_the_whole_batch(subtests: pytest.Subtests) -> None:
    for alpha in [1.1, 2.0, 2.5, 20.0]:
        for q, noise in [(0.1, 1.0), (0.01, 4.0), (1.0, 1.0), (1e-6, 50.0), (0.5, 0.7)]:
            with subtests.test(q=q, noise=noise, alpha=alpha):
                bound = replacement_step(q, noise, alpha=alpha, shift=2.0)
                assert bound.upper >= s_up(q, noise, alpha=alpha, shift=2.0).lower
                opposite = renyi_mixtures(Mixture(q, 0, 1), Mixture(q, 0, -1), noise, alpha=alpha)
                assert bound.upper >= opposite.lower
                assert bound.lower <= 2 * alpha / noise**2 * (1 + 1e-12)  # q = 1, shift 2
                assert _radius(bound) <= 1e-10


def test_replacement_step_at_a_high_order_is_tight() -> None:
    """Where one power dominates, the proved bound and the conjectured one agree."""
    for q, alpha in ((0.1, 20), (0.1, 255.5), (1e-3, 256), (1e-12, 255.0)):
        proved, conjectured = (
            replacement_step(q, 1.0, alpha=alpha, shift=2.0),
            s_up(q, 1.0, alpha=alpha, shift=2.0),
        )
        assert proved.upper >= conjectured.lower
        assert proved.middle == pytest.approx(conjectured.middle, rel=1e-12)
    near_one = (
        replacement_step(0.1, 1.0, alpha=1.1, shift=2.0).lower / s_up(0.1, 1.0, alpha=1.1, shift=2.0).upper
    )
    assert 1.3 < near_one < 1.5  # the cost of the proof is largest near order 1


def test_replacement_step_against_a_plain_sum() -> None:
    q, alpha, g = 0.05, 3.3, 1.5
    y = (np.arange(200_000) + 0.5) * (60 / 200_000)
    t = 1 + q * np.expm1(y)
    from scipy.special import ndtr

    h = ndtr(g / 2 - y / g) - np.exp(y) * ndtr(-g / 2 - y / g)
    J = float(((t ** (alpha - 2) + t ** (-alpha - 1)) * q * q * np.exp(y) * h).sum() * (y[1] - y[0]))
    expected = np.log1p(alpha * (alpha - 1) * J) / (alpha - 1)
    assert replacement_step(q, 1.0, alpha=alpha, shift=g).middle == pytest.approx(expected, rel=1e-6)


def test_an_enclosure_is_in_order_and_stays_as_it_is() -> None:
    ball = Enclosure(1.0, 1.5)
    assert ball.middle == 1.25
    assert [1.0 in ball, 1.5 in ball, 1.6 in ball, 0.9 in ball] == [True, True, False, False]
    assert Enclosure(2.0, 2.0).middle == 2.0
    with pytest.raises(FrozenInstanceError):
        ball.upper = 1.2  # type: ignore[misc]
    with pytest.raises(ArithmeticError, match=r"^lower <= upper is needed, got lower=2\.0, upper=1\.0$"):
        Enclosure(2.0, 1.0)


def test_a_ball_is_refined_until_it_is_narrow() -> None:
    asked: list[int] = []

    def third(bits: int) -> arb:
        asked.append(bits)
        return arb(1) / 3 if bits > 200 else arb(1) / 3 * arb(1, 0.1)

    found = refine(third)
    assert asked == [72, 120, 200, 333]
    assert found.lower <= 1 / 3 <= found.upper
    assert found.upper - found.lower <= 1e-15
    assert refine(lambda _: arb(0)) == Enclosure(0.0, 0.0)
    with pytest.raises(
        ArithmeticError, match=r"^no narrow enclosure with 16384 bits; the value is too close to 0"
    ):
        refine(lambda _: arb(0, 1e-9))


@pytest.mark.parametrize("bits", [10, 16, 24])
def test_a_rough_enclosure_has_the_tails_too(bits: int) -> None:
    """To few bits, the tails that a quadrature leaves out are as large as its other errors, or larger."""
    with precision(200):
        alpha, rate, gap = arb(8), exact(0.5), exact(0.3)
        mixed, base = (Mixture(q, 0.0, 0.3).components(1.0) for q in (0.5, 0.0))
        assert renyi_moment(mixed, base, alpha, bits).contains(renyi_moment(mixed, base, alpha, 150))
        assert _excess(rate, gap, alpha, bits).contains(_excess(rate, gap, alpha, 150))
