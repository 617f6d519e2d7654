"""Profiles of GPU work: seconds, the time for which the GPU is busy, and its longest kernels.

    python -m benchmarks.profiles --device cuda

Every work is done three times before, as it is recorded in the third (`lastiterate.runtime.replay`). ResNet-18 sees
random images, which cost what others do.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import torch
from cifar import resnet18
from torch.profiler import ProfilerActivity, profile

from benchmarks.coupled import ends
from benchmarks.devices import driver, there
from benchmarks.gradients import wait
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run, train
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

_STARTS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaGraphLaunch"}
_ATTACKED = NoisySGD(20, 0.5, 0.05, 1.0, 100, 10, sampling="without_replacement", diameter=4.0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.profiles", description=__doc__)
    parser.add_argument("--device", default="cuda")
    device = str(there(parser.parse_args().device))
    print(f"{torch.cuda.get_device_name(device)}, driver {driver()}, torch {torch.__version__}\n")
    print("| work | seconds | busy | started by the processor | kernels | longest kernels, ms |")
    print("|---|--:|--:|--:|--:|---|")
    for name, work in _works(device):
        print(f"| {name} | {row(work, device)} |", flush=True)


def _works(device: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, points, dtype in (
        ("builtin:iris-mlp", 100, "float64"),
        ("builtin:digits-cnn", 20, "float32"),
        ("minilm:minilm", 8, "float32"),
    ):
        with suppress(InputError):  # a package is missing
            yield from _measured(load_workload(name), points, dtype, device)
    with suppress(InputError):
        yield from _measured(_resnet(64), 8, "float32", device)
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), device=device)
    yield "1,000 coupled pairs, 100 steps", partial(ends, gradients, steps=100)
    yield (
        "attack, 1,000 runs, 20 steps",
        partial(attack, workload, _ATTACKED, "loss", delta=1e-5, runs=1000, device=device),
    )
    yield "search, 256 starts", Search(gradients, gradients.start, 1.0).climb


def _measured(
    workload: Workload, points: int, dtype: str, device: str
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The pairs around one point, and ten steps of training."""
    name = workload.name.partition(":")[2]
    gradients = Gradients(workload, workload.initial(0), dtype=dtype, device=device)
    run, drawn = (
        paper_run(workload, steps=10, diameter=10.0),
        Sampling(points=points, draw=Draw.LOG_UNIFORM),
    )
    yield (
        f"{name}, {points} points around one",
        lambda: measure_center(gradients, gradients.start, 1.0, drawn, stream(0, 1)),
    )
    yield f"{name}, ten steps", lambda: train(gradients, gradients.start, run, 0)


def _resnet(samples: int) -> Workload:
    """ResNet-18 with group norm, as in `examples/networks`, on random images."""
    drawn = torch.Generator().manual_seed(0)
    images = torch.rand(samples, 3, 32, 32, generator=drawn) * 2 - 1
    plain = load_workload("builtin:digits-cnn")
    labels = torch.randint(10, (samples,), generator=drawn)
    return replace(plain, name="resnet-18", module=resnet18(), inputs=images, targets=labels)


def row(work: Callable[[], Any], device: str) -> str:
    """The seconds of some work and what a profiler sees in it, as a row of the table but for its name."""
    for _ in range(3):
        work()
    wait(device)
    begun = perf_counter()
    work()
    wait(device)
    seconds = perf_counter() - begun
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        work()
        wait(device)
    events = seen.key_averages()
    on_device = (event for event in events if event.device_type == torch.autograd.DeviceType.CUDA)
    kernels = sorted(on_device, key=lambda event: -event.self_device_time_total)
    milliseconds = [event.self_device_time_total / 1e3 for event in kernels]
    started = sum(event.count for event in events if event.key in _STARTS)
    longest = [
        f"{event.key.split('(')[0][-50:]} {took:.1f}"
        for event, took in zip(kernels[:3], milliseconds, strict=False)
    ]
    numbers = f"{seconds:.3g} | {sum(milliseconds) / seconds / 1e3:.0%} | {started:,}"
    return f"{numbers} | {sum(event.count for event in kernels):,} | {', '.join(longest)}"


if __name__ == "__main__":
    main()
