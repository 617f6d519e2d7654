"""The example on both data sets in a reduced form: what its bound rests on holds, and it is below composition."""

import csv
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.runtime.gradients import Gradients

_FOLDER = Path(__file__).parents[2] / "examples/breast_cancer"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("breast_cancer_train", _FOLDER / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("data", "shape"), [("breast-cancer", (569, 11)), ("digits", (1797, 65))])
def test_rows_are_no_longer_than_the_constants_assume(
    example: ModuleType, data: str, shape: tuple[int, int]
) -> None:
    rows, labels = example.DATA[data][0]()
    assert rows.shape == shape
    assert 0.99 < float(rows.norm(dim=1).min()) <= float(rows.norm(dim=1).max()) <= 1
    assert set(labels.tolist()) == {-1.0, 1.0}
    assert (example.CONSTANTS.lipschitz, example.CONSTANTS.smoothness) == (1.0, 0.25)


@pytest.mark.parametrize("clip_norm", [0.05, 0.5, 2.0])
def test_clipped_steps_bring_no_two_points_further_apart(example: ModuleType, clip_norm: float) -> None:
    """The `Convex` assumption, with clipping that acts: for single samples, any batch, and all samples."""
    rows, labels = example.rows_and_labels()
    task = example.workload(rows, labels)
    gradients = Gradients(task, task.initial(0))
    generator = torch.Generator().manual_seed(1)
    acted = 0
    for size in (1, 1, 1, 30, 569):
        for _ in range(10):
            one, other = torch.randn(2, 11, generator=generator, dtype=torch.float64) * 3
            batch = torch.randperm(569, generator=generator)[:size]
            longest = 2 / (size * example.CONSTANTS.smoothness)
            moved = [w - longest * gradients.total(w, clip_norm, batch) for w in (one, other)]
            assert torch.dist(*moved) <= torch.dist(one, other) * (1 + 1e-12)
            acted += not torch.equal(gradients.total(one, clip_norm, batch), gradients.total(one, 10.0, batch))
    assert (acted > 0) is (clip_norm < 1)  # a gradient is never longer than its row


@pytest.mark.parametrize("sampling", ["poisson", "full"])
def test_the_longest_batch_may_be_all_samples(example: ModuleType, sampling: str) -> None:
    run = example.described(455, sampling=sampling)
    assert 1.99 < run.step_size_at(0) * run.dataset_size / run.batch * example.CONSTANTS.smoothness <= 2
    assert example.multiplier(run) == pytest.approx(15.0 if sampling == "full" else 30.0)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("data", "samples", "steps", "least"), [("breast-cancer", 455, 1500, 0.75), ("digits", 1437, 200, 0.6)]
)
def test_a_reduced_run(
    example: ModuleType, data: str, samples: int, steps: int, least: float, tmp_path: Path
) -> None:
    pytest.importorskip("opacus")
    options = ("--out", str(tmp_path), "--data", data, "--steps", str(steps), "--seeds", "1", "--points", "2")
    done = CliRunner().invoke(example.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    assert "the last iterate is" in done.output
    with (tmp_path / "epsilon.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    run = example.described(samples, steps=steps)
    for row in rows:
        steps = int(row["steps"])
        assert float(row["last_iterate"]) == bound(replace(run, steps=steps), Convex(0.25), delta=1e-5).epsilon
        assert float(row["accuracy"]) >= 0.5
    last = rows[-1]
    assert float(last["last_iterate"]) < min(float(last["opacus_rdp"]), float(last["opacus_prv"]))
    assert float(last["accuracy"]) > least
    assert (tmp_path / "epsilon.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("folder", "samples", "gain"), [("breast_cancer", 455, 25), ("digits", 1437, 4)])
def test_the_committed_table_is_what_the_bound_says(
    example: ModuleType, folder: str, samples: int, gain: float
) -> None:
    with (_FOLDER.parent / folder / "epsilon.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    run = example.described(samples)
    for row in (rows[len(rows) // 2], rows[-1]):
        ours = bound(replace(run, steps=int(row["steps"])), Convex(0.25), delta=1e-5).epsilon
        assert ours == pytest.approx(float(row["last_iterate"]), rel=2e-3)  # grids may change
    opacus = [min(float(row["opacus_rdp"]), float(row["opacus_prv"])) for row in rows]
    assert np.all(np.diff(opacus) > -1e-9)
    assert float(rows[-1]["last_iterate"]) * gain < opacus[-1]
