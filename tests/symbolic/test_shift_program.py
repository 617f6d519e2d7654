"""Closed forms of the affine shift program against brute force."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sympy import Integer, Rational

from lastiterate.symbolic.formulas.shift_program import (
    best_share,
    best_window_cost,
    cost,
    direct_cost,
    feasibility,
    level,
    split_cost,
    sums,
    v_sum,
    w_sum,
    window_cost,
)


def forward(c, s, start, shifts):
    """The state after the shifts."""
    z = start
    for a in shifts:
        z = c * z + s - a
    return z


rational = st.integers(1, 60).map(lambda k: Rational(k, 20))
steps = st.integers(1, 12)


@given(c=rational, w=steps)
def test_geometric_sums(c, w):
    assume(c != 1)
    assert sums(c, w) == (v_sum(c, Integer(w)), w_sum(c, Integer(w)))


@given(c=rational, s=rational, start=rational, w=steps)
def test_the_window_in_u_is_the_window_in_w(c, s, start, w):
    assume(c != 1)
    assert window_cost(c, s, start, c**-w) == direct_cost(c, s, start, w)


@given(c=rational, s=rational, start=rational, w=st.integers(2, 8))
def test_feasibility_is_that_no_state_is_negative(c, s, start, w):
    assume(c > 1)
    v, squares = sums(c, w)
    level = (s * v + start) / squares
    shifts = [level * c**-j for j in range(1, w + 1)]
    states = [forward(c, s, start, shifts[:k]) for k in range(w + 1)]
    assert states[-1] == 0
    assert (min(states) >= 0) == (feasibility(c, s, start, Integer(w)) >= 0)
    assert sum(a**2 for a in shifts) == cost(s, start, v, squares)


@given(c=rational, s=rational, start=rational)
def test_no_whole_window_beats_the_best_real_one(c, s, start):
    assume(c != 1)
    assume(start * (1 - c) < s)
    least = best_window_cost(c, s, start)
    assert all(direct_cost(c, s, start, w) >= least for w in range(1, 20))
    u = s / (s + start * (c - 1))
    assert abs(float(window_cost(c, s, start, u) / least) - 1) < 1e-9


@settings(max_examples=25)
@given(c=rational, s=rational, start=rational, w=st.integers(1, 5))
def test_split_cost_is_the_minimum_over_beta(c, s, start, w):
    """Against scipy over beta; a numerical minimum can only lie above the true one."""
    powers = np.array([float(c) ** (-2 * j) for j in range(1, w + 1)])

    def objective(beta):
        return float(s) ** 2 * np.sum(1 / beta) + float(start) ** 2 / np.sum((1 - beta) * powers)

    exact = float(split_cost(c, s, start, w))
    found = min(
        minimize(objective, np.full(w, first), bounds=[(1e-4, 1 - 1e-9)] * w, method="L-BFGS-B").fun
        for first in (0.3, 0.9)
    )
    assert exact <= found * (1 + 1e-9)
    assert exact == pytest.approx(found, rel=2e-3)
    assert exact >= float(direct_cost(c, s, start, w)) * (1 - 1e-12)


@given(c=rational, s=rational, start=rational, w=st.integers(1, 6))
def test_slack_shares_attain_the_direct_cost(c, s, start, w):
    line = level(s, start, *sums(c, w))
    shares = [best_share(c, s, line, Integer(j)) for j in range(1, w + 1)]
    assume(all(share < 1 for share in shares))
    paid = sum(s**2 / share for share in shares) + start**2 / sum(
        (1 - share) * c ** (-2 * j) for j, share in enumerate(shares, 1)
    )
    assert paid == direct_cost(c, s, start, w) == split_cost(c, s, start, w)
