"""Known participations without a loop over the steps, against the taut string over all steps."""

from collections.abc import Iterator
from math import inf

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.rounding import precision
from lastiterate.numeric.shift_program import taut_string as module
from lastiterate.numeric.shift_program.program import Path
from lastiterate.numeric.shift_program.taut_string import Participations, cheapest, taut_string


@st.composite
def _programs(draw: st.DrawFn) -> tuple[Participations, float]:
    c = draw(st.sampled_from([0.3, 0.9, 0.99, 1.0, 1.03, 1.3]))
    d = c if c <= 1 else draw(st.floats(1.0, c))
    period, count = draw(st.integers(1, 6)), draw(st.integers(1, 40 if c <= 1 else 6))
    last = draw(st.integers(1, period))
    gap = draw(st.integers(1, period)) if c <= 1 else period
    steps = last + (gap + (count - 2) * period if count > 1 else 0) + draw(st.integers(0, period - 1))
    D = draw(st.sampled_from([inf, 0.05, 0.3, 1.0, 3.0, 8.0]))
    return Participations(arb(c), arb(d), arb(1), 1.0, steps, count, last, gap, period), D


def _stepwise(met: Participations) -> tuple[np.ndarray, np.ndarray]:
    """c and s of every step."""
    at = [met.steps - met.before_end(k) for k in range(1, met.count + 1)]
    hit = np.isin(np.arange(met.steps), at)
    return np.where(hit, float(met.d), float(met.c)), np.where(hit, float(met.s), 0.0)


def _found(met: Participations, D: float) -> tuple[float, Path]:
    with precision():
        cost, path = cheapest(met, D)
        return float(cost), path


@pytest.fixture(
    params=[(1, 1, 1e2), (1, 8192, 1e2), (3, 5, 1e2), (128, 8192, 1e-3), (128, 8192, 1e2)], scope="module"
)
def whole(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Strings over fewer participations, at first and at most, and over less growth; tell whether over all."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("_SHORT", "_LONGEST", "_GROWTH"), request.param, strict=True):
            patch.setattr(module, name, value)
        yield request.param == (128, 8192, 1e2)


@given(_programs())
@settings(max_examples=50)
def test_the_taut_string_over_all_steps(whole: bool, case: tuple[Participations, float]) -> None:
    met, D = case
    c, s = _stepwise(met)
    tracked = [0.0]
    for grow, moved in zip(c, s, strict=True):
        tracked.append(D if np.isfinite(D) and c.max() > 1 else min(D, grow * tracked[-1] + moved))
    string = taut_string(c, s, np.ones(met.steps), np.array(tracked[:-1]))
    found, least = _found(met, D)[0], float(np.sum(string.shifts**2))
    assert found >= least * (1 - 1e-6)
    assert not whole or found <= least * (1 + 1e-6)


@pytest.mark.usefixtures("whole")
@given(_programs())
@settings(max_examples=50)
def test_the_path_hides_everything_at_its_cost(case: tuple[Participations, float]) -> None:
    met, D = case
    c, s = _stepwise(met)
    cost, path = _found(met, D)
    z = 0.0
    for grow, moved in zip(c[: path.start], s[: path.start], strict=True):
        z = min(D, grow * z + moved)
    assert z * (1 - 1e-9) <= path.distance <= D
    z = path.distance
    for t, shift in enumerate(path.shifts, start=path.start):
        z = max(c[t] * z + s[t] - shift, 0.0)
    assert z == pytest.approx(0.0, abs=1e-9)
    assert np.sum(path.shifts**2) == pytest.approx(cost, rel=1e-9)


def test_a_million_steps_in_few_pieces() -> None:
    cost, path = _found(Participations(arb(1), arb(1), arb(1), 1.0, 10**6, 10**4, 1, 100, 100), inf)
    assert cost == pytest.approx(1 + (10**4 - 1) / 100)
    assert callable(path.made)  # shifts are made when asked for
    cost, _ = _found(Participations(arb(0.9), arb(0.9), arb(1), 1.0, 10**6, 10, 1, 10**5, 10**5), inf)
    assert cost == pytest.approx(1.0)  # what was met 100,000 steps ago is forgotten
    cost, _ = _found(Participations(arb(1.1), arb(1.1), arb(1), 1.0, 10**6, 10, 1, 10**5, 10**5), 1e-3)
    assert cost == pytest.approx(1.0, rel=1e-2)  # growth by 1.1^100000 overflows nothing
