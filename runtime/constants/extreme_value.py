"""Extrapolation of the largest ratio by extreme-value theory: a statistical estimate, with an interval.

The largest ratio over a block of pairs is, for large blocks, distributed by a generalised extreme-value law; a bounded
ratio gives the reverse Weibull type, whose end point estimates the constant over *the law that pairs are drawn from*.
It says nothing of pairs that the draw never comes near (see `search` for those), and it is no bound in any direction.

Source: Fisher & Tippett 1928; fit by L-moments, Hosking, Wallis & Wood 1985; Weng et al. 2018 (CLEVER) fit the same law
to gradients of networks.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count, portion
from lastiterate.runtime.constants.fit import trusted
from lastiterate.runtime.pair_table import Kind, PairTable

_RESAMPLES: Final = 1000
_FEWEST_BLOCKS: Final = 20


@dataclass(frozen=True)
class Extrapolation:
    """End point of the law of block maxima. Direction: none, a statistical estimate.

    Attributes:
        value: the estimated constant, gradient / length^lambda; inf where the fitted law has no end point.
        low: lower end of the interval; never below the largest ratio seen.
        high: upper end of the interval; inf where some resample has no end point.
        level: confidence of the interval by parametric bootstrap.
        largest: the largest ratio seen, a lower estimate.
        shape: the fitted shape; negative where the law has an end point.
        blocks: number of block maxima.
        fits: p-value of a Kolmogorov-Smirnov test of the fit; a small one means that the law does not describe them.
    """

    value: float
    low: float
    high: float
    level: float
    largest: float
    shape: float
    blocks: int
    fits: float


def extrapolate(
    table: PairTable, kind: Kind, lam: float, *, blocks: int = 100, level: float = 0.95, seed: int = 0
) -> Extrapolation:
    """Extrapolate the largest ratio |g(x) - g(y)| / |x - y|^lam of a table of pairs, in the order they were drawn.

    The maxima are over consecutive pairs, at least 20 blocks of them; the level is the confidence of the interval and
    the seed that of the bootstrap.

    Raises:
        InputError: fewer than 20 blocks or fewer trusted pairs than blocks, or an argument out of range.
    """
    from scipy.stats import genextreme, kstest

    blocks = count("blocks", blocks)
    level = chance("level", level)
    lam = portion("lam", lam, "a Hölder order in (0, 1]", "use 1 for smoothness.")
    kept = trusted(table, kind)
    ratios = table.differences[kind][kept] / table.distances[kept] ** lam
    if blocks < _FEWEST_BLOCKS or len(ratios) < blocks:
        raise InputError(
            f"Extreme values need at least {_FEWEST_BLOCKS} blocks and a trusted pair in each, got blocks={blocks} "
            f"for {len(ratios)} pairs; draw more points."
        )
    maxima = np.array([part.max() for part in np.array_split(ratios, blocks)])
    largest = float(maxima.max())
    if maxima.min() == largest:
        return Extrapolation(largest, largest, largest, level, largest, -inf, blocks, 1.0)
    scale = float(maxima.mean())
    fitted = _fit(maxima[None] / scale)
    shape, place, width = (float(values[0]) for values in fitted)
    draws = genextreme.rvs(shape, place, width, size=(_RESAMPLES, blocks), random_state=np.random.default_rng(seed))
    low, high = np.quantile(_ends(*_fit(np.asarray(draws))), [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return Extrapolation(
        value=max(float(_ends(*fitted)[0]) * scale, largest),
        low=max(float(low) * scale, largest),
        high=max(float(high) * scale, largest),
        level=level,
        largest=largest,
        shape=-shape,
        blocks=blocks,
        fits=float(kstest(maxima / scale, "genextreme", args=(shape, place, width)).pvalue),
    )


def _fit(maxima: Array) -> tuple[Array, Array, Array]:
    """Shape (SciPy's sign), place and width of the law for rows of maxima, shape (rows, blocks), by L-moments."""
    from scipy.special import gamma

    ordered = np.sort(maxima, axis=1)
    blocks = ordered.shape[1]
    rank = np.arange(blocks)
    first = ordered.mean(axis=1)
    once = (ordered * rank).mean(axis=1) / (blocks - 1)
    twice = (ordered * rank * (rank - 1)).mean(axis=1) / ((blocks - 1) * (blocks - 2))
    second, third = 2 * once - first, 6 * twice - 6 * once + first
    start = 2 / (3 + third / second) - np.log(2) / np.log(3)
    shape = 7.8590 * start + 2.9554 * start**2
    width = second * shape / ((1 - 2.0**-shape) * gamma(1 + shape))
    return shape, first - width * (1 - gamma(1 + shape)) / shape, width


def _ends(shape: Array, place: Array, width: Array) -> Array:
    """End points; inf where the shape leaves none."""
    with np.errstate(divide="ignore"):
        return np.where(shape > 0, place + width / np.where(shape > 0, shape, 1.0), inf)
