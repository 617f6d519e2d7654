"""One step on a batch drawn without replacement: a proved upper bound, by advanced joint convexity.

Given a revealed batch the two laws of the step are P = (1-q) N(x) + q N(y) and P' = (1-q) N(x) + q N(y'), with x, y, y'
at pairwise distance at most d, and noise s; q = b/n, g = d/s. In both directions D_alpha(P || P') <= log(1 + alpha
(alpha-1) J) / (alpha-1), with phi the standard normal density and r = 1 + q (e^(g x - g^2/2) - 1),

    alpha (alpha-1) J = integral from g/2 to inf of phi(x) (r^alpha - 1) (1 - r^(1-alpha)) dx:

up to X by `acb.integral`, beyond by phi r^alpha <= phi (1 - q + q e^(alpha (g x - g^2/2))). S_up at shift d is one of
the laws allowed (x = y'), so this is never below it. Whether S_up itself is an upper bound is a conjecture.

Source: docs/proofs/divergences.md, without_replacement.md; Balle, Barthe & Gaboardi 2018, theorem 2; Sason & Verdú
2016, section VII.
"""

from math import log
from typing import Any

import numpy as np
from flint import acb, arb

from lastiterate.numeric.divergences.enclosure import Enclosure, order, ratio, refine, sampling, spread
from lastiterate.numeric.rounding import exact


def replacement_step(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """The proved bound on D_alpha of one step without replacement, in both directions; use its upper end.

    Args:
        q: chance that the differing sample is in the batch, in (0, 1]; exactly this float, so round it up.
        noise: standard deviation of the noise.
        alpha: the order, any real number above 1.
        shift: greatest distance d = 2 r of two outcomes of the step without its noise, in the unit of ``noise``; at
            most ten times the noise.

    Returns:
        An enclosure of the bound itself, not of the divergence, which may be smaller.

    Raises:
        InputError: an argument is out of range.

    >>> from lastiterate.numeric.divergences.sampled import s_up
    >>> replacement_step(0.1, 1.0, alpha=20, shift=2.0).upper >= s_up(0.1, 1.0, alpha=20, shift=2.0).upper
    True
    """
    q, s, d, alpha = sampling(q), spread("noise", noise), spread("shift", shift), order(alpha)
    ratio(s, d, widest=10)  # the quadrature takes up to seconds at 10 and minutes at 20, near order 1

    def value(bits: int) -> arb:
        power, distance = exact(alpha), exact(d) / exact(s)
        return _excess(exact(q), distance, power, bits).log1p() / (power - 1)

    return refine(value)


def _excess(q: arb, g: arb, alpha: arb, bits: int) -> arb:
    """Alpha (alpha - 1) J of the module docstring, as a ball: a middle by quadrature, and a tail by hand."""

    def integrand(x: acb, analytic: bool) -> acb:
        u = g * x - g * g / 2
        if u.real.mid() < 1:
            ratio = (1 + q * u.expm1()).log(analytic=analytic)
            return (-x * x / 2).exp() * (alpha * ratio).expm1() * -((1 - alpha) * ratio).expm1()
        # The same function, with one square pulled out so that wide balls stay tight.
        rest = (q + (1 - q) * (-u).exp()).log(analytic=analytic)
        lead = alpha * rest - (x - alpha * g) * (x - alpha * g) / 2 + alpha * (alpha - 1) * g * g / 2
        return lead.exp() * (-alpha * (u + rest)).expm1() * ((1 - alpha) * (u + rest)).expm1()

    start = g / 2
    peak = _peak(float(q.mid()), float(g.mid()), float(alpha.mid()))
    fine = arb(2) ** -bits * arb(peak).exp()
    stop = _end(q, g, alpha, fine)
    middle = acb.integral(integrand, start, stop, rel_tol=arb(2) ** -bits, abs_tol=fine, eval_limit=10**6).real
    tail = _tail(q, g, alpha, stop).upper()
    return middle / (2 * arb.pi()).sqrt() + arb(tail / 2, tail / 2)


def _peak(q: float, g: float, alpha: float) -> float:
    """About the largest value of the logarithm of the integrand, in floats; a scale only."""
    x = np.linspace(g / 2, alpha * g + 8, 402)[1:]
    u = g * x - g * g / 2
    log_ratio = np.where(u > 600, log(q) + u, np.log1p(q * np.expm1(np.minimum(u, 600))))
    log_ratio = np.maximum(log_ratio, 1e-60)
    first = np.where(alpha * log_ratio > 30, alpha * log_ratio, np.log(np.expm1(np.minimum(alpha * log_ratio, 30))))
    return float((first + np.log(-np.expm1((1 - alpha) * log_ratio)) - x * x / 2).max())


def _end(q: arb, g: arb, alpha: arb, fine: arb) -> arb:
    """A point beyond which the tail is below ``fine``, and not far beyond the first such point."""
    low, high = g / 2, alpha * g + 8
    while not _tail(q, g, alpha, high) <= fine:
        low, high = high, 2 * high
    for _ in range(10):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if _tail(q, g, alpha, middle) <= fine else (middle, high)
    return high


def _tail(q: arb, g: arb, alpha: arb, end: arb) -> arb:
    """A bound of what lies beyond ``end``."""
    root = arb(2).sqrt()
    far = (alpha * (alpha - 1) * g * g / 2).exp() * ((end - alpha * g) / root).erfc()
    return ((1 - q) * (end / root).erfc() + q * far) / 2
