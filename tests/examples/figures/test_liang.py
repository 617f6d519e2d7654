from dataclasses import replace
from math import inf

import numpy as np
import pytest
from liang import figure_1, figure_5, liang_run, naive_bound, worst_batch
from plotting import Curve, CurveKind, Figure

from lastiterate.numeric.losses.assumptions import Smooth
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.theorems import THEOREMS
from lastiterate.numeric.run import NoisySGD

pytestmark = pytest.mark.nightly  # a figure, drawn by a script


@pytest.fixture(scope="module")
def first() -> dict[str, Curve]:
    return by_name(figure_1(last=300, count=6, below=3))


@pytest.fixture(scope="module")
def fifth() -> dict[str, Curve]:
    return by_name(figure_5(last=1000, count=6, below=3))


def by_name(figure: Figure) -> dict[str, Curve]:
    return {curve.name: curve for curve in figure.curves}


def test_the_status_of_a_printed_theorem_is_its_verdict(
    first: dict[str, Curve], fifth: dict[str, Curve]
) -> None:
    printed = [curve for curves in (first, fifth) for name, curve in curves.items() if name in THEOREMS]
    assert len(printed) == 6
    for curve in printed:
        usable = THEOREMS[curve.name].usable
        assert curve.status is (CurveKind.BOUND if usable else CurveKind.REFUTED)
    assert fifth["naive"].status is CurveKind.REFUTED


@pytest.mark.parametrize("which", ["first", "fifth"])
def test_ours_lies_between_the_lower_bound_and_composition(which: str, request: pytest.FixtureRequest) -> None:
    curves = request.getfixturevalue(which)
    ours = curves["bound smooth"]
    assert ours.status is CurveKind.BOUND
    assert (np.diff(ours.y) >= -1e-3 * np.array(ours.y[1:])).all()
    assert (np.array(ours.y) <= np.array(curves["composition"].y) * (1 + 1e-12)).all()
    below = curves["lower"]
    assert below.status is CurveKind.LOWER
    assert all(y <= ours.y[ours.x.index(T)] for T, y in zip(below.x, below.y, strict=True) if T in ours.x)


def test_convexity_helps_and_the_window_of_theorem_3_4_shrinks(first: dict[str, Curve]) -> None:
    assert first["bound convex"].y[-1] < first["bound smooth"].y[-1] < first["liang_3_4"].y[-1]


def test_the_trivial_bound_as_printed_is_below_a_run_that_exists() -> None:
    run = NoisySGD(1, step_size=0.01, noise_std=0.01, clip_norm=1.0, dataset_size=1, diameter=0.02)
    assert lower_bound(run, Smooth(1.0), order=2.0).value > 100 * naive_bound(run, 2.0)


def test_the_worst_batch_is_a_full_batch_of_its_size() -> None:
    run = liang_run(5, 8)
    assert worst_batch(run)["n"] == run.batch == 2


def test_the_trivial_bound_of_e_1() -> None:
    run = NoisySGD(
        40, 0.2, 0.5, 1.5, dataset_size=20, batch_size=5, sampling="without_replacement", diameter=1.0
    )
    exactly = 2 * 3 * (1 + 0.2 * 1.5 / 5) ** 2 / (0.5 / 0.2) ** 2
    assert naive_bound(run, 3.0) == pytest.approx(exactly, rel=1e-13)
    assert naive_bound(replace(run, diameter=inf), 3.0) == inf
