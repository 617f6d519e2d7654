"""How often the processor waits for a device: for every chunk or step, never for every pair, point or sample.

A number that is read off a tensor (``bool``, ``float``, ``item``) makes the processor wait until the device is done.
What is read is seen on the CPU, too, where it costs nothing. A mask as an index waits as well: its size is read.
"""

from collections import Counter
from typing import Any

import known
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime import factors
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.replay import MASKS, READS
from lastiterate.runtime.training import descent
from lastiterate.runtime.training.adjacent import adjacent_runs, real_sample
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.loading import load_workload


@pytest.fixture(autouse=True)
def _as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    # On the CPU a look costs nothing, and may save a pass.
    monkeypatch.setattr(descent, "_looks", lambda _: False)


class Reads(TorchDispatchMode):
    """Counts what is read off tensors; the size of what a mask picks is read, too."""

    def __init__(self) -> None:
        super().__init__()
        self.times: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        masked = name in {"index", "index_put", "index_put_"} and any(
            index is not None and index.dtype in MASKS for index in args[1]
        )
        if name in READS or masked:
            self.times[name] += 1
        return func(*args, **(kwargs or {}))


def test_what_is_read_is_counted() -> None:
    values = torch.arange(4)
    with Reads() as reads:
        _ = bool(values[1]), float(values[2]), values[values > 2], values.nonzero(), values[values]
    assert reads.times == {"_local_scalar_dense": 2, "index": 1, "nonzero": 1}


def of_pairs(gradients: Gradients, points: int) -> int:
    with Reads() as reads:
        measure_center(gradients, gradients.start, 0.1, Sampling(points=points, radius=0.5), stream(0, 1))
    return reads.times.total()


def test_pairs_in_full_never_wait() -> None:
    workload = load_workload("builtin:iris-mlp")
    assert of_pairs(Gradients(workload, workload.initial(0), memory=2**21), 6) == 0


def test_factored_pairs_and_totals_never_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "_FEWEST", 1)
    monkeypatch.setattr(factors, "_GRAM_COST", 0)
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0))
    assert gradients.factored is not None
    assert of_pairs(gradients, 5) == 0
    with Reads() as reads:
        gradients.total(gradients.start, 0.1)
    assert not reads.times


@pytest.mark.parametrize("steps", [2, 5])
def test_a_step_of_training_waits_once(steps: int) -> None:
    """Whether the parameters are finite."""
    workload = load_workload("builtin:iris-mlp")
    gradients = Gradients(workload, workload.initial(0))
    run = NoisySGD(steps, 0.1, 0.01, 1.0, workload.samples, diameter=1.0)
    with Reads() as reads:
        train(gradients, gradients.start, run, 0)
    assert reads.times == {"_local_scalar_dense": steps}


@pytest.mark.parametrize("scheme", ["full", "poisson", "without_replacement"])
def test_coupled_runs_wait_as_often_for_many_as_for_few(scheme: str) -> None:
    workload = known.quadratic([[1.0, 2.0]] * 13)
    gradients = Gradients(workload, workload.initial(0))
    batch = 12 if scheme == "full" else 4
    run = NoisySGD(3, 0.1, 0.1, 1.0, 12, batch, sampling=scheme, diameter=2.0)  # type: ignore[arg-type]
    seen = set()
    for pairs in (20, 90):
        with Reads() as reads:
            list(adjacent_runs(gradients, run, real_sample(gradients, run, 0), pairs, coupled=True,
                               seed=0, block=0, purpose=2**41))  # fmt: skip
        seen.add(reads.times.total())
    assert len(seen) == 1
    assert seen.pop() <= 3 * 6, "six a step"
