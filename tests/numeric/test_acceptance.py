"""Numbers that were known before the code, to the digits they were known to."""

from math import inf

import pytest
from bracketing import bracket
from flint import arb

from lastiterate.numeric.bound import bound, bound_by_shifts
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Smooth, StronglyConvex
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.published.theorems import theorem_named
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import affine_window, best_window, untested_window
from lastiterate.numeric.shift_program.program import ShiftProgram

S = arb("0.08")  # 2 eta K / n at K=2, eta=0.1, n=5


def _run(steps: int = 2000, **changed: float) -> NoisySGD:
    kept = {"step_size": 0.1, "noise_std": 1.0, "clip_norm": 2.0, "dataset_size": 5, "diameter": 1.0}
    return NoisySGD(steps=steps, **(kept | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(("c", "cost", "length"), [("1.1", 0.546343, 9), ("1", 0.320123, 13)])
def test_the_papers_program(c: str, cost: float, length: int) -> None:
    best = best_window(arb(c), S, 1.0, 2000)
    assert best is not None
    assert (best.length, round(float(best.cost), 6)) == (length, cost)


def test_the_papers_program_when_updates_contract() -> None:
    lengths = (10, 20, 40, 80, 160)
    costs = [
        float(found.cost) for w in lengths if (found := affine_window(arb("0.9"), S, arb(1), w)) is not None
    ]
    assert len(costs) == len(lengths)
    assert costs == sorted(costs, reverse=True)
    assert costs[1] == pytest.approx(0.1310, abs=5e-5)
    assert costs[-1] == pytest.approx(0.1216, abs=1e-8)


def test_the_papers_theorem_at_its_best_split_agrees() -> None:
    setting = {"T": 2000, "n": 5, "eta": 0.1, "sigma": 1.0, "K": 2.0, "D": 1.0, "L": 1.0, "alpha": 2.0}
    assert (
        round(theorem_named("chien_li_3_1_smooth").epsilon(run_of(setting), Smooth(1.0), setting["alpha"]), 6)
        == 0.546343
    )
    assert (
        round(theorem_named("chien_li_3_1_convex").epsilon(run_of(setting), Convex(1.0), setting["alpha"]), 6)
        == 0.320123
    )


def test_where_the_split_binds_the_papers_theorem_is_strictly_worse() -> None:
    setting = {
        "T": 2000,
        "n": 5,
        "eta": 0.1,
        "sigma": 1.0,
        "K": 2.0,
        "D": 1.0,
        "L": 1.0,
        "m": 1.0,
        "alpha": 2.0,
    }
    ours = bound_by_shifts(run_of(setting), StronglyConvex(1.0, 1.0), order=2).epsilon
    assert ours == pytest.approx(0.1216, abs=1e-6)
    assert (
        theorem_named("chien_li_3_1_strongly_convex").epsilon(
            run_of(setting), StronglyConvex(1.0, 1.0), setting["alpha"]
        )
        > 1.09 * ours
    )


def test_the_sharper_expansion() -> None:
    assert round(bound(_run(), Smooth(1.0)).cost, 4) == 0.4992


def test_clipping_alone() -> None:
    found = bound(_run(5000, diameter=10.0), Clipped())
    assert found.cost == pytest.approx(16.0, rel=1e-12)
    assert found.window == (4975, 5000)


def test_the_feasibility_test_is_not_forgotten() -> None:
    found = bound(_run(1000, diameter=inf), Smooth(1.25))  # c = 1 + 0.1 * 4/5 * 1.25 = 1.1
    assert found.cost == pytest.approx(1000 * 0.08**2, rel=1e-14)
    assert found.route == "composition"
    assert affine_window(arb("1.1"), S, arb(0), 1000) is None
    assert float(untested_window(arb("1.1"), S, arb(0), 1000).cost / S**2) == pytest.approx(21, abs=1e-6)


def test_the_bracket_agrees_with_composition_where_nothing_is_hidden() -> None:
    program = ShiftProgram(_run(60, diameter=inf), Smooth(1.25))
    found = bracket(program)
    assert found.lower == pytest.approx(60 * 0.08**2, rel=1e-6)
    assert found.upper == pytest.approx(60 * 0.08**2, rel=1e-12)
