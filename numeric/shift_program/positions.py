"""The batch of an epoch in which a differing sample costs most, of batches that come in a fixed order.

Where step size and noise are constant it is the batch of the last step: what hides a sample met k steps before the end
hides it k steps later too, and then the state stays at 0 (claim ours/cyclic/last_step). With schedules any batch may be
the one. A path that hides one sample hides every other, moved to where that one is met; so a batch is searched only
where all paths known, moved, cost more than the optimum of another.
"""

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.paths import Shifts
from lastiterate.numeric.shift_program.program import ShiftProgram

__all__ = ["worst_position"]

Array = NDArray[np.float64]

_UP, _SLACK = 1 + 3e-14, 1 + 1e-9
"""Above the float errors of an expansion, and of a sum over a run."""


def worst_position(run: NoisySGD, assumption: Assumption) -> tuple[ShiftProgram, Optimum]:
    """The batch of an epoch in which a differing sample costs most, and what it costs."""
    if run.constant:
        program = ShiftProgram(run, assumption, (run.steps - 1) % run.batches)
        return program, optimum(program)
    # A later batch is never met.
    programs = [ShiftProgram(run, assumption, place) for place in range(min(run.batches, run.steps))]
    found: dict[int, Optimum] = {}
    ceiling = _composed(programs) if len(programs) > 1 else np.full(1, np.inf)
    place = (run.steps - 1) % run.batches
    while place not in found:
        found[place] = optimum(programs[place])
        if len(found) < len(programs):
            ceiling = np.minimum(ceiling, _moved(programs, place, found[place].path))
        with precision():
            for solved, best in found.items():
                ceiling[solved] = upper(best.cost)
        place = int(ceiling.argmax())
    return programs[place], found[place]


def _composed(programs: list[ShiftProgram]) -> Array:
    """The cost of composition for each place, rounded up."""
    with precision():
        return np.array([upper(program.composition()) for program in programs])


def _moved(programs: list[ShiftProgram], place: int, path: Shifts) -> Array:
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
