"""End-to-end GPU benchmarks: a measurement and coupled pairs against the CPU of the same machine, and memory."""

from collections.abc import Callable
from functools import cache
from shutil import which
from subprocess import run
from time import perf_counter
from typing import Final

import torch

from benchmarks.coupled import ends
from benchmarks.gradients import wait
from benchmarks.table import Limit, Missing, Row, median_time
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.devices import device_of, peak
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload, subset

__all__ = ["driver", "measure", "memory", "there"]

_STEPS: Final = 100
_ESTIMATE: Final = 10.0
_COUPLED: Final = 20.0
_USED: Final = (0.5, 0.9)
"""How many times faster than the CPU of the machine, and the share of the memory that is used by default."""


def measure(device: str, *, samples: int = 32, points: int = 8) -> list[Row | Missing]:
    """The measurement and the coupled pairs on the device against the same on the CPU, all of its threads."""
    rows: list[Row | Missing] = [
        _against_cpu(f"1,000 coupled pairs, {_STEPS} steps, Iris", device, _COUPLED, _pairs),
        _against_cpu("estimate builtin:iris-mlp, 201 centers, 100 points", device, 0.0, _small, threads=1),
    ]
    try:
        workload = subset(load_workload("minilm:minilm"), samples, 0)
    except InputError as error:
        return [*rows, Missing(f"estimate minilm:minilm, {device}", "the CPU", _ESTIMATE, str(error))]
    return [
        *rows,
        _against_cpu("estimate minilm:minilm", device, _ESTIMATE, lambda at: _estimate(workload, at, points)),
    ]


def memory(device: str) -> list[Limit]:
    """Memory that chunks take on a CUDA device, with and without a budget; no rows on other devices."""
    if not device.startswith("cuda"):
        return []
    rows, shares = [], []
    for name in ("builtin:iris-mlp", "builtin:digits-cnn"):
        for budget in (256, 4096, None):
            workload, allowed = load_workload(name), None if budget is None else budget * 2**20
            gradients = Gradients(workload, workload.initial(0), device=device, memory=allowed)
            used = _of_a_chunk(gradients)
            if budget is None:
                shares.append(used / torch.cuda.get_device_properties(device).total_memory)
            else:
                rows.append(Limit(f"memory of one chunk of pairs, {name}", used / 2**20, "MiB", float(budget)))
    low, high = _USED
    told = f"at least {low:.0%} is wanted; the budget is {gradients.memory / 2**30:.1f} GiB"
    return [
        *rows,
        Limit(
            "share of the memory that a chunk of pairs takes by default",
            max(shares),
            "of the device",
            high,
            told,
        ),
        Limit("share of it that it leaves at most", 1 - min(shares), "of the device", 1 - low),
    ]


def there(device: str) -> torch.device:
    """The device of this name; the program ends with one sentence where it is not there."""
    try:
        return device_of(device)
    except InputError as error:
        raise SystemExit(f"error: {error}") from None


def driver() -> str:
    """The version of the driver of the machine's GPUs."""
    program = which("nvidia-smi")
    if program is None:
        return "unknown"
    asked = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    return run(asked, capture_output=True, text=True, check=False).stdout.split("\n")[0] or "unknown"  # noqa: S603


def _against_cpu(
    name: str, device: str, wanted: float, work: Callable[[str], object], threads: int | None = None
) -> Row:
    """Time the same work on the CPU, once, and on the device; so many threads are fastest there, None for all."""
    work(device)  # kernels are loaded
    begun = perf_counter()
    work("cpu")
    slow = perf_counter() - begun
    fast, _ = median_time(lambda: work(device), repeats=3, wait=lambda: wait(device))
    return Row(
        f"{name}, {device}", f"the CPU, threads: {threads or torch.get_num_threads()}", slow, fast, wanted
    )


def _of_a_chunk(gradients: Gradients) -> int:
    """Bytes that torch holds at most while the pairs around one point are measured, as many as fit at once."""
    points = next(gradients.point_chunks(10**9)).stop
    return peak(
        lambda: measure_center(gradients, gradients.start, 1.0, Sampling(points=points), stream(0, 1)),
        gradients.device,
    )


@cache
def _iris(device: str) -> Gradients:
    workload = load_workload("builtin:iris-mlp")
    return Gradients(workload, workload.initial(0), device=device)


def _pairs(device: str) -> object:
    return ends(_iris(device), steps=_STEPS)


def _small(device: str) -> object:
    workload = load_workload("builtin:iris-mlp")
    return estimate_holder(workload, paper_run(workload), (1.0,), Sampling(inits=1, points=100, device=device))


def _estimate(workload: Workload, device: str, points: int) -> object:
    short = paper_run(workload, steps=2, noise_std=1e-5, diameter=10.0)
    sampling = Sampling(
        inits=1, points=points, radius=10.0, draw=Draw.LOG_UNIFORM, dtype="float32", device=device,
        threads=torch.get_num_threads(),
    )  # fmt: skip
    return estimate_holder(workload, short, (1.0,), sampling)
