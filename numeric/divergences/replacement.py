"""One step on a batch drawn without replacement: a proved upper bound, by advanced joint convexity.

Setting      Reveal a batch R without i*, then swap one of its elements for i* with probability q = b/n. Given R, the
             two laws of the step are P = (1-q) N(x) + q N(y) and P' = (1-q) N(x) + q N(y'), with x, y, y' in a ball
             of radius r, so at pairwise distance at most d = 2 r, and noise s. Here D_alpha(P || P') is bounded; by
             symmetry in y and y' the bound serves both directions.
Profile      For t >= 1 put tau = 1 + (t - 1)/q and theta = t / tau. Then P - t P' = q (N(y) - tau ((1-theta) N(x) +
             theta N(y'))), pointwise: q tau (1 - theta) = q (tau - t) = (t - 1)(1 - q). As H is convex in its second
             argument, H_t(P || P') <= q max(H_tau(N(y) || N(x)), H_tau(N(y) || N(y'))) <= q h(tau), with h(tau) =
             H_tau(N(d, s^2) || N(0, s^2)), which rises with the distance of the means.
Order        For laws that are absolutely continuous to each other, integrating (z^alpha)'' against the profile,
             E_{P'} (P/P')^alpha = 1 + alpha (alpha-1) integral_1^inf [t^(alpha-2) H_t(P || P') + t^(-alpha-1) H_t(P'
             || P)] dt. Both profiles are at most q h, so D_alpha(P || P') <= 1/(alpha-1) log(1 + alpha (alpha-1) J),
             J = integral_1^inf (t^(alpha-2) + t^(-alpha-1)) q h(1 + (t-1)/q) dt.
Here         t = 1 + q (e^y - 1), dt = q e^y dy, so the argument of h is e^y. With g = d/s: h(e^y) = Phi(g/2 - y/g) -
             e^y Phi(-g/2 - y/g). Beyond Y, h <= Phi(g/2 - y/g), t <= e^y, and integral_Y^inf e^(k y) Phi(g/2 - y/g)
             dy <= e^(k (k+1) g^2/2) Phi(g/2 + k g - Y/g) / k  (by parts), with k = 1 + max(alpha - 2, 0) for the
             first power of t and k = 1 for the second.
Source       Balle, Barthe & Gaboardi 2018, theorem 2 (advanced joint convexity); Sason & Verdu 2016, section VII
             (order from profile). Both are derived above.
Remark       D_alpha((1-q) N(0) + q N(d) || N(0)) = S_up(q, s; alpha) at shift d is one of the laws allowed (x = y'),
             so this bound is never below it. Whether S_up itself is an upper bound is a conjecture.
"""

from math import log, sqrt
from typing import Any

from flint import acb, arb

from lastiterate.numeric.balls import exact
from lastiterate.numeric.divergences.arguments import order, ratio, sampling, spread
from lastiterate.numeric.divergences.enclosure import Enclosure, refine

__all__ = ["replacement_step"]


def replacement_step(q: Any, noise: Any, *, alpha: Any, shift: Any = 1.0) -> Enclosure:
    """The proved bound on D_alpha of one step without replacement, in both directions; use its upper end.

    Args:
        q: chance that the differing sample is in the batch, in (0, 1]; exactly this float, so round it up.
        noise: standard deviation of the noise.
        alpha: the order, any real number above 1.
        shift: greatest distance d = 2 r of two outcomes of the step without its noise, in the unit of ``noise``.

    Returns:
        An enclosure of the bound itself, not of the divergence, which may be smaller.

    Raises:
        InputError: an argument is out of range.

    >>> from lastiterate.numeric.divergences.sampled import s_up
    >>> replacement_step(0.1, 1.0, alpha=20, shift=2.0).upper >= s_up(0.1, 1.0, alpha=20, shift=2.0).upper
    True
    """
    q, s, d, alpha = sampling(q), spread("noise", noise), spread("shift", shift), order(alpha)
    ratio(s, d)

    def value(bits: int) -> arb:
        power, distance = exact(alpha), exact(d) / exact(s)
        return (1 + power * (power - 1) * _integral(exact(q), distance, power, bits)).log() / (power - 1)

    return refine(value)


def _integral(q: arb, g: arb, alpha: arb, bits: int) -> arb:
    """J of the module docstring, as a ball."""
    highest = alpha - 1 if alpha > 2 else arb(1)
    scale = float(((highest * (highest + 1)) * g * g / 2).mid())
    # J is at least about q min(q, 1) g^2 e^(-1): far enough is where the tail is smaller by 2^-bits
    depth = bits * log(2) + max(-2 * float(q.log().mid()) - 2 * float(g.log().mid()), 0.0) + 4
    end = float(g.mid()) * (
        float(g.mid()) / 2 + float((highest * g).mid()) + sqrt(2 * (depth + max(0.0, log(1 + scale))))
    )

    def integrand(y: acb, analytic: bool) -> acb:
        grown = y.exp()
        base = (1 + q * (grown - 1)).log(analytic=analytic)
        powers = (base * (alpha - 2)).exp() + (-base * (alpha + 1)).exp()
        root = arb(2).sqrt()
        profile = ((y / g - g / 2) / root).erfc() - grown * ((y / g + g / 2) / root).erfc()
        return powers * q * q * grown * profile / 2

    tolerance = arb(2) ** -bits
    seen = max(integrand(acb(end * k / 64), False).real.abs_upper() for k in range(65)) * end / 64
    fine = tolerance * seen  # about the size of the result
    middle = acb.integral(integrand, 0, arb(end), rel_tol=tolerance, abs_tol=fine, eval_limit=10**6).real
    tail = (q * q * (_beyond(arb(end), highest, g) + _beyond(arb(end), arb(1), g))).upper()
    return middle + arb(tail / 2, tail / 2)


def _beyond(end: arb, k: arb, g: arb) -> arb:
    reach = (end / g - g / 2 - k * g) / arb(2).sqrt()
    return (k * (k + 1) * g * g / 2).exp() * reach.erfc() / (2 * k)
