"""Paths of shifts that hide the diameter of the domain within a window of steps."""

from dataclasses import replace

import numpy as np

from lastiterate.numeric.rounding import precision
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.paths import Path
from lastiterate.numeric.shift_program.program import ShiftProgram


def hidden(program: ShiftProgram) -> Optimum:
    """The lesser of the optimum that is found for a program that starts with a distance, and of a straight line."""
    found, steps = optimum(program), program.steps
    if steps == 1 or found.proved or program.expansion(0).affine_on(program.diameter) is not None:
        return found
    states = program.initial * np.linspace(1.0, 0.0, steps + 1)
    images = [float(program.expansion(t).value(states[t : t + 1])[0]) for t in range(steps)]
    path = Path(0, program.initial, np.maximum(np.array(images) - states[1:], 0.0))
    with precision():
        cost = program.cost(path)
        return replace(found, cost=cost, path=path) if cost.upper() < found.cost.upper() else found
