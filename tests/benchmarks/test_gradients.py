import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import gradients  # noqa: E402
from benchmarks.matmuls import alone, flops, recorded  # noqa: E402
from benchmarks.table import Missing, Row, median_time, ratios  # noqa: E402
from lastiterate.runtime.gradients import Gradients  # noqa: E402
from lastiterate.runtime.workloads.workload import Workload  # noqa: E402


def test_the_recorded_products_are_those_of_the_forward_and_backward_pass() -> None:
    rows, targets = torch.randn(5, 7, 3), torch.zeros(5, 7, 2)
    mlp = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    workload = Workload("mlp", lambda: mlp, lambda out, y: (out - y).square().sum(), rows, targets)
    found = Gradients(workload, workload.initial(0), dtype="float32")
    shapes = recorded(lambda: found.at(found.start.repeat(2, 1)))
    done = sum(times * 2 * torch.Size(left).numel() * right[-1] for (left, right), times in shapes.items())
    forward = 2 * 7 * (3 * 4 + 4 * 2)
    backward = 2 * 7 * (3 * 4 + 2 * (4 * 2))  # no gradient of the inputs of the first layer
    assert done == 2 * 5 * (forward + backward)
    assert flops(lambda: found.at(found.start.repeat(2, 1))) == done
    assert alone(shapes, torch.float32, "cpu")() is not None


def test_the_loop_gives_the_same_gradients() -> None:
    row = gradients._against_loop("builtin:iris-mlp", 1, 3, "float64", "cpu", 5.0)
    assert "gradients a second" in row.note
    assert row.wanted_ratio == 5.0


def test_what_could_not_be_measured_is_a_row_with_its_reason() -> None:
    table = ratios(
        [Missing("theirs", "a loop", 100.0, "needs a GPU: not run"), Row("ours", "a loop", 3.0, 2.0, 1.5, "")]
    )
    assert "| theirs | a loop |  |  |  | >= 100 |  | needs a GPU: not run |" in table
    assert "| ours | a loop | 3 | 2 | 1.5 | >= 1.5 | yes |  |" in table


def test_the_clock_waits_for_the_device() -> None:
    calls: list[str] = []
    median_time(lambda: calls.append("work"), repeats=2, least=0.0, wait=lambda: calls.append("wait"))
    assert calls == ["work", "wait"] * 3
