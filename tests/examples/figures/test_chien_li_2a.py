import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chien_li_2a import ORDERS, _larger, figure_2a
from pictures import assert_inside
from plotting import Curve, CurveKind

from lastiterate.numeric.bound import bound, estimate
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Holder, Tabulated
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.published.theorems import SETTING
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.record import Constants, HolderEstimate
from lastiterate.runtime.pair_table import Kind

pytestmark = pytest.mark.nightly  # a figure of a paper, drawn by a script

RUN = NoisySGD(steps=200, step_size=0.1, noise_std=1e-3, clip_norm=1.0, dataset_size=150, diameter=1.0)


FOLDER = Path(__file__).parents[3] / "examples" / "figures"


def measurement(L: float = 0.5, distances: tuple[float, ...] = (0.9, 1.0)) -> HolderEstimate:
    """A record as a measurement would make it, with the modulus L times the distance."""
    constants = Constants((L,) * 4, (0.0,) * 4, 0, 10)
    envelope = Tabulated(distances, tuple(L * r for r in distances))
    return HolderEstimate(
        workload="made up",
        lambdas=ORDERS,
        measured=dict.fromkeys(Kind, constants),
        envelopes=dict.fromkeys(Kind, envelope),
        run=RUN,
        inits=1,
        centers=2,
        points=1,
        radius=1.0,
        draw="uniform",
        pairs=7,
        distances=(distances[0], distances[-1]),
        dtype="float64",
        device="cpu",
        memory=2**28,
        seed=0,
    )


@pytest.fixture(scope="module")
def curves() -> dict[str, Curve]:
    fine = measurement(distances=tuple(np.geomspace(1e-3, 1, 40).tolist()))
    return {curve.name: curve for curve in figure_2a(measurement(), fine, count=5).curves}


def test_everything_from_a_measurement_is_called_an_estimate(curves: dict[str, Curve]) -> None:
    bounds = {name for name, curve in curves.items() if curve.status is CurveKind.BOUND}
    assert bounds == {"composition", "last_step"}
    assert {curve.status for name, curve in curves.items() if name not in bounds} == {CurveKind.ESTIMATE}


def test_ours_is_never_above_theorem_3_7(curves: dict[str, Curve]) -> None:
    for lam in ORDERS:
        ours = np.array(curves[f"ours_holder lambda={lam:g}"].y)
        assert (ours <= np.array(curves[f"chien_li_3_7 lambda={lam:g}"].y) * (1 + 1e-9)).all()
        assert ours[-1] < curves["composition"].y[-1] / 5


def test_the_same_constant_at_a_lower_order_is_worse(curves: dict[str, Curve]) -> None:
    last = [curves[f"ours_holder lambda={lam:g}"].y[-1] for lam in ORDERS]
    assert last == sorted(last, reverse=True)
    assert last[0] > last[-1]


def test_a_fine_linear_table_is_near_the_smooth_curve_and_never_below(curves: dict[str, Curve]) -> None:
    table, smooth = curves["ours_tabulated"].y, curves["ours_holder lambda=1"].y
    assert all(t >= s * (1 - 1e-9) for t, s in zip(table, smooth, strict=True))
    assert table[-1] <= 1.1 * smooth[-1]


def test_a_measured_constant_is_refused_as_a_bound_and_says_what_it_is_conditional_on() -> None:
    run = run_of({**SETTING, "T": 100})
    found = measurement()
    with pytest.raises(InputError, match="measured constants give an estimate"):
        bound(run, found.holder(0.5), order=2)  # type: ignore[arg-type]
    number = estimate(run, found.holder(0.5), order=2)
    assert number.epsilon == bound(run, Holder(0.5, 0.5), order=2).epsilon
    for words in ("the constant 0.5 of made up", "every possible sample", "7 sampled pairs", "lower estimate"):
        assert words in number.conditional_on
    assert type(number).__name__ == "Estimate"


def test_the_larger_of_two_moduli() -> None:
    left, right = Tabulated((0.1, 1.0), (0.2, 0.5)), Tabulated((0.5, 2.0), (0.4, 0.45))
    joined = _larger(left, right)
    assert joined.value(np.array([0.1, 0.5, 1.0, 2.0])).tolist() == [0.2, 0.4, 0.5, 0.5]
    assert joined.value(np.array([0.3, 0.7])).tolist() == [0.4, 0.5]


def test_an_order_that_is_drawn_must_have_been_measured() -> None:
    partial = replace(measurement(), lambdas=(0.5,))
    with pytest.raises(InputError, match=r"lam=0\.25"):
        figure_2a(partial, measurement(), count=3)


def test_the_clipped_constant_names_its_clip_norm_and_unknown_kinds_are_refused() -> None:
    assert (
        "clipped (norm 1) per-sample gradient" in measurement().holder(1.0, Kind.SAMPLE_CLIPPED).conditional_on
    )
    with pytest.raises(InputError, match="kind=layer"):
        measurement().constant(1.0, "layer")  # type: ignore[arg-type]


def test_every_curve_is_named_and_no_text_leaves_the_picture() -> None:
    uniform = replace(measurement(), workload="builtin:iris-mlp", pairs=402000, remark="x" * 95)
    figure = figure_2a(uniform, measurement(), count=4)
    assert "one last step, clipping alone: 1.96 ↑ (upper bound)" in assert_inside(figure)


def test_a_measurement_is_read_and_drawn_without_torch() -> None:
    code = (
        "import sys, chien_li_2a, lastiterate.runtime.constants.record;"
        "import lastiterate.commands.constants;"
        "sys.exit(', '.join({'torch'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
