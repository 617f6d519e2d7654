import json
import re
import sys
from pathlib import Path

import pytest

from lastiterate.__main__ import main
from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Holder
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.published.theorems import SETTING
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.pair_table import Subset
from lastiterate.runtime.workloads.loading import BUILTIN

SMALL = ["--inits", "1", "--points", "3", "--steps", "4", "--draw", "uniform"]
SEARCHED = ["--steps", "4", "--lambda", "1"]
USER = """
import torch
from torch import nn
from lastiterate.runtime.workloads.workload import Workload

class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2))
    def forward(self, rows):
        return self.w.expand(len(rows), -1)

def quadratic():
    rows = torch.tensor([[4.0, 4.0]])
    return Workload("quadratic", Weights, lambda out, row: (row * out.square()).sum() / 2, rows, rows)
"""
ADVICE = """
ADVICE = {"inits": 1, "points": 50, "steps": 3}
"""


def run(arguments: list[str]) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *arguments])
    return ended.value.code


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_the_table_says_that_it_is_an_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["builtin:iris-mlp", *SMALL, "--resume", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    assert "Epsilon is an estimate, not a bound" in out
    assert "conditional on the constant" in out
    assert "ReLU gradients jump" in out
    assert len(list((tmp_path / "kept").rglob("init-*.npz"))) == 5, (
        "a part for each iterate, of which there are few"
    )
    assert not (tmp_path / "cache").exists()


def test_json_of_a_users_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "their_quadratic.py").write_text(USER)
    arguments = [
        "their_quadratic:quadratic",
        "--lambda",
        "1",
        "--lambda",
        "0.5",
        *SMALL,
        "--steps",
        "120",
        "--json",
    ]
    assert run(arguments) == 0
    text = capsys.readouterr().out
    data = json.loads(text)
    found = HolderEstimate.from_json(text)
    assert found.lambdas == (0.5, 1.0)
    assert found.constant(1.0) == pytest.approx(4.0)
    assert [row["lambda"] for row in data["carried"]] == [0.5, 1.0]
    assert {row["kind"] for row in data["carried"]} == {"estimate"}
    assert all("lower estimate" in row["conditional_on"] for row in data["carried"])
    rigorous = bound(run_of({**SETTING, "T": 120}), found.holder(1.0).assumption, order=2)
    assert data["carried"][1]["epsilon"] == rigorous.epsilon


def test_layers_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["builtin:iris-mlp-tanh", *SMALL, "--lambda", "1", "--layers"]) == 0
    out = capsys.readouterr().out
    assert "each layer's block" in out
    assert "320" in out
    assert run(["builtin:iris-mlp-tanh", *SMALL, "--lambda", "1", "--layers", "--json"]) == 0
    found = HolderEstimate.from_json(capsys.readouterr().out)
    assert [layer.size for layer in found.layers] == [320, 195]


def test_rounding_is_no_constant(capsys: pytest.CaptureFixture[str]) -> None:
    tiny = ["builtin:iris-mlp-tanh", *SMALL, "--dtype", "float32", "--radius", "1e-7"]
    assert run(tiny) == 0
    out = capsys.readouterr().out
    assert "No pair could be trusted" in out
    assert "none trusted" in out
    assert "Epsilon is an estimate" not in out
    assert run([*tiny, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["carried"] == []
    assert "float64 or with a larger radius" in data["untrusted"]


def test_help_names_every_built_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = re.sub(r"-\n\s+", "-", capsys.readouterr().out)  # a name may be broken at a hyphen
    listed = text[text.index("Built in:") : text.index("Settings that")]
    words = {word.strip(".,;:") for word in listed.split()}
    assert {word for word in words if "-" in word} == {*BUILTIN}


@pytest.mark.nightly
def test_few_iterates_samples_and_small_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = [*SMALL, "--centers", "3", "--samples", "12", "--batch-size", "4", "--sampling", "cyclic"]
    assert run(["builtin:iris-mlp", *small, "--json", "--resume", str(tmp_path)]) == 0
    found = HolderEstimate.from_json(capsys.readouterr().out)
    assert (found.centers, found.pairs, found.subset) == (3, 9, Subset(12, 150, 0))
    assert (found.run.dataset_size, found.run.batch_size, found.run.sampling) == (12, 4, "cyclic")
    assert run(["builtin:iris-mlp", *small, "--resume", str(tmp_path)]) == 0
    assert "The data are 12 of 150 samples, drawn with seed 0" in capsys.readouterr().out
    assert len(list(tmp_path.rglob("init-*.npz"))) == 3
    assert run(["builtin:iris-mlp", *small, "--centers", "2", "--resume", str(tmp_path)]) == 0
    assert (
        run(["builtin:iris-mlp", *small, "--samples", "13", "--batch-size", "1", "--resume", str(tmp_path)])
        == 0
    )
    assert len(list(tmp_path.rglob("init-*.npz"))) == 3 + 2 + 3, (
        "other centers or samples are other measurements"
    )


def test_recommended_settings_stand_where_nothing_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "their_advised.py").write_text(
        USER.replace("rows, rows)", "rows, rows, recommended=ADVICE)") + ADVICE
    )
    assert run(["their_advised:quadratic", "--points", "2", "--draw", "uniform"]) == 0
    out = capsys.readouterr().out
    assert "used for options left out: --inits 1 --steps 3." in out
    assert "of 8 pairs" in out, "one initialisation, four iterates, and the two points that were asked for"


@pytest.mark.usefixtures("short_search")
def test_ctrl_c_in_the_search_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["builtin:iris-softmax", *SEARCHED, "--resume", str(tmp_path / "kept")]
    name = "lastiterate.runtime.constants.worst_case_constants"

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"{name}.Search.climb", pressed)
        assert run(arguments) == 130
    error = capsys.readouterr().err
    assert "1 of 4 parts of builtin:iris-softmax are finished and kept in" in error
    assert error.count("\n") == 1
    assert run(arguments) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(f"{name}.Search.climb", pressed)
    assert run(arguments) == 0
    assert capsys.readouterr().out == first, "no search is begun again"


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_the_search_says_both_sides_and_carries_the_largest(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["builtin:iris-softmax", "--steps", "4", "--lambda", "0.5", "--lambda", "1"]
    assert run([*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    found, upper = data["search"]["found"], data["search"]["upper"]
    assert all(0.25 * high < low <= high for low, high in zip(found, upper, strict=True))
    for low, pair, row in zip(found, data["search"]["searched"], data["carried"], strict=True):
        assert low >= pair["constant"]
        assert row["kind"] == "estimate"
        rigorous = bound(run_of({**SETTING, "T": 4}), Holder(low, pair["lam"]), order=2)
        assert row["epsilon"] == rigorous.epsilon
    assert run(arguments) == 0
    out = capsys.readouterr().out
    for low, high in zip(found, upper, strict=True):
        assert printed_down(low, 4) in out
        assert printed_up(high, 4) in out
    assert "Epsilon is an estimate, not a bound" in out


@pytest.mark.usefixtures("light_search")
def test_pairs_are_saved_and_computed_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "pairs.safetensors")
    assert run(["builtin:iris-softmax", *SEARCHED, "--samples", "20", "--save-pairs", file, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["search"]["searched"][0]
    assert run(["builtin:iris-softmax", "--recheck", file, "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["rechecked"]
    assert pair["said"] == said["constant"]
    assert pair["recomputed"] == pytest.approx(pair["said"], rel=1e-6)
    assert run(["builtin:iris-softmax", "--recheck", file]) == 0
    assert " holds; " in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_a_set_of_inputs_is_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row of norm r with its bias has the constant (r^2 + 1) / 2 of softmax regression, here r = 2 at most."""
    file = str(tmp_path / "pairs.safetensors")
    wide = [*SEARCHED, "--diameter", "4", "--save-pairs", file]
    assert run(["builtin:iris-softmax", *wide, "--inputs", "box:-1,1", "--json"]) == 0
    look = json.loads(capsys.readouterr().out)["search"]
    assert 0.98 * 2.5 <= look["found"][0] <= 2.5 * (1 + 1e-9) <= look["upper"][0] * (1 + 2e-9)
    assert look["upper"][0] < 2.51
    assert (look["inputs"], look["bounded"]) == ("box:-1,1", None)
    assert "Some samples of the data are outside box:-1,1, so no bound for the run follows." in look["remark"]
    assert run(["builtin:iris-softmax", "--recheck", file]) == 0


def test_without_torch_it_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["builtin:iris-mlp"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'lastiterate[runtime]'" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["builtin:iris-mpl"], "did you mean builtin:iris-mlp?"),
        (["no_such_module_xyz:small"], "no_such_module_xyz"),
        (["builtin:iris-mlp", "--lambda", "2"], "lambda=2"),
        (["builtin:iris-mlp", "--lambda", "half"], "half"),
        (["builtin:iris-mlp", "--noise-std", "0"], "noise_std=0"),
        (["builtin:iris-mlp", "--diameter", "0"], "diameter=0"),
        (["builtin:iris-mlp", "--draw", "uniform", "--radius", "nan"], "radius=nan"),
        (["builtin:iris-mlp", "--draw", "gaussian"], "gaussian"),
        (["builtin:iris-mlp", "--layers"], "draw=search"),
        (["builtin:iris-mlp", "--draw", "uniform", "--inputs", "box:0,1"], "--inputs needs the search"),
        (["builtin:iris-mlp", "--inputs", "box:1,0"], "inputs=box:1,0"),
        (["builtin:iris-mlp", "--kind", "batch"], "batch"),
        (["builtin:iris-mlp", "--recheck", "none.safetensors"], "none.safetensors"),
        (["builtin:iris-mlp", "--dtype", "float16"], "dtype=float16"),
        (["builtin:iris-mlp", "--centers", "1"], "centers=1"),
        (["builtin:iris-mlp", "--samples", "151"], "samples=151"),
        (["builtin:iris-mlp", "--data", "."], "data=."),
        (["builtin:iris-mlp", "--batch-size", "10"], "batch_size=10"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("short_search")
def test_the_steepest_of_three_initialisations_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["builtin:iris-mlp-tanh", *SEARCHED, "--samples", "12"]
    assert run(few) == 0
    said = " ".join(capsys.readouterr().out.split())
    found = {int(seed): float(one) for one, seed in re.findall(r"([0-9.]+) \(seed (\d+)\)", said)}
    assert list(found) == [0, 1, 2]
    steepest = max(found, key=lambda seed: found[seed])
    assert f"that of seed {steepest}." in said
    assert run([*few, "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["search"]["searched"]
    assert pair["seed"] == steepest
    assert run([*few, "--inits", "1"]) == 0
    assert "initialisations" not in capsys.readouterr().out


@pytest.mark.usefixtures("short_search")
def test_networks_that_always_start_in_the_same_place_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "their_fixed.py").write_text(USER.replace("torch.randn(2)", "torch.ones(2)"))
    assert run(["their_fixed:quadratic", *SEARCHED]) == 0
    assert "initialisations" not in capsys.readouterr().out
