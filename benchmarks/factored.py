"""Pairs and steps of a transformer by factors of its gradients, against the gradients made in full, in one run."""

import torch

from benchmarks.table import Missing, Row, median_time
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.devices import threads_of_torch
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream, stream
from lastiterate.runtime.training.descent import paper_run, train
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import subset

__all__ = ["measure"]

_NAME = "minilm:minilm"
_WANTED = 3.0


def measure(samples: int = 8, points: int = 4, steps: int = 2) -> list[Row | Missing]:
    """Rows of what `lastiterate estimate minilm:minilm` does, one thread: steps of the training, and drawn points."""
    try:
        workload = subset(load_workload(_NAME), samples, 0)
    except InputError as error:
        return [Missing("drawn points, minilm", "gradients in full", _WANTED, str(error))]
    run = paper_run(workload, steps=steps, noise_std=1e-5, diameter=10.0)
    drawn = Sampling(points=points, radius=10.0, draw=Draw.LOG_UNIFORM)

    def made(*, factored: bool) -> Gradients:
        gradients = Gradients(workload, workload.initial(0), dtype="float32", memory=2 * 2**30, tried=False)
        if not factored:
            gradients.__dict__["factored"] = None
        elif gradients.factored is None:
            raise SystemExit(f"the gradients of {_NAME} are not factored")
        return gradients

    rows: list[Row | Missing] = []
    with threads_of_torch(1):
        full, ours = made(factored=False), made(factored=True)
        slow, expected = median_time(lambda: measure_center(full, full.start, 1.0, drawn, _stream()), repeats=3)
        fast, found = median_time(lambda: measure_center(ours, ours.start, 1.0, drawn, _stream()), repeats=3)
        for kind, values in expected.differences.items():
            assert (abs(found.differences[kind] - values) <= found.floors + expected.floors).all(), kind  # noqa: S101
        note = f"{points} points, {samples} sentences; all kinds equal within the stated rounding"
        rows.append(Row("drawn points, minilm", "gradients in full", slow, fast, _WANTED, note))
        slow, there = median_time(lambda: train(full, full.start, run, 0, centers=2), repeats=3)
        fast, here = median_time(lambda: train(ours, ours.start, run, 0, centers=2), repeats=3)
        torch.testing.assert_close(here, there, rtol=0.0, atol=1e-6)
        rows.append(
            Row("steps of training, minilm", "gradients in full", slow, fast, _WANTED, f"{steps} steps")
        )
    return rows


def _stream() -> Stream:
    return stream(0, purpose=1)
