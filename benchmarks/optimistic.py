"""A lower bound of the epsilon of a composed Poisson-sampled Gaussian, to bracket the true one.

The losses of one step are rounded *down* to a lattice, convolved by FFT, and read off at a delta that is increased by
an allowance for the rounding of the transform. A coefficient of the transform has modulus at most 1, so its T-th power
is off by about 1e-16 T; by Parseval the masses of N cells together are then off by less than 1e-16 T sqrt(N) times
their Euclidean norm, below 1e-11 for the runs that are compared. This is a yardstick in floats, not a certified number.
Only the direction with the mixture as the numerator is taken; the other can only raise the truth.
"""

import numpy as np
from scipy.special import ndtr

__all__ = ["epsilon_from_below"]

_SIZE = 2**22
_ALLOWANCE = 1e-10


def epsilon_from_below(q: float, noise: float, steps: int, delta: float) -> float:
    """At most the least epsilon of (epsilon, delta)-DP, adding or removing a sample; at least 0.

    Args:
        q: rate of the Poisson batches, in (0, 1].
        noise: noise multiplier.
        steps: number of steps.
        delta: in (0, 1), well above 1e-10.
    """
    # The mixture (1 - q) N(0, 1) + q N(1 / noise, 1) over N(0, 1); its loss rises with x.
    x = np.linspace(-10, 10 + 1 / noise, 200_001)
    middle = (x[1:] + x[:-1]) / 2
    weight = np.diff((1 - q) * ndtr(x) + q * ndtr(x - 1 / noise))
    loss = _loss(q, noise, middle)
    mean, second = weight @ loss, weight @ loss**2
    spread = np.sqrt(steps * max(second - mean**2, 0.0))
    # The window of losses that is kept; what leaves it above comes back below, which only lowers the answer.
    reach = 8 * spread + 2
    width = 2 * reach / _SIZE
    lowest = int((steps * mean - reach) / width)
    first, last = int(np.floor(np.log1p(-min(q, 1 - 1e-16)) / width)), int(_loss(q, noise, x[-1]) / width)
    first = max(first, int(_loss(q, noise, x[0]) / width) - 1)
    ticks = np.arange(first, last + 1)
    mass = np.diff(_below(q, noise, ticks * width), append=1.0)  # losses in [l, l + width) become l
    folded = np.bincount(ticks % _SIZE, mass, _SIZE)
    total = np.maximum(np.fft.irfft(np.fft.rfft(folded) ** steps, _SIZE), 0.0)
    kept = lowest + np.arange(_SIZE)
    return _read(total[kept % _SIZE], kept * width, delta + _ALLOWANCE)


def _loss(q: float, noise: float, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.log1p(q * np.expm1((2 * x - 1 / noise) / (2 * noise))))


def _below(q: float, noise: float, loss: np.ndarray) -> np.ndarray:
    """P[loss < l] with the mixture as the law."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x = noise * np.log1p(np.expm1(loss) / q) + 1 / (2 * noise)
    x = np.where(np.isnan(x), -np.inf, x)
    return (1 - q) * ndtr(x) + q * ndtr(x - 1 / noise)


def _read(mass: np.ndarray, losses: np.ndarray, delta: float) -> float:
    """The largest lattice point at which the mass still gives more than delta, or 0."""
    tail = np.cumsum(mass[::-1])[::-1]
    weighted = np.cumsum((mass * np.exp(-np.clip(losses, -700, 700)))[::-1])[::-1]
    with np.errstate(over="ignore"):
        found = tail - np.exp(np.minimum(losses, 700)) * weighted
    above = losses[(found > delta) & (losses > 0)]
    return float(above[-1]) if len(above) else 0.0
