"""Random batches: how often and how far one sample moves a step, and probabilities of batch sizes."""

from bisect import bisect_left
from fractions import Fraction
from math import floor, lgamma, log, log1p, nextafter
from typing import TYPE_CHECKING

from flint import arb

from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Size


def rate(run: NoisySGD, batch: int | None = None) -> float:
    """Sampling rate, rounded up; for a schedule, the largest rate, which costs most (docs/proofs/poisson.md)."""
    size = run.batch_sizes[-1] if batch is None else batch
    q = size / run.dataset_size
    return q if Fraction(q) >= Fraction(size, run.dataset_size) else nextafter(q, 1.0)


def outcome_distance(run: NoisySGD, batch: int | None = None) -> float:
    """Largest distance between outcomes of a step, divided by its step size, rounded up."""
    samples = 2 if run.adjacency == "replace" else 1
    return upper(samples * exact(run.clip_norm) / (run.batch if batch is None else batch))


def step_multiplier(run: NoisySGD, step_size: float, noise: float, batch: int | None = None) -> float:
    """Noise of a step divided by the distance by which one sample moves the iterate, rounded down."""
    return lower(exact(noise) / (exact(step_size) * exact(outcome_distance(run, batch))))


def size_ranges(run: NoisySGD, log_chance: float, *, both: bool) -> "tuple[Size, Size, float]":
    """`least_range` of batch sizes without the differing sample, for all steps or per step of a schedule."""
    n = run.dataset_size
    others = n - run.group
    found = {size: least_range(others, Fraction(size, n), log_chance, both=both) for size in run.batch_sizes}
    if not isinstance(run.batch_size, tuple):
        return found[run.batch]
    low, high, _ = zip(*(found[size] for size in run.batch_size), strict=True)
    return low, high, max(tail for *_, tail in found.values())


def tail_from(count: int, rate: Fraction, least: int) -> float:
    """P(X >= least) for X ~ Binomial(count, rate), rounded up.

    If r = P(X = k + 1) / P(X = k) < 1, then P(X >= k) <= P(X = k) / (1 - r), since r decreases as k grows.

    >>> tail_from(10, Fraction(1, 2), 10) == 2.0**-10, tail_from(10, Fraction(1, 2), 11)
    (True, 0.0)
    """
    if least <= 0:
        return 1.0
    if least > count or rate == 0:
        return 0.0
    if rate == 1 or (ratio := Fraction(count - least, least + 1) * rate / (1 - rate)) >= 1:
        return 1.0
    with precision():
        q = arb(rate.numerator) / rate.denominator
        chance = arb(count).bin(least) * q**least * (1 - q) ** (count - least)
        return min(1.0, upper(chance / (1 - arb(ratio.numerator) / ratio.denominator)))


def least_range(count: int, rate: Fraction, log_chance: float, *, both: bool) -> tuple[int, int, float]:
    """A range [low, high] and the probability, rounded up, that Binomial(count, rate) is outside it.

    ``log_chance`` is the log of the approximate probability on each side; without ``both``, low is 0.

    >>> least_range(100, Fraction(1, 10), log(1e-3), both=True)[:2]
    (2, 20)
    """
    high = _least(count, float(rate), log_chance)
    low = count - _least(count, float(1 - rate), log_chance) if both else 0
    chance = tail_from(count, rate, high + 1) + (tail_from(count, 1 - rate, count - low + 1) if both else 0.0)
    return low, high, min(1.0, chance * (1 + 2.0**-50))


def _least(count: int, rate: float, log_chance: float) -> int:
    """Smallest k for which P(X > k) is about e^log_chance, computed in floats."""
    if rate in (0.0, 1.0):
        return count if rate else 0

    def log_tail(least: int) -> float:  # the bound of `tail_from`, for count * rate < least <= count
        ratio = (count - least) / (least + 1) * rate / (1 - rate)
        ways = lgamma(count + 1) - lgamma(least + 1) - lgamma(count - least + 1)
        return ways + least * log(rate) + (count - least) * log1p(-rate) - log1p(-ratio)

    return bisect_left(range(count), True, floor(count * rate), key=lambda k: log_tail(k + 1) <= log_chance)
