"""The table of torch.compile: what is faster pays back after some calls, what is slower never, what fails says so."""

from collections.abc import Callable
from time import process_time

import pytest
import torch

from benchmarks import compiled
from benchmarks.compiled import _row, _Work
from lastiterate.runtime import factors
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload


def after(seconds: float, value: float = 1.0) -> Callable[[], torch.Tensor]:
    def work() -> torch.Tensor:
        until = process_time() + seconds
        while process_time() < until:
            pass
        return torch.full((2,), value)

    return work


def test_only_what_is_faster_pays_back() -> None:
    fast, slow = (_row(_Work("w", 7, after(one), (), after(two))) for one, two in ((0.02, 0.0), (0.0, 0.02)))
    assert fast.startswith("w | 7 | ")
    assert fast.endswith(" calls")
    assert slow.endswith("| never")


def test_a_failure_is_said_and_a_wrong_value_is_none_of_ours() -> None:
    def fails() -> torch.Tensor:
        raise NotImplementedError

    assert _row(_Work("w", 7, after(0.0), (), fails)).endswith("does not compile: NotImplementedError")
    with pytest.raises(AssertionError):
        _row(_Work("w", 7, after(0.0), (), after(0.0, 2.0)))


@pytest.mark.parametrize("factored", [False, True])
def test_every_work_of_the_table_runs(factored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if factored:
        monkeypatch.setattr(factors, "_FEWEST", 1)
        monkeypatch.setattr(factors, "_GRAM_COST", 0)
    workload = load_workload("builtin:iris-mlp-tanh")
    gradients = Gradients(workload, workload.initial(0))
    assert (gradients.factored is not None) == factored
    works = list(compiled._works(gradients, points=2))
    assert len(works) == 3
    for work in works:
        assert all(torch.isfinite(part).all() for part in compiled._flat(work.function(*work.arguments)))
