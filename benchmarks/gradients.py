"""Batched per-sample gradients against a plain loop of autograd calls, on the CPU, in one run."""

import torch
from torch import Tensor

from benchmarks.table import Row, median_time
from lastiterate.runtime.gradients import Gradients, flat
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

_POINTS = 20


def measure() -> list[Row]:
    """Per-sample gradients of the Iris network at 20 points and 150 samples, medians, one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_row(dtype) for dtype in ("float32", "float64")]
    finally:
        torch.set_num_threads(threads)


def loop(workload: Workload, module: torch.nn.Module, points: Tensor) -> Tensor:
    """The baseline: one backward pass for every point and every sample; shape (points, samples, dimension)."""
    rows = []
    for point in points:
        torch.nn.utils.vector_to_parameters(point, module.parameters())
        for row, target in zip(workload.inputs.to(point.dtype), workload.targets, strict=True):
            loss = workload.loss(module(row[None]), target[None])
            parts = torch.autograd.grad(loss, tuple(module.parameters()))
            rows.append(torch.cat([part.reshape(-1) for part in parts]))
    return torch.stack(rows).reshape(len(points), workload.samples, -1)


def _row(dtype: str) -> Row:
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), dtype=dtype)
    start = gradients.start
    generator = torch.Generator().manual_seed(0)
    points = start + 0.01 * torch.randn(_POINTS, len(start), generator=generator, dtype=start.dtype)
    module = workload.initial(0).to(start.dtype)
    slow, expected = median_time(lambda: loop(workload, module, points), repeats=3)
    fast, found = median_time(lambda: flat(gradients.at(points)))
    torch.testing.assert_close(found, expected)
    return Row(f"per-sample gradients, {dtype}", "loop of autograd calls", slow, fast, wanted_ratio=5.0)
