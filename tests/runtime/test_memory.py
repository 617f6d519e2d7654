"""Chunks keep to the budget: measured as the peak of a process of its own, on the CPU, and by torch on a GPU."""

import json
import os
import sys
from pathlib import Path

import known
import pytest
import torch
from known import top_curvature
from processes import TORCH, python

import lastiterate
from lastiterate.numeric.errors import InputError
from lastiterate.runtime import devices
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.devices import peak
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run, train
from lastiterate.runtime.workloads.loading import load_workload

MEBIBYTE = 2**20
BASE = 8 if sys.platform == "linux" else 32
"""MiB beside the budget: caches of the kernels, and what malloc keeps, where it cannot be told to give memory back."""

SCRIPT = """
import ctypes, json, os, resource, sys
from dataclasses import replace
import torch
from torch import nn
from known import top_curvature
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

torch.set_num_threads(1)
libc = ctypes.CDLL(None)
if give_back := getattr(libc, "mallopt", None):
    give_back(-3, 2**19)  # glibc maps every block larger than this, and unmaps it when it is freed
unit = 1 if sys.platform == "darwin" else 1024

def highest():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def of_files():
    # pages of libraries and other files, which come and go as the disk cache has them
    try:
        lines = open("/proc/self/status").read().splitlines()
    except OSError:
        lines = []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile"))

def grown(once):
    # MiB by which the peak of a child that does this is above what the child began with, which keeps no freed memory
    getattr(libc, "malloc_trim", int)(0)
    reader, writer = os.pipe()
    if not (child := os.fork()):
        before, files = highest(), of_files()
        once()
        os.write(writer, str((highest() - before - max(of_files() - files, 0)) / 2**20).encode())
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 100)
    os.waitpid(child, 0)
    return float(said)

def network():
    return nn.Sequential(nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 10))

def wide():
    torch.manual_seed(0)
    return Workload("wide", network, nn.functional.cross_entropy, torch.randn(48, 256), torch.zeros(48).long())

def work(workload, budget, points):
    gradients = Gradients(workload, workload.initial(0), memory=budget * 2**20)
    yield "pairs", lambda: measure_center(gradients, gradients.start, 1.0, Sampling(points=points), stream(0, 1))
    some = torch.arange(min(workload.samples, 48))
    yield "totals", lambda: gradients.totals(gradients.start.repeat(2, 1), 1.0, some)
    few = torch.arange(min(workload.samples, 200))
    yield "curvature", lambda: top_curvature(gradients, gradients.start[None], samples=few, iterations=1)
    starts = min(8, max(1, budget * 2**20 // (128 * gradients.dimension)))
    yield "search", lambda: Search(gradients, gradients.start, 1.0).climb(starts, 2)

digits = load_workload("builtin:digits-cnn")
digits = replace(digits, inputs=digits.inputs[:600], targets=digits.targets[:600])
found = []
for workload, points in ((load_workload("builtin:iris-mlp"), 20), (wide(), 4), (digits, 2)):
    little = replace(workload, inputs=workload.inputs[:2], targets=workload.targets[:2])
    for _, once in work(little, 256, 1):
        once()
    for budget in (32, 128):
        for name, once in work(workload, budget, points):
            found.append((workload.name, name, budget, grown(once)))
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="measured in forked processes")
@pytest.mark.nightly
def test_the_peak_of_a_process_stays_within_the_budget(tmp_path: Path) -> None:
    source = str(Path(lastiterate.__file__).parents[1])
    paths = os.pathsep.join((source, str(Path(known.__file__).parent)))
    ended = python("-c", SCRIPT, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, libraries=TORCH)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert len(found) == 3 * 2 * 4
    over = [row for row in found if row[3] > row[2] + BASE]
    assert not over
    assert max(row[3] for row in found if row[2] == 128) > 32, "the budget is made use of"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["builtin:iris-mlp", "builtin:digits-cnn"])
@pytest.mark.parametrize("budget", [512 * MEBIBYTE, 4096 * MEBIBYTE])
def test_the_peak_of_a_gpu_stays_within_the_budget(name: str, dtype: str, budget: int) -> None:
    workload = load_workload(name)
    gradients = Gradients(workload, workload.initial(0), dtype=dtype, device="cuda", memory=budget)
    start, points = gradients.start, next(gradients.point_chunks(10**9)).stop
    few = torch.arange(min(workload.samples, 200))
    starts = max(1, budget // (128 * gradients.dimension))
    ways = {
        "clipped": lambda: measure_center(
            gradients, start, 0.05, Sampling(points=points, radius=1.0), stream(0, 1)
        ),
        "unclipped": lambda: measure_center(
            gradients, start, 100.0, Sampling(points=points, radius=1.0), stream(0, 1)
        ),
        "totals": lambda: gradients.totals(start.repeat(points, 1), 1.0, torch.arange(workload.samples)),
        "curvature": lambda: top_curvature(gradients, start.repeat(8, 1), samples=few, iterations=2),
        "search": lambda: Search(gradients, start, 1.0).climb(starts, 2),
    }
    used = {way: peak(work, gradients.device) / budget for way, work in ways.items()}
    assert max(used.values()) <= 1, used
    assert used["clipped"] > 0.5, used


@pytest.mark.parametrize("budget", [40_000, 1_000_000])
def test_chunks_of_vectors_and_of_heavy_pairs_cover_everything_once(budget: int) -> None:
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0), memory=budget)
    vectors, pairs = list(gradients.vector_chunks(9, copies=4)), list(gradients.pair_chunks(9, weight=4))
    for parts in (vectors, pairs):
        assert [i for part in parts for i in range(9)[part]] == list(range(9))
    longest = max(part.stop - part.start for part in vectors)
    assert longest == min(9, max(1, budget // (4 * 515 * 8)))
    assert max(part.stop - part.start for part in pairs) <= max(1, budget // (4 * 8 * 515 * 8))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB.\nGPU 0 ..."),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory"
        ),
    ],
)
def test_running_out_of_memory_is_one_sentence(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise error

    workload = known.quadratic([[1.0, 2.0]])
    for name in ("total", "point_chunks"):  # before the first draw, and among the pairs
        with monkeypatch.context() as patched:
            patched.setattr(Gradients, name, full)
            with pytest.raises(InputError, match=r"lower the memory budget \(--memory\)") as refused:
                estimate_holder(workload, paper_run(workload, steps=2), (1.0,), Sampling(inits=1, points=1))
            assert "\n" not in str(refused.value)


def test_what_has_no_room_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    workload, run = load_workload("builtin:iris-mlp"), paper_run(load_workload("builtin:iris-mlp"), steps=2)
    gradients = Gradients(workload, workload.initial(0))
    monkeypatch.setattr(devices, "free_memory", lambda _device: 8 * 515 * 8 - 1)
    with pytest.raises(InputError, match=r"A gradient of 515 parameters takes .* use float32, freeze"):
        Gradients(workload, workload.initial(0))
    train(gradients, gradients.start, run, 0)
    monkeypatch.setattr(devices, "free_memory", lambda _device: 3 * 515 * 8 - 1)
    with pytest.raises(InputError, match=r"The iterates of a training run take .* keep fewer than centers=3"):
        train(gradients, gradients.start, run, 0)


def test_another_error_of_torch_is_not_called_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("something else")

    workload = known.quadratic([[1.0, 2.0]])
    monkeypatch.setattr(Gradients, "total", broken)
    with pytest.raises(RuntimeError, match="something else"):
        estimate_holder(workload, paper_run(workload, steps=2), (1.0,), Sampling(inits=1, points=1))
