"""Distances followed forward: those of a long run are what a loop over its steps would find."""

from math import inf

import pytest
from flint import arb

from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_KINDS: dict[str, Assumption] = {
    "clipped": Clipped(),
    "convex": Convex(1.0),
    "strongly convex": StronglyConvex(1.0, 0.5),
    "smooth": Smooth(0.5),
    "holder": Holder(0.5, 0.5),
    "sum": Sum(Smooth(0.3), Holder(0.5, 0.5)),
    "minimum": Minimum(Smooth(0.3), Holder(0.5, 0.5)),
    "tabulated": Tabulated((0.5, 3.0), (0.1, 0.6)),
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(("sampling", "diameter"), [("full", inf), ("cyclic", inf), ("cyclic", 60.0)])
def test_long_runs_are_tracked_as_by_a_loop(kind: str, sampling: str, diameter: float) -> None:
    batches = {"batch_size": 4} if sampling == "cyclic" else {}
    run = NoisySGD(1500, 0.1, 1.0, 2.0, 20, sampling=sampling, diameter=diameter, **batches)  # type: ignore[arg-type]
    program = ShiftProgram(run, _KINDS[kind], 2 if batches else 0)
    found = program.tracked
    with precision():
        z = arb(0)
        for t in range(run.steps):
            z = program.expansion(t).ball(z).upper().min(arb(diameter))
            assert z <= found[t + 1] <= min(diameter, float(z) * (1 + 1e-12))
