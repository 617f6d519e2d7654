"""Rényi divergence of two mixtures of two Gaussians each, by quadrature with a certified error.

All components have one standard deviation, the unit of length; p_i, a_i are the weights and means of the numerator P,
q_k, c_k those of the denominator Q. The middle of I = E_Q (P/Q)^alpha = integral of f, D_alpha = log(I) / (alpha - 1),
is `acb.integral`, whose flag is forwarded to log. Beyond X, for every k,

    f <= q_k^(1 - alpha) sum_i p_i exp(alpha (alpha - 1) (a_i - c_k)^2 / 2) phi(x - alpha a_i + (alpha - 1) c_k).

Source: docs/proofs/divergences.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Any

import numpy as np
from flint import acb, arb

from lastiterate.numeric.divergences.enclosure import Enclosure, finite, order, probability, ratio, refine, spread
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.rounding import exact, precision

Components = tuple[tuple[arb, arb], ...]
"""Weights and means, the means distinct, rising, and in units of the noise; no weight is zero."""


_EXACT_BITS = 1200
"""One minus a float needs no more."""


@dataclass(frozen=True)
class Mixture:
    """(1 - weight) N(first, s^2) + weight N(second, s^2); the standard deviation s is given where it is used.

    Attributes:
        weight: of the second component, in [0, 1].
        first: mean of the first component.
        second: mean of the second component, in the same unit.

    Raises:
        InputError: the weight is outside [0, 1] or a mean is not finite.
    """

    weight: float
    first: float
    second: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", probability("weight", self.weight))
        object.__setattr__(self, "first", finite("first", self.first))
        object.__setattr__(self, "second", finite("second", self.second))

    def parts(self) -> tuple[tuple[float, float], ...]:
        """Mean and share of the second component (1 for it, 0 for the first), zero weights dropped, means rising."""
        if self.first == self.second:
            return ((self.first, 2.0),)
        kept = [(self.first, 0.0)] * (self.weight < 1) + [(self.second, 1.0)] * (self.weight > 0)
        return tuple(sorted(kept))

    def components(self, noise: float) -> Components:
        """Weights and means as balls at the working precision, in units of the noise."""
        means = [exact(mean) / exact(noise) for mean, _ in self.parts()]
        return tuple(zip(self.shares(), means, strict=True))

    def same_law(self, other: "Mixture") -> bool:
        """Tell whether the two are one law."""
        mine, theirs = self.parts(), other.parts()
        if [mean for mean, _ in mine] != [mean for mean, _ in theirs]:
            return False
        return all(one == two for one, two in zip(self.shares(), other.shares(), strict=True))

    def shares(self) -> tuple[arb, ...]:
        """The exact weights in the order of `parts`."""
        with precision(_EXACT_BITS):
            share = exact(self.weight)
            weights = {0.0: 1 - share, 1.0: share, 2.0: arb(1)}
            return tuple(weights[which] for _, which in self.parts())


def renyi_mixtures(numerator: Mixture, denominator: Mixture, noise: Any = 1.0, *, alpha: Any) -> Enclosure:
    """D_alpha(numerator || denominator), enclosed to a relative radius below 1e-10.

    Args:
        numerator: the law P whose powers are taken.
        denominator: the law Q under which the expectation is taken.
        noise: standard deviation of every component, in the unit of the means.
        alpha: the order, above 1; any real number.

    Raises:
        InputError: an argument is out of range.
        ArithmeticError: the two laws are too near to one another, or too many widths apart, to be resolved.

    >>> round(renyi_mixtures(Mixture(0.1, 0, 1), Mixture(0, 0, 1), alpha=20).middle, 6)  # S_up(0.1, 1; 20)
    7.576226
    """
    for name, law in (("numerator", numerator), ("denominator", denominator)):
        if not isinstance(law, Mixture):
            raise InputError(f"{name} needs a Mixture, got {name}={law!r}; write Mixture(weight, first, second).")
    s, alpha = spread("noise", noise), order(alpha)
    if numerator.same_law(denominator):
        return Enclosure(0.0, 0.0)
    means = [mean for either in (numerator, denominator) for mean, _ in either.parts()]
    ratio(s, max(means) - min(means))

    def value(bits: int) -> arb:
        centre = exact(means[0]) / exact(s)
        p, q = (tuple((w, m - centre) for w, m in either.components(s)) for either in (numerator, denominator))
        return moment(p, q, exact(alpha), bits).log() / (exact(alpha) - 1)

    return refine(value)


def moment(numerator: Components, denominator: Components, alpha: arb, bits: int) -> arb:
    """E_Q (P/Q)^alpha as a ball of relative radius about 2^-bits; it is at least 1."""
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
        _tail(numerator, denominator, alpha, arb(left), -1) + _tail(numerator, denominator, alpha, arb(right), 1)
    ).upper()
    return total * arb(peak).exp() + arb(tail / 2, tail / 2)


def _leading(law: Components) -> Callable[[acb, bool], tuple[arb, arb, acb]]:
    """Of x, log p and a of the component that leads there, and the log of law over p N(a, 1), which is small.

    Pulling out the leading component leaves one square in the integrand, so that wide balls stay tight. Each choice is
    the same analytic function wherever log may be taken, as both agree on the real line.
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
    """The least of the bounds of the module docstring, over the component of the denominator that is kept."""
    bounds = []
    for weight, mean in denominator:
        total = arb(0)  # squares are written as products: ** of a ball around 0 is not finite
        for p, a in numerator:
            reach = side * (end - alpha * a + (alpha - 1) * mean) / arb(2).sqrt()
            total += p * (alpha * (alpha - 1) * (a - mean) * (a - mean) / 2).exp() * reach.erfc() / 2
        bounds.append((weight ** (1 - alpha) * total).upper())
    return min(bounds)


def _end(numerator: Components, denominator: Components, alpha: arb, bits: int, side: int) -> float:
    """A point beyond which the tail is below 2^-bits; the moment is at least 1. Any answer is valid."""
    nearest = []
    for weight, mean in denominator:
        ends = []
        for p, a in numerator:
            excess = (alpha * (alpha - 1) * (a - mean) * (a - mean) / 2 + (1 - alpha) * weight.log() + p.log()).mid()
            centre = float((alpha * a - (alpha - 1) * mean).mid())
            known = _peak(numerator, denominator, float(alpha.mid()), centre - 1, centre + 1)
            depth = max(float(excess) - max(known, 0.0) + bits * log(2), 2.0)
            ends.append(side * centre + sqrt(2 * depth))
        nearest.append(max(ends))
    return side * min(nearest)


def _peak(numerator: Components, denominator: Components, alpha: float, left: float, right: float) -> float:
    """About the largest value of log f sqrt(2 pi), at the centres and on a coarse grid, in floats; a scale only."""
    p, q = ([(log(float(w.mid())), float(m.mid())) for w, m in law] for law in (numerator, denominator))
    centres = [alpha * a - (alpha - 1) * c for _, a in p for _, c in q]
    x = np.concatenate([np.linspace(left, right, 65), centres])
    above, below = (np.logaddexp.reduce([w + m * x - m * m / 2 for w, m in law]) for law in (p, q))
    return float((alpha * above + (1 - alpha) * below - x * x / 2).max())


def _pieces(
    numerator: Components, denominator: Components, alpha: float, left: float, right: float
) -> list[tuple[float, float]]:
    """[left, right] cut at the means and at the centres of the Gaussians that bound f, where its mass may lie."""
    p, q = ([float(m.mid()) for _, m in law] for law in (numerator, denominator))
    cuts = {alpha * a - (alpha - 1) * c for a in p for c in q} | set(p) | set(q)
    inside: list[float] = [left]
    inside += [cut for cut in sorted(cuts) if left < cut < right]
    kept = [inside[0]]
    kept += [cut for before, cut in pairwise(inside) if cut - before > 8]
    return list(zip(kept, [*kept[1:], right], strict=True))
