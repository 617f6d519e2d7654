"""Renyi divergences of profiles in closed form, with conditions on numbers and sources.

M(f) = alpha (alpha - 1) int_0^oo g^(alpha - 2) f(g) dg is exp((alpha - 1) D_alpha) for the profile of two
laws. M is monotone, and multiplicative under composition (docs/proofs/privacy_loss.md).
"""

from dataclasses import dataclass
from typing import Final

from sympy import Add, Expr, Function, Ge, Gt, Le, Lt, Rational, S, sqrt
from sympy.logic.boolalg import Boolean

from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.profiles import Composed, Equal, Gauss, Power, Profile, SwapStep

largest_order: Final = Function("alpha^*")
"""alpha*(q, noise), the largest order that meets both conditions of Mironov, Talwar & Zhang 2019, Theorem 11."""

SAMPLED: Final = "altschuler_talwar/lemma_2_12/larger_direction"
TWICE: Final = "altschuler_talwar/proof_3_1/swap"


@dataclass(frozen=True)
class Divergence:
    """An upper bound on a Renyi divergence, the conditions under which it holds, and its sources."""

    value: Expr
    conditions: tuple[Boolean, ...] = ()
    cites: tuple[str, ...] = ()


def bound_renyi(profile: Profile, order: Expr, *, amplified: bool) -> Divergence:
    """An upper bound on D_order for a profile, for orders above 1.

    The bound for `Gauss` is order mu^2 / 2. A sample replaced with probability q costs at most as much as one
    that is always replaced: for g >= 1, q theta(1 + (g - 1)/q) <= theta(g), since theta is nonincreasing; for
    g < 1, both values follow by reflection. If ``amplified``, the bound is twice the divergence of the
    sampled Gaussian in its larger direction. For g > 1, the profiles of the step and of the sampled Gaussian
    agree. The reflection adds the weight t^(-alpha - 1) <= t^(alpha - 2) at t > 1, so M - 1 at most doubles,
    and log(1 + 2 (y - 1)) <= 2 log y. The cited bound on the divergence of the sampled Gaussian is 2 order
    q^2 mu^2.
    """
    if isinstance(profile, Equal):
        return Divergence(S.Zero)
    if isinstance(profile, Gauss):
        return Divergence(order * profile.square / 2, (Gt(order, 1),))
    if isinstance(profile, Power):
        one = bound_renyi(profile.part, order, amplified=amplified)
        return Divergence(profile.count * one.value, one.conditions, one.cites)
    if isinstance(profile, Composed):
        parts = [bound_renyi(part, order, amplified=amplified) for part in profile.parts]
        needed = dict.fromkeys(condition for part in parts for condition in part.conditions)
        cites = tuple(cite for part in parts for cite in part.cites)
        return Divergence(Add(*(part.value for part in parts)), tuple(needed), cites)
    if not isinstance(profile, SwapStep):
        raise UnprovedError(f"No rule gives the Renyi divergence of {profile}.")
    if not amplified:
        return Divergence(order * profile.square / 2, (Gt(order, 1),))
    noise = 1 / sqrt(profile.square)
    conditions = (Lt(profile.rate, Rational(1, 5)), Ge(noise, 4), Gt(order, 1))
    return Divergence(
        4 * order * profile.rate**2 * profile.square,
        (*conditions, Le(order, largest_order(profile.rate, noise))),
        (SAMPLED, TWICE),
    )
