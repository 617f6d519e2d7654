"""The certified bracket, and what `bound` and shooting return against it."""

from math import isfinite

import numpy as np
import pytest
from bracketing import Bracket, bracket
from oracle import SLACK, cost
from programs import Case, random_cases
from scipy.optimize import minimize

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import Smooth
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.search import shoot

pytestmark = pytest.mark.usefixtures("sixty_digits")

_EVERY_NIGHT = [case for seed in range(10, 20) for case in random_cases(seed, 50)]
_EVERY_NIGHT_SCHEDULED = [case for seed in range(20, 24) for case in random_cases(seed, 50, schedule=True)]


def _check(case: Case) -> None:
    program = ShiftProgram(case.run, case.assumption)
    found = bracket(program)
    assert found.gap <= case.tolerance
    ours = bound(case.run, case.assumption).cost
    assert found.lower <= ours <= found.upper * (1 + case.tolerance)
    assert cost(case.run, case.assumption, found.path, "path") <= found.upper * (1 + SLACK)
    if case.run.constant and program.expansion(0).concave and program.expansive:
        shot = shoot(program.expansion(0), program.diameter, program.steps)
        assert np.sum(shot**2) >= found.lower * program.noise_at(0) ** 2 * (1 - 1e-12)  # a float estimate


def test_random_programs(subtests: pytest.Subtests) -> None:
    for case in [*random_cases(1, 15)]:
        with subtests.test(case=case):
            _check(case)


def test_random_schedules(subtests: pytest.Subtests) -> None:
    for case in [*random_cases(2, 6, schedule=True)]:
        with subtests.test(case=case):
            _check(case)


@pytest.mark.nightly
@pytest.mark.parametrize("case", _EVERY_NIGHT, ids=str)
def test_many_random_programs(case: Case) -> None:
    _check(case)


@pytest.mark.nightly
@pytest.mark.parametrize("case", _EVERY_NIGHT_SCHEDULED, ids=str)
def test_many_random_schedules(case: Case) -> None:
    _check(case)


def _short(seed: int, count: int, *, schedule: bool) -> list[Case]:
    """Random programs cut to at most six steps, with a domain that a few of them can hide."""
    cases = []
    for case in random_cases(seed, count, schedule=schedule):
        run, T = case.run, 3 + len(cases) % 4
        cut = {
            name: value[:T] if isinstance(value, tuple) else value
            for name, value in (("step_size", run.step_size), ("noise_std", run.noise_std))
        }
        cut = NoisySGD(
            steps=T, clip_norm=run.clip_norm, dataset_size=run.dataset_size, diameter=run.diameter, **cut
        )
        cases.append(Case(case.kind, cut, case.assumption, case.tolerance))
    return cases


def _brute_force(program: ShiftProgram, rng: np.random.Generator) -> float:
    """Least cost over the states in between, by SLSQP from many random starts, for every start of the window."""
    best = np.inf
    noise = np.array([program.noise_at(t) for t in range(program.steps)])
    for start in range(program.steps):
        top = program.tracked[start]
        free = program.steps - start - 1
        bounds = [(0.0, float(program.tracked[t])) for t in range(start + 1, program.steps)]

        def spent(z: np.ndarray, start: int = start, top: float = top) -> float:
            line = np.concatenate([[top], np.maximum(z, 0.0), [0.0]])
            ahead = np.array(
                [program.expansion(start + i).value(line[i : i + 1])[0] for i in range(len(line) - 1)]
            )
            return float(np.sum((np.maximum(ahead - line[1:], 0.0) / noise[start:]) ** 2))

        if free == 0:
            best = min(best, spent(np.zeros(0)))
            continue
        highs = np.array([high for _, high in bounds])
        scale = spent(np.zeros(free))
        for _ in range(6):
            first = highs * np.sort(rng.uniform(0, 1, free))[::-1]
            found = minimize(
                lambda z, spent=spent, scale=scale: spent(z) / scale, first, method="SLSQP", bounds=bounds
            )
            best = min(best, spent(np.clip(found.x, 0, highs)))
    return best


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # SLSQP steps a little outside its bounds
@pytest.mark.parametrize("schedule", [False, True], ids=["constant", "schedule"])
def test_brute_force_never_beats_the_lower_end(schedule: bool) -> None:
    rng = np.random.default_rng(5)
    close = 0
    cases = _short(7, 20, schedule=schedule)
    for case in cases:
        program = ShiftProgram(case.run, case.assumption)
        found, tried = bracket(program), _brute_force(program, rng)
        assert tried >= found.lower * (1 - 1e-12), case
        assert bound(case.run, case.assumption).cost <= tried * (1 + 1e-6), case
        close += tried <= found.upper * (1 + 1e-5)
    assert close >= 0.8 * len(cases)  # the search itself finds the optimum, or the comparison would be empty


def test_a_bracket_improves_the_path_it_is_given() -> None:
    run = NoisySGD(steps=40, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=0.4)
    program = ShiftProgram(run, Smooth(1))
    found = bracket(program, program.composed_path())
    assert isfinite(found.upper)
    assert found.upper < float(program.composition())


def test_the_gap_is_relative() -> None:
    path = bracket(ShiftProgram(NoisySGD(1, 0.1, 1.0, 1.0, 4, diameter=1.0), Smooth(1.0))).path
    assert Bracket(1.0, 4.0, path).gap == 0.75
    assert Bracket(0.0, 0.0, path).gap == 0.0
