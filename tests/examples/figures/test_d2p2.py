from collections.abc import Mapping
from dataclasses import replace
from math import inf, log
from pathlib import Path
from typing import Any

import d2p2
import figure_cache
import numpy as np
import pytest
import torch
from d2p2 import DIGITS, epsilons, figure_3, figure_4, figure_5
from d2p2_methods import METHODS, Training, certified, claimed, trained
from figure_cache import FigureCache
from learning import learning_curve, split
from pictures import assert_inside
from plotting import Curve, CurveKind, Figure
from torch import nn
from torch.nn import functional

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.runtime.workloads.workload import Workload

pytestmark = pytest.mark.nightly  # a figure of a paper, drawn by a script

SMALL = Training("builtin:breast-cancer", held_out=119, samples=450, batch_size=90, epochs=2)
BY_NAME = {method.name: method for method in METHODS}


def measured(settings: Mapping[str, object], compute: Any) -> Any:  # noqa: ARG001
    """Nothing is kept."""
    return {name: np.asarray(values, dtype=float) for name, values in compute().items()}


def by_name(figure: Figure) -> dict[str, Curve]:
    return {curve.name: curve for curve in figure.curves}


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Figure:
    return figure_3(epochs=3, seeds=2, places=2, folder=tmp_path_factory.mktemp("kept"))


def test_every_optimiser_is_measured_and_every_private_one_is_paid_for(third: Figure) -> None:
    curves = by_name(third)
    assert_inside(third)
    for name, method in BY_NAME.items():
        for what in ("accuracy", "loss"):
            curve = curves[f"{what} {name}"]
            assert curve.status is CurveKind.MEASURED
            assert all(low <= y <= high for low, y, high in zip(curve.low, curve.y, curve.high, strict=True))
        assert (f"epsilon {name}" in curves) == method.private
    assert all(0 <= y <= 1 for name, curve in curves.items() if name.startswith("accuracy") for y in curve.y)
    assert {curve.status for name, curve in curves.items() if name.startswith("epsilon")} == {CurveKind.BOUND}
    assert curves["theorem_1"].status is CurveKind.REFUTED


def test_privacy_loss_grows_with_the_steps_and_decaying_noise_costs_more(third: Figure) -> None:
    curves = by_name(third)
    costs = {name: np.array(curves[f"epsilon {name}"].y) for name, method in BY_NAME.items() if method.private}
    assert all((np.diff(cost) > 0).all() for cost in costs.values())
    assert (costs["D2P-SGD"] > costs["DPSGD"]).all()
    assert (costs["D2P2-SGD"] > costs["DP2-SGD"]).all()
    assert (costs["D2P2-SGD, clipped after"] < costs["D2P2-SGD"]).all()


def test_noise_is_on_the_sum_of_a_batch() -> None:
    """One full batch: two sums of clipped gradients are at most 2 apart, whatever the size of the batch."""
    full = replace(SMALL, batch_size=450, noise=2.0)
    assert certified(measured, BY_NAME["DPSGD"], full, 1) == pytest.approx(gdp_epsilon(1.0, 1e-5), rel=1e-9)


def test_the_remedy_does_not_depend_on_p_and_the_printed_order_does() -> None:
    few, many = replace(DIGITS, kept=0.1), replace(DIGITS, kept=0.9)
    remedy, printed = BY_NAME["D2P2-SGD, clipped after"], BY_NAME["D2P2-SGD"]
    assert certified(measured, remedy, few, 4) == certified(measured, remedy, many, 4)
    assert certified(measured, printed, few, 4) > certified(measured, printed, many, 4)
    assert claimed(few, 4) == claimed(many, 4)


def test_theorem_1_is_below_what_one_certified_run_may_lose() -> None:
    assert claimed(replace(SMALL, noise=3.0), 1) < certified(measured, BY_NAME["D2P2-SGD"], SMALL, 1) < inf


@pytest.mark.parametrize("name", list(BY_NAME))
def test_training_is_reproducible_and_seeds_differ(name: str) -> None:
    first, again, other = (trained(measured, BY_NAME[name], SMALL, seed) for seed in (0, 0, 1))
    assert all((first[key] == again[key]).all() for key in first)
    assert (first["loss"] != other["loss"]).any()
    assert first["loss"].shape == first["accuracy"].shape == (3,)


def test_only_finite_epsilons_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([1.0, inf, 3.0])
    monkeypatch.setattr(d2p2, "certified", lambda *_arguments: next(values))
    curve = epsilons(measured, METHODS[1], [SMALL] * 3, (0.1, 0.2, 0.3))
    assert (curve.x, curve.y) == ((0.1, 0.3), (1.0, 3.0))


@pytest.mark.nightly
def test_figures_4_and_5_on_one_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(d2p2, "DIGITS", SMALL)
    monkeypatch.setattr(d2p2, "_NOISES", (1.0, 8.0))
    accuracy, cost = figure_4(epochs=1, seeds=2, folder=tmp_path), figure_5(epochs=1, folder=tmp_path)
    for figure in (accuracy, cost):
        assert_inside(figure)
    assert {curve.status for curve in accuracy.curves} == {CurveKind.MEASURED}
    assert len(accuracy.curves) == len(METHODS)
    flat = by_name(accuracy)["accuracy SGD"]
    assert flat.y[0] == flat.y[1]
    assert all(curve.y[0] > curve.y[1] for curve in cost.curves)
    assert [curve.status for curve in cost.curves].count(CurveKind.REFUTED) == 1


def test_figure_6_on_one_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("DIGITS", SMALL),
        ("_BATCHES", (45, 90)),
        ("_FEW_NOISES", (1.0, 8.0)),
        ("_KEPT", (0.2, 0.8)),
    ):
        monkeypatch.setattr(d2p2, name, value)
    figure = d2p2.figure_6(epochs=1, seeds=1, folder=tmp_path)
    assert_inside(figure)
    assert len(figure.panels) == 4
    printed, remedy, theirs = figure.panels[3].curves
    assert (printed.status, remedy.status, theirs.status) == (
        CurveKind.BOUND,
        CurveKind.BOUND,
        CurveKind.REFUTED,
    )
    assert printed.y[0] >= printed.y[1]
    assert remedy.y[0] == remedy.y[1]
    assert theirs.y[0] == theirs.y[1]


def test_a_learning_curve_is_the_mean_over_the_rows() -> None:
    inputs = torch.tensor([[1.0], [-1.0], [2.0], [-2.0]], dtype=torch.float64)
    targets = (inputs[:, 0] > 0).long()
    workload = Workload("line", lambda: nn.Linear(1, 2, bias=False), functional.cross_entropy, inputs, targets)
    module = workload.initial(0)
    with torch.no_grad():
        next(module.parameters()).zero_()
    rows = split(workload, 1)
    assert len(rows[0]) == 3
    assert sorted(torch.cat([rows[0], rows[2]])[:, 0].tolist()) == [-2.0, -1.0, 1.0, 2.0]
    steps = iter([True, True, True, True, False])

    def step() -> bool:
        with torch.no_grad():
            next(module.parameters()).add_(torch.tensor([[-1.0], [1.0]]))
        return next(steps)

    found = learning_curve(workload, module, rows, step, steps_an_epoch=2)
    assert found["loss"][0] == pytest.approx(log(2))
    assert found["loss"][2] == pytest.approx(
        float(np.log1p(np.exp(-8 * rows[0].abs().numpy())).mean()), rel=1e-4
    )
    assert found["accuracy"].tolist()[1:] == [1.0, 1.0]


def test_a_finished_part_is_found_and_a_damaged_one_measured_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def compute() -> dict[str, list[float]]:
        calls.append(1)
        return {"value": [2.5]}

    def value() -> list[float]:
        keep = FigureCache("x", 1, tmp_path)
        return list(keep({"a": 1}, compute)["value"])

    assert [value(), value()] == [[2.5], [2.5]]
    assert len(calls) == 1
    next(tmp_path.rglob("part.npz")).write_bytes(b"cut off")
    assert value() == [2.5]
    assert len(calls) == 2


def test_a_part_is_measured_again_where_the_code_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "formula.py").write_text("ONE = 1")
    monkeypatch.setattr(figure_cache.numeric, "__path__", [str(folder)])

    def values(first: float) -> list[float]:
        figure_cache._code.cache_clear()
        keep = FigureCache("x", 1, tmp_path / "kept")
        return list(keep({"a": 1}, lambda: {"value": [first]})["value"])

    assert [values(1.0), values(2.0)] == [[1.0], [1.0]]
    (folder / "formula.py").write_text("ONE = 2")
    assert values(3.0) == [3.0]
    figure_cache._code.cache_clear()


def test_the_digits_are_split_as_the_figure_says() -> None:
    from lastiterate.runtime.workloads.loading import load_workload

    rows = split(load_workload(DIGITS.workload), DIGITS.held_out)
    assert len(rows[0]) == DIGITS.samples
    assert len(rows[2]) == DIGITS.held_out
