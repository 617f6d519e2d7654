r"""Section 2 of Liang et al. 2026: Lemmas 2.4 and 2.6, and the definitions that they use.

Lemma 2.4: an $(\alpha, \epsilon)$-RDP mechanism is $(\epsilon + \frac{\log 1/\delta}{\alpha - 1}, \delta)$-DP.
Lemma 2.6: $D_\alpha^{(z)}(\mu * N(0, \sigma^2 I) \| \nu * N(0, \sigma^2 I)) \le
D_\alpha^{(z + a)}(\mu \| \nu) + \frac{\alpha a^2}{2 \sigma^2}$.

Both hold, for every pair of laws. v is a variance; D^(z)(N(x, v) || N(0, v)) is alpha (x - z)^2/(2 v) for x
>= z.
"""

from lastiterate.symbolic.liang.paper import *

_coins = p**2 / q + (1 - p) ** 2 / (1 - q)
_quarter, _half = Rational(1, 4), Rational(1, 2)
_x, _u = Vector("x"), Vector("u")
_shifted = alpha * (x - z) ** 2 / (2 * v)

CLAIMS = (
    Claim(
        "liang/definition_2_2",
        "The well-known result below (38): D_alpha(N(0, sigma^2 I) || N(u, sigma^2 I)) = alpha |u|^2/(2 sigma^2)",
        at("Lemma B.1", "below (38)"),
        VectorInequality(
            alpha * Norm(_x - _u) ** 2 + (1 - alpha) * Norm(_x) ** 2,
            "==",
            Norm(_x - alpha * _u) ** 2 + alpha * (1 - alpha) * Norm(_u) ** 2,
            name="the exponents complete the square in R^d, twice the variance left out",
        ),
        Identity(renyi((d, v), (S.Zero, v), alpha), alpha * d**2 / (2 * v), "forward"),
        Identity(renyi((S.Zero, v), (d, v), alpha), alpha * d**2 / (2 * v), "backward"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "liang/definition_2_2/two_directions",
        "(3) asks for every pair of adjacent sets, so for both orders, and they differ: coins of 1/4 and 1/2",
        at("Definition 2.3", "(3)"),
        Identity(put(_coins, {p: _quarter, q: _half}), Rational(5, 4), "exp D_2 one way"),
        Identity(put(_coins, {p: _half, q: _quarter}), Rational(4, 3), "and the other"),
    ),
    Claim(
        "liang/lemma_2_4",
        "(alpha, epsilon)-RDP gives (epsilon + log(1/delta)/(alpha - 1), delta)-DP; delta is exp(-chi)",
        at("Lemma 2.4"),
        Deduced(statements.conversion(), "conversion"),
    ),
    Ours(
        "liang/definition_2_5",
        "alpha (x - z)^2/(2 v), which bounds (4) by moving a mean, is the divergence at z = 0 and 0 at z = |x|",
        at("Definition 2.5", "(4)"),
        Identity(_shifted - _shifted.subs(z, 0), alpha * z * (z - 2 * x) / (2 * v), "gain"),
        Inequality((x - z) ** 2, "<= and attained", x**2, (z <= x,), "a shift never costs", (Eq(z, 0),)),
    ),
    Claim(
        "liang/lemma_2_6",
        "(5): Gaussian noise absorbs a shift a at the cost alpha a^2/(2 sigma^2), for every pair of laws",
        at("Lemma 2.6", "(5)"),
        Deduced(statements.shift_reduction(alpha > 1), "shift_reduction"),
    ),
)
