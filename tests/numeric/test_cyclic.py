"""Fixed batches in the same order in every epoch."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from bracketing import bracket
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram

# One participation moves an update by 2 eta K / b = 1, and the noise is 1.
_RUN = NoisySGD(
    20, step_size=0.1, noise_std=1.0, clip_norm=5.0, dataset_size=5, batch_size=1, sampling="cyclic"
)
_COSTS = (0.38198, 0.47324, 0.58681, 0.76869, 1.32117)


@pytest.mark.parametrize(("position", "cost"), list(enumerate(_COSTS)))
def test_each_position(position: int, cost: float) -> None:
    found = optimum(ShiftProgram(_RUN, StronglyConvex(1.0, 1.0), position))
    assert float(found.cost) == pytest.approx(cost, abs=5e-6)


def test_the_worst_position_has_the_value_of_bok_su_and_altschuler() -> None:
    c, batches, epochs = 0.9, 5, 4
    q = c ** (batches * (epochs - 1))
    value = 1 + c ** (2 * batches - 2) * (1 - c**2) / (1 - c**batches) ** 2 * (1 - q) / (1 + q)
    found = bound(_RUN, StronglyConvex(1.0, 1.0))
    assert found.position == 4
    assert found.cost == pytest.approx(value, rel=1e-12)


@st.composite
def _runs(draw: st.DrawFn) -> tuple[NoisySGD, Assumption]:
    batches = draw(st.integers(2, 5))
    run = NoisySGD(
        steps=draw(st.integers(1, 12)),
        step_size=0.1,
        noise_std=draw(st.floats(0.1, 3.0)),
        clip_norm=5.0,
        dataset_size=2 * batches,
        batch_size=2,
        sampling="cyclic",
        diameter=draw(st.one_of(st.just(inf), st.floats(0.05, 20.0))),
    )
    L = draw(st.floats(0.0, 5.0))
    kinds: list[Assumption] = [Smooth(L), Convex(L), StronglyConvex(L + 0.1, 0.1), Holder(L, 0.5), Clipped()]
    return run, draw(st.sampled_from(kinds))


@given(_runs())
@settings(max_examples=40)
def test_no_position_is_worse_than_the_one_reported(case: tuple[NoisySGD, Assumption]) -> None:
    run, assumption = case
    reported = bound(run, assumption).cost
    for position in range(run.batches):
        lower = bracket(ShiftProgram(run, assumption, position), tolerance=1e-4, cells=90).lower
        assert lower <= reported * (1 + 1e-12)


@given(_runs())
@settings(max_examples=60)
def test_never_below_linear_losses_or_quadratics(case: tuple[NoisySGD, Assumption]) -> None:
    run, assumption = case
    run = replace(run, diameter=inf)
    if isinstance(assumption, StronglyConvex):
        c = 1 - 0.1 * assumption.m
    else:
        c = 1.0
    s = 2 * run.step_size_at(0) * run.clip_norm / run.batch
    for position in range(run.batches):
        met = np.arange(run.steps) % run.batches == position
        left = c ** np.arange(run.steps - 1, -1, -1.0)
        exact = (s * left[met].sum()) ** 2 / (run.noise_std_at(0) ** 2 * (left**2).sum())
        assert float(optimum(ShiftProgram(run, assumption, position)).cost) >= exact * (1 - 1e-12)
        assert bound(run, assumption).cost >= exact * (1 - 1e-12)


def test_one_batch_is_a_full_batch() -> None:
    full = NoisySGD(50, 0.1, 1.0, 2.0, 5, diameter=1.0)
    cyclic = replace(full, batch_size=5, sampling="cyclic")
    for assumption in (Smooth(1.0), Convex(1.0), Holder(1.0, 0.5)):
        assert bound(cyclic, assumption).cost == bound(full, assumption).cost


def test_a_sample_that_is_never_met_costs_nothing() -> None:
    run = replace(_RUN, steps=3)
    assert float(optimum(ShiftProgram(run, Convex(1.0), 4)).cost) == 0.0
    assert bound(run, Convex(1.0)).position == 2
    assert bound(run, Convex(1.0)).cost == pytest.approx(1.0)


def test_composition_counts_participations() -> None:
    run = replace(_RUN, steps=1003)
    assert float(ShiftProgram(run, Smooth(1.0), 2).composition()) == pytest.approx(201.0)


@pytest.mark.parametrize(
    ("L", "steps"), [(0.1, 13), (0.1, 2003), (1.0, 103), (1.0, 2003), (30.0, 13), (30.0, 1003)]
)
def test_steps_that_expand_hide_each_participation_until_the_next(L: float, steps: int) -> None:
    """Sum of a_j c^-j = s over the five steps up to the next participation, at the price s^2 over the sum of c^-2j.

    Rounding errors of the shifts must not grow with c^T: else composition would be all that is left of long runs.
    """
    c = 1 + 0.1 * L
    hidden = 1 / sum(c ** (-2 * j) for j in range(5))
    found = bound(replace(_RUN, steps=steps), Smooth(L))
    assert found.cost == pytest.approx(1 + (steps // 5) * hidden, rel=1e-9)


def test_schedules_try_every_position() -> None:
    found = bound(replace(_RUN, steps=5, step_size=(0.1, 1.0, 0.1, 0.1, 0.1)), Convex(1.0))
    assert found.position == 1
    assert found.cost == pytest.approx(10.0**2 / 4)  # four steps are left to hide it
    assert "5 batches" in " ".join(found.assumptions)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"batch_size": 2}, "batch_size=2"),
        ({"sampling": "full"}, "batch_size=1"),
        ({"batch_size": 6}, "batch_size=6"),
        ({"sampling": "poisson"}, "sampling='poisson'"),
    ],
)
def test_bad_batches(changes: dict[str, object], part: str) -> None:
    with pytest.raises(InputError, match=part):
        replace(_RUN, **changes)
