"""The loops that coupled runs are compared with do the same work."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.coupled import OneByOne, RunByRun, ends  # noqa: E402
from lastiterate.runtime.gradients import Gradients  # noqa: E402
from lastiterate.runtime.workloads.loading import load_workload  # noqa: E402


def test_both_baselines_end_where_the_pairs_side_by_side_end() -> None:
    workload = load_workload("builtin:iris-mlp")
    found = ends(Gradients(workload, workload.initial(0)), pairs=4)
    assert found.shape == (2, 4, 515)
    torch.testing.assert_close(ends(OneByOne(workload), pairs=4), found)
    torch.testing.assert_close(ends(RunByRun(workload, workload.initial(0)), pairs=4), found)
