"""One path for the samples of all batches of an epoch, which come in a fixed order.

A path that hides one sample hides every other, moved to where that one is met.
"""

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.shift_program.paths import Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.search import improved

__all__ = ["composed", "improved_cost", "moved"]

Array = NDArray[np.float64]

_UP, _SLACK = 1 + 3e-14, 1 + 1e-9
"""Above the float errors of an expansion, and of a sum over a run."""


def improved_cost(programs: list[ShiftProgram], first: int, place: int, path: Shifts) -> float:
    """The cost of the cheapest path found near that of the first place, moved to another one, rounded up."""
    program, ahead = programs[place], (first - place) % programs[0].run.batches
    goal = np.append(_states(programs[first], path), np.zeros(ahead))
    start = max(path.start - ahead, 0)
    with precision():
        return upper(program.cost(improved(program, start, goal[start + 1 + ahead : program.steps + 1 + ahead])))


def composed(programs: list[ShiftProgram]) -> Array:
    """The cost of composition for each place, rounded up."""
    with precision():
        return np.array([upper(program.composition()) for program in programs])


def moved(programs: list[ShiftProgram], place: int, path: Shifts) -> Array:
    """What the path of one place costs at each place, moved to where the sample is met; rounded up.

    The distance there is at least what the runs can be apart, and every shift a hair longer than floats say.
    """
    first, epoch = programs[0], programs[0].run.batches
    steps, places = first.steps, np.arange(len(programs))
    goal = _states(programs[place], path)
    ahead = (place - places) % epoch
    z, spent = np.zeros(len(programs)), np.zeros(len(programs))
    for t in range(steps):
        met = t % epoch
        image = programs[(met + 1) % len(programs)].expansion(t).value(z)
        if met < len(programs):
            image[met] = programs[met].expansion(t).value(z[met : met + 1])[0]
        image = image * _UP
        wanted = goal[np.minimum(t + 1 + ahead, steps)]
        z = np.minimum(np.minimum(image, wanted), first.diameter)
        with np.errstate(invalid="ignore"):
            shift = np.where(wanted < first.diameter, image - z, 0.0)
        spent += (shift / first.noise_at(t)) ** 2
    return np.asarray(spent * _SLACK)


def _states(program: ShiftProgram, path: Shifts) -> Array:
    """The states of a path at the times 0..T; infinite before it starts."""
    states = np.full(program.steps + 1, np.inf)
    z = np.array([path.distance])
    for t, shift in enumerate(path.shifts[:-1].tolist(), start=path.start):
        z = np.maximum(program.expansion(t).value(z) - shift, 0.0)
        states[t + 1] = z[0]
    states[-1] = 0.0
    return states
