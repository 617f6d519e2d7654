"""Section 2: adjacency, conversion of RDP to DP, and the shift-reduction lemma.

D^(z) of N(x, v) from N(0, v) is alpha (x - z)^2/(2 v) for x >= z. v is a variance, x and z are lengths.
"""

from lastiterate.symbolic.derivations import statements
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.prelude import *

_one = Integer(1)
_coins = p**2 / q + (1 - p) ** 2 / (1 - q)


_x, _u = Vector("x"), Vector("u")

CLAIMS = (
    Claim(
        "liang/lemma_2_4",
        "(alpha, epsilon)-RDP gives (epsilon + log(1/delta)/(alpha - 1), delta)-DP; delta is exp(-chi)",
        at("Lemma 2.4"),
        Deduced(statements.conversion(), "conversion"),
    ),
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
        Identity(renyi((d, v), (Integer(0), v), alpha), alpha * d**2 / (2 * v), "forward"),
        Identity(renyi((Integer(0), v), (d, v), alpha), alpha * d**2 / (2 * v), "backward"),
        Units(alpha * d**2 / (2 * v), _one, name="a number"),
        assumptions=(alpha > 1,),
    ),
    Ours(
        "liang/definition_2_2/two_directions",
        "(3) asks for every pair of adjacent sets, so for both orders, and they differ: coins of 1/4 and 1/2",
        at("Definition 2.3", "(3)"),
        Identity(
            put(_coins, {p: Rational(1, 4), q: Rational(1, 2)}),
            Rational(5, 4),
            "exp D_2 one way",
        ),
        Identity(
            put(_coins, {p: Rational(1, 2), q: Rational(1, 4)}),
            Rational(4, 3),
            "and the other",
        ),
    ),
    Claim(
        "liang/lemma_2_6",
        "(5): Gaussian noise absorbs a shift a at the price alpha a^2/(2 sigma^2), for every pair of laws",
        at("Lemma 2.6", "(5)"),
        Deduced(statements.shift_reduction(alpha > 1), "shift_reduction"),
    ),
    Ours(
        "liang/definition_2_5",
        "alpha (x - z)^2/(2 v), which bounds (4) by moving a mean, is the divergence at z = 0 and 0 at z = |x|",
        at("Definition 2.5", "(4)"),
        Identity(alpha * (x - z) ** 2 / (2 * v) - alpha * x**2 / (2 * v), alpha * z * (z - 2 * x) / (2 * v), "gain"),
        Inequality((x - z) ** 2, "<= and attained", x**2, (z <= x,), "a shift never costs", (Eq(z, 0),)),
    ),
)
