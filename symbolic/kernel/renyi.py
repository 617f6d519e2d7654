"""Renyi divergences of profiles in closed form, with conditions on numbers and sources.

M(f) = alpha (alpha - 1) int_0^oo g^(alpha - 2) f(g) dg is exp((alpha - 1) D_alpha) for the profile of two
laws. M is monotone, and multiplicative under composition (docs/proofs/privacy_loss.md).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sympy import Add, Expr, Function, Ge, Gt, Le, Lt, Rational, S, exp, log, sqrt
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import *

largest_order: Final = Function("alpha^*")
"""alpha*(q, noise), the largest order that meets both conditions of Mironov, Talwar & Zhang 2019, Theorem 11."""

SAMPLED: Final = "altschuler_talwar/lemma_2_12/larger_direction"
TWICE: Final = "altschuler_talwar/proof_3_1/swap"
LARGER: Final = "ours/poisson/larger_order"
SECOND_LAW: Final = "liang/lemma_a_10"


class Sampled(StrEnum):
    """A rule of `bound_renyi` for a step whose batch a coin decides, with q the rate and a = order.

    An added or replaced sample costs at most as much as one that is in every batch (ALWAYS), and the profile
    is at most (1 - q) max(1 - g, 0) + q theta(g), that of a revealed coin: E_g is jointly convex, and for a
    replaced sample 1 + (g - 1)/q >= g for g >= 1, where theta falls, and g < 1 follows by reflection. So M <= 1 -
    q + q M(theta) (MIXED). Since log(1 + y) <= y, and e^x - 1 <= 7 x/4 for 0 <= x <= 1, the divergence is
    at most 7/8 q a mu^2 if a (a - 1) mu^2 <= 2 (RATE). With the law without the sample as the numerator, the
    profile of an added sample is that of N(0, 1) over (1 - q) N(0, 1) + q N(mu, 1), and the divergence is
    convex in the second law (SECOND).

    TWICE is the bound 2 a q^2 mu^2 on the sampled Gaussian in its larger direction, twice for a replaced
    sample. For g > 1, the profiles agree. The reflection adds the weight t^(-a - 1) <= t^(a - 2) at
    t > 1, so M - 1 at most doubles, and log(1 + 2 (y - 1)) <= 2 log y.
    """

    ALWAYS = "as if the sample were in every batch"
    MIXED = "by the mean of the moments"
    RATE = "by this mean, linear in the rate"
    SECOND = "by convexity in the second law"
    TWICE = "by the bound on a sampled Gaussian at small rates"


@dataclass(frozen=True)
class Divergence:
    """An upper bound on a Renyi divergence, the conditions under which it holds, and its sources."""

    value: Expr
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()


def bound_renyi(profile: Profile, order: Expr, by: Sampled = Sampled.ALWAYS) -> Divergence:
    """An upper bound on D_order for a profile, for orders above 1; for `Gauss`, it is order mu^2 / 2."""
    if isinstance(profile, Equal):
        return Divergence(S.Zero)
    if isinstance(profile, Gauss):
        return Divergence(order * profile.square / 2, (Gt(order, 1),))
    if isinstance(profile, Power):
        one = bound_renyi(profile.part, order, by)
        return Divergence(profile.count * one.value, one.conditions, one.cites)
    if isinstance(profile, Composed):
        parts = [bound_renyi(part, order, by) for part in profile.parts]
        needed = dict.fromkeys(condition for part in parts for condition in part.conditions)
        cites = tuple(cite for part in parts for cite in part.cites)
        return Divergence(Add(*(part.value for part in parts)), tuple(needed), cites)
    if not isinstance(profile, SwapStep | PoissonStep) or (
        by is Sampled.SECOND and profile.order is not Order.SECOND
    ):
        raise UnprovedError(f"No rule gives the Renyi divergence of {profile} {by}.")
    rate, square, above = profile.rate, profile.square, (Gt(order, 1),)
    exponent = order * (order - 1) * square / 2
    match by:
        case Sampled.ALWAYS:
            return Divergence(order * square / 2, above)
        case Sampled.MIXED:
            return Divergence(log(1 + rate * (exp(exponent) - 1)) / (order - 1), above)
        case Sampled.RATE:
            return Divergence(Rational(7, 8) * order * rate * square, (*above, Le(exponent, 1)))
        case Sampled.SECOND:
            return Divergence(rate * order * square / 2, above, (SECOND_LAW,))
    noise, swapped = 1 / sqrt(square), isinstance(profile, SwapStep)
    small = (Lt(rate, Rational(1, 5)), Ge(noise, 4), *above, Le(order, largest_order(rate, noise)))
    return Divergence(
        (4 if swapped else 2) * order * rate**2 * square,
        small,
        (SAMPLED, TWICE) if swapped else (SAMPLED, LARGER),
    )
