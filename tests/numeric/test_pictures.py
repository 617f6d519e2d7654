"""Pictures of sweeps: what they show, and which are refused."""

from math import inf
from pathlib import Path

import pytest

from lastiterate.commands.pictures import _geometric, _label, figure_sweep, write_sweep_picture
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.sweeps import sweep

_RUN = NoisySGD(steps=50, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=6)
_GRID = {"noise_std": [0.5, 1.0], "L": [1.0, 3.0, 100.0], "order": [2, 4]}


def test_the_picture(tmp_path: Path) -> None:
    table = sweep(_RUN, Convex(1.0), _GRID)
    figure = figure_sweep(table, "noise_std")
    assert [curve.label for curve in figure.curves] == [f"L {L}, order {order}" for L in (1.0, 3.0) for order in (2, 4)]
    assert figure.curves[1].y == (table.results[1].epsilon, table.results[7].epsilon)
    assert "4 rows without a number" in figure.note
    assert figure_sweep(table, "noise_std:mu").curves[0].y == (table.results[0].mu, table.results[6].mu)
    assert write_sweep_picture(table, "L:epsilon", tmp_path / "out.csv").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("noises", "logarithmic"), [([1.0, 5.0, 9.9], False), ([1.0, 2.0, 4.0], True), ([1.0, 5.0, 10.0], True)]
)
def test_an_axis_over_scales_is_logarithmic(noises: list[float], logarithmic: bool) -> None:
    table = sweep(_RUN, Convex(1.0), {"noise_std": noises, "order": [2, 4]})
    assert figure_sweep(table, "noise_std:epsilon").panels[0].logarithmic is logarithmic


@pytest.mark.parametrize(
    ("grid", "plot", "said"),
    [
        (_GRID, "steps", "plot='steps'"),
        (_GRID, "L:route", "plot='L:route'"),
        (_GRID | {"L": [1.0]}, "L", "L=[1.0]"),
        (_GRID | {"diameter": [1.0, inf]}, "diameter", "diameter=[1.0, inf]"),
        (_GRID | {"L": [100.0]}, "noise_std", "rows=4"),
        ({"sampling": ["full", "cyclic"], "order": [2]}, "sampling", "sampling=["),
        ({"steps": [1, 2], "order": list(range(2, 15))}, "steps", "13 combinations"),
    ],
)
def test_bad_pictures(grid: dict[str, list[float]], plot: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        figure_sweep(sweep(_RUN, Convex(1.0), grid), plot)
    assert said in str(caught.value)


def test_an_axis_is_logarithmic_where_its_grid_is() -> None:
    grids = {(1.0, 2.0, 4.0): True, (1.0, 2.0, 3.0): False, (1.0, 5.0, 10.0): True, (0.0, 1.0, 2.0): False}
    assert {grid: _geometric(list(grid)) for grid in grids} == grids
    assert (_label("diameter", float("inf")), _label("diameter", 2.0)) == ("no domain", "diameter 2.0")
