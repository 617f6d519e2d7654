"""How far from its program's optimum a path may be, as it says itself."""

from math import inf

import pytest

from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.fallback import plain_optimum
from lastiterate.numeric.shift_program.optimum import optimum
from lastiterate.numeric.shift_program.program import ShiftProgram


@pytest.mark.parametrize("diameter", [0.3, 3.0, inf])
@pytest.mark.parametrize("assumption", [Smooth(1.0), Convex(1.0), StronglyConvex(1.0, 0.2)], ids=str)
def test_a_closed_form_has_no_gap(assumption: Assumption, diameter: float) -> None:
    found = optimum(ShiftProgram(NoisySGD(40, 0.1, 1.0, 2.0, 5, diameter=diameter), assumption))
    assert found.proved
    assert found.gap == 0.0
    assert found.lower is not None
    assert found.lower <= float(found.cost) <= found.lower * (1 + 1e-15)


def test_a_search_has_a_gap_of_at_most_one_percent() -> None:
    found = optimum(ShiftProgram(NoisySGD(200, 0.1, 1.0, 2.0, 5, diameter=1.0), Holder(1.0, 0.5)))
    assert not found.proved
    assert found.lower is not None
    assert found.gap is not None
    assert 0 < found.gap <= 0.01
    assert found.lower == pytest.approx(float(found.cost) * (1 - found.gap), rel=1e-15)


def test_the_fallback_knows_no_gap() -> None:
    _, found = plain_optimum(NoisySGD(4, 0.1, 1e-200, 2.0, 5, diameter=1.0), Smooth(1.0))
    assert found.lower is None
    assert found.gap is None
