"""Random projections: sensitivity, means over matrices, blocks, and what is refused."""

from dataclasses import replace
from math import sqrt

import pytest
import random_projection_sgd
import torch
from random_projection import RandomProjectionRun
from random_projection_sgd import RandomProjectionSGD, layer_ranks
from torch import nn
from torch.nn.functional import cross_entropy

from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.loading import load_workload

RUN = RandomProjectionRun(2000, 1.0, 1e-9, (4, 1), dataset_size=4, entry_std=1.5, stability=0.25)
ROWS = torch.tensor([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.1], [3.0, 1.0, 1.0]]).double()


def line() -> nn.Module:
    module = nn.Linear(3, 2).double()
    nn.init.zeros_(module.weight)
    return module


def loss(out: torch.Tensor, _target: torch.Tensor) -> torch.Tensor:
    return out.sum()


def point(module: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()])


def test_ranks_of_layers_are_shares_rounded_up() -> None:
    module = nn.Sequential(nn.Linear(10, 7), nn.Linear(7, 1))
    assert layer_ranks(module, 0.3) == (21, 3, 3, 1)
    module[0].bias.requires_grad_(False)
    assert layer_ranks(module, 1.0) == (70, 7, 1)


@pytest.mark.parametrize("steps", [500, pytest.param(2000, marks=pytest.mark.nightly)])
def test_the_mean_step_goes_along_the_clipped_gradient_times_the_root_of_the_rank(steps: int) -> None:
    """E A A^T / sqrt(p) = sqrt(p) sigma_A^2: the step grows with the rank, and so differs from layer to layer."""
    module = line()
    optimiser = RandomProjectionSGD(module, loss, replace(RUN, steps=steps), seed=1)
    moves = []
    for _ in optimiser.batches():
        before = point(module)
        optimiser.step(ROWS, torch.zeros(4))
        moves.append(point(module) - before)
    # Weight by rows, then the bias.
    gradients = torch.stack([torch.cat([row, row, torch.ones(2)]) for row in ROWS])
    clipped = (gradients / (gradients.norm(dim=1, keepdim=True) + 0.25)).mean(dim=0)
    expected = -(1.5**2) * clipped * torch.tensor([2.0] * 6 + [1.0] * 2)
    found = torch.stack(moves)
    error = found.std(dim=0) / sqrt(steps)
    assert bool(((found.mean(dim=0) - expected).abs() < 4.5 * error).all())
    assert bool((error < 0.1).all()), error


@pytest.mark.nightly
def test_clipped_after_the_projection_a_sample_counts_for_less_than_one_whatever_the_matrices() -> None:
    """The release without noise, for one sample at a time: its length is below 1 after, at times above it before."""
    longest = {}
    for clip in ("before", "after"):
        run = replace(RUN, steps=300, batch_size=1, sampling="cyclic", clip=clip, stability=1e-6)
        module = line()
        optimiser = RandomProjectionSGD(module, loss, run, seed=2)
        lengths = []
        for t, _ in enumerate(optimiser.batches()):
            optimiser.step(1e3 * ROWS[t % 4 : t % 4 + 1], torch.zeros(1))
            lengths.append(_released(optimiser, ROWS[t % 4], clip))
        longest[clip] = max(lengths)
    assert longest["after"] < 1
    assert longest["before"] > 2


def _released(optimiser: RandomProjectionSGD, row: torch.Tensor, clip: str) -> float:
    """Length of A^T g / sqrt(p) of one sample, clipped as the run says, for the next matrices, which stay unseen."""
    held = optimiser._matrices.done
    gradient = torch.cat([1e3 * row, 1e3 * row, torch.ones(2).double()])
    if clip == "before":
        gradient = gradient / (gradient.norm() + 1e-6)
    found = optimiser._projected(gradient[None], held)[0]
    optimiser._matrices.done = held
    return float(found.norm() if clip == "before" else found.norm() / (found.norm() + 1e-6))


@pytest.mark.parametrize("clip", ["before", "after"])
def test_blocks_of_columns_make_one_matrix(monkeypatch: pytest.MonkeyPatch, clip: str) -> None:
    """Forward and back with the same blocks: the step lies in the range of the matrix that the blocks make up."""
    monkeypatch.setattr(random_projection_sgd, "_BLOCK", 12)
    run = replace(RUN, steps=1, ranks=(5, 2), noise_std=0.3, clip=clip, stability=0.01)
    module = line()
    optimiser = RandomProjectionSGD(module, loss, run, seed=3)
    start, held = point(module), optimiser._matrices.done
    noise = stream(3, purpose=0).normals(1, 7, start)[0] * 0.3
    shapes = [(block.shape, layer) for layer, block in optimiser._blocks(start, held)]
    assert shapes == [((2, 6), 0), ((2, 6), 0), ((1, 6), 0), ((2, 2), 1)]
    blocks = [block for _, block in optimiser._blocks(start, held)]
    a = torch.block_diag(torch.cat(blocks[:3]), blocks[3]).T
    optimiser._matrices.done = held
    next(optimiser.batches())
    optimiser.step(ROWS, torch.zeros(4))
    gradients = torch.stack([torch.cat([row, row, torch.ones(2)]) for row in ROWS])
    scale = torch.tensor([1 / sqrt(5)] * 5 + [1 / sqrt(2)] * 2, dtype=torch.float64)
    if clip == "before":
        total = scale * (a.T @ (gradients / (gradients.norm(dim=1, keepdim=True) + 0.01)).sum(dim=0))
    else:
        short = scale * (gradients @ a)
        total = (short / (short.norm(dim=1, keepdim=True) + 0.01)).sum(dim=0)
    torch.testing.assert_close(point(module), start - a @ (total / 4 + noise), rtol=1e-12, atol=1e-13)


def test_it_trains_a_network_and_an_empty_batch_moves_by_noise_alone() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    module = workload.initial(0)
    ranks = layer_ranks(module, 0.3)
    run = RandomProjectionRun.d2p2(
        steps=150,
        step_size=0.01,
        noise_std=0.1,
        ranks=ranks,
        dataset_size=150,
        batch_size=50,
        sampling="poisson",
    )
    optimiser = RandomProjectionSGD(module, workload.loss, run)

    def loss_of_all() -> float:
        with torch.no_grad():
            return float(cross_entropy(module(workload.inputs.float()), workload.targets))

    before = loss_of_all()
    for batch in optimiser.batches():
        optimiser.step(workload.inputs[batch], workload.targets[batch])
    assert loss_of_all() < 0.8 * before
    assert optimiser.done == 150
    rare = (
        RandomProjectionSGD(module, workload.loss, replace(run, batch_size=1), seed=seed) for seed in range(20)
    )
    empty = next(one for one in rare if not len(next(one.batches())))
    held = point(module)
    empty.step(workload.inputs[:0], workload.targets[:0])
    assert 0 < float((point(module) - held).norm()) < 1
