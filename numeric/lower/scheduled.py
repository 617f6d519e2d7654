"""Linear losses without projection under a schedule: how often each kind of step met the sample is binomial.

The last iterate is sum_j r_j k_j + N(0, sum_t sigma_t^2), k_j ~ Binomial(T_j, q_j) for the T_j steps of kind j, which
draw the sample with chance q_j and move the iterate by r_j where they do.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum, prod, sqrt

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.lower.line import BinomialLaw, MixedLaw
from lastiterate.numeric.lower.target import Target
from lastiterate.numeric.run import NoisySGD

_KINDS, _COMPONENTS = 3, 4096
_NEGLIGIBLE = 1e-18
"""Weights below this share of the greatest are not kept."""


@dataclass(frozen=True)
class ScheduledLaw(MixedLaw):
    """Places of components in units of ``move``, the greatest move of a step in size.

    Attributes:
        kinds: (number of steps, rate, move) of each kind.
    """

    kinds: tuple[tuple[int, Fraction, float], ...] = ()

    @cached_property
    def components(self) -> tuple[Array, Array, Array, float]:
        places, low, high, missing = np.zeros(1), np.ones(1), np.ones(1), 0.0
        for steps, rate, move in self.kinds:
            counts, least, most, rest = BinomialLaw(steps, rate, move, 1.0).components
            kept = most > most.max() * _NEGLIGIBLE
            missing += rest + float(most[~kept].sum()) * (1 + 1e-12)
            unit = move / self.move if self.move else 0.0
            places = np.add.outer(places, counts[kept] * unit).ravel()
            low, high = (np.multiply.outer(*pair).ravel() for pair in ((low, least[kept]), (high, most[kept])))
        slack = 4 * len(self.kinds) * np.finfo(float).eps
        return places, low * (1 - slack), high * (1 + slack), missing


def scheduled(
    run: NoisySGD, target: Target, moves: Iterator[tuple[tuple[float, float], str]]
) -> Iterator[tuple[float, str]]:
    """Divergences from below of two such laws, and what the losses are; none where there are more than a few kinds.

    Args:
        run: with random batches, without projection or weight decay.
        target: what is wanted.
        moves: of a step of size and batch size 1, for the two runs, in clip norms; and words.
    """
    alike = Counter((run.batch_at(t), run.step_size_at(t)) for t in range(run.steps))
    deviation = sqrt(fsum(run.noise_std_at(t) ** 2 for t in range(run.steps)))
    if len(alike) > _KINDS or prod(times + 1 for times in alike.values()) > _COMPONENTS**2:
        return

    def law(unit: float) -> ScheduledLaw:
        kinds = tuple(
            (times, Fraction(batch, run.dataset_size), unit * run.clip_norm * step_size / batch)
            for (batch, step_size), times in alike.items()
        )
        greatest = max((move for *_, move in kinds), key=abs)
        return ScheduledLaw(run.steps, Fraction(1), greatest, deviation, kinds)

    for pair, words in moves:
        laws = [law(unit) for unit in pair]
        if max(len(one.components[0]) for one in laws) > _COMPONENTS:
            return
        yield target.of_mixtures(*laws), words
