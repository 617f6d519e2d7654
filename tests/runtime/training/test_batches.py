"""Batches: each is drawn as the accountant believes, and the trainer steps along its sum."""

from dataclasses import replace
from math import sqrt

import known
import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.batches import draw_batches, draw_batches_of_many
from lastiterate.runtime.training.descent import BATCHES, train

_RUN = NoisySGD(3000, 0.1, 0.2, 1.0, dataset_size=6, batch_size=2, sampling="cyclic", diameter=1.5)


def _drawn(sampling: str, seed: int = 0) -> list[list[int]]:
    run = replace(_RUN, sampling=sampling, adjacency="")
    return [batch.tolist() for batch in draw_batches(run, stream(seed, 0))]


def test_cyclic_batches_repeat_and_full_batches_are_everything() -> None:
    assert _drawn("cyclic") == [[0, 1], [2, 3], [4, 5]] * 1000
    full = replace(_RUN, steps=2, batch_size=None, sampling="full")
    assert [batch.tolist() for batch in draw_batches(full, stream(0, 0))] == [[0, 1, 2, 3, 4, 5]] * 2


def test_every_epoch_of_shuffled_batches_is_a_fresh_permutation() -> None:
    drawn = _drawn("shuffled")
    epochs = [[*a, *b, *c] for a, b, c in zip(drawn[::3], drawn[1::3], drawn[2::3], strict=True)]
    assert all(sorted(epoch) == list(range(6)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 500  # of 720
    first = np.array([epoch[0] for epoch in epochs])
    assert np.abs(np.bincount(first, minlength=6) / 1000 - 1 / 6).max() < 5 * sqrt(5 / 36 / 1000)


def test_without_replacement_every_pair_is_as_likely() -> None:
    drawn = _drawn("without_replacement")
    assert all(len(set(batch)) == 2 for batch in drawn)
    pairs = {tuple(sorted(batch)) for batch in drawn}
    counts = np.array([sum(tuple(sorted(batch)) == pair for batch in drawn) for pair in pairs])
    assert len(pairs) == 15
    assert np.abs(counts / 3000 - 1 / 15).max() < 5 * sqrt(14 / 225 / 3000)


def test_poisson_batches_hold_every_sample_independently() -> None:
    drawn = _drawn("poisson")
    held = np.array([[i in batch for i in range(6)] for batch in drawn], dtype=float)
    assert np.abs(held.mean(axis=0) - 1 / 3).max() < 5 * sqrt(2 / 9 / 3000)
    assert np.abs(np.corrcoef(held.T) - np.eye(6)).max() < 5 / sqrt(3000)
    assert [] in drawn


@pytest.mark.parametrize("sampling", ["cyclic", "shuffled", "without_replacement", "poisson"])
def test_a_step_goes_along_the_sum_over_its_batch(sampling: str) -> None:
    """The sum is divided by the *expected* size of a Poisson batch, and an empty one moves by noise alone."""
    curvatures = np.array([[1.0, 2.0], [30.0, 1.0], [0.1, 0.1], [5.0, 5.0], [0.5, 3.0], [2.0, 0.2]])
    workload = known.quadratic(curvatures.tolist(), 2.0)
    gradients = Gradients(workload, workload.initial(3))
    run = replace(_RUN, steps=40, sampling=sampling, adjacency="")
    points = train(gradients, gradients.start, run, seed=7).numpy()
    noise = stream(7, purpose=0)
    sizes = set()
    for t, batch in enumerate(draw_batches(run, stream(7, purpose=BATCHES))):
        slopes = curvatures[batch.numpy()] * points[t]
        slopes *= np.minimum(1.0, 1.0 / np.linalg.norm(slopes, axis=1, keepdims=True))
        moved = points[t] - 0.1 * slopes.sum(axis=0) / 2
        moved += 0.2 * noise.normals(1, 2, gradients.start)[0].numpy()
        away = moved - points[0]
        np.testing.assert_allclose(
            points[t + 1], points[0] + away * min(1.0, 0.75 / np.linalg.norm(away)), rtol=1e-12
        )
        sizes.add(len(batch))
    assert sizes == {2} or (sampling == "poisson" and {0, 2} < sizes)


def test_the_batches_of_a_run_know_nothing_of_its_noise() -> None:
    """Whether a sample is in a batch, against the noise of the same step, over many runs."""
    run = replace(_RUN, steps=1, sampling="poisson", adjacency="")
    taken = np.zeros((400, 6))
    noise = np.zeros((400, 6))
    for seed in range(400):
        (batch,) = draw_batches(run, stream(seed, purpose=BATCHES))
        taken[seed, batch.numpy()] = 1
        noise[seed] = stream(seed, purpose=0).normals(1, 6, torch.zeros(1).double())[0].numpy()
    together = np.corrcoef(taken.T, noise.T)[:6, 6:]
    assert np.abs(together).max() < 4.5 / sqrt(400)
    assert np.abs(np.corrcoef(taken.T, noise.T**2)[:6, 6:]).max() < 4.5 / sqrt(400)


def _side_by_side(sampling: str, runs: int, steps: int = 6) -> list[np.ndarray]:
    run = replace(
        _RUN, steps=steps, sampling=sampling, adjacency="", batch_size=None if sampling == "full" else 2
    )
    return [chosen.numpy() for chosen in draw_batches_of_many(run, runs, stream(5, 0))]


@pytest.mark.parametrize("sampling", ["full", "cyclic"])
def test_fixed_batches_are_the_same_for_runs_side_by_side(sampling: str) -> None:
    found = [chosen.tolist() for chosen in _side_by_side(sampling, 3)]
    assert found == ([[0, 1, 2, 3, 4, 5]] * 6 if sampling == "full" else [[0, 1], [2, 3], [4, 5]] * 2)


@pytest.mark.parametrize("sampling", ["shuffled", "without_replacement", "poisson"])
def test_batches_side_by_side_have_the_law_of_their_scheme(sampling: str) -> None:
    """Every subset comes as often as it should; the expected frequencies are written down, not computed by us."""
    runs = 20_000
    drawn = _side_by_side(sampling, runs)
    subsets = [
        np.stack([(chosen == i).sum(axis=1) for i in range(6)], axis=1) @ 2 ** np.arange(6) for chosen in drawn
    ]
    sizes = np.array([bin(subset).count("1") for subset in range(64)])
    chances = (
        np.where(sizes == 2, 1 / 15, 0.0)
        if sampling != "poisson"
        else (1 / 3) ** sizes * (2 / 3) ** (6 - sizes)
    )
    for subset in subsets:
        counts = np.bincount(subset, minlength=64)
        assert counts[chances == 0].sum() == 0
        assert chisquare(counts[chances > 0], runs * chances[chances > 0]).pvalue > 1e-6
    if sampling == "shuffled":
        for epoch in (drawn[:3], drawn[3:]):
            assert (np.sort(np.concatenate(epoch, axis=1), axis=1) == np.arange(6)).all()
    else:  # one step does not know the one before
        together = np.bincount((subsets[0] % 2) * 2 + subsets[1] % 2, minlength=4)
        expected = runs * np.array([4, 2, 2, 1]) / 9
        assert chisquare(together, expected).pvalue > 1e-6


def test_batches_side_by_side_are_drawn_in_parts_where_the_data_are_large() -> None:
    run = NoisySGD(1, 0.1, 1.0, 1.0, dataset_size=2**21, batch_size=3, sampling="without_replacement")
    (chosen,) = draw_batches_of_many(run, 5, stream(0, 0))
    assert chosen.shape == (5, 3)
    assert len(chosen.unique()) == 15
