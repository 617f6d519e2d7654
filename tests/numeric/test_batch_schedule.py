"""Batch sizes that follow a schedule: against constant ones, exact losses of linear runs, and refusals."""

from dataclasses import replace
from fractions import Fraction
from math import comb, inf
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import lastiterate as li
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.random_batches import _prices
from lastiterate.numeric.lower.line import binomial_mixture, kinds_of_steps
from lastiterate.numeric.run_file import load_run

SAMPLINGS = ("poisson", "without_replacement")
STEPS, FEW, MANY = 20, 5, 10
HALVES = [FEW] * (STEPS // 2) + [MANY] * (STEPS // 2)


def run_of(batch_size: Any, sampling: str, **more: Any) -> li.NoisySGD:
    run = {"step_size": 1.0, "noise_std": 0.3, "clip_norm": 1.0, "dataset_size": 40, "diameter": 1.0, **more}
    return li.NoisySGD(STEPS, batch_size=batch_size, sampling=sampling, **run)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_list_of_one_number_is_that_number(sampling: str) -> None:
    assert run_of([FEW] * STEPS, sampling) == run_of(FEW, sampling)
    assert run_of(np.array(HALVES), sampling) == run_of(HALVES, sampling)
    assert run_of(HALVES, sampling).batch_at(STEPS - 1) == MANY


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("schedule", [HALVES, HALVES[::-1], [FEW, MANY] * (STEPS // 2)])
@pytest.mark.parametrize(("losses", "more"), [(li.Convex(0.25), {}), (li.Convex(0.25), {"weight_decay": 0.1})])
@pytest.mark.sweep(3)
def test_it_lies_between_its_extremes_and_above_what_a_run_loses(
    sampling: str, schedule: list[int], losses: li.Assumption, more: dict[str, Any]
) -> None:
    """With this noise a smaller batch costs more: the sample moves an iterate further, though more rarely."""
    target = {"delta": 1e-3} if schedule == HALVES else {"order": 4.0}
    low, found, high = (li.bound(run_of(b, sampling, **more), losses, **target) for b in (MANY, schedule, FEW))
    assert low.epsilon * 0.99 <= found.epsilon <= high.epsilon * 1.01
    assert found.epsilon <= bound_by_shifts(run_of(schedule, sampling, **more), losses, **target).epsilon
    assert li.lower_bound(run_of(schedule, sampling, **more), losses, **target).value <= found.epsilon


def met(rates: list[float]) -> np.ndarray:
    """Chances that the sample is in just this pattern of batches, shape (2^T,), the first step the highest bit."""
    found = np.ones(1)
    for rate in rates:
        found = np.concatenate([found * (1 - rate), found * rate]).reshape(2, -1).T.ravel()
    return found


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_exact_loss_of_linear_losses_is_bounded_and_met_from_below(sampling: str) -> None:
    """Six steps, all 64 patterns of batches: a mixture of Gaussians, its hockey stick by fine sums."""
    sizes, noise, delta = [5, 5, 5, 10, 10, 20], 0.4, 1e-3
    run = li.NoisySGD(6, 1.0, noise, 1.0, dataset_size=40, batch_size=sizes, sampling=sampling)
    weights = met([b / 40 for b in sizes])
    patterns = (np.arange(64)[:, None] >> np.arange(6)[::-1]) & 1
    places = patterns @ (1 / np.array(sizes)) * (1 if sampling == "poisson" else 2)
    edges = np.linspace(-6, 8, 4001)
    std = noise * 6**0.5
    first = weights @ np.diff(ndtr((edges - places[:, None]) / std), axis=1)
    second = np.diff(ndtr(edges / std))

    def delta_of(epsilon: float) -> float:
        return max(np.maximum(a - np.exp(epsilon) * b, 0).sum() for a, b in ((first, second), (second, first)))

    below = li.lower_bound(run, li.Convex(0.25), delta=delta).value
    above = li.bound(run, li.Convex(0.25), delta=delta).epsilon
    assert delta_of(above) <= delta * (1 + 1e-6)
    assert delta_of(below * 0.99) >= delta
    assert 0.5 * above < below <= above


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("schedule", [HALVES, HALVES[::-1]])
def test_a_projected_linear_run_loses_no_more_than_contraction_says(sampling: str, schedule: list[int]) -> None:
    """A walk on a grid over the domain [-1/2, 1/2], where every sample but one has no gradient."""
    points = np.linspace(-0.5, 0.5, 401)
    edges = np.concatenate([[-inf], (points[1:] + points[:-1]) / 2, [inf]])

    def kernel(move: float) -> np.ndarray:
        return np.diff(ndtr((edges[None, :] - points[:, None] - move) / 0.3), axis=1)

    without, with_ = (np.eye(401)[200] for _ in range(2))
    still = kernel(0.0)
    for b in schedule:
        q, moved = b / 40, kernel((1 if sampling == "poisson" else 2) / b)
        without, with_ = without @ still, (1 - q) * with_ @ still + q * with_ @ moved
    run = run_of(schedule, sampling)
    bound = li.bound(run, li.Convex(0.25), delta=1e-3)
    assert bound.route == "contraction"
    for a, b in ((with_, without), (without, with_)):
        assert np.maximum(a - np.exp(bound.epsilon) * b, 0).sum() <= 1e-3
    order = li.bound(run, li.Convex(0.25), order=4.0)
    assert np.log((with_**4.0 * without**-3.0).sum()) / 3 <= order.epsilon


def test_the_law_of_a_schedule_is_that_of_its_steps() -> None:
    """Two kinds of steps of one size and rate are one kind of twice as many."""
    q = Fraction(1, 4)
    law = binomial_mixture(((2, q, 0.5), (4, q, 0.5)), 1.0)
    low, high, missing = law.low, law.high, law.missing
    for k in range(7):
        here = np.isclose(law.places, 0.5 * k)
        exact = comb(6, k) * 0.25**k * 0.75 ** (6 - k)
        assert low[here].sum() <= exact <= high[here].sum() + missing
        assert high[here].sum() == pytest.approx(exact, rel=1e-12)


def test_a_schedule_of_too_many_kinds_has_no_such_witness() -> None:
    run = run_of(list(range(1, STEPS + 1)), "poisson", diameter=inf)
    assert li.lower_bound(run, li.Convex(0.25), delta=1e-3).value == 0.0
    assert kinds_of_steps(run) == ()
    assert li.bound(run, li.Convex(0.25), delta=1e-3).epsilon > 0


@pytest.mark.parametrize(
    ("batch_size", "sampling", "message"),
    [
        ([FEW] * 3, "poisson", r"or a list of steps=20 numbers, got 3 numbers"),
        ([41, *HALVES[1:]], "poisson", "at most dataset_size=40, got batch_size=41"),
        ([0, *HALVES[1:]], "poisson", r"batch_size\[0\]"),
        (HALVES, "cyclic", "one batch_size for all steps, got a list; .* call participation"),
        (HALVES, "full", "one batch_size for all steps, got a list"),
        (HALVES, "shuffled", "one batch_size for all steps, got a list"),
    ],
)
def test_schedules_without_a_meaning_are_refused(batch_size: list[int], sampling: str, message: str) -> None:
    with pytest.raises(li.InputError, match=message):
        run_of(batch_size, sampling)


def test_what_takes_no_schedule_says_so(tmp_path: Any) -> None:
    run = run_of(HALVES, "poisson")
    found = li.bound(run, li.Convex(0.25), delta=1e-3)
    assert any("b = its size in the schedule" in words for words in found.assumptions)
    with pytest.raises(li.InputError, match="one batch_size for all steps, got a schedule of 5 to 10"):
        found.certificate()
    for vary in ("batch_size", "steps"):
        with pytest.raises(li.InputError, match=f"vary='{vary}' needs .*, got a schedule"):
            li.calibrate(run, li.Convex(0.25), epsilon=1.0, delta=1e-3, vary=vary)
    free = replace(run, diameter=inf)
    planned = li.calibrate(free, li.Convex(0.25), epsilon=0.5, delta=1e-3)
    assert planned.run == replace(free, noise_std=planned.run.noise_std)
    path = tmp_path / "run.toml"
    path.write_text(
        f"[run]\nsteps = 20\nstep_size = 1.0\nnoise_std = 0.3\nclip_norm = 1.0\ndataset_size = 40\ndiameter = 1.0\n"
        f'sampling = "poisson"\nbatch_size = {HALVES}\n[assumption]\nkind = "convex"\nL = 0.25\n'
    )
    assert load_run(path) == (run, li.Convex(0.25))


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
def test_a_window_of_contraction_counts_on_the_highest_rate(sampling: str) -> None:
    """One step is on a sixth of the batch, at a sixth of the step size: it moves an iterate as far, more rarely."""

    def far(step_size: list[float], batch_size: list[int]) -> Array:
        run = li.NoisySGD(8, step_size, 0.02, 1.0, 60, batch_size=batch_size, sampling=sampling, diameter=0.1)
        prices = _prices(run, li.Convex(1.0), [(0, 8)], Goal(None, 1e-5, 1.0, lambda _: inf))
        assert prices is not None
        return prices[1](np.geomspace(1.0, 50.0, 40))

    assert np.all(far([0.1 / 6] + [0.1] * 7, [5] + [30] * 7) >= far([0.1] * 8, [30] * 8) * (1 - 1e-6))
