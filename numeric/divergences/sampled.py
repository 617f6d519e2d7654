"""Divergences between Gaussians, of the sampled Gaussian in both directions, and for a replaced sample.

With base N = N(0, s^2) and mixture M = (1 - q) N(0, s^2) + q N(d, s^2), S_up = D_alpha(M || N) and S_down =
D_alpha(N || M). A guarantee in both directions needs the larger one, S_up, which is a binomial sum for
integer alpha.

Given the rest of the batch, a step without replacement has the laws P = (1-q) N(x) + q N(y) and P' = (1-q)
N(x) + q N(y'), with q = b/n, noise s, and x, y, y' at pairwise distances of at most d. By advanced joint
convexity, D_alpha(P || P') <= log(1 + alpha (alpha-1) J) / (alpha-1) in both directions. With g = d/s and r =
1 + q (e^(g x - g^2/2) - 1), alpha (alpha-1) J is the integral of phi(x) (r^alpha - 1) (1 - r^(1-alpha)) over
x > g/2. The integrand is at most phi r^alpha <= phi (1 - q + q e^(alpha (g x - g^2/2))), whose integral
bounds the tail. The bound on D_alpha is never below S_up.

Source: docs/proofs/divergences.md, without_replacement.md; Balle & Wang 2018, theorem 5; Mironov, Talwar &
Zhang 2019, sections 3.1 to 3.3; Balle, Barthe & Gaboardi 2018, theorem 2; Sason & Verdú 2016, section VII.
"""

from math import log
from typing import Any

import numpy as np
from flint import acb, arb, arb_poly

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences.mixtures import (
    Enclosure,
    Mixture,
    finite,
    order,
    positive_scale,
    ratio,
    refine,
    renyi_mixtures,
    sampling_rate,
)
from lastiterate.numeric.rounding import exact

_WHOLE_LIMIT = 4096
"""Integer orders up to this limit use the sum, larger orders the integral."""


def renyi_gaussian(difference: Any, std: Any, *, alpha: Any) -> Enclosure:
    """D_alpha(N(difference, std^2) || N(0, std^2)) = alpha difference^2 / (2 std^2), enclosed.

    >>> 4.0 in renyi_gaussian(2.0, 1.0, alpha=2)
    True
    """
    mean, alpha, s = finite("difference", difference), order(alpha), positive_scale("std", std)
    return refine(lambda _bits: exact(alpha) * exact(mean) ** 2 / (2 * exact(s) ** 2))


def gaussian_profile(m: arb, log_t: arb) -> arb:
    """H_t(N(m, 1) || N(0, 1)), m > 0, t = exp(log_t), as a ball: the integral of max(P - t Q, 0).

    For t = e^epsilon this is the smallest delta with P(S) <= e^epsilon Q(S) + delta for every event S.
    """
    root = arb(2).sqrt()
    near, far = (log_t / m - m / 2) / root, (log_t / m + m / 2) / root
    return (near.erfc() - log_t.exp() * far.erfc()) / 2


def _validated(
    q: Any, noise: Any, shift: Any, alpha: Any, widest: float = 1e4
) -> tuple[float, float, float, float]:
    found = sampling_rate(q), positive_scale("noise", noise), positive_scale("shift", shift), order(alpha)
    ratio(found[1], found[2], widest)
    return found


def s_up(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """D_alpha((1-q) N(0, s^2) + q N(d, s^2) || N(0, s^2)), enclosed: the mixture is the numerator.

    Args:
        q: sampling rate in (0, 1], taken as this exact float; round fractions such as 1/10 up.
        noise: the standard deviation s.
        alpha: the order, any real number above 1.
        shift: the distance d between the means, in the unit of ``noise``.

    Raises:
        InputError: an argument is out of range.

    >>> round(s_up(0.1, 1.0, alpha=20, shift=2.0).middle, 6)
    37.576226
    """
    q, s, d, alpha = _validated(q, noise, shift, alpha)
    if q == 1:
        return renyi_gaussian(d, s, alpha=alpha)
    if alpha == int(alpha) and alpha <= _WHOLE_LIMIT:
        return refine(lambda _bits: _binomial(q, s, d, int(alpha)))
    return renyi_mixtures(Mixture(q, 0.0, d), Mixture(0.0, 0.0, d), s, alpha=alpha)


def s_down(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """D_alpha(N(0, s^2) || (1-q) N(0, s^2) + q N(d, s^2)), enclosed: the base is the numerator.

    Arguments and errors are as in `s_up`.

    >>> round(s_down(0.1, 1.0, alpha=20, shift=2.0).middle, 7)
    0.0807336
    """
    q, s, d, alpha = _validated(q, noise, shift, alpha)
    if q == 1:
        return renyi_gaussian(d, s, alpha=alpha)
    return renyi_mixtures(Mixture(0.0, 0.0, d), Mixture(q, 0.0, d), s, alpha=alpha)


def group_law(count: int, rate: arb) -> tuple[arb, list[arb]]:
    """P(X > 0) for X ~ Binomial(count, rate), and the probabilities of 1, ..., count given X > 0."""
    q = 1 - (1 - rate) ** count
    return q, [arb(count).bin(j) * rate**j * (1 - rate) ** (count - j) / q for j in range(1, count + 1)]


def log_moved(parts: list[arb], g: Array | float, z: Array) -> Array:
    """Log of the density at z of the mixture of N(j g, 1), with weights ``parts``, over N(0, 1); in floats."""
    each = [float(one.log()) + j * g * (z - j * g / 2) for j, one in enumerate(parts, start=1)]
    return np.asarray(np.logaddexp.reduce(each))


def group_step(q: float, shift: arb, count: int, alpha: float) -> arb:
    """A bound on D_alpha in both directions between N(0, 1) and the mixture of N(j shift, 1), j ~ Binomial(count, q).

    (alpha - 1) D_alpha of the mixture from N(0, 1) is convex in alpha, and at whole orders a sum. In the other
    direction, the density r of the mixture over N(0, 1) increases from its least weight, w, and E r^(1 - alpha)
    is an integral, with tails of at most w^(1 - alpha).
    """
    (used, parts), power, low = group_law(count, exact(q)), exact(alpha) - 1, int(alpha)
    w = [(1 - exact(q)) ** count, *(used * one for one in parts)]

    def moment(whole: int) -> arb:
        terms = arb_poly([one * (-(j**2) * shift**2 / 2).exp() for j, one in enumerate(w)]) ** whole
        return sum((c * (m**2 * shift**2 / 2).exp() for m, c in enumerate(terms.coeffs())), arb(0)).log()

    part = exact(alpha) - low
    found = (part * moment(low + 1) + ((1 - part) * moment(low) if low > 1 else 0)) / power
    if found >= -w[0].log():
        return found

    def integrand(x: acb, analytic: bool) -> acb:
        density = sum((one * (j * shift * (x - j * shift / 2)).exp() for j, one in enumerate(w)), acb(0))
        return (-x * x / 2 - power * density.log(analytic=analytic)).exp()

    end = (2 * (60 - power * w[0].log())).sqrt().upper()
    middle = acb.integral(integrand, -end, end, rel_tol=arb(2) ** -60, eval_limit=10**6).real
    tails = (end / arb(2).sqrt()).erfc() * w[0] ** -power
    back = ((middle / (2 * arb.pi()).sqrt() + tails).log() / power).upper()
    return found.max(back)


def _binomial(q: float, noise: float, shift: float, alpha: int) -> arb:
    rate, half = exact(q), (exact(shift) / exact(noise)) ** 2 / 2
    odds = rate / (1 - rate)
    growth, grown = (2 * half).exp(), arb(1)  # the j-th exponential over the (j-1)-th is exp((j-1) d^2/s^2)
    term = (1 - rate) ** alpha
    total = term
    for j in range(1, alpha + 1):
        term *= odds * (alpha - j + 1) / j * grown
        grown *= growth
        total += term
    return total.log() / (alpha - 1)


def replacement_step(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """Enclosure of a proved bound on D_alpha, in both directions, for one step without replacement; use its upper end.

    ``q``, the probability that the differing sample is in the batch, is taken as this exact float, so round
    it up. ``shift`` is the largest distance d between two outcomes of the step without its noise, at most ten
    times the noise.

    Raises:
        InputError: an argument is out of range.

    >>> replacement_step(0.1, 1.0, alpha=20, shift=2.0).upper >= s_up(0.1, 1.0, alpha=20, shift=2.0).upper
    True
    """
    # Near order 1 the quadrature takes seconds at ratio 10 and minutes at 20.
    q, s, d, alpha = _validated(q, noise, shift, alpha, widest=10)

    def value(bits: int) -> arb:
        power, distance = exact(alpha), exact(d) / exact(s)
        return _excess(exact(q), distance, power, bits).log1p() / (power - 1)

    return refine(value)


def _excess(q: arb, g: arb, alpha: arb, bits: int) -> arb:
    """alpha (alpha - 1) J as a ball: the middle by quadrature, and the tail by the bound."""

    def integrand(x: acb, analytic: bool) -> acb:
        u = g * x - g * g / 2
        if u.real.mid() < 1:
            ratio = (1 + q * u.expm1()).log(analytic=analytic)
            return (-x * x / 2).exp() * (alpha * ratio).expm1() * -((1 - alpha) * ratio).expm1()
        # The same function with one square factored out, for tight enclosures over wide balls.
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
    x = np.linspace(g / 2, alpha * g + 8, 402)[1:]
    u = g * x - g * g / 2
    log_ratio = np.where(u > 600, log(q) + u, np.log1p(q * np.expm1(np.minimum(u, 600))))
    log_ratio = np.maximum(log_ratio, 1e-60)
    first = np.where(
        alpha * log_ratio > 30, alpha * log_ratio, np.log(np.expm1(np.minimum(alpha * log_ratio, 30)))
    )
    return float((first + np.log(-np.expm1((1 - alpha) * log_ratio)) - x * x / 2).max())


def _end(q: arb, g: arb, alpha: arb, fine: arb) -> arb:
    low, high = g / 2, alpha * g + 8
    while not _tail(q, g, alpha, high) <= fine:
        low, high = high, 2 * high
    for _ in range(10):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if _tail(q, g, alpha, middle) <= fine else (middle, high)
    return high


def _tail(q: arb, g: arb, alpha: arb, end: arb) -> arb:
    root = arb(2).sqrt()
    far = (alpha * (alpha - 1) * g * g / 2).exp() * ((end - alpha * g) / root).erfc()
    return ((1 - q) * (end / root).erfc() + q * far) / 2
