"""Linear losses without projection under weight decay: the sample counts the less, the earlier it was met.

The last iterate is move * sum_k c^k B_k + N(0, sigma^2 sum_k c^(2k)), c = 1 - eta lambda, where B_k says whether the
step k before the last one met the sample. Each c^k is rounded down to a multiple of 1/n, and the sum to a greatest one:
that moves the laws of the two runs no further apart, as their ratio rises along the line, so that the best tests are
half lines.

Source: docs/proofs/lower_bounds.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log, sqrt

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.line import MixedLaw, affine_law
from lastiterate.numeric.lower.target import Target
from lastiterate.numeric.rounding import exact, upper
from lastiterate.numeric.run import NoisySGD

_PLACES, _FINEST, _OUTLIERS, _LONGEST = 2048, 64, 12.0, 20_000
"""Places of the lattice; the least power that counts is one over; deviations up to the last place; steps that count."""
_NEGLIGIBLE, _SLACK = 1e-18, 1e-9
"""Weights below this share of the greatest are not kept; what powers in floats are taken down by."""


@dataclass(frozen=True)
class DecayedLaw(MixedLaw):
    """Places of components in units of ``move``, what the last step adds where it meets the sample.

    Attributes:
        powers: c^0, c^1, ..., as far back as they count.
    """

    powers: tuple[float, ...] = ()

    @cached_property
    def components(self) -> tuple[Array, Array, Array, float]:
        if self.move == 0:
            return super().components
        per_move = max(_PLACES // self.steps, 1)
        places = np.floor(np.array(self.powers) * (1 - _SLACK) * per_move).astype(int)
        weights, met, unmet = np.zeros(self.steps * per_move + 1), float(self.rate), float(1 - self.rate)
        weights[0] = 1.0
        for shift in places[places > 0]:
            moved = np.zeros_like(weights)
            moved[shift:] = weights[:-shift]
            moved[-1] += weights[-shift:].sum()
            weights = unmet * weights + met * moved
        slack = (len(weights) + 8 * len(places)) * np.finfo(float).eps
        kept = weights > weights.max() * _NEGLIGIBLE
        missing = float(weights[~kept].sum()) * (1 + slack)
        found = np.flatnonzero(kept) / per_move
        return found, weights[kept] * (1 - slack), weights[kept] * (1 + slack), missing


def decayed(
    run: NoisySGD, target: Target, moves: Iterator[tuple[tuple[float, float], str]]
) -> Iterator[tuple[float, str]]:
    """Divergences from below of two such laws, and what the losses are.

    Args:
        run: with batches that are drawn independently, constant, and a weight decay of at most 1 over the step size.
        target: what is wanted.
        moves: of a step that meets the sample, for the two runs, lengths; and words.
    """
    rate, pull = Fraction(run.batch, run.dataset_size), exact(run.step_size_at(0)) * exact(run.weight_decay)
    c = float(1 - pull)
    counted = (log(_FINEST) / -log(c) if c > 0 else 1) if c < 1 else run.steps
    powers = c ** np.arange(min(run.steps, ceil(counted), _LONGEST))
    total = float(powers.sum())
    usual = total * float(rate)
    most = ceil(min(usual + _OUTLIERS * (sqrt(usual) + 1), total))
    _, variance = affine_law(1 - pull, run.steps, exact(0), exact(run.noise_std_at(0)))
    deviation = upper(variance.sqrt())
    for pair, words in moves:
        laws = [DecayedLaw(most, rate, move, deviation, tuple(powers.tolist())) for move in pair]
        yield target.of_mixtures(*laws), words
