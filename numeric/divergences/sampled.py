"""The sampled Gaussian: a mixture against its base, and the base against the mixture.

Statement    With base N(0, s^2) and mixture M = (1 - q) N(0, s^2) + q N(d, s^2), shift d,
             S_up(q, s; alpha)   = D_alpha(M || N(0, s^2))   the mixture is the numerator,
             S_down(q, s; alpha) = D_alpha(N(0, s^2) || M)   the base is the numerator.
             A guarantee in both directions needs the larger, S_up; S_down never exceeds log(1/(1-q)).
Whole order  For an integer alpha, (M / N(0, s^2))^alpha is a binomial sum whose terms are exponentials of lines:
             E = sum_j C(alpha, j) (1 - q)^(alpha - j) q^j exp(j (j - 1) d^2 / (2 s^2)),   S_up = log(E) / (alpha - 1).
Any order    `mixtures.moment`.
Source       Mironov, Talwar & Zhang 2019, sections 3.1 to 3.3. Altschuler & Talwar 2022, definition 2.10, and
             Chien & Li 2025, definition 3.11, name S_down where their two-sided claims need S_up.
"""

from typing import Any

from flint import arb

from lastiterate.numeric.divergences.arguments import order, ratio, sampling, spread
from lastiterate.numeric.divergences.enclosure import Enclosure, refine
from lastiterate.numeric.divergences.gaussian import renyi_gaussian
from lastiterate.numeric.divergences.mixtures import Mixture, renyi_mixtures
from lastiterate.numeric.rounding import exact

_WHOLE_LIMIT = 4096
"""Integer orders up to this are summed, larger ones integrated."""


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
