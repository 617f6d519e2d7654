"""The noise that is added is the noise that is accounted for, step by step, and so is everything else of a run.

Losses are linear, so that an auditor who sees the rows of every batch and the parameters before and after it can take
every update apart without the code under test: the sum of the clipped gradients is known, and what is left is noise.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chi2
from torch import Tensor, nn

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload

D, N = 300, 12
SCHEMES = ["full", "cyclic", "shuffled", "without_replacement", "poisson"]
RATES = (0.5, 0.4, 0.3, 0.6, 0.2, 0.1)
NOISES = (0.2, 0.1, 0.3, 0.05, 0.4, 0.25)


class Line(nn.Module):
    """The output of a row is its inner product with the parameters, so that its gradient is the row."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.zeros(D - 100, dtype=torch.float64))
        self.second = nn.Parameter(torch.zeros(100, dtype=torch.float64))

    def forward(self, rows: Tensor) -> Tensor:
        return rows @ torch.cat([self.first, self.second])


def rows() -> Tensor:
    scales = torch.tensor([0.0, 1e-3, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0, 10.0, 100.0, 1e4], dtype=torch.float64)
    drawn = torch.randn(N, D, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return scales[:, None] * drawn / drawn.norm(dim=1, keepdim=True)


def plain(sampling: str, **changes: object) -> NoisySGD:
    size = None if sampling == "full" else 4
    run = NoisySGD(6, RATES, NOISES, 0.8, dataset_size=N, batch_size=size, sampling=sampling)
    return replace(run, **changes)


def normal(residual: np.ndarray, std: float) -> float:
    """Two-sided p-value of residuals that should be independent Gaussians of this standard deviation."""
    tail = chi2.cdf(float((residual**2).sum()) / std**2, residual.size)
    return 2 * min(tail, 1 - tail)


def audit(optimiser: ProjectedNoisySGD, steps: int | None = None) -> list[tuple[list[int], np.ndarray]]:
    """Train, and note the samples of every batch and the parameters around it."""
    data, seen = rows(), []
    for t, batch in enumerate(optimiser.batches()):
        if t == steps:
            break
        before = point_of(optimiser)
        optimiser.step(data[batch], torch.zeros(len(batch)))
        seen.append((batch.tolist(), point_of(optimiser) - before))
    return seen


def point_of(optimiser: ProjectedNoisySGD) -> np.ndarray:
    return torch.cat([p.detach() for group in optimiser.param_groups for p in group["params"]]).numpy()


def loss(out: Tensor, _target: Tensor) -> Tensor:
    return out.sum()


def clipped(batch: list[int], clip_norm: float) -> np.ndarray:
    data = rows().numpy()[batch]
    lengths = np.linalg.norm(data, axis=1, keepdims=True)
    return (data * np.minimum(1.0, clip_norm / np.maximum(lengths, 1e-300))).sum(axis=0)


def sizes_fit(seen: list[tuple[list[int], np.ndarray]], sampling: str) -> bool:
    sizes = {len(batch) for batch, _ in seen}
    return sampling == "poisson" or sizes == ({N} if sampling == "full" else {4})


@pytest.mark.parametrize("sampling", SCHEMES)
def test_noisy_sgd_is_what_its_account_says(sampling: str) -> None:
    optimiser = ProjectedNoisySGD(Line(), loss, plain(sampling, adjacency=""), seed=3)
    seen = audit(optimiser)
    account = optimiser.accounted()
    assert account.steps == len(seen)
    assert sizes_fit(seen, account.sampling)
    wrong = []
    for t, (batch, moved) in enumerate(seen):
        gradient = clipped(batch, account.clip_norm)
        residual = moved + account.step_size_at(t) * gradient / account.batch
        assert normal(residual, account.noise_std_at(t)) > 1e-3
        wrong.append(normal(residual, 1.4 * account.noise_std_at(t)))
        off = abs(residual @ gradient) / max(np.linalg.norm(gradient), 1e-300)
        assert off < 4.5 * account.noise_std_at(t)  # nothing of the gradient is left in it
    assert max(wrong) < 1e-3


@pytest.mark.parametrize("sampling", SCHEMES)
def test_the_trainer_is_what_its_run_says(sampling: str) -> None:
    run = plain(sampling, adjacency="")
    workload = Workload("lines", Line, loss, rows(), torch.zeros(N, dtype=torch.float64))
    gradients = Gradients(workload, workload.initial(0))
    whole = train(gradients, gradients.start, run, seed=3)
    optimiser = ProjectedNoisySGD(Line(), loss, run, seed=3)
    moves = [moved for _, moved in audit(optimiser)]
    np.testing.assert_allclose(np.diff(whole.numpy(), axis=0), moves, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("sampling", SCHEMES)
def test_a_run_that_is_interrupted_is_accounted_for_as_far_as_it_got(sampling: str, steps: int) -> None:
    run = plain(sampling, adjacency="")
    optimiser = ProjectedNoisySGD(Line(), loss, run)
    assert len(audit(optimiser, steps)) == steps
    told = replace(run, steps=steps, step_size=RATES[:steps], noise_std=NOISES[:steps])
    assert optimiser.accounted() == told
    short = bound(optimiser.accounted(), Clipped(), delta=1e-3).epsilon
    assert short == bound(told, Clipped(), delta=1e-3).epsilon
    assert short != bound(run, Clipped(), delta=1e-3).epsilon


def test_a_step_that_fails_is_not_counted_and_changes_nothing() -> None:
    run = plain("cyclic", noise_std=1e308, step_size=1e308)
    optimiser = ProjectedNoisySGD(Line(), loss, run)
    before = optimiser.state_dict()
    next(optimiser.batches())
    with pytest.raises(ValueError, match="after step=1"):
        optimiser.step(rows()[8:], torch.zeros(4))
    after = optimiser.state_dict()
    assert after["done"] == 0
    assert after["streams"] == before["streams"]
    assert torch.equal(after["parameters"], before["parameters"])
