"""Batched per-sample gradients: against a plain loop of autograd calls, and against their own matrix products.

One code path for every device: the loop runs on the CPU, as its user would run it, and the batched gradients on the
requested device: the same work, in one run.
"""

from dataclasses import replace

import torch
from torch import Tensor

from benchmarks.matmuls import alone, flops, recorded
from benchmarks.table import Missing, Row, median_time
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.devices import device_of
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["loop", "measure", "wait"]

_LOOPED = (("builtin:iris-mlp", 20, 150, 5.0, 100.0), ("builtin:digits-cnn", 4, 200, 1.5, 1.5))
"""Workload, points, samples, and how many times faster than the loop is wanted on the CPU and on a GPU."""

_HALF_THE_CORES = ((6, 0), (7, 0), (7, 2), (7, 5), (8, 0))
"""Compute capabilities with 64 cores for float32 in a multiprocessor; others have 128 (CUDA C++ Programming Guide)."""

_TRANSFORMER = "minilm:minilm"
_WITHIN = 2.0
"""How many times as long as their matrix products per-sample gradients of the transformer may take on a GPU."""


def measure(device: str = "cpu") -> list[Row | Missing]:
    """All rows of one device, medians; on the CPU with one thread, and with the rows that need a GPU as missing."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows: list[Row | Missing] = []
        for name, points, samples, wanted, wanted_there in _LOOPED:
            for dtype in ("float32",) if device == "mps" else ("float32", "float64"):
                target = wanted if device == "cpu" else wanted_there
                rows.append(_against_loop(name, points, samples, dtype, device, target))
        rows.append(_against_products(device))
    finally:
        torch.set_num_threads(threads)
    if device == "cpu":
        rows += [
            Missing(
                "per-sample gradients, iris-mlp, cuda", "loop of autograd calls on the CPU", 100.0, _NO_GPU
            ),
            Missing("per-sample gradients, minilm, cuda", "their matrix products alone", 1 / _WITHIN, _NO_GPU),
        ]
    return rows


_NO_GPU = "needs a GPU: not run (`make bench-gpu`)"


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


def _against_loop(name: str, points: int, samples: int, dtype: str, device: str, wanted: float) -> Row:
    whole = load_workload(name)
    workload = replace(whole, inputs=whole.inputs[:samples], targets=whole.targets[:samples])
    gradients = Gradients(workload, workload.initial(0), dtype=dtype, device=device, memory=2**31)
    near = _near(gradients, points)
    module = workload.initial(0).to(near.dtype)
    slow, expected = median_time(lambda: loop(workload, module, near.cpu()), repeats=3)
    fast, found = median_time(lambda: flat(gradients.at(near)), wait=lambda: wait(device))
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-4)
    label = f"per-sample gradients, {name.removeprefix('builtin:')}, {dtype}, {device}"
    speed = f"{points * samples / slow:,.0f} and {points * samples / fast:,.0f} gradients a second"
    return Row(label, "loop of autograd calls on the CPU", slow, fast, wanted, speed)


def _against_products(device: str) -> Row | Missing:
    """Per-sample gradients of the transformer against the matrix products that they consist of."""
    count, samples = (1, 4) if device == "cpu" else (12, 64)
    label, baseline = f"per-sample gradients, minilm, {device}", "their matrix products alone"
    wanted = 0.0 if device == "cpu" else 1 / _WITHIN
    try:
        whole = load_workload(_TRANSFORMER)
    except InputError as error:
        return Missing(label, baseline, wanted, str(error))
    workload = replace(whole, inputs=whole.inputs[:samples], targets=whole.targets[:samples])
    gradients = Gradients(workload, workload.initial(0), dtype="float32", device=device)
    points = gradients.start.repeat(count, 1)

    def ours() -> None:
        gradients.at(points)  # and let go: they take a third of a GPU's memory

    shapes = recorded(ours)
    needed = flops(lambda: _passes(workload, workload.initial(0).float()))
    products = alone(shapes, torch.float32, device)
    done = sum(times * 2 * _size(left) * right[-1] for (left, right), times in shapes.items())
    slow, _ = median_time(products, wait=lambda: wait(device))
    fast, _ = median_time(ours, wait=lambda: wait(device))
    note = (
        f"{workload.samples} sentences at {count} points: ours takes {fast / slow:.2f} times as long; "
        f"{done / 1e9:.1f} GFLOP of products, where a plain pass of each needs {count * needed / 1e9:.1f}; "
        f"{done / fast / 1e12:.2f} TFLOP/s{_of_the_data_sheet(device)}"
    )
    return Row(label, baseline, slow, fast, wanted, note)


def _of_the_data_sheet(device: str) -> str:
    """Peak rate of the device in float32 without TF32: cores times two operations times the maximum clock."""
    if not device.startswith("cuda"):
        return ""
    told = torch.cuda.get_device_properties(device)
    cores = told.multi_processor_count * (64 if (told.major, told.minor) in _HALF_THE_CORES else 128)
    return f" of {cores * 2 * told.clock_rate * 1e3 / 1e12:.1f}"


def _passes(workload: Workload, module: torch.nn.Module) -> None:
    for row, target in zip(workload.inputs, workload.targets, strict=True):
        workload.loss(module(row[None]), target[None]).backward()


def _near(gradients: Gradients, points: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(points, gradients.dimension, generator=generator, dtype=torch.float32)
    return gradients.start + 0.01 * drawn.to(gradients.start)


def _size(shape: tuple[int, ...]) -> int:
    return int(torch.Size(shape).numel())


def wait(device: str) -> None:
    """Until the device has done what it was given."""
    kind = device_of(device).type
    if kind == "cuda":
        torch.cuda.synchronize(device)
    elif kind == "mps":
        torch.mps.synchronize()
