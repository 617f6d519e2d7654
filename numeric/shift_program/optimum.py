"""The cheapest path found for a run, with its certified cost.

Every candidate is feasible, so the cheapest candidate is a valid bound:

    composition               z stays at 0; optimal from z = 0 for equal steps with e(z) >= z + e(0)
    one last step             from the whole domain: e(D)^2, not D^2, since the noise follows a gradient step
    closed form               affine expansion, exact optimum, O(1)                        (`best_window`)
    taut string               affine expansion; cyclic or schedules, exact optimum         (`taut_string`)
    stationary shooting       constant program, concave expansion, finite diameter         (`search.shoot`)
    value iteration           all others: other schedules, moduli with convex kinks        (`search.search`)

For e(z) = c z + s and w steps from distance Delta, the closed form, if feasible, costs (s V + Delta)^2 / W
with V = sum c^-j and W = sum c^-2j over j = 1..w. The minimum over w is near c^w = 1 + Delta (c - 1) / s, or
w = Delta / s at c = 1.

Source: docs/proofs/affine_windows.md; claims chien_li/theorem_3_1/*, theorem_3_7/*.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import ceil, inf, isfinite, log, log1p

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.rounding import exact, geometric_sum, precision, upper
from lastiterate.numeric.shift_program.program import Path, ShiftProgram
from lastiterate.numeric.shift_program.search import search, shoot
from lastiterate.numeric.shift_program.taut_string import Participations, cheapest, taut_string

_NARROWER, _FOLLOWED, _ROUNDED = 0.9, 20_000, 1e-9


@dataclass(frozen=True)
class Optimum:
    """A feasible path, an enclosure of its cost mu^2, and whether the path is ``proved`` to be optimal."""

    cost: arb
    path: Path
    route: str
    program: ShiftProgram | None = field(default=None, repr=False, compare=False)
    proved: bool = False


def optimum(program: ShiftProgram) -> Optimum:
    """Find a cheap path, optimal or not."""
    with precision():
        path = program.composed_path()
        # The last steps of a run must also hide the initial distance.
        cost = program.cost(path) if program.initial else program.composition()
        found = Optimum(cost, path, "composition")
        others, proved = _constant(program) if program.constant else _varying(program)
        for better in others:
            if better.cost.upper() < found.cost.upper():
                found = better
        return replace(found, program=program, proved=proved and not program.initial)


def hide_initial(program: ShiftProgram) -> Optimum:
    """Find a path that hides an initial distance: by `optimum`, or a straight line if cheaper."""
    found, steps = optimum(program), program.steps
    if steps == 1 or found.proved or program.expansion(0).affine_on(program.diameter) is not None:
        return found
    states = program.initial * np.linspace(1.0, 0.0, steps + 1)
    images = [float(program.expansion(t).value(states[t : t + 1])[0]) for t in range(steps)]
    path = Path(0, program.initial, np.maximum(np.array(images) - states[1:], 0.0))
    with precision():
        cost = program.cost(path)
        return replace(found, cost=cost, path=path) if cost.upper() < found.cost.upper() else found


def _constant(program: ShiftProgram) -> tuple[list[Optimum], bool]:
    """Candidates other than composition, and whether the cheapest of all candidates is optimal."""
    expansion, steps, diameter = program.expansion(0), program.steps, program.diameter
    noise = exact(program.noise_at(0))
    affine = expansion.affine_on(diameter)
    found: list[Optimum] = []
    last = program.last_step()
    if last.is_finite():
        path = Path(steps - 1, program.reach(steps - 1), np.array([upper(last.sqrt() * noise)]))
        found.append(Optimum(last, path, "one last step"))
    if affine is not None and affine[0] > 0:  # if c = 0, only the last step matters
        starts = [(program.initial, affine_window(*affine, exact(program.initial), steps))]
        if isfinite(diameter):
            starts.append((diameter, best_window(*affine, diameter, steps)))
        for distance, best in starts:
            if best is not None:
                path = best.path(affine[0], steps, distance)
                found.append(Optimum(best.cost / noise**2, path, "closed form"))
    elif program.expansive and steps * upper(expansion.sensitivity) <= 4 * diameter:
        # If e(z) >= z + s, w steps from distance Delta cost at least (Delta + w s)^2 / w: 4 D s for Delta = D, and
        # T s^2 for Delta = (T - w) s, the least tracked distance. Composition costs no more.
        return found, True
    elif isfinite(diameter) and expansion.concave and program.expansive:
        shifts = shoot(expansion, diameter, steps)
        stationary = Path(steps - len(shifts), diameter, shifts)
        found.append(Optimum(program.cost(stationary), stationary, "stationary shooting"))
    elif isfinite(diameter) or not program.expansive:
        found += _searched(program)
    return found, affine is not None


def _periodic(program: ShiftProgram, met: range) -> list[Optimum] | None:
    # The lines at 0 lie above a concave e, so their path is feasible, though not always optimal.
    free, into = program.expansion(met[0] + 1).affine_on(0.0), program.expansion(met[0]).affine_on(0.0)
    if free is None or into is None or free[1] != 0:
        return None
    last = program.steps - met[-1]
    participations = Participations(
        *(free[0], into[0], into[1], program.noise_at(0)), program.steps, len(met), last, met.step, met.step
    )
    cost, path = cheapest(participations, program.diameter)
    return [Optimum(cost / exact(program.noise_at(0)) ** 2, path, "taut string")]


def _varying(program: ShiftProgram) -> tuple[list[Optimum], bool]:
    met = program.participations
    if program.run.constant and isinstance(met, range) and met and not program.skipped and not program.initial:
        periodic = _periodic(program, met)
        if periodic is None:
            return _searched(program), False
        inside = _inside(program, periodic) if program.steps <= _FOLLOWED else None
        if inside is not None:
            return inside, True
        exactly = (program.expansion(met[0] + k).affine_on(program.diameter) for k in (0, 1))
        # The path is not proved optimal: with very many participations, not every start is tried.
        return periodic if all(line is not None for line in exactly) else periodic + _searched(program), False
    # The line at 0 lies above a concave e, so its taut string is feasible, though not always optimal.
    path = _string(program, 0.0, program.tracked[:-1])
    found = [] if path is None else [Optimum(program.cost(path), path, "taut string")]
    if all(program.expansion(t).affine_on(program.diameter) is not None for t in range(program.steps)):
        return found, True
    inside = _inside(program, found) if found else None
    if inside is not None:
        return inside, True
    return found + _searched(program), False


def _string(program: ShiftProgram, widest: float, tracked: Array) -> Path | None:
    """The taut string of all steps, or None unless each step is affine up to the distance ``widest``."""
    lines = list(takewhile(bool, (program.expansion(t).affine_on(widest) for t in range(program.steps))))
    if len(lines) < program.steps:
        return None
    c, s = (np.array([float(one) for one in column]) for column in zip(*filter(None, lines), strict=True))
    return taut_string(c, s, np.array([program.noise_at(t) for t in range(program.steps)]), tracked)


def _inside(program: ShiftProgram, found: list[Optimum]) -> list[Optimum] | None:
    """The candidates ``found``, with the taut string added if it is a path of the program.

    None if the optimum may leave the affine range of an expansion. The taut string for a diameter up to which
    all expansions are affine costs no more than the optimum. It is a path of the program if it starts below
    this diameter; otherwise, a candidate that costs no more is optimal.
    """
    top = float(program.tracked.max())
    first, widest = program.expansion(0), top
    while widest > 0 and first.affine_on(widest) is None:
        widest *= _NARROWER
    path = _string(program, widest, np.minimum(program.tracked[:-1], widest))
    if path is None:
        return None
    if widest == top or program.tracked[path.start] < widest:
        return [*found, Optimum(program.cost(path), path, "taut string")]
    known = [program.composition(), *(one.cost for one in found)]
    energy = sum(
        (exact(a) / exact(program.noise_at(t))) ** 2 for t, a in enumerate(path.shifts.tolist(), path.start)
    )
    return found if any(one <= energy * (1 - _ROUNDED) for one in known) else None


def _searched(program: ShiftProgram) -> list[Optimum]:
    path = search(program)
    return [] if path is None else [Optimum(program.cost(path), path, "value iteration")]


@dataclass(frozen=True)
class Window:
    """A window of ``length`` steps with shifts a_j = lam c^-j, and an enclosure of its cost."""

    length: int
    cost: arb
    lam: arb

    def path(self, c: arb, steps: int, distance: float) -> Path:
        """The path that hides ``distance`` in the last steps of a run."""
        first, ratio = float(self.lam / c), float(1 / c)
        return Path(steps - self.length, distance, lambda: first * ratio ** np.arange(self.length, dtype=float))


def affine_window(c: arb, s: arb, delta: arb, length: int) -> Window | None:
    """The optimum over ``length`` steps z' = c z + s, c > 0, from ``delta``; None unless certainly feasible.

    >>> w = affine_window(arb(1), arb("0.08"), arb(1), 13)
    >>> round(float(w.cost), 6)
    0.320123
    """
    found = untested_window(c, s, delta, length)
    return found if c <= 1 or found.lam * c**-length >= s else None


def untested_window(c: arb, s: arb, delta: arb, length: int) -> Window:
    """`affine_window` without its feasibility test; not a bound if some z_t < 0."""
    V, W = geometric_sum(1 / c, length), geometric_sum(1 / c**2, length)
    return Window(length, (s * V + delta) ** 2 / W, (s * V + delta) / W)


def best_window(c: arb, s: arb, delta: float, steps: int) -> Window | None:
    """The cheapest feasible window of at most ``steps`` steps, or None."""
    best: Window | None = None
    for length in _lengths(float(c), float(s), delta, steps):
        found = affine_window(c, s, exact(delta), length)
        if found is not None and (best is None or found.cost.upper() < best.cost.upper()):
            best = found
    return best


def _lengths(c: float, s: float, delta: float, steps: int) -> Iterator[int]:
    """Lengths near the real-valued optimum, in floats; any feasible length gives a valid bound."""
    grow = delta * (c - 1) / s
    if grow <= -1:
        stationary = inf
    elif abs(grow) < 1e-12 or c == 1:
        stationary = delta / s
    else:
        stationary = log1p(grow) / log(c)
    centre = ceil(stationary) if isfinite(stationary) and stationary < steps else steps
    yield from range(max(1, centre - 2), min(steps, centre + 2) + 1)
    if centre > 3:
        yield 1
