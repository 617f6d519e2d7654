"""Options of ``lastiterate estimate`` that are refused."""

import sys
from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.runtime.constants import worst_case_constants

_THEIRS = """
import torch
from torch import nn
from lastiterate.runtime.workloads.networks import constants_of_network
from lastiterate.runtime.workloads.workload import Workload

def line():
    rows = nn.functional.normalize(torch.randn(4, 2, generator=torch.Generator().manual_seed(0)))
    module = lambda: nn.Sequential(nn.Linear(2, 2))
    return Workload("line", module, nn.functional.cross_entropy, rows, torch.arange(4) % 2,
                    constants=constants_of_network(1.001))  # rows of norm 1, in float32
"""


def _run(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *arguments])
    return ended.value.code


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "theirs_of_estimate", raising=False)
    for name in ("_STARTS", "_CURVED", "_SCREENED", "_ITERATIONS", "_BENDING"):
        monkeypatch.setattr(worst_case_constants, name, 8)  # the table is looked at here, and not what is found
    (tmp_path / "theirs_of_estimate.py").write_text(_THEIRS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["theirs_of_estimate:line", "--save-pairs", "there/p"],
            "--save-pairs needs a folder that can be written to, got save-pairs=there/p",
        ),
        (
            ["theirs_of_estimate:line", "--points", "0", "--draw", "uniform"],
            "points needs a whole number of at least 1, got points=0",
        ),
        (
            ["theirs_of_estimate:line", "--radius", "-1", "--draw", "uniform"],
            "radius needs a positive number, got radius=-1",
        ),
        (
            ["theirs_of_estimate:line", "--points", "9"],
            "--points needs drawn pairs, got draw=search; add --draw uniform.",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there").touch()
    assert _run(*arguments) not in (0, None)
    assert said in capsys.readouterr().err
