import numpy as np
import pytest
from ours_assumptions import KINDS, figure_assumptions
from ours_path import figure_path
from ours_position import figure_position
from plotting import Curve, CurveKind

from lastiterate.numeric.bound import bound
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.published.theorems import SETTING

pytestmark = pytest.mark.nightly  # a figure, drawn by a script


def by_name(curves: tuple[Curve, ...]) -> dict[str, Curve]:
    return {curve.name: curve for curve in curves}


@pytest.fixture(scope="module")
def assumed() -> dict[str, Curve]:
    return by_name(figure_assumptions(last=200, count=6, below=3).curves)


def test_the_upper_bounds_lie_above_the_lower_ones_and_under_composition(assumed: dict[str, Curve]) -> None:
    curves = assumed
    composition = np.array(curves["composition"].y)
    for words, _assumption in KINDS:
        above, below = curves[f"bound {words}"], curves[f"lower {words}"]
        assert (above.status, below.status) == (CurveKind.BOUND, CurveKind.LOWER)
        assert (np.diff(above.y) >= -1e-3 * np.array(above.y[1:])).all()
        assert (np.array(above.y) <= composition * (1 + 1e-12)).all()
        shared = [(above.y[above.x.index(T)], y) for T, y in zip(below.x, below.y, strict=True) if T in above.x]
        assert len(shared) >= 2
        assert all(0 < low < high for high, low in shared)


def test_a_stronger_assumption_is_never_worse(assumed: dict[str, Curve]) -> None:
    last = [assumed[f"bound {words}"].y[-1] for words, _assumption in KINDS if "Hölder" not in words]
    assert last == sorted(last, reverse=True)


@pytest.mark.parametrize("steps", [100, 12])
def test_the_path_is_the_one_behind_the_bound(steps: int) -> None:
    figure = figure_path(steps=steps, shown=steps)
    curves = by_name(figure.curves)
    known = {words.split(",")[0].replace(" ", "_"): assumption for words, assumption in KINDS}
    for name in ("smooth", "convex", "strongly_convex"):
        assumption = known[name]
        hidden, shifts = curves[f"hidden {name}"], np.array(curves[f"shift {name}"].y)
        found = bound(run_of({**SETTING, "T": steps}), assumption)
        assert (shifts**2).sum() == pytest.approx(found.cost, rel=1e-9)
        assert hidden.y[-1] == pytest.approx(0.0, abs=1e-9)
        assert (hidden.x[0], hidden.x[-1]) == found.window
        assert curves[f"free {name}"].x[-1] == hidden.x[0]
        assert curves[f"free {name}"].y[-1] == pytest.approx(hidden.y[0])


def test_only_the_last_steps_are_shown() -> None:
    figure = figure_path(steps=50, shown=10)
    assert {min(curve.x) for curve in figure.panels[0].curves} <= set(range(40, 51))
    assert all(len(curve.x) == len(curve.y) for curve in figure.curves)


def test_the_worst_sample_is_above_every_position() -> None:
    for panel in figure_position(batches=4, epochs=2).panels:
        curves = by_name(panel.curves)
        assert max(curves["position"].y) == curves["worst"].y[0] > curves["median"].y[0]
        assert (np.array(curves["position"].y) <= curves["shifts"].y).all()
