"""The description of runs with random projections."""

from dataclasses import replace

import numpy as np
import pytest

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.random_projection.run import RandomProjectionRun

RUN = RandomProjectionRun(6, 0.5, 2.0, [7, 3], dataset_size=12, batch_size=4, sampling="shuffled")


def test_it_is_normalised_as_an_ordinary_run_is():
    assert (RUN.ranks, RUN.batch, RUN.batches, RUN.adjacency) == ((7, 3), 4, 3, "replace")
    assert replace(RUN, batch_size=None, sampling="full").batch == 12
    assert replace(RUN, sampling="poisson", adjacency="").adjacency == "add_remove"
    assert replace(RUN, noise_std=[2.0] * 6) == RUN


def test_the_noise_of_d2p2_and_d2p_decays_with_the_root_of_the_step():
    decaying = RandomProjectionRun.d2p2(steps=5, step_size=0.5, noise_std=3.0, ranks=[2], dataset_size=4)
    np.testing.assert_allclose([decaying.noise_std_at(t) for t in range(5)], 3.0 / np.sqrt(np.arange(1, 6)))
    plain = RandomProjectionRun.d2p(steps=5, step_size=0.5, noise_std=3.0, dataset_size=4).plain()
    np.testing.assert_allclose(plain.noise_std, 1.5 / np.sqrt(np.arange(1, 6)))
    assert (plain.clip_norm, plain.step_size) == (1.0, 0.5)
    # the steps compose to sum of k / sigma^2 = K (K + 1) / (2 sigma^2), in units of the squared sensitivity 2 / n
    assert bound(plain, Clipped()).cost == pytest.approx((2 / 4) ** 2 * 5 * 6 / (2 * 9.0))


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
def test_bad_input_names_itself(change, said):
    with pytest.raises(InputError, match=said):
        replace(RUN, **change)


def test_a_run_with_projections_is_no_noisy_sgd():
    with pytest.raises(InputError, match=r"ranks=\(7, 3\)"):
        RUN.plain()
    changing = replace(RUN, ranks=(), step_size=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], stability=3.0).plain()
    assert changing.step_size == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    np.testing.assert_allclose(changing.noise_std, 2 * np.array(changing.step_size))
    assert (changing.sampling, changing.batch, changing.clip_norm) == ("shuffled", 4, 1.0)
