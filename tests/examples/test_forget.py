"""The example in a reduced form: its numbers are those of `forgetting`, between what some models lose and shifts."""

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

from lastiterate.numeric.forgetting import forgetting
from lastiterate.numeric.losses.assumptions import Convex

_FOLDER = Path(__file__).parents[2] / "examples/forget"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("forget_example", _FOLDER / "forget.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_reduced_run(example: ModuleType, tmp_path: Path) -> None:
    options = ("--out", str(tmp_path), "--steps", "60", "--clean-steps", "30", "--seeds", "1", "--points", "3")
    done = CliRunner().invoke(example.main, options, catch_exceptions=False)
    assert done.exit_code == 0
    assert "at the deletion, after 30 clean steps" in done.output
    with (tmp_path / "epsilon.csv").open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    for row in rows:
        assert row["least_retrained"] <= row["retrained"] <= row["shifts"]
        assert row["never_saw"] <= row["retrained"]
    last = rows[-1]
    run = example.described(455, 60)
    assert last["never_saw"] == forgetting(run, Convex(0.25), 30, delta=1e-5).epsilon
    assert last["retrained"] < 0.8 * last["shifts"]
    assert last["accuracy"] > 0.75
    assert (tmp_path / "epsilon.png").stat().st_size > 1000


def test_iterates_stay_in_the_domain_and_move_by_clipped_gradients(example: ModuleType) -> None:
    rows, labels = example.rows_and_labels()
    run, draw = example.described(455, 5), np.random.default_rng(0)
    points = example.trained(run, rows, labels, np.zeros(rows.shape[1]), 5, draw)
    assert float(np.linalg.norm(points, axis=1).max()) <= run.diameter / 2 * (1 + 1e-12)
    assert 1.99 < run.step_size_at(0) * example.CONSTANTS.smoothness <= 2


def test_what_some_models_lose_falls_with_the_steps_and_not_below_a_coarser_grid(example: ModuleType) -> None:
    run = example.described(455, 5)
    fine, coarse = (example.known_to_lose(run, 20, cells=cells) for cells in (300, 100))
    assert fine == sorted(fine, reverse=True)
    assert all(one <= other * (1 + 1e-6) for one, other in zip(coarse[1:], fine[1:], strict=True))
