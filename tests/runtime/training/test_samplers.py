"""Every sampler has the law that the accountant assumes: inclusion, pairs, sizes, and independent steps.

Each test gives a p-value, times the number of tables it looked at. Seeds are fixed. Wrong samplers must fail.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import binom, chi2, chisquare

from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.batches import draw_batches

RUN = NoisySGD(12_000, 0.1, 1.0, 1.0, dataset_size=12, batch_size=4, sampling="poisson")
Q, PLACES = 1 / 3, 3


def held(drawn: Iterable[torch.Tensor]) -> NDArray[np.int64]:
    """How often each sample is in each batch, shape (steps, samples)."""
    return np.array([np.bincount(batch.numpy(), minlength=12) for batch in drawn])


def table(first: NDArray[np.int64], second: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """Chi-square of the pairs (first, second) against a joint law."""
    counts = np.zeros_like(chances)
    np.add.at(counts, (first, second), 1)
    return float(chisquare(counts.ravel(), counts.sum() * chances.ravel()).pvalue)


def inclusion(there: NDArray[np.int64], dependent: bool) -> float:
    """Of each sample; in batches of a fixed size the counts have one degree of freedom less."""
    steps, n = there.shape
    scale = steps * Q * (1 - Q) * (n / (n - 1) if dependent else 1)
    statistic = ((there.sum(axis=0) - steps * Q) ** 2).sum() / scale
    return float(chi2.sf(statistic, n - 1 if dependent else n))


def pairs(there: NDArray[np.int64], together: float) -> float:
    law = np.array([[1 - 2 * Q + together, Q - together], [Q - together, together]])
    return 6 * min(table(there[:, i], there[:, i + 1], law) for i in range(0, 12, 2))


def serial(there: NDArray[np.int64]) -> float:
    """A sample in a batch and in the next."""
    law = np.outer([1 - Q, Q], [1 - Q, Q])
    return 12 * min(table(there[0::2, i], there[1::2, i], law) for i in range(12))


def sizes(there: NDArray[np.int64]) -> float:
    counts = np.bincount(there.sum(axis=1), minlength=13)[:10]
    expected = len(there) * binom.pmf(np.arange(10), 12, Q)
    rest = [len(there) - counts.sum(), len(there) - expected.sum()]
    return float(chisquare([*counts, rest[0]], [*expected, rest[1]]).pvalue)


def places(there: NDArray[np.int64]) -> float:
    """The place of a sample in an epoch and in the next, uniform and independent."""
    place = there.reshape(-1, PLACES, 12).argmax(axis=1)
    law = np.full((PLACES, PLACES), 1 / PLACES**2)
    return 12 * min(table(place[0::2, i], place[1::2, i], law) for i in range(12))


def evidence(sampling: str, drawn: Iterable[torch.Tensor]) -> dict[str, float]:
    """p-values of one scheme; 0 where something that must never happen does."""
    there = held(drawn)
    if sampling == "poisson":
        found = {"inclusion": inclusion(there, False), "pairs": pairs(there, Q**2)}
        return found | {"sizes": sizes(there), "serial": serial(there)}
    found = {"sizes": float(there.max() == 1 and (there.sum(axis=1) == 4).all())}
    if sampling in ("cyclic", "shuffled"):
        found["epochs"] = float((there.reshape(-1, PLACES, 12).sum(axis=1) == 1).all())
    if not all(found.values()):
        return found
    if sampling == "cyclic":
        return found | {"order": float((there == np.tile(np.kron(np.eye(3), np.ones(4)), (4000, 1))).all())}
    together = 4 * 3 / (12 * 11)
    if sampling == "shuffled":
        firsts = there[::PLACES]
        return found | {
            "inclusion": inclusion(firsts, True),
            "pairs": pairs(firsts, together),
            "places": places(there),
        }
    return found | {
        "inclusion": inclusion(there, True),
        "pairs": pairs(there, together),
        "serial": serial(there),
    }


def drawn_by(sampling: str, seed: int = 11) -> list[torch.Tensor]:
    run = replace(RUN, sampling=sampling, adjacency="")
    return list(draw_batches(run, stream(seed, 0)))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("sampling", ["cyclic", "shuffled", "without_replacement", "poisson"])
def test_the_law_is_the_one_that_is_accounted_for(sampling: str) -> None:
    found = evidence(sampling, drawn_by(sampling))
    assert min(found.values()) > 1e-3, found


def test_full_batches_hold_every_sample_once_in_every_step() -> None:
    run = replace(RUN, steps=50, sampling="full", batch_size=None, adjacency="")
    assert (held(draw_batches(run, stream(0, 0))) == 1).all()


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def of(rows: Iterable[NDArray[np.int64]]) -> list[torch.Tensor]:
    return [torch.as_tensor(row) for row in rows]


WRONG = {
    ("poisson", "a rate of 1.05 q"): lambda g: of(
        np.flatnonzero(g.random(12) < 1.05 * Q) for _ in range(12_000)
    ),
    ("poisson", "a fixed size"): lambda g: of(g.permutation(12)[:4] for _ in range(12_000)),
    ("poisson", "neighbours together"): lambda g: of(
        np.flatnonzero(np.repeat(g.random(6) < Q, 2)) for _ in range(12_000)
    ),
    ("poisson", "every batch twice"): lambda g: of(
        row for _ in range(6_000) for row in [np.flatnonzero(g.random(12) < Q)] * 2
    ),
    ("without_replacement", "with replacement"): lambda g: of(g.integers(0, 12, 4) for _ in range(12_000)),
    ("without_replacement", "windows of the data"): lambda g: of(
        (g.integers(12) + np.arange(4)) % 12 for _ in range(12_000)
    ),
    ("without_replacement", "shuffled epochs"): lambda g: of(
        row for _ in range(4_000) for row in np.split(g.permutation(12), 3)
    ),
    ("without_replacement", "the first sample less often"): lambda g: of(
        g.permutation(12 if g.random() < 0.9 else np.arange(1, 12))[:4] for _ in range(12_000)
    ),
    ("shuffled", "one permutation for all epochs"): lambda g: of(
        row for row in np.split(g.permutation(12), 3) * 4_000
    ),
    ("shuffled", "batches fixed, their order shuffled"): lambda g: of(
        np.arange(4) + 4 * place for _ in range(4_000) for place in g.permutation(3)
    ),
    ("shuffled", "independent batches"): lambda g: of(g.permutation(12)[:4] for _ in range(12_000)),
    ("cyclic", "shuffled epochs"): lambda g: of(
        row for _ in range(4_000) for row in np.split(g.permutation(12), 3)
    ),
}


@pytest.mark.parametrize(("sampling", "name"), WRONG)
def test_a_wrong_sampler_fails(sampling: str, name: str) -> None:
    found = evidence(sampling, WRONG[sampling, name](rng()))
    assert min(found.values()) < 1e-9, found
