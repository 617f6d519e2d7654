"""Value iteration over epochs against every order, one by one, by the taut string."""

from dataclasses import fields
from itertools import product
from math import inf

import numpy as np
import pytest

from lastiterate.numeric.shift_program.taut_string import taut_string
from lastiterate.numeric.shuffling.epoch_value_iteration import (
    Epoch,
    Shuffled,
    iterate,
    merge_epoch,
    merge_equal_epoch,
)


def _orders(T: int, per: int, c: float, d: float, D: float) -> np.ndarray:
    """The exact cost of every order of T steps, ``per`` an epoch; s = sigma = 1."""
    costs = []
    for places in product(range(per), repeat=-(-T // per)):
        met = np.array([t % per == places[t // per] for t in range(T)])
        growth, step = np.where(met, d, c), np.where(met, 1.0, 0.0)
        tracked = [0.0]
        for grow, moved in zip(growth, step, strict=True):
            tracked.append(min(D, grow * tracked[-1] + moved))
        costs.append(float(np.sum(taut_string(growth, step, np.ones(T), np.array(tracked[:-1])).shifts ** 2)))
    return np.array(costs)


def _run(T: int, per: int, c: float, d: float, D: float, *, ahead: int = 3) -> Shuffled:
    def epoch(steps: int) -> Epoch:
        return merge_epoch(*(np.full(steps, x) for x in (c, d, 1.0, 1.0)), per)

    full, cut = epoch(per), epoch(T % per or per)
    count = -(-T // per)
    return Shuffled(lambda k: cut if k == count - 1 else full, count, True, D, min(D, 20.0), 1.0, ahead)


def test_above_every_order_and_close(subtests: pytest.Subtests) -> None:
    for D in [inf, 1.5, 0.3]:
        for c, d in [(1.0, 1.0), (0.9, 0.9), (1.1, 1.04)]:
            for T, per in [(9, 3), (7, 3), (10, 5), (2, 3), (8, 2)]:
                with subtests.test(T=T, per=per, c=c, d=d, D=D):
                    exact = _orders(T, per, c, d, D)
                    for alpha in (1.02, 2.0, 6.0):
                        kappa = alpha * (alpha - 1) / 2
                        mean = float(np.log(np.mean(np.exp(kappa * exact))) / kappa)
                        found, *_ = iterate(_run(T, per, c, d, D), kappa)
                        assert mean * (1 - 1e-12) <= found <= mean * 1.06
                    found, *_ = iterate(_run(T, per, c, d, D), None)
                    assert exact.max() * (1 - 1e-12) <= found <= exact.max() * 1.05


def test_a_finer_grid_is_closer() -> None:
    exact = _orders(10, 5, 1.0, 1.0, inf)
    mean = float(np.log(np.mean(np.exp(exact))))
    gaps = [iterate(_run(10, 5, 1.0, 1.0, inf), 1.0, cells=cells)[0] / mean - 1 for cells in (8, 32, 128)]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 1e-4


def test_less_known_ahead_costs_more() -> None:
    known, unknown = (iterate(_run(12, 3, 1.0, 1.0, inf, ahead=k), 1.0)[0] for k in (4, 0))
    assert known < unknown


def test_what_stands_in_for_the_rest_is_above_it() -> None:
    """Extrapolated over 3,000 epochs, against the same with every epoch iterated."""
    run = _run(9000, 3, 1.0, 1.0, inf)
    found, *_ = iterate(run, 1.0)
    each, *_ = iterate(Shuffled(run.epoch, run.count, False, inf, run.reach, 1.0, 3), 1.0)
    assert each <= found <= each * 1.001


@pytest.mark.parametrize("c", [0.0, 0.7, 1.0, 1.05])
def test_equal_steps_in_closed_form(c: float) -> None:
    for steps in (1, 5, 40):
        one_by_one = merge_epoch(*(np.full(steps, x) for x in (c, c, 0.3, 0.7)), 40)
        closed = merge_equal_epoch(c, c, 0.3, 0.7, steps, 40)
        for field in fields(Epoch):
            assert getattr(closed, field.name) == pytest.approx(
                getattr(one_by_one, field.name), rel=1e-12, abs=0
            )


def test_participations_taken_together_cost_no_less() -> None:
    for c in (0.9, 1.0, 1.05):
        epochs = [
            merge_equal_epoch(c, c, 1.0, 1.0, 40, 40, at) for at in (None, [4, 9, 19, 29, 34, 36, 37, 38, 39])
        ]
        runs = [Shuffled(lambda _k, e=epoch: e, 3, True, 2.0, 2.0, 1.0, 0) for epoch in epochs]  # type: ignore[misc]
        for kappa in (0.5, None):
            exact, coarse = (iterate(run, kappa)[0] for run in runs)
            assert exact * (1 - 1e-5) <= coarse <= 1.8 * exact  # each is on a grid
