"""Constants of tiny networks against the norms of dense Hessians at many points, and an ascent from the largest."""

import pytest
import torch
from network_corpus import KINDS, Kind
from torch import Tensor
from torch.func import functional_call, hessian, vmap

import lastiterate as li
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants

SMOOTH = (
    "tanh", "bilinear", "batch_norm_eval", "dropout_of_0", "in_place",
    "cumulated", "orthogonal", "low_rank", "scalar", "graph", "spectrum", "complex_view", "soft_experts",
    "mse_loss", "kl_loss", "dictionary", "pair_of_outputs", "tied", "attention_with_weights", "own_function",
)  # fmt: skip
"""Kinds with second derivatives everywhere that torch computes for them as they are."""

BY_DAY = "scalar"
DIAMETER = 0.25
STEPS = 60


def norms(kind: Kind, points: Tensor, sample: int) -> Tensor:
    """Spectral norm of one sample's Hessian at every point."""
    module = kind.workload().initial(0).double()
    named = [(name, one) for name, one in module.named_parameters() if one.requires_grad]
    row, target = (values[sample : sample + 1] for values in (kind.inputs, kind.targets))
    row, target = (one.double() if one.is_floating_point() else one for one in (row, target))

    def loss(point: Tensor) -> Tensor:
        parts = point.split([one.numel() for _, one in named])
        given = {name: part.reshape(one.shape) for (name, one), part in zip(named, parts, strict=True)}
        return kind.loss(functional_call(module, given, (row,)), target)

    found: Tensor = torch.linalg.eigvalsh(vmap(hessian(loss))(points)).abs().amax(dim=1)
    return found


def inside(points: Tensor, start: Tensor) -> Tensor:
    away = points - start
    return start + away * (DIAMETER / 2 / away.norm(dim=1, keepdim=True)).clamp(max=1.0)


def brute(kind: Kind) -> float:
    """Largest norm of a Hessian in the ball."""
    start = torch.cat(
        [
            one.detach().double().flatten()
            for one in kind.workload().initial(0).parameters()
            if one.requires_grad
        ]
    )
    generator = torch.Generator().manual_seed(1)
    best = 0.0
    for sample in range(len(kind.inputs)):
        noise = torch.randn(60, len(start), generator=generator, dtype=torch.float64)
        points = inside(start + noise, start)
        largest = norms(kind, points, sample).argsort(descending=True)[:3]
        points, step = points[largest], torch.full((3, 1), DIAMETER / 4, dtype=torch.float64)
        value = norms(kind, points, sample).detach()
        for _ in range(STEPS):
            moving = points.clone().requires_grad_()
            (slope,) = torch.autograd.grad(norms(kind, moving, sample).sum(), moving)
            there = inside(points + step * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-300), start)
            reached = norms(kind, there, sample).detach()
            better = (reached > value)[:, None]
            points, value = torch.where(better, there, points), torch.maximum(value, reached)
            step = torch.where(better, step * 1.2, step / 2)
        best = max(best, float(value.max()))
    return best


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.nightly] * (one.name != BY_DAY))
        for one in KINDS
        if one.name in SMOOTH
    ],
)
def test_the_search_finds_what_brute_force_finds(kind: Kind) -> None:
    run = li.NoisySGD(2, 0.1, 0.5, 1e6, len(kind.inputs), diameter=DIAMETER)
    found = worst_case_constants(kind.workload(), run, (1.0,)).found[0]
    assert found == pytest.approx(brute(kind), rel=0.01)
