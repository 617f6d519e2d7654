"""Shift programs of Poisson runs, for batches of a size within a range."""

from dataclasses import replace
from math import isfinite, log

from lastiterate.numeric.losses.assumptions import Sized
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_SHORTEST = 4096
"""Steps that are kept at least."""


def last_steps(run: NoisySGD, sized: Sized, tail: float) -> ShiftProgram:
    """The program of the run, or of last steps from the diameter after which c^w D is a 1e-12th of what a step adds."""
    fixed = fixed_size(run)
    program = ShiftProgram(fixed, sized)
    line = program.expansion(0).affine_on(run.diameter)
    if program.expansive or not tail or not run.constant or not isfinite(run.diameter) or line is None:
        return program
    c, s = map(float, line)
    if not 0 < c < 1:
        return program
    steps = int(log(max(1e12 * run.diameter / s, 2.0)) / -log(c)) + _SHORTEST
    return program if steps >= run.steps else ShiftProgram(replace(fixed, steps=steps), sized, initial=run.diameter)


def fixed_size(run: NoisySGD) -> NoisySGD:
    """A run of batches of a fixed size b, with the same steps."""
    if isinstance(run.batch_size, tuple):
        return replace(run, sampling="without_replacement", adjacency="replace")
    return replace(run, dataset_size=run.batch, batch_size=None, sampling="full", adjacency="replace")
