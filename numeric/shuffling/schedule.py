"""What the routes for shuffled batches ask of a run: expansions with and without the sample, and epochs."""

from math import inf, isfinite, log

import numpy as np
from flint import arb

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.participations import Encounters
from lastiterate.numeric.shuffling.epoch_value_iteration import Epoch, merged, merged_alike
from lastiterate.numeric.shuffling.oblivious_shifts import Epochs, PowerDrift

__all__ = ["View"]

_TOLD_APART = 24
_RATIO = 0.08
_GROWN = 0.1
_HUGE = 1e140
"""Epochs in which a distance grows by more than this are not merged: the squares leave floats."""


class View:
    """What the routes ask of a run: expansions with and without the sample, and epochs."""

    def __init__(self, run: NoisySGD, assumption: Assumption) -> None:
        if run.scheme.name != "shuffled":
            raise InputError(f"An order needs shuffled batches, got sampling={run.sampling!r}; call bound.")
        self.run, self.assumption = run, assumption
        self.batches, self.count = run.batches, -(-run.steps // run.batches)
        self._epochs: dict[int, Epoch | None] = {}
        self.into(0)  # an assumption that does not fit the run is refused here

    def into(self, t: int) -> Expansion:
        """e of step t where the sample is in its batch."""
        return self.assumption.expansion(self.run, t, differs=True)

    def free(self, t: int) -> Expansion:
        """e of step t where it is not."""
        return self.assumption.expansion(self.run, t, differs=False)

    def composition(self) -> arb:
        """Each epoch pays for its dearest encounter."""
        if self.run.constant:
            return self.count * (self.into(0).sensitivity / exact(self.run.noise_std_at(0))) ** 2
        total = arb(0)
        for k in range(self.count):
            steps = range(k * self.batches, min((k + 1) * self.batches, self.run.steps))
            total += max(
                ((self.into(t).sensitivity / exact(self.run.noise_std_at(t))) ** 2 for t in steps),
                key=lambda one: float(one.upper()),
            ).upper()
        return total

    def lines(self, t: int) -> tuple[tuple[arb, arb], tuple[arb, arb]] | None:
        """(c, 0) above e without the sample and (d, s) above e with it, or None where no line through 0 is."""
        free, into = self.free(t).affine_on(0.0), self.into(t).affine_on(0.0)
        return (free, into) if free is not None and into is not None and free[1] == 0 else None

    @property
    def late(self) -> Encounters | None:
        """The program of the order with every encounter as late as can be, where no order costs more."""
        lines = self.lines(0) if self.run.constant else None
        if lines is None or not (c := lines[0][0].max(lines[1][0])) <= 1:
            return None
        gap = self.run.steps % self.batches or self.batches
        s, noise = lines[1][1], self.run.noise_std_at(0)
        return Encounters(c, c, s, noise, self.run.steps, self.count, 1, gap, self.batches)

    def drift(self) -> tuple[PowerDrift, Epochs] | None:
        """For shifts that do not look at the order: constant steps that expand, in units of the noise."""
        run = self.run
        if not run.constant or not self.assumption.expansive:
            return None
        eta, sigma = exact(run.step_size_at(0)), exact(run.noise_std_at(0))
        cap = upper(2 * eta * exact(run.clip_norm) / sigma)
        drift = PowerDrift(inf, 1.0, cap)
        if isinstance(self.assumption, Holder) and self.assumption.L > 0:
            lam = self.assumption.lam
            drift = PowerDrift(upper(eta * exact(self.assumption.L) * sigma ** (exact(lam) - 1)), lam, cap)
        elif isinstance(self.assumption, Convex | Holder):
            drift = PowerDrift(0.0, 1.0)
        s = upper(self.into(0).sensitivity / sigma)
        return drift, Epochs(run.steps, self.batches, s, upper(exact(run.diameter) / sigma))

    def epoch(self, k: int) -> Epoch | None:
        """The k-th epoch, its free steps merged; None where a step has no line above it or grows too much."""
        known = min(k, self.count - 1) if not self.run.constant or k == self.count - 1 else 0
        if known not in self._epochs:
            self._epochs[known] = self._merged(known)
        return self._epochs[known]

    def _merged(self, k: int) -> Epoch | None:
        steps = range(k * self.batches, min((k + 1) * self.batches, self.run.steps))
        rows = []
        for t in steps if not self.run.constant else steps[:1]:
            lines = self.lines(t)
            if lines is None:
                return None
            (free, _), (into, step) = lines
            rows.append((upper(free), upper(into), upper(step), self.run.noise_std_at(t)))
        with np.errstate(over="ignore"):
            if self.run.constant:
                c, d, s, noise = rows[0]
                if len(steps) * log(max(c, 1.0)) > log(_HUGE):
                    return None
                places = _places(c, len(steps)) if d <= c else range(len(steps))
                found = merged_alike(c, d, s, noise, len(steps), self.batches, places)
            else:
                free_growth, growth, sensitivity, noises = np.array(rows).T
                found = merged(free_growth, growth, sensitivity, noises, self.batches)
        greatest = max(found.whole, float(found.head.max()), float(found.tail.max()))
        return found if greatest <= _HUGE and isfinite(found.whole_noise) else None


def _places(c: float, steps: int) -> list[int]:
    """Encounters that are told apart: ever fewer far from the end of the epoch."""
    widest = _GROWN / log(max(c, 1 + 1e-12))
    back, places = 0.0, []
    while back < steps:
        places.append(steps - 1 - int(back))
        back += max(1.0, min(back * _RATIO, widest)) if back >= _TOLD_APART else 1.0
    return sorted(set(places))
