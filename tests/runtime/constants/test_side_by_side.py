"""Several workloads in one table of ``lastiterate estimate``."""

import json
import sys
from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.commands import estimate
from lastiterate.numeric.errors import Interrupted
from lastiterate.runtime.constants import worst_case_constants

_THEIRS = """
import torch
from torch import nn
from lastiterate.runtime.workloads.layers import constants_of_network
from lastiterate.runtime.workloads.workload import Workload

def _made(name, hidden):
    rows = nn.functional.normalize(torch.randn(4, 2, generator=torch.Generator().manual_seed(0)))
    def module():
        layers = (nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 2)) if hidden else (nn.Linear(2, 2),)
        return nn.Sequential(*layers)
    return Workload(name, module, nn.functional.cross_entropy, rows, torch.arange(4) % 2,
                    constants=constants_of_network(1.001))  # rows of norm 1, in float32

def line():
    return _made("line", 0)

def bent():
    return _made("bent", 3)
"""
_BOTH = [
    "side_by_side_theirs:line",
    "side_by_side_theirs:bent",
    "--lambda",
    "1",
    "--lambda",
    "0.5",
    "--steps",
    "3",
]


def _run(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *arguments])
    return ended.value.code


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "side_by_side_theirs", raising=False)
    for name in ("_STARTS", "_CURVED", "_SCREENED", "_ITERATIONS", "_BENDING"):
        monkeypatch.setattr(worst_case_constants, name, 8)  # the table is looked at here, and not what is found
    (tmp_path / "side_by_side_theirs.py").write_text(_THEIRS)


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_one_table_of_several_workloads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON say the same, and the second run finds all that the first one kept."""
    assert _run(*_BOTH, "--json", "--resume", "kept") == 0
    said = json.loads(capsys.readouterr().out)
    line, bent = said["side_by_side"]
    assert [row["workload"] for row in (line, bent)] == ["line", "bent"]
    assert [row["parameters"] for row in (line, bent)] == [6, 17]
    assert line["orders"] == [0.5, 1.0]
    assert 0 < line["found"][1] <= line["certified"][1] == pytest.approx(1.0, rel=1e-2)
    assert bent["certified"] == ["inf", "inf"]
    assert "relu of layer 0" in bent["why"]

    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.npz")}
    assert _run(*_BOTH, "--resume", "kept") == 0
    out = capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.npz")} == kept
    assert "[found, certified]" in out
    assert "infinite]" in out
    assert "No finite constant of bent is certified (infinite: cross_entropy" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*_BOTH, "--draw", "uniform"], "Drawn pairs need one workload, got several with draw=uniform"),
        ([*_BOTH, "--save-pairs", "p.safetensors"], "--save-pairs needs one workload"),
        ([*_BOTH, "--recheck", "p.safetensors"], "--recheck needs one workload, got 2"),
        (
            [_BOTH[0], "--save-pairs", "there/p"],
            "--save-pairs needs a folder that can be written to, got save-pairs=there/p",
        ),
        (
            [_BOTH[0], "--points", "0", "--draw", "uniform"],
            "points needs a whole number of at least 1, got points=0",
        ),
        ([_BOTH[0], "--radius", "-1", "--draw", "uniform"], "radius needs a positive number, got radius=-1"),
        ([_BOTH[0], "--points", "9"], "--points needs drawn pairs, got draw=search; add --draw uniform."),
    ],
)
def test_what_is_about_one_workload_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there").touch()
    assert _run(*arguments) not in (0, None)
    assert said in capsys.readouterr().err


@pytest.mark.nightly
def test_ctrl_c_says_which_workload_was_under_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = estimate.search_worst

    def pressed(chosen: estimate._Chosen, *rest: object) -> object:
        if chosen.workload.name == "bent":
            raise Interrupted(f"1 of 4 parts of {chosen.workload.name} are finished")
        return whole(chosen, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(estimate, "search_worst", pressed)
    assert _run(*_BOTH) == 130
    assert (
        "interrupted: 1 of 2 workloads were searched, and 1 of 4 parts of bent are fin"
        in capsys.readouterr().err
    )


@pytest.mark.nightly
def test_a_metric_gives_no_epsilon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    torch.save({"0.weight": torch.full((2, 2), 4.0), "0.bias": torch.full((2,), 4.0)}, tmp_path / "a.pt")
    searched = [_BOTH[0], "--lambda", "1", "--steps", "3", "--metric", "a.pt"]
    assert _run(*searched, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["carried"] == []
    assert said["search"]["bounded"] is None
    assert 0 < said["search"]["found"][0] <= 0.251
    assert said["search"]["upper"] == [None]
    assert _run(*searched, "--draw", "uniform", "--inits", "1", "--points", "3", "--layers") == 0
    out = capsys.readouterr().out
    assert "No epsilon follows" in out
    assert "network.0" not in out
    assert "conditional" not in out
