import json
import sys
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.numeric.bound import bound
from lastiterate.numeric.lower.audit import Audit
from lastiterate.numeric.run_file import load_run
from lastiterate.runtime.attacks import attack as attacks
from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.training import adjacent

RUN = """
[run]
steps = 40
step_size = 1.0
noise_std = 1.0
clip_norm = 1.0
dataset_size = 1
"""
CONVEX = '\n[assumption]\nkind = "convex"\nL = 1.0\n'
USER = """
import torch
from torch import nn
from lastiterate.runtime.workloads.workload import Workload

class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))
    def forward(self, rows):
        return self.w.expand(len(rows), -1)

def linear():
    rows = torch.tensor([[1.0], [-1.0]])
    return Workload("linear", Weights, lambda out, row: (row * out).sum(), rows, rows)
"""


def run(arguments: list[str]) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(["attack", *arguments])
    return ended.value.code


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "run.toml").write_text(RUN + CONVEX)
    (tmp_path / "bare.toml").write_text(RUN)
    (tmp_path / "their_linear.py").write_text(USER)


def test_both_numbers_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run.toml", "--delta", "1e-2", "--runs", "1000", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert "canary attack on worst-case:still, delta = 0.01: of 500 runs with the sample" in out
    at_least, at_most = (float(out.split(words)[1].split()[0]) for words in ("at least ", "at most "))
    described, assumption = load_run(Path("run.toml"))
    truth = bound(described, assumption, delta=1e-2).epsilon
    assert 0 < at_least <= truth <= at_most
    assert at_most == pytest.approx(truth, rel=1e-5)
    assert "under clipping alone" in out
    assert "if mu-GDP holds: mu is at least " in out
    mu = float(out.split("mu is at least ")[1].split()[0])
    stated = bound(described, assumption, delta=1e-2).mu
    assert stated is not None
    assert 0 < mu <= stated


def test_an_estimate_from_rates_is_never_negative_and_refutes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, whole = "lastiterate.runtime.attacks.attack.attack", attack
    monkeypatch.setattr(name, lambda *given, **options: replace(whole(*given, **options), observed=-0.151568))
    assert run(["run.toml", "--delta", "1e-2", "--runs", "40"]) == 0
    assert (
        "epsilon           0  from these rates, Liang et al. 2026, (20): an estimate, which ref"
        in capsys.readouterr().out
    )


def test_json_without_an_assumption(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "bare.toml",
        "--delta",
        "1e-2",
        "--workload",
        "their_linear:linear",
        "--kind",
        "shadow",
        "--json",
    ]
    assert run([*arguments, "--runs", "400"]) == 0
    said = capsys.readouterr()
    assert "bare.toml has no [assumption], so only clipping is assumed" in said.err
    data = json.loads(said.out)
    assert (data["workload"], data["kind"], data["runs"]) == ("linear", "shadow", 400)
    assert [row["under"] for row in data["bounds"]] == ["clipping alone"]
    assert 0 < data["attack"]["epsilon"] <= data["bounds"][0]["epsilon"]
    assert data["bounds"][0]["exceeded"] is False
    assert data["bounds"][0]["refuted"] == []
    assert data["attack"]["scores"]["auc_at_least"] <= data["attack"]["scores"]["auc"]
    assert data["attack"]["epsilon"] <= data["attack"]["gaussian_epsilon"] <= data["bounds"][0]["epsilon"]


def test_an_assumption_that_is_false_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Linear losses are not strongly convex: the bound for those is exceeded, that for clipping alone is not."""
    noisy = RUN.replace("noise_std = 1.0", "noise_std = 3.0")
    (tmp_path / "false.toml").write_text(noisy + '\n[assumption]\nkind = "strongly_convex"\nL = 1.0\nm = 0.9\n')
    arguments = ["--delta", "1e-2", "--workload", "their_linear:linear", "--kind", "loss", "--runs", "4000"]
    assert run(["false.toml", *arguments]) == 1
    out = capsys.readouterr().out
    assert "exceeds the bound under the assumption of the file. Distrust that assumption first" in out
    assert "the losses of linear" in out
    assert run(["false.toml", *arguments, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["bounds"]
    assert [row["exceeded"] for row in rows] == [True, False]
    assert "mu" in rows[0]["refuted"]
    assert rows[1]["refuted"] == []


def test_an_attack_above_every_bound_says_what_to_distrust(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        attacks, "attack", lambda *_rest, **_named: Audit(1e6, 9.0, inf, 0, 9, 0, 9, 1e-2, 0.95)
    )
    assert run(["run.toml", "--delta", "1e-2"]) == 1
    assert "do not trust this package" in capsys.readouterr().out


def test_an_interrupted_attack_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adjacent, "_MOST_RUNS", 50)
    real, calls = adjacent.adjacent_runs, []

    def interrupted(*rest: object, **named: object) -> object:
        calls.append(named["block"])
        if calls == [0, 1]:
            raise KeyboardInterrupt
        return real(*rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(attacks, "adjacent_runs", interrupted)
    arguments = ["run.toml", "--delta", "1e-2", "--runs", "100", "--resume", "kept"]
    assert run(arguments) == 130
    assert "the same command resumes from there" in capsys.readouterr().err
    assert run(arguments) == 0
    assert calls == [0, 1, 1], "the first block was kept"
    assert not Path("cache").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run.toml", "--delta", "0"], "delta needs a number in (0, 1), got delta=0"),
        (["run.toml", "--delta", "1e-5", "--runs", "3"], "runs must be at least 4"),
        (["run.toml", "--delta", "1e-5", "--kind", "loss"], "kind=loss with checkpoint=None needs a network"),
        (
            ["run.toml", "--delta", "1e-5", "--kind", "canarry"],
            "'canarry' is not one of 'canary', 'loss', 'shadow'",
        ),
        (["run.toml", "--delta", "1e-5", "--others", "sideways"], "others needs one of still, pull, outward"),
        (
            ["run.toml", "--delta", "1e-5", "--target", "1"],
            "target needs an index below dataset_size=1, got target=1",
        ),
        (["run.toml", "--delta", "1e-5", "--device", "cuda:99"], "got device=cuda:99"),
        (["run.toml", "--delta", "1e-5", "--workload", "builtin:iris"], "did you mean builtin:iris-mlp"),
        (["run.toml", "--delta", "1e-5", "--threads", "0"], "threads needs a whole number of at least 1"),
        (
            ["none.toml", "--delta", "1e-5"],
            "must be readable text, got path=none.toml: No such file or directory; check",
        ),
        (["typo.toml", "--delta", "1e-5"], "got key='stepsize'; did you mean step_size?"),
        (
            ["large.toml", "--delta", "1e-5", "--workload", "their_linear:linear"],
            "needs 9 samples, got 2 samples",
        ),
        (["run.toml", "--delta", "1e-5", "--runs", "0"], "runs needs"),
        (["run.toml"], "Missing option '--delta'"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("typo.toml").write_text(RUN.replace("step_size", "stepsize") + CONVEX)
    Path("large.toml").write_text(RUN.replace("dataset_size = 1", "dataset_size = 9") + CONVEX)
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_help_shows_examples_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "\n    lastiterate attack run.toml --delta 1e-5\n" in capsys.readouterr().out


@pytest.mark.parametrize("network", ["iris-mlp", "iris-mlp-tanh"])
def test_a_network_without_finite_constants_has_the_bound_by_clipping(
    network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """ReLU has kinks, and tanh no constant without a domain."""
    arguments = ["--workload", f"builtin:{network}", "--delta", "1e-2", "--runs", "8", "--json"]
    Path("small.toml").write_text(
        RUN.replace("dataset_size = 1", "dataset_size = 20").replace("steps = 40", "steps = 2")
    )
    assert run(["small.toml", *arguments]) == 0
    assert [row["under"] for row in json.loads(capsys.readouterr().out)["bounds"]] == ["clipping alone"]
