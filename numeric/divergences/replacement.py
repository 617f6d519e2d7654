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
Here         t = 1 + q (e^y - 1), dt = q e^y dy, so the argument of h is e^y. With g = d/s and z = y/g - g/2:
             h(e^y) = Phi(-z) - e^y Phi(-z - g) <= Phi(-z). Beyond Y, t <= e^y (q + (1-q) e^(-Y)); before Y, log t is
             at most its chord (log t(Y) / Y) y, for it is convex in y. By parts, integral_Y^inf e^(k y) Phi(-z) dy <=
             e^(k (k+1) g^2/2) Phi(k g - z(Y)) / k, and integral_-inf^Y e^(k y) Phi(-z) dy = (e^(k Y) Phi(-z(Y)) +
             e^(k (k+1) g^2/2) Phi(z(Y) - k g)) / k. Where alpha < 2, t^(alpha-2) <= 1; always t^(-alpha-1) <= 1.
             Between two points by `acb.integral`, whose flag goes to log; erfc is entire.
Source       Balle, Barthe & Gaboardi 2018, theorem 2 (advanced joint convexity); Sason & Verdu 2016, section VII
             (order from profile). Both are derived above.
Remark       D_alpha((1-q) N(0) + q N(d) || N(0)) = S_up(q, s; alpha) at shift d is one of the laws allowed (x = y'),
             so this bound is never below it. Whether S_up itself is an upper bound is a conjecture.
"""

from collections.abc import Callable
from math import log, log1p, sqrt
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
        return (1 + power * (power - 1) * _integral(exact(q), distance, power, bits)).log() / (power - 1)

    return refine(value)


def _integral(q: arb, g: arb, alpha: arb, bits: int) -> arb:
    """J of the module docstring, as a ball: a middle by quadrature, two tails by hand."""
    root = arb(2).sqrt()

    def integrand(y: acb, analytic: bool) -> acb:
        grown = y.exp()
        base = (1 + q * (grown - 1)).log(analytic=analytic)
        powers = (base * (alpha - 2)).exp() + (-base * (alpha + 1)).exp()
        profile = ((y / g - g / 2) / root).erfc() - grown * ((y / g + g / 2) / root).erfc()
        return powers * q * q * grown * profile / 2

    grid = _grid(q, g, alpha, bits)
    heights = [integrand(acb(y), False).real.abs_upper() for y in grid]
    tolerance = arb(2) ** -bits
    fine = tolerance * max(height for height in heights if height.is_finite()) * grid[1]  # about the size of J
    start = _bisect(grid, lambda y: _before(y, q, g, alpha) <= fine)
    stop = _bisect(grid[::-1], lambda y: _after(y, q, g, alpha) <= fine)
    middle = acb.integral(integrand, start, stop, rel_tol=tolerance, abs_tol=fine, eval_limit=10**6).real
    tails = (_before(start, q, g, alpha) + _after(stop, q, g, alpha)).upper()
    return middle + arb(tails / 2, tails / 2)


def _grid(q: arb, g: arb, alpha: arb, bits: int) -> list[arb]:
    """Points from 0 to where the tail is surely small; any choice is valid."""
    width, highest = float(g.mid()), max(float(alpha.mid()) - 1, 1.0)
    depth = (bits + 8) * log(2) - min(2 * float(q.log().mid()), 0.0) - min(2 * log(width), 0.0)
    end = width * (width / 2 + highest * width + sqrt(2 * (depth + log1p(highest))))
    return [arb(end * k / 128) for k in range(129)]


def _bisect(grid: list[arb], holds: Callable[[arb], bool]) -> arb:
    """A point far along the grid at which the condition holds; its first point where it holds nowhere else."""
    best, low, high = grid[0], 1, len(grid) - 1
    while low <= high:
        middle = (low + high) // 2
        if holds(grid[middle]):
            best, low = grid[middle], middle + 1
        else:
            high = middle - 1
    return best


def _after(end: arb, q: arb, g: arb, alpha: arb) -> arb:
    """A bound of what lies beyond ``end``."""

    def beyond(k: arb) -> arb:
        reach = (end / g - g / 2 - k * g) / arb(2).sqrt()
        return (k * (k + 1) * g * g / 2).exp() * reach.erfc() / (2 * k)

    first = (q + (1 - q) * (-end).exp()) ** (alpha - 2) * beyond(alpha - 1) if alpha > 2 else beyond(arb(1))
    return q * q * (first + beyond(arb(1)))


def _before(start: arb, q: arb, g: arb, alpha: arb) -> arb:
    """A bound of what lies between 0 and ``start``."""
    if start == 0:
        return arb(0)
    z = start / g - g / 2

    def up_to(k: arb) -> arb:
        edge = (k * start).exp() * (z / arb(2).sqrt()).erfc()
        return (edge + (k * (k + 1) * g * g / 2).exp() * ((k * g - z) / arb(2).sqrt()).erfc()) / (2 * k)

    chord = (1 + q * (start.exp() - 1)).log() / start
    first = up_to(1 + (alpha - 2) * chord) if alpha > 2 else up_to(arb(1))
    return q * q * (first + up_to(arb(1)))
