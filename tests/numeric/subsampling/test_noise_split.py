"""Shares of the noise: against a general minimiser, and every window evaluated again from its own parts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from lastiterate.numeric.accounting.batches import rate
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD, Schedule
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling import windows
from lastiterate.numeric.subsampling.noise_split import Shares, approximate_prices
from lastiterate.numeric.subsampling.windows import composition_route, split_windows

_RUN = NoisySGD(
    6, 0.5, 0.2, 1.0, dataset_size=50, batch_size=5, sampling="without_replacement", diameter=0.5
)  # a step moves 0.2, as much as its noise


def _shares(run: NoisySGD, assumption: Assumption, order: float) -> Shares:
    return Shares(run, ShiftProgram(run, assumption), order)


def _least(run: NoisySGD, c: float, order: float) -> float:
    """The optimum over the shares of each step of every window, by scipy; z' = c z from the tracked distance."""
    best = np.inf
    noise = np.array([run.noise_std_at(t) for t in range(run.steps)])
    full = noise / (0.5 * 2 / 5)
    for start in range(1, run.steps):  # from the beginning nothing is to be hidden: composition
        length = run.steps - start
        growth = c ** np.arange(1, length + 1)
        reach = min(run.diameter, 0.2 * (1 - c**start) / (1 - c))

        def cost(x: np.ndarray, start: int = start, growth: np.ndarray = growth, reach: float = reach) -> float:
            beta = 1 / (1 + np.exp(-x))
            prices = approximate_prices(0.1, full[start:] * np.sqrt(beta), "replace", order)
            width = float(np.sum((1 - beta) * (noise[start:] / growth) ** 2))
            return float(prices.sum() + order / 2 * reach**2 / width)

        best = min(best, minimize(cost, np.zeros(length), method="L-BFGS-B").fun)
    return best


_VARIED = (0.2, 0.3, 0.15, 0.25, 0.2, 0.4)


@pytest.mark.parametrize(
    ("noise", "m", "order", "gap"),
    [
        *((0.1, 1.0, 2.0, 3e-3), (0.1, 1.6, 2.0, 3e-3), (0.2, 1.6, 2.0, 3e-3), (0.2, 1.0, 8.0, 3e-3)),
        # Few steps leave a gap to the hull of the costs, most where steps differ.
        *(
            (0.2, 1.0, 2.0, 0.035),
            (_VARIED, 1.0, 2.0, 0.011),
            (_VARIED, 0.4, 8.0, 0.02),
            (_VARIED, 1.6, 2.0, 0.23),
        ),
    ],
    ids=str,
)
def test_straight_windows_are_the_optimum(noise: Schedule, m: float, order: float, gap: float) -> None:
    run = replace(_RUN, noise_std=noise)
    [(_, window)] = split_windows(_shares(run, StronglyConvex(2.0, m), order))
    assert window.window[0] > 0
    least = _least(run, 1 - 0.5 * m, order)
    assert least * (1 - 3e-3) <= window.pair.rdp(order) <= least * (1 + gap)


def test_a_window_from_the_beginning_is_composition() -> None:
    """All but for the grid of the search."""
    [(_, window)] = split_windows(_shares(_RUN, StronglyConvex(2.0, 0.4), 8.0))
    assert window.window == (0, 6)
    assert window.pair.rdp(8.0) == pytest.approx(composition_route(_RUN).rdp(8.0), rel=1e-2)


@given(
    st.integers(1, 60),
    st.floats(0.05, 1.0),
    st.floats(0.05, 2.0),
    st.floats(1.1, 30.0),
    st.sampled_from(
        [Convex(1.0), StronglyConvex(1.0, 0.3), Smooth(0.3), Holder(0.3, 0.5), Clipped(), Smooth(20.0)]
    ),
)
@settings(max_examples=30)
def test_windows_are_feasible(
    steps: int, noise: float, diameter: float, order: float, assumption: Assumption
) -> None:
    """No step has more noise than it has, and the shifts cannot cost less than with all of the noise for them."""
    run = replace(_RUN, steps=steps, noise_std=noise, diameter=diameter)
    free = 2 * 0.5 * 1.0 / 5
    shares = _shares(run, assumption, order)
    for estimate, window in split_windows(shares):
        parts, length = window.pair.steps, steps - window.window[0]
        assert sum(step.count for step in parts) == length
        assert all(0 < step.multiplier < noise / free for step in parts)
        spent = sum(step.count * (step.multiplier * free / noise) ** 2 for step in parts)
        left = length - spent
        assert window.share == pytest.approx(spent / length)
        reach, factor = float(shares.reach[length - 1]), 1 - 0.5 * 0.3
        growth = factor if isinstance(assumption, StronglyConvex) else 1.0
        # With c <= 1 shifts are cheapest all at the end, where c^w reach is left; otherwise all of it is to be hidden.
        assert window.pair.cost >= (growth**length * reach) ** 2 / (left * noise**2) * (1 - 1e-9)
        assert estimate == pytest.approx(window.pair.rdp(order), rel=1e-3)


def test_noise_that_is_spent_on_prices_hides_nothing() -> None:
    """A multiplier of the whole noise leaves no shift, and a window without shifts no cost that is finite."""
    shares = _shares(_RUN, StronglyConvex(2.0, 1.0), 2.0)
    whole = shares.most[:3]
    assert (shares.left(whole) == 0).all()
    assert shares.left(whole * 0.6) == pytest.approx(0.64, rel=1e-12)
    assert (shares.left(whole * 0.6) <= 1 - 0.6**2).all()
    assert shares.window(whole, np.inf, 0.0) == []
    assert windows._cost(shares, whole) == np.inf
    c, noise = 0.5, 0.2
    width = sum(0.64 * (noise / c**k) ** 2 for k in (1, 2, 3))
    cost = windows._cost(shares, whole * 0.6)
    assert cost == pytest.approx(float(shares.reach[2]) ** 2 / width, rel=1e-12)
    [(_, found)] = shares.window(whole * 0.6, cost, 1.5)
    assert (found.window, found.pair.cost) == ((3, 6), cost)
    assert [(step.count, step.rate) for step in found.pair.steps] == [(3, rate(_RUN))]
    assert found.share == pytest.approx(0.36)
