"""What a GPU is asked for as a whole: a measurement and coupled pairs against the CPU beside it, and its memory."""

from collections.abc import Callable
from time import perf_counter
from typing import Final

import torch

from benchmarks.coupled import ends
from benchmarks.gradients import _wait
from benchmarks.table import Limit, Missing, Row, median_time
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import Sampling, estimate_holder
from lastiterate.runtime.constants.pairs import Draw
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload, subset

__all__ = ["measure", "memory"]

_ESTIMATE: Final = 10.0
_COUPLED: Final = 20.0
_USED: Final = (0.5, 0.9)
"""How many times faster than the CPU of the machine, and the share of the memory that is used by default."""


def measure(device: str, *, samples: int = 32, points: int = 8) -> list[Row | Missing]:
    """The measurement and the coupled pairs on the device against the same on the CPU, all of its threads."""
    rows: list[Row | Missing] = [_against_cpu("1,000 coupled pairs, Iris", device, _COUPLED, _pairs)]
    try:
        workload = subset(load_workload("builtin:minilm"), samples, 0)
    except InputError as error:
        return [*rows, Missing(f"estimate builtin:minilm, {device}", "the CPU", _ESTIMATE, str(error))]
    return [
        *rows,
        _against_cpu("estimate builtin:minilm", device, _ESTIMATE, lambda at: _estimate(workload, at, points)),
    ]


def memory(device: str) -> list[Limit]:
    """The share of a CUDA device's memory that chunks take where nobody says; nothing to say elsewhere."""
    if not device.startswith("cuda"):
        return []
    workload = load_workload("builtin:digits-cnn")
    gradients = Gradients(workload, workload.initial(0), device=device)
    points = gradients.start.repeat(-(-gradients.memory // (4 * gradients.dimension * workload.samples * 8)), 1)
    torch.cuda.reset_peak_memory_stats(device)
    gradients.at(points[next(gradients.point_chunks(len(points)))], next(gradients.sample_chunks()))
    share = torch.cuda.max_memory_allocated(device) / torch.cuda.get_device_properties(device).total_memory
    low, high = _USED
    told = f"at least {low:.0%} is wanted; the budget is {gradients.memory / 2**30:.1f} GiB"
    return [
        Limit("share of the memory that a chunk takes by default", share, "of the device", high, told),
        Limit("share of it that it leaves", 1 - share, "of the device", 1 - low),
    ]


def _against_cpu(name: str, device: str, wanted: float, work: Callable[[str], object]) -> Row:
    """Time the same work on the CPU, once, and on the device."""
    work(device)  # kernels are loaded
    begun = perf_counter()
    work("cpu")
    slow = perf_counter() - begun
    fast, _ = median_time(lambda: work(device), repeats=3, wait=lambda: _wait(device))
    return Row(f"{name}, {device}", f"the CPU, {torch.get_num_threads()} threads", slow, fast, wanted)


def _pairs(device: str) -> object:
    workload = load_workload("builtin:iris-mlp")
    return ends(Gradients(workload, workload.initial(0), device=device))


def _estimate(workload: Workload, device: str, points: int) -> object:
    run = paper_run(workload, steps=2, noise_std=1e-5, diameter=10.0)
    sampling = Sampling(
        inits=1, points=points, radius=10.0, draw=Draw.LOG_UNIFORM, dtype="float32", device=device,
        threads=torch.get_num_threads(),
    )  # fmt: skip
    return estimate_holder(workload, run, (1.0,), sampling)
