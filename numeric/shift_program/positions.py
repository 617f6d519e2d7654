"""The batch of an epoch in which a differing sample costs most, and its cost.

A path that hides the sample of one batch can be moved to the steps that use the sample of another batch, and
then hides that sample.

Source: docs/proofs/cyclic.md; claims ours/cyclic/last_step, chien_li/theorem_3_1/composition and
chien_li/remarks_3_1/last_step.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import ULPS, Affine
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.optimum import Optimum, optimum
from lastiterate.numeric.shift_program.program import Path, ShiftProgram
from lastiterate.numeric.shift_program.search import improve

_EPS = float(np.finfo(float).eps)
_UP = 1 + 2 * ULPS * _EPS
"""Factor that exceeds the float error of an expansion."""


def fixed_routes(
    run: NoisySGD, assumption: Assumption, _order: float | None, _delta: float | None, *, every: bool
) -> list[Candidate]:
    """Bounds by the cheapest path and, with ``every``, also by one last step and by composition."""
    if not meets_in_one_batch(run, assumption):
        alone = fixed_routes(replace(run, group=1), assumption, None, None, every=every)
        return [for_group(one, run) for one in alone]
    program, best = worst_position(run, assumption)
    with precision():
        pair, claim = DominatingPair(upper(best.cost)), run.scheme.claim or assumption.cited(run)
        window = (best.path.start, run.steps)
        found = [Candidate(best.route, claim, window, pair, optimum=best, position=program.position)]
        if every:
            last, all_steps = (
                DominatingPair(upper(program.last_step())),
                DominatingPair(upper(program.composition())),
            )
            window = (run.steps - 1, run.steps)
            found.append(Candidate("one last step", "chien_li/remarks_3_1/last_step", window, last))
            found.append(
                Candidate("composition", "chien_li/theorem_3_1/composition", (0, run.steps), all_steps)
            )
    return found


def meets_in_one_batch(run: NoisySGD, assumption: Assumption) -> bool:
    """Tell whether it is known that a group costs most if all of it is in the last batch of an epoch.

    It is if steps are equal and take a distance z to c z + s, c <= 1, with or without differing samples.
    """
    if run.group == 1 or run.period == 1:
        return True
    with precision():
        both = [assumption.expansion(run, 0, differs=k) for k in (0, run.group)]
        lines = [upper(one.contraction) for one in both if isinstance(one, Affine) and one.contraction <= 1]
        return run.constant and len(lines) == 2 and lines[0] == lines[1]


def for_group(found: Candidate, run: NoisySGD) -> Candidate:
    """A Gaussian bound for one sample, as a bound for a group: k changes of one sample cost k mu."""
    with precision():
        pair = DominatingPair(upper(exact(found.pair.cost) * run.group**2))
    return replace(found, pair=pair, route=f"{found.route}, mu times {run.group}", optimum=None)


def worst_position(run: NoisySGD, assumption: Assumption) -> tuple[ShiftProgram, Optimum]:
    """The program of the batch in which a differing sample costs most, and its optimum.

    For constant step size and noise, it is the batch of the last step (claim ours/cyclic/last_step). With
    schedules, a batch is searched only if the paths of other batches, moved to it and improved, cost more
    than the largest optimum.
    """
    if run.constant:
        program = ShiftProgram(run, assumption, (run.steps - 1) % run.batches)
        return program, optimum(program)
    # Batches after the last step are never used.
    start = ShiftProgram(run, assumption)
    programs = [start.at(place) for place in range(min(run.batches, run.steps))]
    last = (run.steps - 1) % run.batches
    first = max(range(len(programs)), key=lambda place: (programs[place].least(), place == last))
    best = optimum(programs[first])
    found, ceiling = {first: best}, np.full(1, _up(best))
    if len(programs) > 1:
        with precision():
            composed = np.array([upper(program.composition()) for program in programs])
        ceiling = np.minimum(composed, _moved(programs, first, best.path))
        ceiling[first] = _up(best)
    # A short move changes a cost little, so places are visited in the order in which they meet the sample.
    while over := set(np.flatnonzero(ceiling > max(ceiling[list(found)])).tolist()) - set(found):
        place = min(over, key=lambda place: (first - place) % run.batches)
        if not best.proved:
            ahead = (first - place) % run.batches
            begun = max(best.path.start - ahead, 0)
            goal = np.append(_states(programs[first], best.path), np.zeros(ahead))[begun + 1 + ahead :]
            path = improve(programs[place], begun, goal, max(ceiling[list(found)]))
            others = [each for each in range(len(programs)) if each not in found]
            ceiling[others] = np.minimum(ceiling, _moved(programs, place, path))[others]
        if ceiling[place] > max(ceiling[list(found)]):
            found[place] = optimum(programs[place])
            ceiling[place] = _up(found[place])
    place = max(found, key=lambda place: float(ceiling[place]))
    return programs[place], found[place]


def _up(found: Optimum) -> float:
    with precision():
        return upper(found.cost)


def _moved(programs: list[ShiftProgram], place: int, path: Path) -> Array:
    """Cost of the path for ``place`` when moved to each place, rounded up."""
    spent = np.zeros(len(programs))
    for t, shift in enumerate(_moved_shifts(programs, place, path)):
        spent += (shift / programs[0].noise_at(t)) ** 2
    return np.asarray(spent * (1 + (programs[0].steps + 8) * _EPS))  # 3 units of error per term, 1 per addition


def move_path(programs: list[ShiftProgram], place: int, other: int, path: Path) -> Path:
    """The path for ``place``, moved to the steps that use the sample of ``other``, without leading zeros."""
    shifts = np.array([step[other] for step in _moved_shifts(programs, place, path)])
    start = int(np.argmax(shifts > 0))
    return Path(start, float(programs[other].tracked[start]), shifts[start:])


def _moved_shifts(programs: list[ShiftProgram], place: int, path: Path) -> Iterator[Array]:
    """Shifts of the moved path at every place, step by step; until the path starts, states are tracked forward."""
    first, goal, z = programs[0], _states(programs[place], path), np.zeros(len(programs))
    ahead = (place - np.arange(len(programs))) % first.run.batches
    for t in range(first.steps):
        met = t % first.run.batches
        image = programs[(met + 1) % len(programs)].expansion(t).value(z)
        if met < len(programs):
            image[met] = programs[met].expansion(t).value(z[met : met + 1])[0]
        image = image * _UP
        wanted = goal[np.minimum(t + 1 + ahead, first.steps)]
        z = np.minimum(np.minimum(image, wanted), first.diameter)
        with np.errstate(invalid="ignore"):
            yield np.where(wanted < first.diameter, image - z, 0.0)


def _states(program: ShiftProgram, path: Path) -> Array:
    """The states of a path at the times 0..T; infinite up to its start."""
    states = np.full(program.steps + 1, np.inf)
    z = np.array([path.distance])
    for t, shift in enumerate(path.shifts[:-1].tolist(), start=path.start):
        z = np.maximum(program.expansion(t).value(z) - shift, 0.0)
        states[t + 1] = z[0]
    states[-1] = 0.0
    return states
