"""The shift program: which paths are accepted, and what its last steps are."""

from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from bracketing import bracket
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.losses.expansion import Affine
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import Path, ShiftProgram, run_forward, used_program

Array = NDArray[np.float64]


def _run(steps: int = 20, **changed: float) -> NoisySGD:
    kept = {"step_size": 0.1, "noise_std": 1.0, "clip_norm": 2.0, "dataset_size": 5, "diameter": 1.0}
    return NoisySGD(steps=steps, **(kept | changed))  # type: ignore[arg-type]


def test_shifts_that_spend_too_little_pay_at_the_end() -> None:
    program = ShiftProgram(_run(3), Smooth(1))
    lazy = program.cost(Path(0, 0.0, np.zeros(3)))
    reached = 0.08 * (1 + 1.08 + 1.08**2)
    assert float(lazy) == pytest.approx(reached**2, rel=1e-14)
    assert upper(program.composition()) < lower(lazy)


def test_shifts_that_spend_too_much_are_cut_at_zero() -> None:
    program = ShiftProgram(_run(3), Smooth(1))
    eager = program.cost(Path(0, 0.0, np.array([5.0, 0.08, 0.08])))
    assert float(eager) == pytest.approx(25 + 2 * 0.08**2, rel=1e-14)


def test_a_distance_known_in_an_interval_counts_with_its_upper_end() -> None:
    """A factor in [1/2, 3/2] twice: from 1 to 3/2 + 1, then to 15/4 + 1, all of which is hidden at the end."""
    wide = Affine(arb(1, 0.5), arb(1))
    cost = run_forward(lambda _: wide, lambda _: 1.0, 1.0, np.zeros(2))
    assert upper(cost) >= 4.75**2
    shifted = run_forward(lambda _: wide, lambda _: 1.0, 1.0, np.array([0.5, 0.0]))
    assert upper(shifted) >= 0.5**2 + 4.0**2


def test_what_is_not_a_number_costs_infinity() -> None:
    program = ShiftProgram(_run(3), Smooth(1))
    for shifts in ([nan, 1.0, 1.0], [inf, 1.0, 1.0]):
        assert upper(program.cost(Path(0, 0.0, np.array(shifts)))) == inf
    still = Affine(arb(0), arb(1))
    assert upper(run_forward(lambda _: still, lambda _: 1.0, inf, np.zeros(3))) == inf  # 0 times infinity


@pytest.mark.parametrize(
    "assumption", [Smooth(1), Smooth(30), Holder(1, 0.5), Clipped(), StronglyConvex(1, 0.5)]
)
def test_no_path_costs_less_than_the_least(assumption: Assumption) -> None:
    for steps, diameter in ((1, 0.5), (20, 0.01), (20, 1.0), (20, 30.0), (60, inf)):
        for scheme in ({}, {"sampling": "without_replacement", "batch_size": 1}):
            run = replace(_run(steps, diameter=diameter), noise_std=0.3, **scheme)
            program = ShiftProgram(run, assumption)
            assert program.least() >= float((program.expansion(steps - 1).sensitivity / exact(0.3)) ** 2) * (
                1 - 1e-12
            )
            assert 0 < program.least() <= upper(optimum(program).cost) * (1 + 1e-12)
    assert ShiftProgram(_run(200), Convex(1)).least() == pytest.approx((1 + 13 * 0.08) ** 2 / 13, rel=1e-3)


@pytest.mark.parametrize(
    "path",
    [Path(0, 0.0, np.ones(4)), Path(2, 1.0, np.ones(2)), Path(-1, 1.0, np.ones(4)), Path(3, 1.0, np.ones(0))],
)
def test_a_path_ends_with_the_run(path: Path) -> None:
    with pytest.raises(ValueError, match="steps=3"):
        ShiftProgram(_run(3), Smooth(1)).cost(path)


def test_a_path_starts_at_the_tracked_distance() -> None:
    program = ShiftProgram(_run(20, diameter=10.0), Smooth(1))
    with pytest.raises(ValueError, match="tracked distance"):
        program.cost(Path(10, 0.0, np.ones(10)))
    assert float(program.cost(Path(10, float(program.tracked[10]), np.ones(10)))) > 0


class _Careless(Smooth):
    """Its value in floats, which steers searches alone, is a tenth of the truth."""

    def value(self, z: Array) -> Array:
        return super().value(z) / 10


def test_no_bound_rests_on_the_value_in_floats() -> None:
    run = _run(30, diameter=10.0)
    careless, careful = (ShiftProgram(run, assumption) for assumption in (_Careless(1.0), Smooth(1.0)))
    assert (careless.tracked >= careful.tracked * (1 - 1e-12)).all()
    assert lower(careless.cost(Path(0, 0.0, np.full(30, 0.1)))) >= lower(
        careful.cost(Path(0, 0.0, np.full(30, 0.1)))
    )


def test_the_tracked_distance_is_each_step_after_the_other(subtests: pytest.Subtests) -> None:
    for assumption in [*(StronglyConvex(1, 0.1 * k) for k in range(1, 10)), Convex(1), Smooth(1)]:
        for steps in [60, 61, 1000, 1001]:
            with subtests.test(steps=steps, assumption=assumption):
                program = ShiftProgram(_run(steps, diameter=2.0), assumption)
                distances = [0.0]
                for t in range(steps):
                    with precision():
                        step = upper(program.expansion(t).ball(exact(distances[t])))
                    distances.append(min(step, 2.0))
                assert program.tracked.tolist() == distances


def test_the_last_steps_of_a_run_are_a_program() -> None:
    for assumption in (Smooth(1), Holder(1, 0.5), StronglyConvex(1, 0.5)):
        whole = ShiftProgram(_run(60, diameter=0.3), assumption)
        tail = whole.tail(12)
        assert tail.steps == 12
        assert tail.initial == whole.tracked[48]
        assert bracket(tail).upper >= bracket(whole).lower


def test_the_last_steps_hide_the_distance_of_all_earlier_ones() -> None:
    tail = ShiftProgram(_run(9, diameter=inf), Smooth(1)).tail(4)
    assert tail.initial == pytest.approx(0.08 * (1.08**5 - 1) / 0.08, rel=1e-14)
    assert float(tail.cost(Path(0, tail.initial, np.zeros(4)))) == pytest.approx((1.08**9 - 1) ** 2, rel=1e-13)


def test_the_last_steps_of_listed_uses_meet_the_same_uses() -> None:
    """Steps 0, 4 and 7 of nine use the sample, so steps 1 and 4 of the last six do."""
    whole = used_program(replace(_run(9), sampling="cyclic", batch_size=1), Convex(1), (0, 4, 7))
    tail = whole.tail(6)
    assert [t for t in range(9) if whole.differs(t)] == list(whole.participations) == [0, 4, 7]
    assert [t for t in range(6) if tail.differs(t)] == list(tail.participations) == [1, 4]
    moved = 2 * 0.1 * 2.0  # 2 eta K / b, hidden by one shift in the step of each use
    assert float(tail.composition()) == pytest.approx(2 * moved**2, rel=1e-15)
    states = tail.expansion(1).value(np.array([0.0])), tail.expansion(2).value(np.array([0.0]))
    assert states == (pytest.approx(moved), 0.0)


def test_a_batch_that_is_none_is_refused_and_costs_not_nothing(subtests: pytest.Subtests) -> None:
    for changes, said in [
        *(({"position": place}, f"position={place}") for place in (1, 5, -1, 0.0, True, None)),
        *(({"skipped": steps}, f"skipped={steps}") for steps in (20, -1, 0.5)),
        *(({"initial": distance}, "initial=") for distance in (nan, inf, -1.0)),
    ]:
        with subtests.test(changes=changes, said=said):
            with pytest.raises(InputError, match=said):
                ShiftProgram(_run(20), Smooth(1), **changes)
            cyclic = replace(_run(20), sampling="cyclic", batch_size=1)
            assert upper(optimum(ShiftProgram(cyclic, Smooth(1), np.int64(4))).cost) > 0  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"0 to 4, got position=5"):
                ShiftProgram(cyclic, Smooth(1), 5)


@pytest.mark.parametrize("steps", [0, -1, 21, 1.5])
def test_a_tail_is_part_of_the_run(steps: Any) -> None:
    with pytest.raises(InputError, match=f"steps={steps}"):
        ShiftProgram(_run(20), Smooth(1)).tail(steps)


def test_the_whole_run_starts_at_zero_even_as_a_tail() -> None:
    whole = ShiftProgram(_run(20), Smooth(1))
    assert whole.tail(20).initial == 0.0


def test_composition_and_last_step() -> None:
    program = ShiftProgram(_run(20), Convex(1))
    assert float(program.composition()) == pytest.approx(20 * 0.08**2, rel=1e-15)
    assert float(program.last_step()) == pytest.approx(1.08**2, rel=1e-15)
    assert not ShiftProgram(_run(20, diameter=inf), Convex(1)).last_step().is_finite()


def test_the_last_step_after_contractions_knows_how_far_they_let_it_go() -> None:
    program = ShiftProgram(_run(200, diameter=inf), StronglyConvex(1, 0.5))
    assert float(program.last_step()) == pytest.approx((0.08 / 0.05) ** 2, rel=1e-3)


@pytest.mark.parametrize("assumption", ["smooth", None, Smooth])
def test_a_program_needs_an_assumption(assumption: Any) -> None:
    with pytest.raises(InputError, match="assumption="):
        ShiftProgram(_run(), assumption)


def test_programs_of_one_run_share_expansions_and_nothing_else() -> None:
    run = NoisySGD(
        9, tuple(0.1 / (t + 1) for t in range(9)), 1.0, 2.0, 12, batch_size=4, sampling="cyclic", diameter=1.0
    )
    first, z = ShiftProgram(run, Smooth(1)), np.linspace(0, 1, 5)
    for place in range(3):
        shared, own = first.at(place), ShiftProgram(run, Smooth(1), place)
        assert shared.tracked.tolist() == own.tracked.tolist()
        assert all(np.array_equal(shared.expansion(t).value(z), own.expansion(t).value(z)) for t in range(9))
