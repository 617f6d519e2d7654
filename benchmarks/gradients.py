"""Batched per-sample gradients against a plain loop of autograd calls, on the CPU, in one run."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from lastiterate.runtime.gradients import Gradients, flat
from lastiterate.runtime.workloads import Workload, load_workload

_POINTS = 20
_REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One line of the table of results: two times in one run and the ratio that is asked for."""

    name: str
    baseline: str
    baseline_seconds: float
    seconds: float
    wanted_ratio: float

    @property
    def ratio(self) -> float:
        """How many times faster than the baseline."""
        return self.baseline_seconds / self.seconds


def measure() -> list[Row]:
    """Per-sample gradients of the Iris network at 20 points and 150 samples, best of three, one thread."""
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
    slow, expected = _best(lambda: loop(workload, module, points))
    fast, found = _best(lambda: flat(gradients.at(points)))
    torch.testing.assert_close(found, expected)
    return Row(f"per-sample gradients, {dtype}", "loop of autograd calls", slow, fast, wanted_ratio=5.0)


def _best(work: Callable[[], Tensor]) -> tuple[float, Tensor]:
    """Least time of a few calls, and the result."""
    times = []
    for _ in range(_REPEATS):
        start = perf_counter()
        result = work()
        times.append(perf_counter() - start)
    return min(times), result
