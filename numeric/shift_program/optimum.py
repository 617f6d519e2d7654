"""The cheapest path that can be found for a run, with its certified cost.

Every candidate is feasible, so the least of them is a valid bound, whichever route found it:

    composition               z stays at 0; nothing beats it from z = 0 where e(z) >= z + e(0)
    one last step             from the whole domain: e(D)^2, not D^2, since the noise comes after a gradient step
    closed form               affine expansion, exact optimum, O(1)                        (`affine`)
    taut string               affine expansion; cyclic or schedules, exact optimum (`participations`, `taut_string`)
    stationary shooting       constant program, concave expansion, finite diameter           (`shooting`)
    value iteration           the rest: other schedules, moduli with convex kinks            (`search`)
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from math import inf, isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.affine import best_window, window
from lastiterate.numeric.shift_program.participations import Encounters, cheapest
from lastiterate.numeric.shift_program.paths import GeometricPath, Path, Shifts
from lastiterate.numeric.shift_program.positions import composed, improved_cost, moved
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shift_program.search import horizon, search
from lastiterate.numeric.shift_program.shooting import shoot
from lastiterate.numeric.shift_program.sweeps import enclosed
from lastiterate.numeric.shift_program.taut_string import taut_string

__all__ = ["Optimum", "optimum", "worst_position"]

_CLOSE = 0.01
"""The lower end of an optimum is sought up to this share of its cost."""
_COARSE = 64


@dataclass(frozen=True)
class Optimum:
    """A feasible path, an enclosure of its cost (in units of the noise), and the route that found it.

    Attributes:
        cost: enclosed.
        path: the shifts.
        route: how they were found.
        program: what they solve; None where no one program stands behind the number.
        proved: whether a closed form shows that no path of the program costs less.
    """

    cost: arb
    path: Shifts
    route: str
    program: ShiftProgram | None = field(default=None, repr=False, compare=False)
    proved: bool = False

    @cached_property
    def lower(self) -> float | None:
        """What no path of the program costs less than, rounded down; None where no program is known.

        Where no closed form is known it is value iteration, rounded down, run when it is asked for.
        """
        with precision():
            if self.proved:
                return lower(self.cost)
            if self.program is None:
                return None
            length = horizon(self.program, _CLOSE / 10)
            return enclosed(self.program, self.path, length=length, tolerance=_CLOSE, cells=_COARSE).lower

    @property
    def gap(self) -> float | None:
        """(cost - lower) / cost, rounded up: the share of the cost that a better path could save at most."""
        if self.proved:
            return 0.0
        if self.lower is None:
            return None
        with precision():
            cost = upper(self.cost)
            return max(upper(1 - exact(self.lower) / exact(cost)), 0.0) if 0 < cost < inf else 0.0


def optimum(program: ShiftProgram) -> Optimum:
    """The cheapest path found; its cost is an upper bound of the optimum, and valid whatever the optimum is.

    Source: docs/proofs/affine_windows.md; the claims under chien_li/theorem_3_1 and theorem_3_7.
    """
    with precision():
        found = _composition(program)
        others, proved = _constant(program) if program.constant else _varying(program)
        for better in others:
            if better.cost.upper() < found.cost.upper():
                found = better
        return replace(found, program=program, proved=proved and not program.initial)


def worst_position(run: NoisySGD, assumption: Assumption) -> tuple[ShiftProgram, Optimum]:
    """The batch of an epoch in which a differing sample costs most, and what it costs.

    Where step size and noise are constant it is the batch of the last step: what hides a sample met k steps
    before the end hides it k steps later too, and then the state stays at 0 (claim ours/cyclic/last_step).
    With schedules any batch may be the one; it is searched only where the path of another, moved and improved, costs
    more there than the optimum of yet another.
    """
    if run.constant:
        program = ShiftProgram(run, assumption, (run.steps - 1) % run.batches)
        return program, optimum(program)
    # A later batch is never met.
    programs = [ShiftProgram(run, assumption, place) for place in range(min(run.batches, run.steps))]
    place = (run.steps - 1) % run.batches
    first, best = place, optimum(programs[place])
    found, tried = {place: best}, {place}
    if len(programs) > 1:
        ceiling = np.minimum(composed(programs), moved(programs, place, best.path))
        ceiling[place] = _up(best)
        while (place := int(ceiling.argmax())) not in found:
            if place in tried or best.proved:
                found[place] = optimum(programs[place])
                ceiling[place] = min(ceiling[place], _up(found[place]))
            else:
                tried.add(place)
                ceiling[place] = min(ceiling[place], improved_cost(programs, first, place, best.path))
    return programs[place], found[place]


def _up(found: Optimum) -> float:
    with precision():
        return upper(found.cost)


def _composition(program: ShiftProgram) -> Optimum:
    if program.initial:  # the last steps of a run: what is there already has to be hidden, too
        path = program.composition_path()
        return Optimum(program.cost(path), path, "composition")
    cost = program.composition()
    if program.constant:
        shift = upper(program.expansion(0).sensitivity)
        return Optimum(cost, GeometricPath(0, 0.0, shift, 1.0, program.steps), "composition")
    return Optimum(cost, program.composition_path(), "composition")


def _constant(program: ShiftProgram) -> tuple[list[Optimum], bool]:
    """The candidates besides composition, and whether the cheapest of them all is the optimum."""
    expansion, steps, diameter = program.expansion(0), program.steps, program.diameter
    noise = exact(program.noise_at(0))
    affine = expansion.affine_on(diameter)
    found: list[Optimum] = []
    last = program.last_step()
    if last.is_finite():
        path = GeometricPath(steps - 1, program.reach(steps - 1), upper(last.sqrt() * noise), 1.0, 1)
        found.append(Optimum(last, path, "one last step"))
    if affine is not None and affine[0] > 0:  # where c = 0 the last step is all there is
        starts = [(program.initial, window(*affine, exact(program.initial), steps))]
        if isfinite(diameter):
            starts.append((diameter, best_window(*affine, diameter, steps)))
        for distance, best in starts:
            if best is not None:
                c = affine[0]
                shifts = GeometricPath(steps - best.length, distance, float(best.lam / c), float(1 / c), best.length)
                found.append(Optimum(best.cost / noise**2, shifts, "closed form"))
    elif program.assumption.expansive and steps * upper(expansion.sensitivity) <= 4 * diameter:
        # Where e(z) >= z + s, w steps from distance Delta cost (Delta + w s)^2 / w or more: that is 4 D s from D, and
        # T s^2 where Delta is what earlier steps add up to. Composition is no worse.
        return found, True
    elif isfinite(diameter) and expansion.smooth and program.assumption.expansive:
        shot = shoot(expansion, diameter, steps)
        stationary = Path(steps - len(shot.shifts), diameter, shot.shifts)
        found.append(Optimum(program.cost(stationary), stationary, "stationary shooting"))
    elif isfinite(diameter) or not program.assumption.expansive:
        found += _searched(program)
    return found, affine is not None


def _periodic(program: ShiftProgram, met: range) -> list[Optimum] | None:
    """Cyclic batches with constant steps: the string of the affine expansion above, without a loop over the steps."""
    # The lines at 0 lie above e where e is concave: what they give is a feasible path even where it is not optimal.
    free, into = program.expansion(met[0] + 1).affine_on(0.0), program.expansion(met[0]).affine_on(0.0)
    if free is None or into is None or free[1] != 0:
        return None
    last = program.steps - met[-1]
    encounters = Encounters(
        *(free[0], into[0], into[1], program.noise_at(0)), program.steps, len(met), last, met.step, met.step
    )
    cost, path = cheapest(encounters, program.diameter)
    return [Optimum(cost / exact(program.noise_at(0)) ** 2, path, "taut string")]


def _varying(program: ShiftProgram) -> tuple[list[Optimum], bool]:
    """As `_constant`, for steps that are not all alike."""
    met = program.encounters
    if program.run.constant and isinstance(met, range) and met and not program.skipped:
        periodic = _periodic(program, met)
        if periodic is None:
            return _searched(program), False
        exactly = (program.expansion(met[0] + k).affine_on(program.diameter) for k in (0, 1))
        # Not all starts are tried, and a path a fraction of a percent cheaper may be missed: value iteration bounds it.
        return periodic if all(line is not None for line in exactly) else periodic + _searched(program), False
    # The line at 0 lies above e where e is concave: its taut string is a feasible path even where it is not optimal.
    found: list[Optimum] = []
    lines = list(takewhile(bool, (program.expansion(t).affine_on(0.0) for t in range(program.steps))))
    if len(lines) == program.steps:
        c, s = (np.array([float(one) for one in column]) for column in zip(*filter(None, lines), strict=True))
        noise = np.array([program.noise_at(t) for t in range(program.steps)])
        path = taut_string(c, s, noise, program.tracked[:-1])
        found.append(Optimum(program.cost(path), path, "taut string"))
    if all(program.expansion(t).affine_on(program.diameter) is not None for t in range(program.steps)):
        return found, True
    return found + _searched(program), False


def _searched(program: ShiftProgram) -> list[Optimum]:
    path = search(program)
    return [] if path is None else [Optimum(program.cost(path), path, "value iteration")]
