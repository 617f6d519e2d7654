"""Per-sample clipping equals a plain loop over autograd."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

TOLERANCE = {"float32": 1e-6, "float64": 1e-12}


def loop(workload: Workload, module: nn.Module, clip_norm: float) -> torch.Tensor:
    """Sum of the clipped gradients, one sample and one backward pass at a time."""
    total = torch.zeros(sum(p.numel() for p in module.parameters()), dtype=torch.float64)
    dtype = next(module.parameters()).dtype
    for row, target in zip(workload.inputs, workload.targets, strict=True):
        module.zero_grad()
        workload.loss(module(row[None].to(dtype)), target[None]).backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in module.parameters() if p.grad is not None]).double()
        length = float(gradient.norm())
        total += gradient * min(1.0, clip_norm / length if length else 1.0)
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("clip_norm", [1e-3, 0.5, 1e6])
def test_a_network(dtype: str, clip_norm: float) -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    module = workload.initial(1)
    gradients = Gradients(workload, module, dtype=dtype, memory=2**20)  # several chunks
    found = gradients.total(gradients.start, clip_norm).double()
    expected = loop(workload, module, clip_norm)
    assert float((found - expected).norm()) <= TOLERANCE[dtype] * float(expected.norm())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_that_are_zero_or_huge(dtype: str) -> None:
    """Rows of zeros have the gradient zero in a layer without bias; others go over twenty orders of magnitude."""
    scales = torch.tensor([0.0, 1e-10, 1e-3, 0.0, 1.0, 1e3, 1e10, 0.0]).double()
    rows = scales[:, None] * torch.randn(8, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    workload = Workload("rows", lambda: nn.Linear(5, 3, bias=False), cross_entropy, rows, torch.arange(8) % 3)
    module = workload.initial(0)
    gradients = Gradients(workload, module, dtype=dtype)
    found = gradients.total(gradients.start, 0.7).double()
    expected = loop(workload, module, 0.7)
    assert float((found - expected).norm()) <= TOLERANCE[dtype] * float(expected.norm())
    alone = gradients.total(gradients.start, 0.7, torch.tensor([0, 3]))
    assert torch.equal(alone, torch.zeros_like(alone))


def test_no_sample_counts_for_more_than_the_clip_norm() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0))
    lengths = [float(gradients.total(gradients.start, 0.2, torch.tensor([i])).norm()) for i in range(150)]
    assert max(lengths) <= 0.2 * (1 + 1e-15)
    assert max(lengths) > 0.19
