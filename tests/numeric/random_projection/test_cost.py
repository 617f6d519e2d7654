"""The random projection mechanism against quadrature, sampling, and its limits."""

from math import inf

import mpmath as mp
import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.random_projection.cost import order_limit, projection_rdp

STEP = {"sensitivity": 1.5, "noise_std": 3.0, "dimension": 4, "entry_std": 0.7}


def quadrature(order, sensitivity, noise_std, dimension, entry_std):
    """log E exp(alpha (alpha - 1) |gap|^2 / (2 s^2)) / (alpha - 1) over the chi-square law, 30 digits."""
    with mp.workdps(30):
        rate = mp.mpf(order) * (order - 1) * (mp.mpf(sensitivity) * entry_std / noise_std) ** 2 / dimension / 2
        half = mp.mpf(dimension) / 2
        density = lambda x: x ** (half - 1) * mp.exp((rate - mp.mpf(1) / 2) * x) / (2**half * mp.gamma(half))  # noqa: E731
        scale = 1 / (mp.mpf(1) / 2 - rate)
        return mp.log(mp.quad(density, [0, scale, 5 * scale, 20 * scale, 100 * scale, inf])) / (order - 1)


def test_is_the_divergence_by_quadrature_and_never_below(subtests: pytest.Subtests) -> None:
    for dimension in [2, 4, 9]:
        for order in [1.1, 2.0, 3.1, 4.4]:
            with subtests.test(order=order, dimension=dimension):
                setting = STEP | {"dimension": dimension}
                value, true = projection_rdp(order, **setting), quadrature(order, **setting)
                assert value >= true * (1 - mp.mpf(10) ** -20)
                assert value == pytest.approx(float(true), rel=1e-12)


def test_monte_carlo_over_the_matrix_and_the_output_both_directions():
    rng = np.random.default_rng(5)
    order, draws, p, d = 2.0, 400_000, 4, 3
    gap = np.array([1.0, -0.5, 1.0])
    a = 0.7 * rng.standard_normal((draws, d, p))
    mean = np.einsum("d,ndp->np", gap, a) / np.sqrt(p)
    expected = projection_rdp(order, **STEP)
    for sign in (1, -1):  # the two laws as numerator
        out = mean * (sign < 0) + 3.0 * rng.standard_normal((draws, p))
        loss = sign * ((out**2).sum(1) - ((out - mean) ** 2).sum(1)) / 18.0
        moments = np.exp(order * loss)
        error = moments.std() / np.sqrt(draws) / moments.mean()
        assert abs(np.log(moments.mean()) / (order - 1) - expected) < 5 * error


def test_plain_gaussian_in_the_limit_of_many_dimensions_and_above_it_before():
    plain = 3.0 * 1.5**2 * 0.7**2 / (2 * 3.0**2)
    values = [projection_rdp(3.0, **(STEP | {"dimension": p})) for p in (2, 8, 64, 10**9)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > plain
    assert values[-1] == pytest.approx(plain, rel=1e-8)


def test_infinite_exactly_from_the_limit_on():
    limit = order_limit(**STEP)
    assert limit * (limit - 1) * (1.5 * 0.7) ** 2 == pytest.approx(4 * 9.0)
    assert projection_rdp(limit * (1 - 1e-12), **STEP) < inf
    assert projection_rdp(limit * (1 + 1e-12), **STEP) == inf
    assert order_limit(**(STEP | {"sensitivity": 0.0})) == inf


def sampled_moment(q, order, s, p, mixture_above):
    """E over the length of the gap of the integral of P^alpha Q^(1-alpha), P or Q the mixture; a grid in both."""
    lengths = np.sqrt(0.04 * (np.arange(2000) + 0.5))
    law = lengths ** (p - 2) * np.exp(-(lengths**2) / 2)  # chi-square in lengths^2, up to its constant
    law /= law.sum()
    y = np.linspace(-12, 20, 2001) * s
    base = np.exp(-((y / s) ** 2) / 2) / (s * np.sqrt(2 * np.pi))
    total = 0.0
    for length, weight in zip(lengths, law, strict=True):
        gap = length / np.sqrt(p)
        ratio = 1 - q + q * np.exp((gap * y - gap**2 / 2) / s**2)
        total += weight * np.sum(base * ratio ** (order if mixture_above else 1 - order)) * (y[1] - y[0])
    return np.log(total) / (order - 1)


@pytest.mark.parametrize("order", [2.0, 3.0, 2.4])
@pytest.mark.parametrize("p", [2, 6])
def test_a_sampled_step_is_the_divergence_by_quadrature_and_never_below_in_either_order(order, p):
    q, s = 0.2, 4.0
    found = projection_rdp(order, sensitivity=1.0, noise_std=s, dimension=p, rate=q, adjacency="add_remove")
    above, below = (sampled_moment(q, order, s, p, mixture_above) for mixture_above in (True, False))
    assert below < above < found * (1 + 2e-3)
    if order == int(order):
        assert found == pytest.approx(above, rel=5e-3)
    revealed = projection_rdp(order, sensitivity=1.0, noise_std=s, dimension=p, rate=q)
    whole = projection_rdp(order, sensitivity=1.0, noise_std=s, dimension=p)
    assert found < revealed < whole
    moment = np.exp((order - 1) * whole)
    assert revealed == pytest.approx(np.log(1 - q + q * moment) / (order - 1))


def test_sampling_gains_nothing_at_rate_one_and_everything_at_rate_zero():
    setting = STEP | {"adjacency": "add_remove"}
    assert projection_rdp(3.0, rate=1.0, **setting) == projection_rdp(3.0, **STEP)
    values = [projection_rdp(3.0, rate=q, **setting) for q in (1e-9, 0.01, 0.3, 0.9, 1.0)]
    assert values == sorted(values)
    assert values[0] < 1e-12
    limit = order_limit(**STEP)
    assert projection_rdp(limit * 1.001, rate=0.01, **setting) == inf


def test_layers_with_matrices_of_their_own_cost_at_most_the_layer_of_least_rank():
    """The product of the layers' moments, for 10,000 ways of splitting the gradient over layers."""
    rng = np.random.default_rng(2)
    cases, layers = 10_000, 4
    ranks = rng.integers(1, 30, (cases, layers))
    shares = rng.dirichlet(np.full(layers, 0.4), cases)
    load = 0.999 * rng.random(cases)[:, None] * ranks.min(axis=1, keepdims=True)
    split = (-ranks / 2 * np.log1p(-load * shares / ranks)).sum(axis=1)
    least = ranks.min(axis=1)
    bound = -least / 2 * np.log1p(-load[:, 0] / least)
    assert np.all(split <= bound * (1 + 1e-12))
    assert np.any(split > 0.9 * bound)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: projection_rdp(1.0, **STEP), "order=1"),
        (lambda: projection_rdp(2.0, **(STEP | {"sensitivity": -1.0})), "sensitivity=-1"),
        (lambda: projection_rdp(2.0, **(STEP | {"dimension": 0})), "dimension=0"),
        (lambda: projection_rdp(2.0, **(STEP | {"noise_std": 0.0})), "noise_std=0"),
        (lambda: projection_rdp(2.0, rate=0.0, **STEP), "rate=0"),
    ],
)
def test_bad_input_names_itself(call, name):
    with pytest.raises(InputError, match=name):
        call()


def test_the_delta_of_theorem_1_is_4e_4_with_the_matrix_known_and_almost_as_much_without():
    """K = B = n = p = d = 1, epsilon = 1, noise calibrated for delta = 1e-5, gradients 1 and 0; by quadrature."""
    s = mp.sqrt(2 * mp.log(1.25e5))

    def known(x):
        m = x / s
        return 2 * mp.npdf(x) * (mp.ncdf(m / 2 - 1 / m) - mp.e * mp.ncdf(-m / 2 - 1 / m))

    def hidden(y):  # x^2 g + x e is a variance-gamma variable: its density has a Bessel function
        one = mp.exp(y / s**2) * mp.besselk(0, y * mp.sqrt(1 + 1 / s**2) / s)
        return max(one - mp.e * mp.besselk(0, y / s), 0) / (mp.pi * s)

    assert mp.quad(known, [1e-9, 1, 2, 4, 6, 8, 12, 20]) == pytest.approx(3.951e-4, rel=1e-3)
    assert mp.quad(hidden, [1, 10, 20, 40, 80, 160, 300]) == pytest.approx(3.815e-4, rel=1e-3)
