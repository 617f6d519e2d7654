"""Rényi divergence of two mixtures of two Gaussians each, by quadrature with a certified error.

The unit of length is the common standard deviation. The numerator P has weights p_i and means a_i, the
denominator Q has weights q_k and means c_k. D_alpha is log(I) / (alpha - 1), where I = E_Q (P/Q)^alpha is the
integral of a function f. `acb.integral` computes the middle part of I. In the tails, for every k,

    f <= q_k^(1 - alpha) sum_i p_i exp(alpha (alpha - 1) (a_i - c_k)^2 / 2) phi(x - alpha a_i + (alpha - 1) c_k).

Source: docs/proofs/divergences.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite, log, sqrt
from typing import Any

import numpy as np
from flint import acb, arb

from lastiterate.numeric.errors import InputError, portion, positive, within
from lastiterate.numeric.rounding import exact, lower, precision, upper

_WANTED_BITS = 44
"""Required relative accuracy of a ball in bits: 6e-14, well below 1e-10."""

_FIRST_BITS, _LAST_BITS = 72, 1 << 14
_SPREAD = 1e50


@dataclass(frozen=True)
class Enclosure:
    """Interval [lower, upper] that contains the exact value."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ArithmeticError(f"lower <= upper is needed, got lower={self.lower!r}, upper={self.upper!r}")

    @property
    def middle(self) -> float:
        """A number between the ends, without a guaranteed direction of rounding."""
        return self.lower if self.lower == self.upper else self.lower + (self.upper - self.lower) / 2

    def __contains__(self, value: object) -> bool:
        return self.lower <= value <= self.upper  # type: ignore[operator]


def refine(evaluate: Callable[[int], arb]) -> Enclosure:
    """Evaluate a nonnegative quantity to a narrow ball by increasing precision, or raise `ArithmeticError`."""
    bits = _FIRST_BITS
    while bits <= _LAST_BITS:
        with precision(bits):
            ball = evaluate(bits)
            narrow = ball.is_exact() or (ball > 0 and ball.rel_accuracy_bits() >= _WANTED_BITS)
            if ball.is_finite() and ball >= 0 and narrow:
                return Enclosure(max(0.0, lower(ball)), upper(ball))
        bits = bits * 5 // 3
    raise ArithmeticError(
        f"no narrow enclosure with {_LAST_BITS} bits; the value is too close to 0 for these arguments"
    )


def order(alpha: Any) -> float:
    """Validate the order of a Rényi divergence."""
    return within("alpha", alpha, "a number above 1 and below 1e9", lambda x: 1 < x < 1e9, "2 is customary.")


def sampling_rate(q: Any) -> float:
    """Validate a sampling rate in [1e-50, 1]; smaller rates would underflow."""
    number = portion("q", q, "a rate in (0, 1]", "give batch_size / dataset_size.")
    if number < 1 / _SPREAD:
        raise InputError(
            f"q must be at least 1e-50, got q={number:g}; round it up to 1e-50, which gives a larger loss."
        )
    return number


def positive_scale(name: str, value: Any) -> float:
    """Validate a standard deviation or a length in [1e-50, 1e50]."""
    number = positive(name, value)
    if not 1 / _SPREAD <= number <= _SPREAD:
        raise InputError(
            f"{name} needs a number in [1e-50, 1e50], got {name}={number:g}; change the unit of length."
        )
    return number


def ratio(noise: float, shift: float, widest: float = 1e4) -> None:
    """Raise `InputError` if the noise is too small or too large for the shift."""
    if not 1 / _SPREAD <= shift / noise <= 1.0001 * widest:
        raise InputError(
            f"noise must lie between {1 / widest:g} and 1e50 times the shift {shift:g}, got noise={noise:g}; with "
            "less noise, call `renyi_gaussian`, which is for full batches."
        )


def finite(name: str, value: Any) -> float:
    """Validate a finite number."""
    return within(name, value, "a finite number", isfinite, "give a position on the line.")


Components = tuple[tuple[arb, arb], ...]
"""Nonzero weights and distinct increasing means, in units of the noise."""


@dataclass(frozen=True)
class Mixture:
    """(1 - weight) N(first, s^2) + weight N(second, s^2), with a standard deviation s given elsewhere."""

    weight: float
    first: float
    second: float

    def __post_init__(self) -> None:
        weight = within(
            "weight",
            self.weight,
            "a probability in [0, 1]",
            lambda x: 0 <= x <= 1,
            "give a share of the mixture.",
        )
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "first", finite("first", self.first))
        object.__setattr__(self, "second", finite("second", self.second))

    def parts(self) -> tuple[tuple[float, Fraction], ...]:
        """Increasing means and their exact nonzero weights."""
        weight = Fraction(self.weight)
        if self.first == self.second:
            return ((self.first, Fraction(1)),)
        return tuple(sorted(one for one in ((self.first, 1 - weight), (self.second, weight)) if one[1]))

    def components(self, noise: float) -> Components:
        """Weights and means as balls, in units of the noise."""
        return tuple((arb(w.numerator) / w.denominator, exact(mean) / exact(noise)) for mean, w in self.parts())


def renyi_mixtures(numerator: Mixture, denominator: Mixture, noise: Any = 1.0, *, alpha: Any) -> Enclosure:
    """D_alpha(numerator || denominator) for any real alpha > 1, enclosed to a relative radius below 1e-10.

    ``noise`` is the standard deviation of every component.

    Raises:
        InputError: an argument is out of range.
        ArithmeticError: the two laws are too close together or too far apart.

    >>> round(renyi_mixtures(Mixture(0.1, 0, 1), Mixture(0, 0, 1), alpha=20).middle, 6)  # S_up(0.1, 1; 20)
    7.576226
    """
    for name, law in (("numerator", numerator), ("denominator", denominator)):
        if not isinstance(law, Mixture):
            raise InputError(
                f"{name} needs a Mixture, got {name}={law!r}; write Mixture(weight, first, second)."
            )
    s, alpha = positive_scale("noise", noise), order(alpha)
    if numerator.parts() == denominator.parts():
        return Enclosure(0.0, 0.0)
    means = [mean for either in (numerator, denominator) for mean, _ in either.parts()]
    ratio(s, max(means) - min(means))

    def value(bits: int) -> arb:
        centre = exact(means[0]) / exact(s)
        p, q = (tuple((w, m - centre) for w, m in either.components(s)) for either in (numerator, denominator))
        return renyi_moment(p, q, exact(alpha), bits).log() / (exact(alpha) - 1)

    return refine(value)


def renyi_moment(numerator: Components, denominator: Components, alpha: arb, bits: int) -> arb:
    """E_Q (P/Q)^alpha, at least 1, as a ball of relative radius about 2^-bits."""
    left, right = (_end(numerator, denominator, alpha, bits, side) for side in (-1, 1))
    peak = _peak(numerator, denominator, float(alpha.mid()), left, right)
    upper, under = _leading(numerator), _leading(denominator)

    def integrand(x: acb, analytic: bool) -> acb:
        p, a, above = upper(x, analytic)
        q, c, below = under(x, analytic)
        centre = alpha * a - (alpha - 1) * c
        height = alpha * (alpha - 1) * (a - c) * (a - c) / 2 + alpha * p - (alpha - 1) * q - peak
        return (height - (x - centre) * (x - centre) / 2 + alpha * above - (alpha - 1) * below).exp()

    total = arb(0)
    tolerance = arb(2) ** -bits
    for start, stop in _pieces(numerator, denominator, float(alpha.mid()), left, right):
        part = acb.integral(integrand, start, stop, rel_tol=tolerance, abs_tol=tolerance, eval_limit=10**6)
        total += part.real
    total /= (2 * arb.pi()).sqrt()
    tail = (
        _tail(numerator, denominator, alpha, arb(left), -1)
        + _tail(numerator, denominator, alpha, arb(right), 1)
    ).upper()
    return total * arb(peak).exp() + arb(tail / 2, tail / 2)


def _leading(law: Components) -> Callable[[acb, bool], tuple[arb, arb, acb]]:
    """Map x to log p and a of the dominant component at x, and the small logarithm of law / (p N(a, 1)).

    This leaves one square in the integrand, so that enclosures over wide balls are tight. All choices give
    one analytic function wherever log is analytic, because they agree on the real line.
    """
    (log_p, a), (log_q, b) = ((weight.log(), mean) for weight, mean in (law[0], law[-1]))
    tilt, level = b - a, (b * b - a * a) / 2 - log_q + log_p

    def leading(x: acb, analytic: bool) -> tuple[arb, arb, acb]:
        if len(law) == 1:
            return log_p, a, acb(0)
        excess = tilt * x - level
        if excess.real.mid() <= 0:
            return log_p, a, (1 + excess.exp()).log(analytic=analytic)
        return log_q, b, (1 + (-excess).exp()).log(analytic=analytic)

    return leading


def _tail(numerator: Components, denominator: Components, alpha: arb, end: arb, side: int) -> arb:
    bounds = []
    for weight, mean in denominator:
        total = arb(0)  # squares are products, since ** of a ball around 0 is not finite
        for p, a in numerator:
            reach = side * (end - alpha * a + (alpha - 1) * mean) / arb(2).sqrt()
            total += p * (alpha * (alpha - 1) * (a - mean) * (a - mean) / 2).exp() * reach.erfc() / 2
        bounds.append((weight ** (1 - alpha) * total).upper())
    return min(bounds)


def _end(numerator: Components, denominator: Components, alpha: arb, bits: int, side: int) -> float:
    """A point beyond which the tail is roughly below 2^-bits; any point is valid."""
    nearest = []
    for weight, mean in denominator:
        ends = []
        for p, a in numerator:
            excess = (
                alpha * (alpha - 1) * (a - mean) * (a - mean) / 2 + (1 - alpha) * weight.log() + p.log()
            ).mid()
            centre = float((alpha * a - (alpha - 1) * mean).mid())
            known = _peak(numerator, denominator, float(alpha.mid()), centre - 1, centre + 1)
            depth = max(float(excess) - max(known, 0.0) + bits * log(2), 2.0)
            ends.append(side * centre + sqrt(2 * depth))
        nearest.append(max(ends))
    return side * min(nearest)


def _peak(numerator: Components, denominator: Components, alpha: float, left: float, right: float) -> float:
    """Approximate maximum of log(f sqrt(2 pi)), used only as a scale."""
    p, q = ([(log(float(w.mid())), float(m.mid())) for w, m in law] for law in (numerator, denominator))
    centres = [alpha * a - (alpha - 1) * c for _, a in p for _, c in q]
    x = np.concatenate([np.linspace(left, right, 65), centres])
    above, below = (np.logaddexp.reduce([w + m * x - m * m / 2 for w, m in law]) for law in (p, q))
    return float((alpha * above + (1 - alpha) * below - x * x / 2).max())


def _pieces(
    numerator: Components, denominator: Components, alpha: float, left: float, right: float
) -> list[tuple[float, float]]:
    p, q = ([float(m.mid()) for _, m in law] for law in (numerator, denominator))
    cuts = {alpha * a - (alpha - 1) * c for a in p for c in q} | set(p) | set(q)
    inside = [left, *(cut for cut in sorted(cuts) if left < cut < right)]
    kept = [left, *(cut for before, cut in pairwise(inside) if cut - before > 8)]
    return list(zip(kept, [*kept[1:], right], strict=True))
