"""How far from its program's optimum a path is, and which batch of an epoch is the worst."""

from math import inf

import numpy as np
import pytest
from bracketing import gap, lower_end

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.rounding import upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program import positions
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.positions import worst_position
from lastiterate.numeric.shift_program.program import Path, ShiftProgram


@pytest.mark.parametrize("diameter", [0.3, 3.0, inf])
@pytest.mark.parametrize("assumption", [Smooth(1.0), Convex(1.0), StronglyConvex(1.0, 0.2)], ids=str)
def test_a_closed_form_has_no_gap(assumption: Assumption, diameter: float) -> None:
    found = optimum(ShiftProgram(NoisySGD(40, 0.1, 1.0, 2.0, 5, diameter=diameter), assumption))
    assert found.proved
    assert lower_end(found) <= float(found.cost) <= lower_end(found) * (1 + 1e-15)


def test_a_search_has_a_gap_of_at_most_one_percent() -> None:
    found = optimum(ShiftProgram(NoisySGD(200, 0.1, 1.0, 2.0, 5, diameter=1.0), Holder(1.0, 0.5)))
    assert not found.proved
    assert 0 < gap(found) <= 0.01


def test_noise_that_alternates_is_used_where_it_is_wide() -> None:
    run = NoisySGD(20, 0.1, [0.3, 1.0] * 10, 1.0, 4, batch_size=1, sampling="cyclic", diameter=5.0)
    _, found = worst_position(run, Clipped())
    assert gap(found) <= 1e-9
    assert float(found.cost) == pytest.approx(0.73394495, rel=1e-7)


@pytest.mark.parametrize("assumption", [Holder(1.0, 0.5), Clipped(), Convex(1.0)], ids=str)
@pytest.mark.parametrize(
    "step_size", [[0.1 - 0.003 * t for t in range(24)], [0.1, 0.03, 0.06, 0.02, 0.08, 0.05] * 4]
)
def test_the_worst_position_is_that_of_all(assumption: Assumption, step_size: list[float]) -> None:
    run = NoisySGD(24, step_size, 1.0, 1.0, 4, batch_size=1, sampling="cyclic", diameter=0.5)
    every = [upper(optimum(ShiftProgram(run, assumption, place)).cost) for place in range(4)]
    program, found = worst_position(run, assumption)
    assert upper(found.cost) == pytest.approx(max(every), rel=1e-7)
    assert every[program.position] == pytest.approx(max(every), rel=1e-7)


@pytest.mark.parametrize("assumption", [Holder(1.0, 0.5), Smooth(20.0), Clipped(), Convex(1.0)], ids=str)
def test_a_path_that_is_moved_costs_no_more_than_is_said(assumption: Assumption) -> None:
    """Floats fall short of an expansion by a few units in the last place; steep ones make real distances of them."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        steps = [float(eta) for eta in rng.uniform(0.02, 0.1, 23)]
        noise = [float(std) for std in rng.uniform(0.5, 1.5, 23)]
        run = NoisySGD(
            23, steps, noise, 1.0, 5, batch_size=1, sampling="cyclic", diameter=float(rng.uniform(0.1, 1))
        )
        programs = [ShiftProgram(run, assumption, place) for place in range(5)]
        path = optimum(programs[2]).path
        said = positions._moved(programs, 2, path)
        shifts = np.array(list(positions._moved_shifts(programs, 2, path)))
        for place, program in enumerate(programs):
            start = max(path.start - (2 - place) % 5, 0)
            moved = Path(start, float(program.tracked[start]), shifts[start:, place])
            assert upper(program.cost(moved)) <= said[place]


@pytest.mark.parametrize("assumption", [Convex(1.0), Smooth(1.0), Holder(1.0, 0.5)], ids=str)
@pytest.mark.parametrize(("steps", "position"), [(1, 0), (2, 1), (4, 3), (4, 4), (9, 2)])
def test_a_distance_that_is_there_at_first_is_hidden_too(
    assumption: Assumption, steps: int, position: int
) -> None:
    """A few steps of an epoch, from the diameter: w of them cost D/sqrt(w) at least, in units of the noise."""
    run = NoisySGD(steps, 0.1, 1.0, 10.0, 20, batch_size=4, sampling="cyclic", diameter=1.0)
    program = ShiftProgram(run, assumption, position, initial=1.0)
    found = optimum(program)
    assert upper(program.cost(found.path)) <= upper(found.cost) * (1 + 1e-9)
    assert float(found.cost) >= (1 - 1e-12) / steps
