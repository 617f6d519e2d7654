"""The best shares beta of Theorem 3.1, in closed form, and why no split of the noise beats direct shifts.

s^2 / beta + a^2 / (1 - beta) is least at beta = s / (s + a), where it is (s + a)^2; what is left is the sum of (s +
a_j)^2 under sum c^-j a_j = Delta, a_j >= 0: water-filling. Windows have any length; V and W are the sums of c^-j and
c^-2j, P is the sum of s^2 / beta_j, G that of beta_j c^-2j, and r stands for the level (s V + Delta) / W.
"""

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.windows import POWER, V_GROWS, V

_split = s**2 / beta + a**2 / (1 - beta)
_P, _G = (Function(name, nonnegative=True) for name in ("P", "G"))
_share: Any = Function("beta", positive=True)
_best = best_share(c, s, r, t + 1)

_level = level(s, Delta, v, u)
_SUMS = {v: "V of the window", u: "W of the window"}


def _paid(share: Expr) -> Relational:
    return gains(_P, s**2 / share)


def _given(share: Expr) -> Relational:
    return gains(_G, share * POWER**2)


def _slack(power: Expr) -> Relational:
    return s * (power * u - v) <= Delta


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/shares/no_gain",
        "Noise splitting is never better than a direct shift s + a: the difference is a square",
        at("Section 3.1", "(11)"),
        Identity(_split - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta)), "a square"),
        Inequality((s + a) ** 2, "<= and attained", _split, name="at least (s + a)^2"),
        Identity(_split.subs(beta, s / (s + a)), (s + a) ** 2, "equal at beta = s / (s + a)", (a > 0,)),
        assumptions=(beta > 0, beta < 1),
    ),
    Ours(
        "chien_li/theorem_3_1/shares/optimum",
        "No shares make (3) less than (s V + Delta)^2 / W; beta_j = s c^j / level attain it where they are at most 1",
        at("Theorem 3.1", "(3)"),
        Induction(
            t,
            Le(s**2 * V(t) ** 2, _P(t) * _G(t)),
            begin(V, _P, _G),
            (_paid(_share(t)), _given(_share(t)), V_GROWS),
            name="any shares (Cauchy and Schwarz)",
        ).mutant("a share short", laws=(_paid(_share(t)), _given(_share(t) / 2), V_GROWS)),
        Inequality(
            cost(s, Delta, v, u),
            "<= and attained",
            x + Delta**2 / (u - y),
            given=(s**2 * v**2 <= x * y, y < u),
            name="so (3) is at least that",
        ),
        Induction(t, Eq(_P(t), s * r * V(t)), begin(V, _P), (_paid(_best), V_GROWS), name="P at the best shares"),
        Induction(t, Eq(_G(t), s * V(t) / r), begin(V, _G), (_given(_best), V_GROWS), name="G at the best shares"),
        Identity(
            put(s * r * v + Delta**2 / (u - s * v / r), {r: _level}),
            cost(s, Delta, v, u),
            "so (3) is that much there",
        ),
        assumptions=(Delta > 0,),
        letters=_SUMS | {x: "P of the window", y: "G of the window", r: "a level"},
    ),
    Ours(
        "chien_li/theorem_3_1/shares/slack",
        "beta <= 1 is slack iff s (c W - V) <= Delta for c < 1, s (c^w W - V) <= Delta for c > 1",
        at("Theorem 3.1", "(4)"),
        Identity(
            best_share(c, s, _level, Integer(1)) - 1,
            (s * (c * u - v) - Delta) / (s * v + Delta),
            "beta_1 <= 1 iff the test for c < 1 is passed",
        ),
        Induction(
            t,
            Le(best_share(c, s, _level, t), 1),
            laws=(c <= 1, _slack(c)),
            start=1,
            name="then all shares are, for c <= 1",
        ).mutant("and the one before the first", conclusion=Le(best_share(c, s, _level, t - 1), 1)),
        Identity(
            z * s / _level - 1,
            (s * (z * u - v) - Delta) / (s * v + Delta),
            "beta_w <= 1 iff the test for c > 1 is passed",
        ),
        Induction(
            t,
            Le(z * best_share(c, s, _level, -t), 1),
            laws=(c >= 1, _slack(z)),
            name="then all shares are, for c >= 1: t steps before the last",
        ).mutant("and the one after the last", conclusion=Le(z * best_share(c, s, _level, 1 - t), 1)),
        assumptions=(Delta > 0,),
        letters=_SUMS | {z: "c^w"},
    ),
)
