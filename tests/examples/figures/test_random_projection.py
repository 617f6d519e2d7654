"""Runs with random projections: their description, the cost of a step, and the bound of a run."""

import doctest
from dataclasses import replace
from math import inf, log

import mpmath as mp
import numpy as np
import pytest
import random_projection
from random_projection import (
    RandomProjectionRun,
    order_limit,
    projection_bound,
    projection_rdp,
)

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD

DESCRIBED = RandomProjectionRun(6, 0.5, 2.0, [7, 3], dataset_size=12, batch_size=4, sampling="shuffled")


def test_it_is_normalised_as_an_ordinary_run_is():
    assert (DESCRIBED.ranks, DESCRIBED.batch, DESCRIBED.batches, DESCRIBED.adjacency) == (
        (7, 3),
        4,
        3,
        "replace",
    )
    assert replace(DESCRIBED, batch_size=None, sampling="full").batch == 12
    assert replace(DESCRIBED, sampling="poisson", adjacency="").adjacency == "add_remove"
    assert replace(DESCRIBED, noise_std=[2.0] * 6) == DESCRIBED


def test_the_noise_of_d2p2_decays_with_the_root_of_the_step():
    decaying = RandomProjectionRun.d2p2(steps=5, step_size=0.5, noise_std=3.0, ranks=[2], dataset_size=4)
    np.testing.assert_allclose([decaying.noise_std_at(t) for t in range(5)], 3.0 / np.sqrt(np.arange(1, 6)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ranks": 3}, "ranks=3"),
        ({"ranks": [3, 0]}, r"ranks\[1\]=0"),
        ({"clip": "never"}, "clip='never'"),
        ({"stability": 0.0}, "stability=0"),
        ({"entry_std": -1.0}, "entry_std=-1"),
        ({"noise_std": [1.0, 2.0]}, "got 2 numbers"),
        ({"batch_size": 5}, "batch_size=5"),
        ({"sampling": "sorted"}, "sampling='sorted'"),
    ],
)
def test_bad_input_of_a_run_names_itself(change, said):
    with pytest.raises(InputError, match=said):
        replace(DESCRIBED, **change)


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
def test_bad_input_of_a_step_names_itself(call, name):
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


RUN = RandomProjectionRun(6, 0.5, 2.0, [7, 3], dataset_size=12, batch_size=4, sampling="cyclic")


def price(noise, order=2.0, **rest):
    return projection_rdp(order, sensitivity=0.5, noise_std=noise, dimension=3, **rest)


def test_a_sample_pays_once_an_epoch_and_for_the_dearest_step_of_it():
    assert projection_bound(RUN, order=2.0).epsilon == pytest.approx(2 * price(2.0))
    noises = (1.0, 2.0, 3.0, 5.0, 4.0, 6.0)
    for sampling in ("cyclic", "shuffled"):
        run = replace(RUN, sampling=sampling, noise_std=noises)
        assert projection_bound(run, order=2.0).epsilon == pytest.approx(price(1.0) + price(4.0))
    begun = replace(RUN, steps=4)
    assert projection_bound(begun, order=2.0).epsilon == pytest.approx(2 * price(2.0))
    full = replace(RUN, sampling="full", batch_size=None)
    assert projection_bound(full, order=2.0).epsilon == pytest.approx(
        6 * projection_rdp(2.0, sensitivity=2 / 12, noise_std=2.0, dimension=3)
    )


def test_random_batches_are_amplified():
    drawn = replace(RUN, sampling="without_replacement")
    assert projection_bound(drawn, order=2.0).epsilon == pytest.approx(6 * price(2.0, rate=1 / 3))
    poisson = replace(RUN, sampling="poisson", adjacency="")
    alone = projection_rdp(
        2.0, sensitivity=0.25, noise_std=2.0, dimension=3, rate=1 / 3, adjacency="add_remove"
    )
    assert projection_bound(poisson, order=2.0).epsilon == pytest.approx(6 * alone)
    for run in (drawn, poisson):
        assert (
            projection_bound(run, delta=1e-3).epsilon
            < projection_bound(
                replace(run, sampling="full", batch_size=None, adjacency="", noise_std=2.0 * 4 / 12), delta=1e-3
            ).epsilon
        )


@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement", "poisson"])
def test_epsilon_is_the_conversion_of_an_order_that_is_finite(sampling):
    run = replace(RUN, sampling=sampling, batch_size=None if sampling == "full" else 4, adjacency="")
    found = projection_bound(run, delta=1e-4)
    assert found.order is not None
    rdp = projection_bound(run, order=found.order).epsilon
    alpha = found.order
    quick = rdp + log(1 - 1 / alpha) - (log(1e-4) + log(alpha)) / (alpha - 1)
    assert 0.9 * quick < found.epsilon <= quick * (1 + 1e-12)
    for other in (alpha * 0.7, min(alpha * 1.2, alpha + 0.5)):  # no order close by is much better
        if other > 1:
            try:
                rdp = projection_bound(run, order=other).epsilon
            except InputError:
                continue
            assert rdp + log(1 - 1 / other) - (log(1e-4) + log(other)) / (other - 1) > 0.97 * found.epsilon


def test_epsilon_lies_above_the_exact_one():
    """delta(epsilon) with A known is the mean of the Gaussian delta over the length of the gap."""
    run = RandomProjectionRun(1, 0.5, 5.0, [3], dataset_size=2)  # replacing one of two moves the mean by 1
    epsilon = projection_bound(run, delta=1e-5).epsilon

    def delta_at(x):
        m = mp.sqrt(x / 3) / 5
        return mp.ncdf(m / 2 - epsilon / m) - mp.exp(epsilon) * mp.ncdf(-m / 2 - epsilon / m)

    law = lambda x: x ** mp.mpf("0.5") * mp.exp(-x / 2) / (2**1.5 * mp.gamma(1.5))  # noqa: E731
    true = mp.quad(lambda x: law(x) * delta_at(x), [0, 1, 5, 15, 40, 100, 300])
    assert 1e-7 < true < 1e-5


def test_the_layer_of_least_rank_decides_and_wide_layers_come_near_the_plain_gaussian():
    assert (
        projection_bound(replace(RUN, ranks=(3, 99)), order=2.0).epsilon
        == projection_bound(RUN, order=2.0).epsilon
    )
    wide = projection_bound(replace(RUN, ranks=(10**9,)), order=2.0).epsilon
    after = projection_bound(replace(RUN, clip="after"), order=2.0).epsilon
    assert after < wide < after * (1 + 1e-7)
    assert wide < projection_bound(RUN, order=2.0).epsilon


def test_clipping_after_the_projection_is_the_gaussian_mechanism():
    after = replace(RUN, clip="after", noise_std=(1.0, 2.0, 3.0, 5.0, 4.0, 6.0))
    mu = (0.25 * (1 + 1 / 16)) ** 0.5
    found = projection_bound(after, delta=1e-5)
    assert gdp_epsilon(mu, 1e-5) <= found.epsilon <= gdp_epsilon(mu, 1e-5) * (1 + 1e-9)
    assert found.order is None
    for sampling in ("without_replacement", "poisson"):
        sampled = replace(RUN, clip="after", sampling=sampling, adjacency="")
        plain = NoisySGD(6, 1.0, 2.0, 1.0, dataset_size=12, batch_size=4, sampling=sampling)
        expected = bound(plain, Clipped(), delta=1e-5)
        assert expected.route == "composition through PLD"
        assert projection_bound(sampled, delta=1e-5).epsilon == pytest.approx(expected.epsilon, rel=1e-9)
        assert projection_bound(sampled, order=40.0).epsilon < inf
    with pytest.raises(InputError, match="clip after the projection"):
        projection_bound(replace(RUN, noise_std=0.1), order=40.0)


@pytest.mark.parametrize("sampling", ["full", "shuffled", "without_replacement", "poisson"])
def test_without_a_projection_it_is_the_composition_of_noisy_sgd(sampling):
    batch = None if sampling == "full" else 4
    run = RandomProjectionRun.d2p2(
        steps=6, step_size=0.5, noise_std=9.0, ranks=(), dataset_size=12, sampling=sampling, batch_size=batch
    )
    noise = tuple(0.5 * run.noise_std_at(t) for t in range(6))
    plain = NoisySGD(6, 0.5, noise, 1.0, dataset_size=12, batch_size=batch, sampling=sampling)
    theirs = bound(plain, Clipped(), delta=1e-4).epsilon
    assert projection_bound(run, delta=1e-4).epsilon == pytest.approx(theirs, rel=1e-6)
    assert "gradients are not projected" in projection_bound(run, order=2.0).assumptions


def test_theorem_1_of_the_paper_claims_less_than_its_first_step_loses():
    """K = B = n = p = 1, noise for epsilon = 1 at delta = 1e-5 by its own recipe; the truth is delta = 4e-4."""
    noise = float(np.sqrt(2 * np.log(1.25e5)))
    run = RandomProjectionRun(1, 1.0, noise, [1], dataset_size=1, sampling="poisson", batch_size=1)
    assert projection_bound(run, delta=1e-5).epsilon > 1.5


def test_a_bound_says_what_it_rests_on():
    found = projection_bound(RUN, delta=1e-5)
    told = found.as_dict()
    assert told["claim"] == "ours/projection/layers"
    assert "run" not in told
    assert str(found).endswith("1e-05)-DP")
    assert str(projection_bound(RUN, order=2.0)).startswith("(2, ")
    assert projection_bound(replace(RUN, ranks=(3,)), order=2.0).claim == "ours/projection/theorem"
    assert any("'cyclic'" in line for line in found.assumptions)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: projection_bound(RUN), "order=None, delta=None"),
        (lambda: projection_bound(RUN, order=2.0, delta=0.1), "delta=0.1"),
        (lambda: projection_bound(RUN, order=1.0), "order=1"),
        (lambda: projection_bound(RUN, delta=1.0), "delta=1"),
        (lambda: projection_bound(RUN, order=50.0), "order=50"),
        (lambda: projection_bound(replace(RUN, noise_std=1e-30), delta=0.1), "noise_std=1e-30"),
        (lambda: projection_bound(NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=2), delta=0.1), "run=NoisySGD"),
        (lambda: bound(RUN, Clipped(), delta=0.1), "run=RandomProjectionRun"),
    ],
)
def test_bad_input_of_a_bound_names_itself(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_examples_of_the_module() -> None:
    assert doctest.testmod(random_projection).failed == 0
