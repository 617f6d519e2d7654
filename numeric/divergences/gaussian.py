"""Rényi divergence of two Gaussians on the line, in closed form.

Statement    For P = N(m, s^2), Q = N(0, r^2) and v = alpha r^2 + (1 - alpha) s^2 > 0,
             D_alpha(P || Q) = alpha m^2 / (2 v) + log(r / s) - log(v / r^2) / (2 (alpha - 1));
             it is infinite when v <= 0.
Derivation   P^alpha Q^(1 - alpha) is a Gaussian integrand of precision alpha / s^2 + (1 - alpha) / r^2 = v / (s^2 r^2).
Source       Gil, Alajaji & Linder 2013, table 2; with s = r it is alpha m^2 / (2 s^2), Mironov 2017, proposition 7.
"""

from math import inf
from typing import Any

from flint import arb

from lastiterate.numeric.divergences.arguments import finite, order, spread
from lastiterate.numeric.divergences.enclosure import Enclosure, refine
from lastiterate.numeric.rounding import exact


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
