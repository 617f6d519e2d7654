"""Searches and proofs within a number of seconds of work: what is cut short is said, and nothing wrong is shown."""

from math import inf
from time import thread_time

import known
import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.clock import UNLIMITED, Clock, clock
from lastiterate.runtime.constants import worst_case_constants as module
from lastiterate.runtime.constants.certified import certified_side
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.workloads.workload import Workload

RUN = NoisySGD(steps=2, step_size=0.1, noise_std=0.5, clip_norm=1.0, dataset_size=4, diameter=0.1)


def small() -> Workload:
    torch.manual_seed(0)
    return Workload(
        "small",
        lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)),
        nn.functional.cross_entropy,
        torch.randn(4, 3),
        torch.arange(4) % 2,
    )


def test_a_clock_counts_the_work_of_its_thread() -> None:
    assert not UNLIMITED.late()
    assert UNLIMITED.fitting(7, 1, lambda: 1e9) == 7
    assert Clock(inf).part(0.5).seconds == inf
    time = Clock(100.0)
    assert 49 < time.part(0.5).seconds <= 50
    assert time.part(0.5, 70.0).seconds == 70
    assert (time.fitting(1000, 2, lambda: 10.0), time.short) == (9, True)
    assert time.fitting(1000, 20, lambda: 1e9) == 20
    assert time.fitting(5, 2, lambda: 0.0) == 5  # a coarse clock measures nothing
    over = Clock(0.01)
    begun = thread_time()
    while thread_time() < begun + 0.02:
        pass
    assert (over.late(), over.short, over.part(0.5).seconds) == (True, True, 0.0)
    assert clock() is UNLIMITED
    with over.running():
        assert clock() is over
    assert clock() is UNLIMITED


def test_a_proof_without_time_proves_nothing_and_says_so() -> None:
    why = "not known: nothing was proved within 0 s; raise the budget"
    assert certified_side(small(), 0, 0.1, time=Clock(0.0)) == (None, why)
    done: list[float] = []
    time = Clock(100.0)
    time.tell = done.append
    found, why = certified_side(small(), 0, 0.1, time=time)
    assert (found, why) == certified_side(small(), 0, 0.1)
    assert done == [0.0, 0.25, 0.5, 0.75]


def test_a_proof_keeps_the_bound_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from lastiterate.numeric.networks import jets

    first, made = [], jets.Jets.__init__
    full, _ = certified_side(small(), 0, 0.1)

    def no_second(self: jets.Jets, *given: object) -> None:
        if len(given) > 4:
            raise jets.LateError("over")
        first.append(self)
        made(self, *given)

    monkeypatch.setattr(jets.Jets, "__init__", no_second)
    found, _ = certified_side(small(), 0, 0.1)
    assert found is not None
    assert full is not None
    assert len(first) == 4
    assert full.smoothness < found.smoothness < 2 * full.smoothness


def test_a_short_search_finds_less_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STARTS", 64)
    monkeypatch.setattr(module, "_SCREENED", 100)
    work = known.quadratic([[1.0, 2.0], [3.0, -4.0]])
    run = NoisySGD(steps=2, step_size=0.1, noise_std=0.5, clip_norm=1.0, dataset_size=2, diameter=2.0)
    steps: list[tuple[float, int]] = []
    whole = worst_case_constants(work, run, (1.0,), budget=1e6, on_step=lambda *step: steps.append(step))
    assert whole.found == worst_case_constants(work, run, (1.0,)).found
    assert "shortened" not in whole.remark
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == ((0, 4), (4, 4))
    short = worst_case_constants(work, run, (1.0,), budget=1e-9)
    assert 0 < short.found[0] <= whole.found[0] <= 4.0
    assert "The search was shortened to fit in 1e-09 s" in short.remark
    with pytest.raises(InputError, match="budget"):
        worst_case_constants(work, run, (1.0,), budget=0.0)


def test_a_short_search_is_not_taken_for_a_whole_one(tmp_path: object) -> None:
    short = worst_case_constants(small(), RUN, (1.0,), budget=1e-9, folder=tmp_path)
    again = worst_case_constants(small(), RUN, (1.0,), budget=1e-9, folder=tmp_path)
    assert (again.found, again.remark) == (short.found, short.remark)
    assert short.certified is not None, "a proof has some seconds in any case"
