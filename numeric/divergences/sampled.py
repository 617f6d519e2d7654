"""Two Gaussians, and the sampled Gaussian: a mixture against its base, and the base against the mixture.

For P = N(m, s^2), Q = N(0, r^2) and v = alpha r^2 + (1 - alpha) s^2 > 0, infinite elsewhere,

    D_alpha(P || Q) = alpha m^2 / (2 v) + log(r / s) - log(v / r^2) / (2 (alpha - 1)).

With base N(0, s^2) and mixture M = (1 - q) N(0, s^2) + q N(d, s^2), shift d, S_up(q, s; alpha) = D_alpha(M || N(0,
s^2)) has the mixture for numerator, S_down(q, s; alpha) = D_alpha(N(0, s^2) || M) the base. A guarantee in both
directions needs the larger, S_up. At an integer alpha it is a binomial sum, at any other order `mixtures.moment`.

Source: docs/proofs/divergences.md; Gil, Alajaji & Linder 2013, table 2; Mironov, Talwar & Zhang 2019, sections 3.1 to
3.3. Altschuler & Talwar 2022 and Chien & Li 2025 name S_down where their two-sided claims need S_up.
"""

from math import inf
from typing import Any

from flint import arb

from lastiterate.numeric.divergences.enclosure import Enclosure, finite, order, ratio, refine, sampling, spread
from lastiterate.numeric.divergences.mixtures import Mixture, renyi_mixtures
from lastiterate.numeric.rounding import exact

_WHOLE_LIMIT = 4096
"""Integer orders up to this are summed, larger ones integrated."""


def renyi_gaussian(difference: Any, std: Any, std_denominator: Any = None, *, alpha: Any) -> Enclosure:
    """D_alpha(N(difference, std^2) || N(0, std_denominator^2)), enclosed.

    Args:
        difference: mean of the numerator minus mean of the denominator.
        std: standard deviation of the numerator, in the unit of ``difference``.
        std_denominator: that of the denominator; by default the same.
        alpha: the order, above 1.

    Returns:
        The enclosure; [inf, inf] where the divergence is infinite.

    Raises:
        InputError: a standard deviation is not positive, or the order is not above 1.

    >>> 4.0 in renyi_gaussian(2.0, 1.0, alpha=2)
    True
    >>> renyi_gaussian(0.0, 2.0, 1.0, alpha=2).upper  # the numerator is too wide
    inf
    """
    mean, alpha = finite("difference", difference), order(alpha)
    s = spread("std", std)
    r = s if std_denominator is None else spread("std_denominator", std_denominator)
    if mean == 0 and r == s:
        return Enclosure(0.0, 0.0)
    if r == s:
        return refine(lambda _bits: exact(alpha) * exact(mean) ** 2 / (2 * exact(s) ** 2))

    def value(bits: int) -> arb:
        order_, p, q = exact(alpha), exact(s) ** 2, exact(r) ** 2
        v = order_ * q + (1 - order_) * p
        if v <= 0 or (bits > 2000 and not v > 0):  # products of floats are exact long before 2000 bits
            raise OverflowError
        return order_ * exact(mean) ** 2 / (2 * v) + (q / p).log() / 2 - (v / q).log() / (2 * (order_ - 1))

    try:
        return refine(value)
    except OverflowError:
        return Enclosure(inf, inf)


def s_up(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """D_alpha((1-q) N(0, noise^2) + q N(shift, noise^2) || N(0, noise^2)), enclosed: the mixture is the numerator.

    Args:
        q: sampling rate in (0, 1]; exactly this float, so round a fraction such as 1/10 up.
        noise: standard deviation.
        alpha: the order, any real number above 1.
        shift: distance of the two means, in the unit of ``noise``.

    Raises:
        InputError: an argument is out of range.

    >>> round(s_up(0.1, 1.0, alpha=20, shift=2.0).middle, 6)
    37.576226
    >>> s_up(0.1, 1.0, alpha=1.1).relative_radius < 1e-10  # dp-accounting 0.6 returns inf here
    True
    """
    q, s, d, alpha = sampling(q), spread("noise", noise), spread("shift", shift), order(alpha)
    ratio(s, d)
    if q == 1:
        return renyi_gaussian(d, s, alpha=alpha)
    if alpha == int(alpha) and alpha <= _WHOLE_LIMIT:
        return refine(lambda _bits: _binomial(q, s, d, int(alpha)))
    return renyi_mixtures(Mixture(q, 0.0, d), Mixture(0.0, 0.0, d), s, alpha=alpha)


def s_down(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """D_alpha(N(0, noise^2) || (1-q) N(0, noise^2) + q N(shift, noise^2)), enclosed: the base is the numerator.

    Arguments and errors are those of `s_up`.

    >>> round(s_down(0.1, 1.0, alpha=20, shift=2.0).middle, 7)
    0.0807336
    """
    q, s, d, alpha = sampling(q), spread("noise", noise), spread("shift", shift), order(alpha)
    ratio(s, d)
    if q == 1:
        return renyi_gaussian(d, s, alpha=alpha)
    return renyi_mixtures(Mixture(0.0, 0.0, d), Mixture(q, 0.0, d), s, alpha=alpha)


def _binomial(q: float, noise: float, shift: float, alpha: int) -> arb:
    """log E / (alpha - 1) with E the finite sum of the module docstring; terms by recursion."""
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
