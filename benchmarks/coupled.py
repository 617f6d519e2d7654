"""Coupled pairs side by side against loops over the pairs, on the CPU, in one run."""

from dataclasses import replace
from time import perf_counter

import torch
from torch import Tensor

from benchmarks.table import Row, median_time
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.devices import threads_of_torch
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.adjacent import adjacent_runs, real_sample
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

_PAIRS = 1000
_RUN = NoisySGD(2, 0.5, 0.05, 1.0, 100, 10, sampling="without_replacement", diameter=4.0)


class OneByOne(Gradients):
    """The baseline: one backward pass for every run and every sample of its batch."""

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload, workload.initial(0))
        self._workload = workload
        self._plain = workload.initial(0).to(self.dtype)

    @torch.enable_grad()
    def totals(self, points: Tensor, clip_norm: float, chosen: Tensor) -> Tensor:
        found = torch.zeros_like(points)
        parameters = tuple(self._plain.parameters())
        for place, (point, own) in enumerate(zip(points, chosen.expand(len(points), -1), strict=True)):
            torch.nn.utils.vector_to_parameters(point, parameters)
            for sample in own[own >= 0].tolist():
                rows, targets = (part[sample : sample + 1] for part in self.rows())
                parts = torch.autograd.grad(self._workload.loss(self._plain(rows), targets), parameters)
                gradient = torch.cat([part.reshape(-1) for part in parts])
                found[place] += gradient * min(1.0, clip_norm / float(gradient.norm()))
        return found


class RunByRun(Gradients):
    """A harder baseline: the samples of a batch at once, but one run after the other."""

    def totals(self, points: Tensor, clip_norm: float, chosen: Tensor) -> Tensor:
        own = chosen.expand(len(points), -1)
        return torch.cat(
            [super(RunByRun, self).totals(points[i : i + 1], clip_norm, own[i]) for i in range(len(own))]
        )


def measure() -> list[Row]:
    """1,000 coupled pairs of the Iris network, 2 steps with batches of 10 of 100, one thread; a baseline runs once.

    Every way ends at the same points, and that is checked.
    """
    workload = load_workload("builtin:iris-mlp")
    with threads_of_torch(1):
        ours, found = median_time(lambda: ends(Gradients(workload, workload.initial(0))), repeats=3)
        rows = []
        for baseline, words, wanted in (
            (OneByOne(workload), "loop over pairs and samples", 20.0),
            (RunByRun(workload, workload.initial(0)), "loop over pairs, samples at once", 10.0),
        ):
            start = perf_counter()
            expected = ends(baseline)
            slow = perf_counter() - start
            torch.testing.assert_close(found, expected)
            rows.append(Row("1,000 coupled pairs, Iris", words, slow, ours, wanted_ratio=wanted))
    return rows


def ends(gradients: Gradients, pairs: int = _PAIRS, steps: int = _RUN.steps) -> Tensor:
    """The last iterates of coupled pairs, shape (2, pairs, dimension)."""
    run = replace(_RUN, steps=steps)
    sample = real_sample(gradients, run, 0)
    iterates = adjacent_runs(gradients, run, sample, pairs, coupled=True, seed=0, block=0, purpose=2**41)
    return torch.stack(list(iterates)[-1])
