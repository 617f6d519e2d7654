"""The account of runs with random projections: composition, epochs, sampling, conversion."""

from dataclasses import replace
from math import inf, log

import mpmath as mp
import numpy as np
import pytest

from lastiterate.numeric.accounting.gdp import gdp_epsilon
from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.random_projection.bound import projection_bound
from lastiterate.numeric.random_projection.cost import projection_rdp
from lastiterate.numeric.random_projection.run import RandomProjectionRun
from lastiterate.numeric.run import NoisySGD

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
    alone = projection_rdp(2.0, sensitivity=0.25, noise_std=2.0, dimension=3, rate=1 / 3, adjacency="add_remove")
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
    assert projection_bound(replace(RUN, ranks=(3, 99)), order=2.0).epsilon == projection_bound(RUN, order=2.0).epsilon
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
    run = RandomProjectionRun.d2p(
        steps=6, step_size=0.5, noise_std=9.0, dataset_size=12, sampling=sampling,
        batch_size=None if sampling == "full" else 4,
    )  # fmt: skip
    theirs = bound(run.plain(), Clipped(), delta=1e-4).epsilon
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
def test_bad_input_names_itself(call, said):
    with pytest.raises(InputError, match=said):
        call()
