"""The shift program of a sample that is used at listed steps, in batches of any sizes.

Until the first use both runs are the same, and what is not released does not matter: those steps are left out.

Source: docs/proofs/participation.md, docs/proofs/shift_program.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram

_LONGEST = 100_000
"""Steps of an uneven list that are looked at one by one."""


@dataclass(frozen=True, eq=False)
class ListedProgram(ShiftProgram):
    """The program of a sample that is used at the steps ``uses``, which rise, counted before `skipped`.

    ``sizes`` are those of its batches there; empty where all have that of the run.
    """

    uses: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()

    @cached_property
    def _met(self) -> dict[int, int]:
        return dict(zip(self.uses, self.sizes or (self.run.batch,) * len(self.uses), strict=True))

    def differs(self, t: int) -> bool:
        return t + self.skipped in self._met

    @cached_property
    def _sized(self) -> dict[tuple[float, int], Expansion]:
        return {}

    def expansion(self, t: int) -> Expansion:
        if not self.sizes or not self.differs(t):
            return super().expansion(t)
        t += self.skipped
        key = self.run.step_size_at(t), self._met[t]
        if key not in self._sized:
            run = replace(self.run, dataset_size=key[1] * self.run.period, batch_size=key[1])
            with precision():
                self._sized[key] = self.assumption.expansion(run, t, differs=True)
        return self._sized[key]

    @property
    def participations(self) -> Sequence[int]:
        return tuple(t - self.skipped for t in self.uses if t >= self.skipped)

    @property
    def cycle(self) -> int | None:
        return None

    @property
    def constant(self) -> bool:
        return False

    @property
    def alike(self) -> bool:
        return self.run.constant and not self.sizes


def cut(run: NoisySGD, start: int, steps: int) -> NoisySGD:
    """So many steps of a run from ``start`` on, with batches that meet a sample once in as many steps."""

    def part(schedule: float | tuple[float, ...]) -> float | tuple[float, ...]:
        return schedule[start : start + steps] if isinstance(schedule, tuple) else schedule

    return _meeting(replace(run, steps=steps, step_size=part(run.step_size), noise_std=part(run.noise_std)), steps)


def used_program(
    run: NoisySGD, assumption: Assumption, uses: Sequence[int], initial: float = 0.0, sizes: tuple[int, ...] = ()
) -> ShiftProgram:
    """The program of a sample that is used at rising steps, at least one of them where nothing is there at first.

    Args:
        run: its batches have one size, but for ``sizes``.
        assumption: of its losses.
        uses: the steps, from 0.
        initial: distance that is there for free before the first step, a length.
        sizes: of the batches at these steps; empty where all have that of the run.

    Raises:
        InputError: the list is uneven, the run too long to be looked at step by step, and its domain is infinite.
    """
    if not initial and uses[0]:
        return used_program(cut(run, uses[0], run.steps - uses[0]), assumption, _later(uses, uses[0]), sizes=sizes)
    gap = uses[1] - uses[0] if len(uses) > 1 else run.steps
    if not sizes and uses and uses[0] < gap and range(uses[0], run.steps, gap) == _as_range(uses, gap):
        return ShiftProgram(_meeting(run, gap), assumption, uses[0], initial=initial)
    if run.steps > _LONGEST:
        if not isfinite(run.diameter):
            raise InputError(
                f"A list of uneven steps needs to be within {_LONGEST:,} steps of the end, or a domain of finite "
                f"diameter, got steps={run.steps}; project, or list evenly spaced steps."
            )
        first = run.steps - _LONGEST
        later = _later(uses, first)
        kept = sizes[len(uses) - len(later) :]
        return used_program(cut(run, first, _LONGEST), assumption, later, run.diameter, kept)
    return ListedProgram(_meeting(run, run.steps), assumption, initial=initial, uses=tuple(uses), sizes=sizes)


def _meeting(run: NoisySGD, every: int) -> NoisySGD:
    """The run with batches that meet a sample once in so many steps."""
    return replace(run, sampling="cyclic", dataset_size=every * run.batch, batch_size=run.batch, adjacency="replace")


def _later(uses: Sequence[int], start: int) -> Sequence[int]:
    """The uses from ``start`` on, counted from it."""
    if isinstance(uses, range):
        kept = uses[max(-(-(start - uses.start) // uses.step), 0) :]
        return range(kept.start - start, kept.stop - start, kept.step)
    return tuple(t - start for t in uses if t >= start)


def _as_range(uses: Sequence[int], gap: int) -> range | None:
    even = range(uses[0], uses[-1] + 1, gap)
    return even if isinstance(uses, range) or tuple(even) == tuple(uses) else None
