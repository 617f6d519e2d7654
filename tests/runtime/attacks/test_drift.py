import json
import sys
from dataclasses import replace
from pathlib import Path

import known
import pytest
import torch
from torch import nn

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks import attack as attacks
from lastiterate.runtime.attacks.drift import Drift, Rests, measure_drift
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

RUN = NoisySGD(30, 0.5, 0.1, 4.0, dataset_size=2, diameter=8.0)


def quadratics() -> Workload:
    return known.quadratic([[2.0], [2.0], [-2.0]])


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the steps crafts enough of a difference."""
    monkeypatch.setattr(attacks, "_STEPS", 300)


@pytest.fixture(scope="module")
def cancer() -> Drift:
    run = NoisySGD(12, 0.2, 0.01, 1.0, 60, 20, sampling="cyclic", diameter=2.0)
    return measure_drift(load_workload("builtin:breast-cancer"), run, Smooth(6.5), pairs=12, replaced=3, points=2)


def test_certified_distances_are_never_exceeded_and_every_one_says_what_it_rests_on(cancer: Drift) -> None:
    assert [(one.name, one.rests) for one in cancer.tracked] == [
        ("the file", Rests.ASSUMED),
        ("closed form", Rests.CERTIFIED),
        ("clipping alone", Rests.CERTIFIED),
        ("measured", Rests.MEASURED),
    ]
    assert cancer.refuted == ()
    for one in cancer.tracked[:3]:
        assert (cancer.coupled.greatest <= one.distances * (1 + 1e-9)).all()
    assert "lower estimate" in cancer.tracked[3].statement
    limits = cancer.interval
    assert limits.low <= cancer.w2 <= cancer.w_infinity <= limits.w_infinity_high <= cancer.tracked[1].distances[-1]


def test_a_false_assumption_is_refuted_by_a_pair_and_clipping_is_not() -> None:
    found = measure_drift(quadratics(), RUN, StronglyConvex(2.0, 1.9), pairs=50, points=0)
    assert [one.name for one in found.refuted] == ["the file"]
    assert found.refuted[0].excess > 0.1


def test_what_a_pair_exceeds_is_refuted_unless_it_is_an_estimate(cancer: Drift) -> None:
    """With a thousandth of each distance every one is exceeded, and by how much is said."""
    half = [replace(one, distances=one.distances / 1000) for one in cancer.tracked]
    found = replace(cancer, tracked=tuple(replace(one, excess=cancer.coupled.excess(one.distances)) for one in half))
    assert [one.name for one in found.refuted] == ["the file", "closed form", "clipping alone"]
    for one, before in zip(found.tracked, cancer.tracked, strict=True):
        ratios = cancer.coupled.greatest[1:] / before.distances[1:]
        assert one.excess == pytest.approx(1000 * ratios.max() - 1)


def test_poisson_batches_have_no_tracked_distance() -> None:
    run = NoisySGD(5, 0.5, 0.1, 1.0, dataset_size=3, batch_size=2, sampling="poisson")
    found = measure_drift(quadratics(), run, Clipped(), pairs=20)
    assert found.tracked == ()
    assert "no tracked distance" in found.remark


def test_linear_losses_leave_nothing_to_measure() -> None:
    found = measure_drift(known.linear(), NoisySGD(3, 0.5, 0.1, 1.0, 1), Clipped(), pairs=5)
    assert [one.name for one in found.tracked] == ["clipping alone"]


FILE = """
[run]
steps = 12
step_size = 0.2
noise_std = 0.01
clip_norm = 1.0
dataset_size = 100
batch_size = 50
sampling = "shuffled"
diameter = 2.0
[assumption]
kind = "smooth"
L = 6.5
"""
CANCER = ["--workload", "builtin:breast-cancer", "--pairs", "6", "--points", "1"]


def run(arguments: list[str]) -> int | str | None:
    with pytest.raises(SystemExit) as ended:
        main(["drift", *arguments])
    return ended.value.code


@pytest.fixture
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "run.toml").write_text(FILE)


@pytest.mark.usefixtures("_own_folder")
def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run.toml", *CANCER, "--resume", "kept"]) == 0
    out = capsys.readouterr().out
    assert "D_t by closed form, certified: never exceeded." in out
    assert "W_2 is" in out
    assert len(list(Path("kept").rglob("block-*.npz"))) == 1
    assert not Path("cache/lastiterate").exists()


@pytest.mark.usefixtures("_own_folder")
def test_the_command_prints_json_and_fails_where_an_assumption_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run.toml", *CANCER, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["pairs"] == 6
    assert len(data["greatest"]) == len(data["tracked"][0]["distances"]) == 13
    assert [row["kind"] for row in data["tracked"]] == ["assumed", "certified", "certified", "estimate"]
    Path("false.toml").write_text(FILE.replace('"smooth"\nL = 6.5', '"strongly_convex"\nL = 5.0\nm = 5.0'))
    assert run(["false.toml", *CANCER]) == 1
    assert "Distrust the assumption of the file" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run.toml"], "Missing option '--workload'"),
        (["run.toml", *CANCER, "--pairs", "3"], "at least 4 pairs, got pairs=3"),
        (["run.toml", *CANCER, "--replaced", "100"], "replaced needs an index below dataset_size=100"),
        (
            ["run.toml", *CANCER, "--replaced", "999"],
            "replaced needs an index below dataset_size=100, got replaced=999",
        ),
        (["run.toml", *CANCER, "--points", "-1"], "points needs a whole number of at least 0, got points=-1"),
        (["run.toml", *CANCER, "--level", "1"], "level needs a number in (0, 1), got level=1"),
        (["run.toml", *CANCER, "--device", "cuda:99"], "got device=cuda:99"),
        (["large.toml", *CANCER], "dataset_size=569 needs 570 samples here, one of them to take the place of another"),
        (["none.toml", *CANCER], "got path=none.toml"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    large = FILE.replace("dataset_size = 100", "dataset_size = 569").replace("batch_size = 50", "batch_size = 569")
    Path("large.toml").write_text(large)
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_fitted_sample_pulls_again_from_a_crafted_start() -> None:
    """At its optimum a network has no gradient left; where all but one are fitted, that one pulls."""
    rows = torch.randn(9, 6, generator=torch.Generator().manual_seed(0))
    work = Workload(
        "fit", lambda: nn.Linear(6, 1), lambda out, y: (out[:, 0] - y).square().sum(), rows, rows.sum(dim=1)
    )
    fitted = {"weight": torch.ones(1, 6), "bias": torch.zeros(1)}

    def trained() -> nn.Module:
        module = nn.Linear(6, 1)
        module.load_state_dict(fitted)
        return module

    work = replace(work, module=trained)
    run = NoisySGD(5, 0.1, 0.01, 0.5, dataset_size=8, diameter=1.0)
    drawn, crafted = (
        measure_drift(work, run, Clipped(), pairs=8, points=2, initialisation=how) for how in ("drawn", "crafted")
    )
    assert drawn.coupled.pull < 1e-3
    assert crafted.coupled.pull > 0.4
    assert crafted.coupled.greatest[-1] > 2 * drawn.coupled.greatest[-1]
    assert not crafted.refuted
    with pytest.raises(InputError, match="drawn, crafted, got initialisation=best"):
        measure_drift(work, run, Clipped(), pairs=8, initialisation="best")


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(
    ("start", "instead"), [("drawn", "--initialisation crafted."), ("crafted", "try another --replaced.")]
)
def test_advice_does_not_repeat_what_was_given(
    start: str, instead: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lastiterate.commands.drift._LITTLE", 2.0)
    run(["run.toml", *CANCER, "--points", "0", "--initialisation", start])
    said = " ".join(capsys.readouterr().out.split())
    assert "Next to nothing is seen of it: " in said
    assert instead in said
    assert said.count("crafted") == 1


def test_points_are_counted() -> None:
    with pytest.raises(InputError, match=r"points=1\.5"):
        measure_drift(quadratics(), RUN, Clipped(), pairs=4, points=1.5)  # type: ignore[arg-type]
