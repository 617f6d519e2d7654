"""The audit in a reduced form: what is lost lies below the certified bound, and what is reported does not cover it."""

import csv
import doctest
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from scipy.stats import norm

_FOLDER = Path(__file__).parents[2] / "examples/unlearning_audit"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("unlearning_audit", _FOLDER / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_setting_of_the_page(example: ModuleType) -> None:
    setting = example.Setting(0.1, 10.0, 1.0, 0.001, 1.0)
    row = example.audit(setting)
    assert setting.steps == 10
    assert row.reported == pytest.approx(1.0036, abs=1e-4)
    assert row.reported < row.linear == pytest.approx(2.934, abs=1e-3)
    assert row.linear < row.opposite < row.certified == pytest.approx(6.573, abs=1e-3)


def test_two_linear_runs_lose_what_is_said(example: ModuleType) -> None:
    """The recursion of the two means and of the variance, step by step."""
    setting = example.Setting(0.1, 10.0, 1.0, 0.001, 1.0)
    first, second, variance = setting.ball, -setting.ball, 0.0
    for _ in range(setting.steps):
        first, second = (0.999 * x - 0.001 * 10.0 for x in (first, second))
        variance = 0.999**2 * variance + setting.noise**2
    mu, epsilon = (first - second) / variance**0.5, example.audit(setting).linear
    delta = norm.sf(epsilon / mu - mu / 2) - 2.718281828459045**epsilon * norm.sf(epsilon / mu + mu / 2)
    assert delta == pytest.approx(example.DELTA, rel=1e-6)


def test_one_step_reaches_the_certified_bound(example: ModuleType) -> None:
    setting = example.Setting(0.1, 100.0, 200.0, 0.001, 1.0)
    assert setting.steps == 1
    row = example.audit(setting)
    assert 0.999 * row.certified < row.opposite < 1.0001 * row.certified


def test_more_noise_makes_the_reported_epsilon_true(example: ModuleType) -> None:
    setting = example.Setting(0.1, 10.0, 1.0, 0.001, 1.0)
    factor = example.noise_needed(setting)
    louder = replace(setting, target=setting.target / factor**2)
    assert louder.noise == pytest.approx(factor * setting.noise)
    assert example.audit(louder).certified == pytest.approx(example.reported(1.0), rel=1e-6)


def test_the_command_writes_a_table_and_pictures(example: ModuleType, tmp_path: Path) -> None:
    done = CliRunner().invoke(example.main, ("--out", str(tmp_path), "--first", "3"), catch_exceptions=False)
    assert done.exit_code == 0
    assert "3 settings" in done.output
    with (tmp_path / "audit.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (_FOLDER / "audit.csv").open(newline="") as file:
        kept = list(csv.DictReader(file))
    assert len(rows) == 3
    for row, other in zip(rows, kept, strict=False):
        assert {name: float(value) for name, value in row.items()} == pytest.approx(
            {name: float(value) for name, value in other.items()}, rel=1e-3
        )
    assert (tmp_path / "audit.svg").read_text().startswith("<?xml")


def test_the_table_on_the_page_covers_every_setting(example: ModuleType) -> None:
    with (_FOLDER / "audit.csv").open(newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert len(rows) == len(example.stored()) == 53
    assert all(row["certified"] > row["reported"] for row in rows)
    assert all(row["linear"] < row["certified"] for row in rows)
    assert sum(row["linear"] > row["reported"] for row in rows) == 32
    assert sum(row["opposite"] > row["reported"] for row in rows) == 47


def test_the_block_on_the_page_does_what_it_says() -> None:
    assert doctest.testfile(str(_FOLDER / "README.md"), module_relative=False) == (0, 3)
