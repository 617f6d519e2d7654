r"""The best shares $\beta$ of Theorem 3.1 of Chien & Li 2025, and why no split of the noise beats direct shifts.

$$\min_\beta \frac{s^2}{\beta} + \frac{a^2}{1 - \beta} = (s + a)^2 \text{ at } \beta = \frac{s}{s + a}, \qquad
\min_\beta \sum_j \frac{s^2}{\beta_j} + \frac{\Delta^2}{\sum_j (1 - \beta_j) c^{-2 j}} = \frac{(s V + \Delta)^2}{W}$$
at $\beta_j = s c^j/\ell$ if none of them is above 1; $\ell = (s V + \Delta)/W$, $V = \sum_j c^{-j}$,
$W = \sum_j c^{-2 j}$.

Proved for windows of any length. P and G are the sums of s^2 / beta_j and beta_j c^-2j; r is a level, such as
$\ell$.
"""

from lastiterate.symbolic.chien_li.paper import *
from lastiterate.symbolic.windows import POWER, V_GROWS, V

_split = s**2 / beta + a**2 / (1 - beta)
_P, _G = (Function(name, nonnegative=True) for name in ("P", "G"))
_share: Any = Function("beta", positive=True)
_best = best_share(c, s, r, t + 1)
_level = level(s, Delta, v, u)
_letters = {v: "V of the window", u: "W of the window"}


def _paid(share: Expr) -> Relational:
    return gains(_P, s**2 / share)


def _given(share: Expr) -> Relational:
    return gains(_G, share * POWER**2)


def _slack(power: Expr) -> Expr:
    return s * (power * u - v) - Delta


CLAIMS = (
    Ours(
        "chien_li/theorem_3_1/shares/no_gain",
        "Noise splitting is never better than a direct shift s + a: the difference is a square",
        at("Section 3.1", "(11)"),
        Identity(_split - (s + a) ** 2, (s * (1 - beta) - a * beta) ** 2 / (beta * (1 - beta)), "a square"),
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
        ),
        Inequality(
            cost(s, Delta, v, u),
            "<= and attained",
            x + Delta**2 / (u - y),
            (s**2 * v**2 <= x * y, y < u),
            "so (3) is no less",
        ),
        Induction(
            t, Eq(_P(t), s * r * V(t)), begin(V, _P), (_paid(_best), V_GROWS), name="P at the best shares"
        ),
        Induction(
            t, Eq(_G(t), s * V(t) / r), begin(V, _G), (_given(_best), V_GROWS), name="G at the best shares"
        ),
        Identity(put(s * r * v + Delta**2 / (u - s * v / r), {r: _level}), cost(s, Delta, v, u), "(3) there"),
        assumptions=(Delta > 0,),
        letters=_letters | {x: "P of the window", y: "G of the window", r: "a level"},
    ),
    Ours(
        "chien_li/theorem_3_1/shares/slack",
        "beta <= 1 is slack iff s (c W - V) <= Delta for c < 1, s (c^w W - V) <= Delta for c > 1",
        at("Theorem 3.1", "(4)"),
        Identity(z * s / _level - 1, _slack(z) / (s * v + Delta), "beta_1, z = c, or beta_w, z = c^w, less 1"),
        Induction(
            t,
            Le(best_share(c, s, _level, t), 1),
            laws=(c <= 1, _slack(c) <= 0),
            start=1,
            name="so are all for c <= 1",
        ),
        Induction(
            t,
            Le(z * best_share(c, s, _level, -t), 1),
            laws=(c >= 1, _slack(z) <= 0),
            name="then all shares are, for c >= 1: t steps before the last, z = c^w",
        ),
        assumptions=(Delta > 0,),
        letters=_letters | {z: "c, or c^w"},
    ),
)
