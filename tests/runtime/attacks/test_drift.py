import json
import sys
from dataclasses import replace
from pathlib import Path

import known
import pytest

from lastiterate.__main__ import main
from lastiterate.numeric.losses.assumptions import Clipped, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.attacks.drift import Drift, measure_drift
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

RUN = NoisySGD(30, 0.5, 0.1, 4.0, dataset_size=2, diameter=8.0)


def quadratics() -> Workload:
    return known.quadratic([[2.0], [2.0], [-2.0]])


@pytest.fixture(scope="module")
def cancer() -> Drift:
    run = NoisySGD(12, 0.2, 0.01, 1.0, 60, 20, sampling="cyclic", diameter=2.0)
    return measure_drift(load_workload("builtin:breast-cancer"), run, Smooth(6.5), pairs=12, replaced=3)


def test_certified_distances_are_never_exceeded_and_every_one_says_what_it_rests_on(cancer: Drift) -> None:
    assert [(one.name, one.rests) for one in cancer.tracked] == [
        ("the file", "assumed"),
        ("closed form", "certified"),
        ("clipping alone", "certified"),
    ]
    assert cancer.refuted == ()
    for one in cancer.tracked:
        assert (cancer.coupled.greatest <= one.distances * (1 + 1e-9)).all()


def test_a_false_assumption_is_refuted_by_a_pair_and_clipping_is_not() -> None:
    found = measure_drift(quadratics(), RUN, StronglyConvex(2.0, 1.9), pairs=50)
    assert [one.name for one in found.refuted] == ["the file"]
    assert found.refuted[0].excess > 0.1


def test_what_a_pair_exceeds_is_refuted(cancer: Drift) -> None:
    """With a thousandth of each distance every one is exceeded, and by how much is said."""
    half = [replace(one, distances=one.distances / 1000) for one in cancer.tracked]
    found = replace(
        cancer, tracked=tuple(replace(one, excess=cancer.coupled.excess(one.distances)) for one in half)
    )
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
CANCER = ["--workload", "builtin:breast-cancer", "--pairs", "6"]


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
    assert len(list(Path("kept").rglob("block-*.npz"))) == 1
    assert not Path("cache/lastiterate").exists()


@pytest.mark.usefixtures("_own_folder")
def test_the_command_prints_json_and_fails_where_an_assumption_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run.toml", *CANCER, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["pairs"] == 6
    assert len(data["greatest"]) == len(data["tracked"][0]["distances"]) == 13
    assert [row["kind"] for row in data["tracked"]] == ["assumed", "certified", "certified"]
    Path("false.toml").write_text(FILE.replace('"smooth"\nL = 6.5', '"strongly_convex"\nL = 5.0\nm = 5.0'))
    assert run(["false.toml", *CANCER]) == 1
    assert "Distrust the assumption of the file" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run.toml"], "Missing option '--workload'"),
        (["run.toml", *CANCER, "--pairs", "0"], "pairs needs a whole number of at least 1, got pairs=0"),
        (["run.toml", *CANCER, "--replaced", "100"], "replaced needs an index below dataset_size=100"),
        (
            ["run.toml", *CANCER, "--replaced", "999"],
            "replaced needs an index below dataset_size=100, got replaced=999",
        ),
        (["run.toml", *CANCER, "--device", "cuda:99"], "got device=cuda:99"),
        (
            ["large.toml", *CANCER],
            "dataset_size=569 needs 570 samples, one of them to replace another",
        ),
        (["none.toml", *CANCER], "got path=none.toml"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    large = FILE.replace("dataset_size = 100", "dataset_size = 569").replace(
        "batch_size = 50", "batch_size = 569"
    )
    Path("large.toml").write_text(large)
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("_own_folder")
def test_a_sample_with_no_effect_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lastiterate.commands.attacks._LITTLE", 2.0)
    run(["run.toml", *CANCER])
    assert "The sample has almost no effect: try another --replaced." in " ".join(
        capsys.readouterr().out.split()
    )
