"""The shift program: the scalar optimal-control problem behind every bound.

The state z_t is the distance still to be hidden, and the control a_t >= 0 is the shift spent at step t:

    z_{t+1} = max(e_t(z_t) - a_t, 0),   z_T = 0,   cost = sum of a_t^2 / sigma_t^2,

where e_t is the expansion of the update and sigma_t its noise. A path starts at t = 0 with z_0 = 0, or at any
tau with z_tau = min(D, D_tau), where D is the diameter and D_tau the forward-tracked distance. Every feasible
path proves that the last iterates are mu-GDP with mu^2 = cost.

Source: docs/proofs/shift_program.md, expansions.md ("Weight decay"), participation.md; Chien & Li 2025,
Theorems 3.1 and 3.7, without their noise splitting; Bok, Su & Altschuler 2024 (claims
chien_li/theorem_3_1/direct/* and gdp/*).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite

import numpy as np
from flint import arb
from scipy.optimize import brentq

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count, teaches, within
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.losses.expansion import UpdateExpansion
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD, described_run

_KNOWN = 1 << 15
_TRACKED = 1 << 16
"""Maximum number of steps over which distances are tracked; longer paths start from the diameter."""
_DOUBLINGS, _SIZES = 100, 64
"""Maximum number of doublings of an invariant distance, and of step sizes examined in a schedule."""
_ABOVE = 1 + 1e-9
_LONGEST = 100_000
"""Maximum number of steps of a run with an uneven list of uses."""


@dataclass(frozen=True, eq=False)
class Path:
    """Shifts from step ``start`` on that hide ``distance``; ``made`` is their array or a function that returns it."""

    start: int
    distance: float
    made: Array | Callable[[], Array]

    @cached_property
    def shifts(self) -> Array:
        """The shifts, lengths in floats, of shape (T - start,)."""
        return self.made() if callable(self.made) else self.made


@teaches()
@dataclass(frozen=True, eq=False)
class ShiftProgram:
    """The program of one run with fixed batches, or of its last steps.

    Attributes:
        position: index, from 0, of the batch of an epoch that holds the differing sample; 0 for full batches.
        skipped: number of initial steps left out; set by `tail`.
        initial: upper bound on the distance between the runs at the first step kept; set by `tail`.

    Raises:
        InputError: the assumption does not fit the run, the batch order is unknown, or a number is too large.
    """

    run: NoisySGD
    assumption: Assumption
    position: int = 0
    skipped: int = 0
    initial: float = 0.0

    def __post_init__(self) -> None:
        put, run = object.__setattr__, described_run("A shift program", self.run, groups=True)
        described_assumption(self.assumption)
        if run.scheme.permuted or not run.scheme.fixed_size:
            raise InputError(
                f"A shift program needs batches of a known order and size, got sampling={run.sampling!r}; "
                "call bound instead."
            )
        # A batch outside the run is refused, since a sample that is never used costs nothing.
        put(self, "position", count("position", self.position, least=0))
        put(self, "skipped", count("skipped", self.skipped, least=0))
        start = within(
            "initial", self.initial, "a distance of at least 0", lambda z: 0 <= z < inf, "0 is the start."
        )
        put(self, "initial", start)
        if (at := self.position) >= run.period:
            raise InputError(
                f"position must be the index of a batch, 0 to {run.period - 1}, got position={at}; count from 0."
            )
        if self.skipped >= run.steps:
            raise InputError(
                f"skipped must be below steps={run.steps}, got skipped={self.skipped}; skip fewer."
            )
        self.expansion(0)  # raises if the assumption does not fit the run

    @property
    def steps(self) -> int:
        """Number of steps T that are not skipped."""
        return self.run.steps - self.skipped

    @cached_property
    def diameter(self) -> float:
        """Upper bound on the distance between the runs: D, or less with weight decay; inf if unbounded."""
        run = self.run
        if not run.weight_decay:
            return run.diameter
        with precision():
            if self.assumption.expansion(run, 0, differs=run.group).affine_on(run.diameter) is not None:
                return run.diameter
            steps = {(run.step_size_at(t), run.batch_at(t)): t for t in range(1 if run.constant else run.steps)}
            if len(steps) > _SIZES:
                return run.diameter
            every = [
                self.assumption.expansion(run, t, differs=met) for t in steps.values() for met in (run.group, 0)
            ]
            return min(run.diameter, invariant_distance(every, self.initial))

    @property
    def expansive(self) -> bool:
        """Tell whether no update shrinks distances without a shift."""
        return self.assumption.expansive(self.run)

    def tail(self, steps: int) -> "ShiftProgram":
        """The program of the last ``steps`` steps; its paths are also paths of this program."""
        if (steps := count("steps", steps)) > self.steps:
            raise InputError(
                f"steps must be at most the length of the run, {self.steps}, got steps={steps}; use fewer."
            )
        skipped = self.steps - steps
        # Tracking needs one entry per step, so long runs on a bounded domain use the diameter.
        tracked = self.steps <= _TRACKED or not isfinite(self.diameter)
        initial = float(self.tracked[skipped]) if tracked else self.diameter
        return replace(self, skipped=self.skipped + skipped, initial=initial)

    def at(self, position: int) -> "ShiftProgram":
        """The program with the sample in batch ``position``; expansions are shared."""
        other = replace(self, position=position)
        vars(other)["_known"] = self._known
        return other

    @cached_property
    def _known(self) -> dict[tuple[float, int, int], UpdateExpansion]:
        return {}

    def differs(self, t: int) -> bool:
        """Tell whether the batch of step t holds or may hold the differing sample."""
        return (t + self.skipped) % self.run.period == self.position

    def expansion(self, t: int) -> UpdateExpansion:
        """The expansion e_t; raises `InputError` if the assumption does not allow the step size."""
        differs = self.differs(t) * self.run.group
        key = (self.run.step_size_at(t + self.skipped), self.run.batch_at(t + self.skipped), differs)
        if key not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            with precision():
                self._known[key] = self.assumption.expansion(self.run, t + self.skipped, differs=key[2])
        return self._known[key]

    def noise_at(self, t: int) -> float:
        """Standard deviation sigma_t of the noise of step t, a length."""
        return self.run.noise_std_at(t + self.skipped)

    @property
    def participations(self) -> Sequence[int]:
        """The steps whose batch holds the differing sample, increasing; a range if evenly spaced."""
        period = self.run.period
        return range((self.position - self.skipped) % period, self.steps, period)

    @property
    def cycle(self) -> int | None:
        """Period of the steps; None if they do not repeat."""
        return self.run.period if self.run.constant else None

    @property
    def constant(self) -> bool:
        """Tell whether all steps are the same."""
        return self.run.constant and self.run.period == 1

    def composition(self) -> arb:
        """Cost of hiding each sensitivity in its own step, sum of e_t(0)^2 / sigma_t^2, enclosed."""
        total, hits = arb(0), self.participations
        for t in hits[:1] if self.run.constant else hits:
            total += (self.expansion(t).sensitivity / exact(self.noise_at(t))) ** 2
        return total * len(hits) if self.run.constant else total

    def composed_path(self) -> Path:
        """The path of `composition`, with shifts rounded up, since a remainder would grow if e is steep at 0."""

        def shifts() -> Array:
            found, hits = np.zeros(self.steps), list(self.participations)
            each = [upper(self.expansion(t).sensitivity) for t in (hits[:1] if self.run.constant else hits)]
            found[hits] = each[0] if self.run.constant and hits else each
            return found

        return Path(0, self.initial, shifts)

    def last_step(self) -> arb:
        """Cost e(D)^2 / sigma^2 of hiding the whole distance in the last step, enclosed; may be infinite."""
        t = self.steps - 1
        reach = self.reach(t)
        if not isfinite(reach):
            return arb("inf")
        return (self.expansion(t).ball(exact(reach)) / exact(self.noise_at(t))) ** 2

    def least(self) -> float:
        """Approximate lower bound on the cost of every path.

        The last step hides its own sensitivity s. If e(z) >= z + s, a path from the diameter costs at least
        (D + sum s)^2 / sum sigma^2, and a path from 0 costs at least (sum s)^2 / sum sigma^2.
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
        """Upper bound on the distance at time t: D or, for steps z' = c z + s, s (1 - c^t) / (1 - c)."""
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
        """Distances min(D, D_t), t = 0..T, rounded up, with D_0 = ``initial`` and D_{t+1} = e_t(D_t)."""
        distances = np.full(self.steps + 1, self.diameter)
        distances[0] = self.initial
        for t in range(self.steps):
            with precision():
                step = upper(self.expansion(t).ball(exact(float(distances[t]))))
            if step >= self.diameter and (self.constant or self.expansive):
                break  # distances stay at the diameter
            distances[t + 1] = min(step, self.diameter)
            if self.constant and distances[t + 1] == distances[t]:
                distances[t + 1 :] = distances[t]
                break
        return distances

    def cost(self, path: Path) -> arb:
        """Enclose the cost of a path; the last shift is replaced by the distance left to hide.

        Raises `ValueError` if the path does not end with the run or starts below the distance to hide.
        """
        if path.start + len(path.shifts) != self.steps or not 0 <= path.start < self.steps:
            raise ValueError(f"a path must end at steps={self.steps}, got {path.start} + {len(path.shifts)}")
        if path.distance < self.diameter and path.distance < (
            self.tracked[path.start] if path.start else self.initial
        ):
            raise ValueError(f"a path must start at the tracked distance, got distance={path.distance}")
        return run_forward(
            lambda t: self.expansion(path.start + t),
            lambda t: self.noise_at(path.start + t),
            path.distance,
            path.shifts,
        )


def run_forward(
    expansion: Callable[[int], UpdateExpansion], noise: Callable[[int], float], distance: float, shifts: Array
) -> arb:
    """Enclose the cost of ``shifts``, the last of which is replaced by the distance left to hide."""
    with precision():
        z, total = exact(distance), arb(0)
        for t, shift in enumerate(shifts[:-1].tolist()):
            left = (expansion(t).ball(z) - exact(shift)).upper()
            z = arb(0) if left <= 0 else left  # NaN propagates and makes the cost infinite
            total += (exact(shift) / exact(noise(t))) ** 2
        last = len(shifts) - 1
        return total + (expansion(last).ball(z) / exact(noise(last))) ** 2


def invariant_distance(expansions: Iterable[UpdateExpansion], initial: float) -> float:
    """A distance z >= ``initial`` with e(z) <= z in balls for all expansions e; inf if none is found.

    >>> from flint import arb
    >>> from lastiterate.numeric.losses.expansion import Affine
    >>> round(invariant_distance([Affine(arb(0.5), arb(1.0))], 0.0), 6)
    2.0
    """
    every = list(expansions)

    def excess(z: float) -> float:
        return max(float(one.value(np.array([z]))[0]) for one in every) - z

    low = high = max(initial, max(float(one.sensitivity) for one in every))
    for _ in range(_DOUBLINGS):
        if excess(high) <= 0:
            break
        low, high = high, 2 * high
    found = high if excess(low) <= 0 else float(brentq(excess, low, high)) if excess(high) <= 0 else inf
    distance = initial if found == initial else found * _ABOVE
    with precision():
        kept = isfinite(distance) and all(one.ball(exact(distance)) <= exact(distance) for one in every)
    return distance if kept else inf


@dataclass(frozen=True, eq=False)
class ListedProgram(ShiftProgram):
    """The program of a sample used at the steps ``uses``, increasing and counted from the start of the run."""

    uses: tuple[int, ...] = ()

    @cached_property
    def _met(self) -> frozenset[int]:
        return frozenset(self.uses)

    def differs(self, t: int) -> bool:
        return t + self.skipped in self._met

    @property
    def participations(self) -> Sequence[int]:
        return tuple(t - self.skipped for t in self.uses if t >= self.skipped)

    @property
    def cycle(self) -> int | None:
        return None

    @property
    def constant(self) -> bool:
        return False


def cut_run(run: NoisySGD, start: int, steps: int, **rest: object) -> NoisySGD:
    """``steps`` steps of a run from ``start`` on; ``rest`` replaces other fields."""
    schedules = {name: getattr(run, name) for name in ("step_size", "noise_std", "batch_size")}
    cut = {name: one[start : start + steps] for name, one in schedules.items() if isinstance(one, tuple)}
    return replace(run, **{"steps": steps, **cut, **rest})  # type: ignore[arg-type]


def used_part(run: NoisySGD, start: int, steps: int) -> NoisySGD:
    """``steps`` steps of a run from ``start`` on, as one epoch of cyclic batches."""
    return _used_run(cut_run(run, start, steps), steps)


def _used_run(run: NoisySGD, every: int) -> NoisySGD:
    return replace(
        run, sampling="cyclic", dataset_size=every * run.batch, batch_size=run.batch, adjacency="replace"
    )


def used_program(
    run: NoisySGD, assumption: Assumption, uses: Sequence[int], initial: float = 0.0
) -> ShiftProgram:
    """The program of a sample used at the increasing steps ``uses``, not empty unless ``initial`` > 0.

    Raises `InputError` if the steps are uneven and the run is longer than `_LONGEST` on an unbounded domain.
    """
    if not initial and uses[0]:
        return used_program(used_part(run, uses[0], run.steps - uses[0]), assumption, _later(uses, uses[0]))
    gap = uses[1] - uses[0] if len(uses) > 1 else run.steps
    if uses and uses[0] < gap and range(uses[0], run.steps, gap) == _as_range(uses, gap):
        return ShiftProgram(_used_run(run, gap), assumption, uses[0], initial=initial)
    if run.steps > _LONGEST:
        if not isfinite(run.diameter):
            raise InputError(
                f"Unevenly spaced steps must be among the last {_LONGEST:,} steps, or need a domain of finite "
                f"diameter, got steps={run.steps}; add a projection, or list evenly spaced steps."
            )
        first = run.steps - _LONGEST
        return used_program(used_part(run, first, _LONGEST), assumption, _later(uses, first), run.diameter)
    return ListedProgram(_used_run(run, run.steps), assumption, initial=initial, uses=tuple(uses))


def _later(uses: Sequence[int], start: int) -> Sequence[int]:
    if isinstance(uses, range):
        kept = uses[max(-(-(start - uses.start) // uses.step), 0) :]
        return range(kept.start - start, kept.stop - start, kept.step)
    return tuple(t - start for t in uses if t >= start)


def _as_range(uses: Sequence[int], gap: int) -> range | None:
    even = range(uses[0], uses[-1] + 1, gap)
    return even if isinstance(uses, range) or tuple(even) == tuple(uses) else None
