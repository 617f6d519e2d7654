"""The closed form and its feasibility test, against the state run forward."""

import mpmath as mp
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import settings as options
from hypothesis import strategies as st
from mpmath import mpf

from lastiterate.numeric.rounding import geometric_sum, precision
from lastiterate.numeric.shift_program.optimum import affine_window, best_window, untested_window

_QUICK = options(max_examples=200)
_C = st.one_of(st.floats(0.5, 1.5), st.just(1.0), st.floats(1 - 1e-9, 1 + 1e-9))


def _forward(c: float, s: float, delta: float, length: int) -> tuple[list[mpf], mpf]:
    """States and cost of the shifts lam c^-j, in 60 digits."""
    with mp.workdps(60):
        c_, s_, z = mpf(c), mpf(s), mpf(delta)
        V, W = (mp.fsum(c_ ** (-k * j) for j in range(1, length + 1)) for k in (1, 2))
        shifts = [(s_ * V + z) / W * c_**-j for j in range(1, length + 1)]
        line = [z]
        for a in shifts:
            line.append(c_ * line[-1] + s_ - a)
        return line, mp.fsum(a**2 for a in shifts)


@pytest.mark.parametrize("length", [1, 2, 3, 13])
def test_a_ratio_about_one_has_the_sums_of_all_that_it_may_be(length: int) -> None:
    with precision():
        found = geometric_sum(arb(1, 0.01), length)
        for ratio in (arb("0.99"), arb(1), arb("1.01")):
            assert found.contains(sum((ratio**k for k in range(1, length + 1)), arb(0)))


@_QUICK
@given(c=_C, s=st.floats(0.01, 2), delta=st.floats(0, 20), length=st.integers(1, 40))
def test_the_closed_form_is_the_cost_of_its_path(c: float, s: float, delta: float, length: int) -> None:
    line, cost = _forward(c, s, delta, length)
    with precision():
        found = untested_window(arb(c), arb(s), arb(delta), length)
        assert float(found.cost) == pytest.approx(float(cost), rel=1e-13)
        assert found.cost.rel_accuracy_bits() > 60
    assert abs(line[-1]) < mpf(10) ** -30


@_QUICK
@given(c=_C, s=st.floats(0.01, 2), delta=st.floats(0, 20), length=st.integers(1, 40))
def test_feasible_is_what_stays_above_zero(c: float, s: float, delta: float, length: int) -> None:
    line, _ = _forward(c, s, delta, length)
    lowest = min(line[:-1])
    assume(c <= 1 or not -1e-12 < lowest < 1e-12)  # on the edge itself only refusing is right
    with precision():
        accepted = affine_window(arb(c), arb(s), arb(delta), length) is not None
    assert accepted == (lowest >= 0)


@_QUICK
@given(c=_C, s=st.floats(0.05, 1), delta=st.floats(0.01, 20), steps=st.integers(1, 60))
def test_the_best_window_is_the_best_of_all(c: float, s: float, delta: float, steps: int) -> None:
    with precision():
        every = [affine_window(arb(c), arb(s), arb(delta), w) for w in range(1, steps + 1)]
        least = min(float(found.cost) for found in every if found is not None)
        best = best_window(arb(c), arb(s), delta, steps)
    assert best is not None
    assert float(best.cost) == pytest.approx(least, rel=1e-12)


def test_from_zero_an_expansion_has_no_feasible_window() -> None:
    for length in range(2, 30):
        assert affine_window(arb("1.01"), arb(1), arb(0), length) is None
        assert affine_window(arb("0.99"), arb(1), arb(0), length) is not None


def test_the_papers_split_is_worse_where_it_binds() -> None:
    # c = 0.9, s = 0.08, Delta = 1, window of 20 steps.
    assert float(untested_window(arb("0.9"), arb("0.08"), arb(1), 20).cost) == pytest.approx(0.1310, abs=5e-5)
