"""Jumps are found where a network has a kink in reach, and never in a smooth network, however steep."""

import json
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.commands.constants import estimate_command as command
from lastiterate.numeric.bound import Estimate, bound, estimate
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.kinks import Kinks
from lastiterate.runtime.constants.record import Jump
from lastiterate.runtime.constants.saved_pairs import recheck, save_pairs
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.workload import Workload

GENERATOR = torch.Generator().manual_seed(0)
ROWS, LABELS = torch.randn(20, 5, generator=GENERATOR), torch.randint(0, 3, (20,), generator=GENERATOR)


class Applied(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor], times: float = 1.0, kept: int = 12) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first, self.last, self.function = nn.Linear(5, 12), nn.Linear(kept, 3), function
        with torch.no_grad():
            self.first.weight.mul_(times)

    def forward(self, rows: Tensor) -> Tensor:
        return self.last(self.function(self.first(rows)))


def of(function: Callable[[Tensor], Tensor], times: float = 1.0, kept: int = 12) -> Workload:
    return Workload("net", lambda: Applied(function, times, kept), functional.cross_entropy, ROWS, LABELS)


def jump_in(workload: Workload, clip_norm: float = inf) -> Jump | None:
    gradients = Gradients(workload, workload.initial(0))
    search = Search(gradients, gradients.start, 1.0, clip_norm=clip_norm)
    ends = [search._replace(lams=(lam,)).climb(16, 6) for lam in (0.5, 1.0)]
    kinks = Kinks(gradients, gradients.start, 1.0, clip_norm=clip_norm)
    return Jump.of(kinks.jumps(ends), 0, None)


def grouped(rows: Tensor) -> Tensor:
    return rows.tanh().reshape(-1, 4, 3)


KINKED = {
    "relu": of(functional.relu),
    "leaky_relu": of(lambda rows: functional.leaky_relu(rows, 0.2)),
    "hardtanh": of(functional.hardtanh),
    "abs": of(torch.abs),
    "clamp": of(lambda rows: rows.clamp(-0.4, 0.4)),
    "selu": of(functional.selu),
    "hardswish": of(functional.hardswish, 3.0),
    "max-pool": of(lambda rows: functional.max_pool1d(rows.tanh()[:, None], 3)[:, 0], kept=4),
    "max": of(lambda rows: grouped(rows).amax(dim=-1), kept=4),
    "top-k": of(lambda rows: rows.tanh().topk(4, dim=-1).values, kept=4),
    "loss": Workload("l1", lambda: nn.Linear(5, 1), functional.l1_loss, ROWS, ROWS[:, :1].clone()),
}
SMOOTH = {
    "tanh, steep": of(torch.tanh, 100.0),
    "tanh, very steep": of(torch.tanh, 1e4),
    "gelu": of(functional.gelu),
    "silu": of(functional.silu),
    "softplus": of(lambda rows: functional.softplus(rows, 50.0)),
    "softplus, steeper": of(lambda rows: functional.softplus(rows, 1e5)),
    "elu, with a jump of the curvature": of(functional.elu),
    "a square of relu": of(lambda rows: functional.relu(rows).square()),
    "huber": Workload("huber", lambda: nn.Linear(5, 1), functional.huber_loss, ROWS, ROWS[:, :1].clone()),
    "no constant, but no jump": Workload(
        "root",
        lambda: nn.Linear(5, 1),
        lambda out, y: (out - y).abs().pow(1.25).mean(),
        ROWS,
        ROWS[:, :1].clone(),
    ),
}


@pytest.mark.parametrize("name", KINKED)
def test_a_kink_is_found(name: str) -> None:
    jump = jump_in(KINKED[name])
    assert jump is not None
    assert jump.pair.lam == 0
    assert jump.pair.constant > 1e-3
    assert 0 < jump.pair.distance < 1e-8
    assert jump.greatest >= jump.pair.constant
    assert jump.slope >= 0


@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_network_has_none(name: str) -> None:
    assert jump_in(SMOOTH[name]) is None


def test_the_jump_of_an_absolute_value_is_twice_the_slope() -> None:
    """The loss |w - 0.1| jumps by 2 at w = 0.1, and is constant on both sides."""
    one = torch.zeros(1, 1)
    module = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(module.weight)
    workload = Workload("abs", lambda: module, lambda out, _: (out - 0.1).abs().sum(), one + 1, one)
    jump = jump_in(workload)
    assert jump is not None
    assert jump.pair.constant == pytest.approx(2.0)
    assert jump.slope == pytest.approx(0.0, abs=1e-9)
    assert jump.greatest == pytest.approx(2.0)
    clipped = jump_in(workload, 0.25)
    assert clipped is not None
    assert clipped.pair.constant == pytest.approx(0.5), "two clipped gradients differ by at most 2 K"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.usefixtures("short_search")
def test_a_jump_is_said_saved_and_computed_anew(dtype: str, tmp_path: Path) -> None:
    workload, file = KINKED["abs"], tmp_path / "pairs"
    run = paper_run(workload, steps=2)
    found = worst_case_constants(workload, run, (0.5, 1.0), dtype=dtype)
    assert found.jump is not None
    assert "jumps: at two points" in found.remark
    assert [row[:2] for row in found.table().rows[1:]] == [("0.5", "infinite"), ("1", "infinite")]
    assert [row["found"] for row in found.records()] == [found.jump.greatest, inf, inf]
    save_pairs(file, found)
    rows = recheck(workload, file)
    assert [row.lam for row in rows] == [0.5, 1.0, 0.0]
    assert rows[-1].holds
    assert rows[-1].found == pytest.approx(found.jump.pair.constant)
    assert rows[-1].distance < 1e-8
    with pytest.raises(InputError, match="The gradient of sample"):
        found.holder(1.0)


@pytest.mark.usefixtures("short_search")
def test_the_modulus_gives_an_estimate_and_covers_what_was_found() -> None:
    workload = KINKED["relu"]
    run = paper_run(workload, steps=2)
    found = worst_case_constants(workload, run, (1.0,), kind=Kind.SAMPLE)
    assert found.jump is not None
    given = found.holder(0.0)
    loose = NoisySGD(20, 0.1, 0.5, 100.0, 20, diameter=1.0)
    number = estimate(loose, given, delta=1e-5)
    assert isinstance(number, Estimate)
    assert "J + L r" in number.conditional_on
    assert number.epsilon < bound(loose, Clipped(), delta=1e-5).epsilon
    near, most = given.assumption.parts
    for distance in np.geomspace(found.jump.reach, 1.0, 9):
        assert near.value(distance) >= found.jump.pair.constant + found.jump.slope * distance  # type: ignore[attr-defined]
        assert most.value(distance) == found.jump.greatest  # type: ignore[attr-defined]


@pytest.mark.usefixtures("short_search")
def test_the_command_says_that_no_constant_is_finite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["builtin:iris-mlp", "--steps", "2", "--lambda", "1", "--resume", str(tmp_path)]
    said = CliRunner().invoke(command, [*few, "--save-pairs", "pairs"])
    assert said.exit_code == 0, said.output
    assert "no Hölder constant of an order above 0 is finite" in " ".join(said.output.split())
    assert "the modulus J + L r" in said.output
    data = json.loads(CliRunner().invoke(command, [*few, "--json"]).output)
    assert data["search"]["jump"]["upper"] > data["search"]["jump"]["greatest"]
    assert [row["lambda"] for row in data["carried"]] == [0.0]
    again = CliRunner().invoke(command, ["builtin:iris-mlp", "--recheck", "pairs"])
    assert "lambda 0 holds" in again.output
    assert "at distance" in again.output
