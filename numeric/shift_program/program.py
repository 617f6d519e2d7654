"""The shift program: the scalar optimal-control problem behind every bound.

State z_t is the distance that is still to be hidden, control a_t >= 0 the shift spent at step t:

    z_{t+1} = max(e_t(z_t) - a_t, 0),   z_T = 0,   cost = sum of a_t^2 / sigma_t^2,

started either at t = 0 with z_0 = 0, or at any tau with z_tau = min(D, D_tau), D the diameter and D_tau the
forward-tracked distance. *Every* feasible path proves that the last iterates are mu-GDP with mu^2 = cost, and
hence (alpha, alpha / 2 cost)-RDP for every alpha > 1, of either law from the other.

Source: docs/proofs/shift_program.md; Chien & Li 2025, Theorems 3.1 and 3.7, without their noise splitting; for affine
expansions Bok, Su & Altschuler 2024 (claims chien_li/theorem_3_1/direct/* and gdp/*).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count, within
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.shift_program.invariant import least_diameter
from lastiterate.numeric.shift_program.paths import Shifts
from lastiterate.numeric.shift_program.tracking import tracked_distances

_KNOWN = 1 << 15
_TRACKED = 1 << 22
"""Longer runs take the diameter for the distance that is there for free."""


@teaches()
@dataclass(frozen=True, eq=False)
class ShiftProgram:
    """The program of one run under one assumption, or of its last steps.

    Attributes:
        run: the run; its batches are fixed in advance.
        assumption: what is assumed of its losses.
        position: which batch of an epoch holds the sample that differs, from 0; 0 for full batches.
        skipped: steps at the beginning that are left out; `tail` sets it.
        initial: distance that is there for free at the first step that is kept, a length. Where the runs may be farther
            apart there, no path is a bound: `tail` sets it to what holds.

    Raises:
        InputError: the assumption does not fit the run, the batches have no known order, or there is no such batch.
    """

    run: NoisySGD
    assumption: Assumption
    position: int = 0
    skipped: int = 0
    initial: float = 0.0

    def __post_init__(self) -> None:
        described_run("A shift program", self.run)
        described_assumption(self.assumption)
        if self.run.scheme.permuted or not self.run.scheme.fixed_size:
            raise InputError(
                f"A shift program needs batches of a known order and size, got sampling={self.run.sampling!r}; "
                "call bound instead."
            )
        self._placed()
        self.expansion(0)  # an assumption that does not fit the run is refused here

    def _placed(self) -> None:
        """Refuse a batch or a beginning that the run does not have: a sample that is never met costs nothing."""
        put, batches = object.__setattr__, self.run.period
        put(self, "position", count("position", self.position, least=0))
        put(self, "skipped", count("skipped", self.skipped, least=0))
        start = within("initial", self.initial, "a distance of at least 0", lambda z: 0 <= z < inf, "0 is the start.")
        put(self, "initial", start)
        if (at := self.position) >= batches:
            raise InputError(f"position needs one of the batches 0 to {batches - 1}, got position={at}; count from 0.")
        if self.skipped >= (steps := self.run.steps):
            raise InputError(f"skipped needs to leave one of steps={steps}, got skipped={self.skipped}; skip fewer.")

    @property
    def steps(self) -> int:
        """T, without the steps skipped."""
        return self.run.steps - self.skipped

    @cached_property
    def diameter(self) -> float:
        """D, a length, or less where weight decay keeps the runs closer; inf where nothing bounds their distance."""
        return least_diameter(self.run, self.assumption, self.initial) if self.run.weight_decay else self.run.diameter

    @property
    def expansive(self) -> bool:
        """Tell whether distances never shrink by themselves."""
        return self.assumption.expansive(self.run)

    def tail(self, steps: int) -> "ShiftProgram":
        """The program of the last ``steps`` steps; every path of it is a path of this one."""
        if (steps := count("steps", steps)) > self.steps:
            raise InputError(f"steps needs to be at most the {self.steps} of the run, got steps={steps}; take fewer.")
        skipped = self.steps - steps
        # Tracking takes an entry a step; where the domain is bounded its diameter will do.
        tracked = self.steps <= _TRACKED or not isfinite(self.diameter)
        initial = float(self.tracked[skipped]) if tracked else self.diameter
        return replace(self, skipped=self.skipped + skipped, initial=initial)

    def at(self, position: int) -> "ShiftProgram":
        """The program of the same run where another batch holds the sample; expansions are shared."""
        other = replace(self, position=position)
        vars(other)["_known"] = self._known
        return other

    @cached_property
    def _known(self) -> dict[tuple[float, int, bool], Expansion]:
        return {}

    def differs(self, t: int) -> bool:
        """Tell whether the batch of step t holds the sample that differs; where batches are random, that it may."""
        return (t + self.skipped) % self.run.period == self.position

    def expansion(self, t: int) -> Expansion:
        """e_t.

        Raises:
            InputError: the assumption does not allow the step size of step t.
        """
        key = (self.run.step_size_at(t + self.skipped), self.run.batch_at(t + self.skipped), self.differs(t))
        if key not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            with precision():
                self._known[key] = self.assumption.expansion(self.run, t + self.skipped, differs=key[2])
        return self._known[key]

    def noise_at(self, t: int) -> float:
        """sigma_t, a length."""
        return self.run.noise_std_at(t + self.skipped)

    @property
    def participations(self) -> Sequence[int]:
        """The steps whose batch holds the sample that differs, increasing; a range where they are evenly spaced."""
        period = self.run.period
        return range((self.position - self.skipped) % period, self.steps, period)

    @property
    def cycle(self) -> int | None:
        """The number of steps after which all is the same again; None where nothing repeats."""
        return self.run.period if self.alike else None

    @property
    def constant(self) -> bool:
        """Tell whether every step is the same."""
        return self.alike and self.run.period == 1

    @property
    def alike(self) -> bool:
        """Tell whether steps that use the sample are all alike, and those that do not."""
        return self.run.constant

    def composition(self) -> arb:
        """Cost of hiding every step's own sensitivity, enclosed: sum of e_t(0)^2 / sigma_t^2."""
        total, hits = arb(0), self.participations
        for t in hits[:1] if self.alike else hits:
            total += (self.expansion(t).sensitivity / exact(self.noise_at(t))) ** 2
        return total * len(hits) if self.alike else total

    def last_step(self) -> arb:
        """Cost of hiding all distance in the last step, enclosed: e(D)^2 / sigma^2, or infinite.

        Not D^2 / sigma^2, the "output perturbation" of the papers: the noise comes after a gradient step.
        """
        t = self.steps - 1
        reach = self.reach(t)
        if not isfinite(reach):
            return arb("inf")
        return (self.expansion(t).ball(exact(reach)) / exact(self.noise_at(t))) ** 2

    def least(self) -> float:
        """A lower bound, about, of the cost of every path; in units of the noise.

        The last step hides its own sensitivity s. Where e(z) >= z + s, steps from the diameter cost (D + sum s)^2 /
        sum sigma^2 at least, and the whole run from 0 costs as much without D; where all steps are alike, T s^2.
        """
        last = self.steps - 1
        s, noise = float(self.expansion(last).sensitivity), self.noise_at(last)
        if not self.expansive:
            return (s / noise) ** 2
        if not self.constant:
            moved, width = np.zeros(self.steps), np.cumsum([self.noise_at(t) ** 2 for t in range(last, -1, -1)])
            for t in self.participations:
                moved[last - t] = float(self.expansion(t).sensitivity)
            moved = np.cumsum(moved)
            return float(min(((moved + self.diameter) ** 2 / width).min(), moved[-1] ** 2 / width[-1]))
        w = min(max(self.diameter / s, 1.0), self.steps)
        return min(self.steps * s**2, (self.diameter + w * s) ** 2 / w) / noise**2

    def reach(self, t: int) -> float:
        """A distance, rounded up, that holds for free at time t: D, or less where updates contract.

        Constant contractions: min(D, s (1 - c^t) / (1 - c)), Chien & Li 2025, Theorem 3.1, in O(1).
        """
        if self.expansive:
            return self.diameter
        affine = self.expansion(0).affine_on(self.diameter) if self.constant and not self.initial else None
        if affine is None:
            return float(self.tracked[t]) if self.steps <= _TRACKED else self.diameter
        with precision():
            c, s = affine
            steps = arb(t) if (c - 1).contains(0) else (1 - c**t) / (1 - c)
            return min(self.diameter, upper(s * steps))

    @cached_property
    def tracked(self) -> Array:
        """min(D, D_t) for t = 0..T, shape (T + 1,), rounded up: D_0 = ``initial`` and D_{t+1} = e_t(D_t).

        Source: Chien & Li 2025, Lemmas 3.5 and 3.10.
        """
        return tracked_distances(
            self.expansion,
            self.steps,
            self.initial,
            self.diameter,
            period=self.cycle,
            stays=self.constant or self.expansive,
        )

    def cost(self, path: Shifts) -> arb:
        """The cost of a path, enclosed from its own shifts, whatever they are.

        The state is run forward and rounded up; the last shift is replaced by what is left to hide, so
        that the path is feasible by construction.

        Args:
            path: shifts for the steps path.start..T-1.

        Raises:
            ValueError: the path is not one of the last steps, or starts below the distance it has to hide.
        """
        if path.start + len(path.shifts) != self.steps or not 0 <= path.start < self.steps:
            raise ValueError(f"a path needs to end at steps={self.steps}, got {path.start} + {len(path.shifts)}")
        if path.distance < self.diameter and path.distance < (self.tracked[path.start] if path.start else self.initial):
            raise ValueError(f"a path needs to start at the tracked distance, got distance={path.distance}")
        return run_forward(
            lambda t: self.expansion(path.start + t),
            lambda t: self.noise_at(path.start + t),
            path.distance,
            path.shifts,
        )


def run_forward(
    expansion: Callable[[int], Expansion], noise: Callable[[int], float], distance: float, shifts: Array
) -> arb:
    """Enclose the cost of shifts that start at a distance, with the last one replaced by what is left to hide.

    Args:
        expansion: e of the step at each place of ``shifts``.
        noise: standard deviation there, a length.
        distance: distance to hide before the first step, a length.
        shifts: shape (w,), lengths; w >= 1.
    """
    with precision():
        z, total = exact(distance), arb(0)
        for t, shift in enumerate(shifts[:-1].tolist()):
            left = (expansion(t).ball(z) - exact(shift)).upper()
            z = arb(0) if left <= 0 else left  # what is not a number stays one, and costs infinity
            total += (exact(shift) / exact(noise(t))) ** 2
        last = len(shifts) - 1
        return total + (expansion(last).ball(z) / exact(noise(last))) ** 2


@dataclass(frozen=True, eq=False)
class ComposedPath:
    """Every step hides its own sensitivity; the shifts are made when asked for.

    They are rounded up: where e is steep at 0 a remainder of 1e-17 would grow into a real distance.
    """

    program: ShiftProgram
    start: int = 0

    @property
    def distance(self) -> float:
        """The distance that the program starts from, a length."""
        return self.program.initial

    @property
    def shifts(self) -> Array:
        """Shape (T,), lengths."""
        program, hits = self.program, list(self.program.participations)
        shifts = np.zeros(program.steps)
        if program.alike and hits:
            shifts[hits] = upper(program.expansion(hits[0]).sensitivity)
        else:
            shifts[hits] = [upper(program.expansion(t).sensitivity) for t in hits]
        return shifts
