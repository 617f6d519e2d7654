"""Expansions of many steps at once are those of each step."""

import numpy as np
import pytest

from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.losses.expansion import Stack
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_TABLE = Tabulated((0.2, 0.5), (0.05, 0.1))
_KINDS: list[Assumption] = [
    *(Clipped(), Smooth(1.0), Holder(0.3, 0.4), Convex(2.0), StronglyConvex(2.0, 0.5), _TABLE),
    *(Sum(Smooth(0.2), _TABLE), Blocks(Holder(0.3, 0.4), Smooth(0.2), _TABLE)),
    *(Minimum(Smooth(1.0), Holder(0.3, 0.4)), Minimum(Convex(2.0), Smooth(0.1), Clipped())),
]


@pytest.mark.parametrize("assumption", _KINDS, ids=str)
def test_every_row_is_that_of_its_step(assumption: Assumption) -> None:
    rng = np.random.default_rng(0)
    run = NoisySGD(12, rng.uniform(0.1, 0.5, 12).tolist(), 1.0, 1.0, 6, batch_size=2, sampling="cyclic", diameter=2.0)
    each = [ShiftProgram(run, assumption, 1).expansion(t) for t in range(12)]
    z = np.sort(np.append(rng.uniform(0, 2, (5, 40)), np.zeros((5, 1)), axis=1), axis=1)
    found = Stack(each).value(slice(3, 8), z)
    assert np.array_equal(found, [e.value(row) for e, row in zip(each[3:8], z, strict=True)])


def test_steps_of_several_kinds() -> None:
    run = NoisySGD(4, 0.1, 1.0, 1.0, 5, diameter=2.0)
    each = [ShiftProgram(run, one).expansion(0) for one in (Smooth(1.0), Convex(2.0), Holder(0.3, 0.4), Smooth(2.0))]
    z = np.linspace(0, 2, 20).reshape(4, 5)
    assert np.array_equal(Stack(each).value(slice(0, 4), z), [e.value(row) for e, row in zip(each, z, strict=True)])
