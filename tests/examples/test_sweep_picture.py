"""Pictures of sweeps: what they show, and which are refused."""

import sys
from math import inf
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from sweep_picture import draw_sweep, main, write_sweep_picture

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.sweeps import sweep

_RUN = NoisySGD(steps=50, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=6)
_GRID = {"noise_std": [0.5, 1.0], "L": [1.0, 3.0, 1e70], "order": [2, 4]}


def test_the_picture(tmp_path: Path) -> None:
    table = sweep(_RUN, Convex(1.0), _GRID)
    figure = draw_sweep(table, "noise_std")
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == [
        f"L {L}, order {order}" for L in (1.0, 3.0) for order in (2, 4)
    ]
    assert list(lines[1].get_ydata()) == [table.results[1].epsilon, table.results[7].epsilon]
    assert "4 rows without a number" in figure.get_supxlabel()
    assert "Assumption: Convex. Run: steps = 50," in figure.get_supxlabel()
    assert figure.axes[0].get_xlabel() == "standard deviation of the noise on the iterate (length)"
    assert all(line.get_linestyle() == "None" for line in lines), "a chord can lie below a bound"
    mu = draw_sweep(table, "noise_std:mu").axes[0].lines[0]
    assert list(mu.get_ydata()) == [table.results[0].mu, table.results[6].mu]
    written = write_sweep_picture(table, "L:epsilon", tmp_path / "out.csv")
    assert written.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in written.with_suffix(".svg").read_text()
    assert written.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("noises", "logarithmic"), [([1.0, 5.0, 9.9], False), ([1.0, 2.0, 4.0], False), ([1.0, 5.0, 10.0], True)]
)
def test_an_axis_over_scales_is_logarithmic(noises: list[float], logarithmic: bool) -> None:
    table = sweep(_RUN, Convex(1.0), {"noise_std": noises, "order": [2, 4]})
    assert (draw_sweep(table, "noise_std:epsilon").axes[0].get_xscale() == "log") is logarithmic


@pytest.mark.parametrize(
    ("grid", "plot", "said"),
    [
        (_GRID, "steps", "plot='steps'"),
        (_GRID, "L:route", "plot='L:route'"),
        (_GRID | {"L": [1.0]}, "L", "L=[1.0]"),
        (_GRID | {"diameter": [1.0, inf]}, "diameter", "diameter=[1.0, inf]"),
        (_GRID | {"L": [1e70]}, "noise_std", "rows=4"),
        ({"sampling": ["full", "cyclic"], "order": [2]}, "sampling", "sampling=["),
        ({"steps": [1, 2], "order": list(range(2, 15))}, "steps", "13 combinations"),
    ],
)
def test_bad_pictures(grid: dict[str, list[float]], plot: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        draw_sweep(sweep(_RUN, Convex(1.0), grid), plot)
    assert said in str(caught.value)


def test_the_example_from_the_rows_of_the_command(tmp_path: Path) -> None:
    example, out = Path(__file__).parents[2] / "examples/sweep.toml", tmp_path / "sweep.csv"
    done = CliRunner().invoke(main, [str(example), "noise_std:epsilon", "--out", str(out)])
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'sweep-noise_std.png'}\n")
    done = CliRunner().invoke(main, [str(example), "noise", "--out", str(out)])
    assert (done.exit_code, "plot='noise'" in done.output) == (1, True)
