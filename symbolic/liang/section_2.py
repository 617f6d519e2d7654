"""Section 2: adjacency, conversion of RDP to DP, and the shift-reduction lemma on Gaussians.

D^(z) of N(x, v) from N(0, v) is alpha (x - z)^2/(2 v) for x >= z. u and v are variances, a, x and z lengths.
"""

from sympy import Eq, Expr, Integer, Rational, exp

from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, Units
from lastiterate.symbolic.formulas.divergences import delta_of_gdp, renyi
from lastiterate.symbolic.letters import a, d, p, q, u, v, x, z
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import LENGTH, alpha, chi, epsilon, mu
from lastiterate.symbolic.statement import FIRST, SECOND, HockeyStick, RenyiDivergence, closed
from lastiterate.symbolic.unevaluated import put

_one = Integer(1)
_coins = p**2 / q + (1 - p) ** 2 / (1 - q)
_variances = {u: LENGTH**2, v: LENGTH**2}
_box = {mu: (Rational(1, 2), 2), chi: (2, 12)}


def _conversion(order: Expr) -> Expr:
    """Lemma 2.4 for the Gaussian mechanism of mu: epsilon at delta = exp(-chi)."""
    return order * mu**2 / 2 + chi / (order - 1)


CLAIMS = (
    Claim(
        "liang/lemma_2_4",
        "(epsilon + log(1/delta)/(alpha - 1), delta)-DP: the Gaussian mechanism, orders 2 and 5",
        at("Lemma 2.4"),
        IntervalInequality(delta_of_gdp(_conversion(Integer(2)), mu), "<=", exp(-chi), _box, "alpha = 2"),
        IntervalInequality(delta_of_gdp(_conversion(Integer(5)), mu), "<=", exp(-chi), _box, "alpha = 5"),
        statement=closed(
            HockeyStick(exp(epsilon + chi / (alpha - 1)), FIRST, SECOND) <= exp(-chi),
            RenyiDivergence(alpha, FIRST, SECOND) <= epsilon,
            alpha > 1,
        ),
    ),
    Claim(
        "liang/definition_2_2",
        "The well-known result below (38): D_alpha(N(0, sigma^2 I) || N(u, sigma^2 I)) = alpha |u|^2/(2 sigma^2)",
        at("Lemma B.1", "below (38)"),
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
        "(5) on Gaussians: (x - z)^2/(u + v) <= (x - z - a)^2/u + a^2/v",
        at("Lemma 2.6", "(5)"),
        Inequality((x - z) ** 2 / (u + v), "<= and attained", (x - z - a) ** 2 / u + a**2 / v, name="over alpha/2"),
        Units(alpha * (x - z - a) ** 2 / (2 * u) + alpha * a**2 / (2 * v), _one, _variances, "the right side adds"),
        letters={u: "variance", v: "variance of the noise"},
        assumptions=(z + a <= x,),
    ),
    Ours(
        "liang/definition_2_5",
        "(4) at z = 0 is the divergence, and it falls to 0 at z = |x|: Gaussians of equal variance",
        at("Definition 2.5", "(4)"),
        Identity(alpha * (x - z) ** 2 / (2 * v) - alpha * x**2 / (2 * v), alpha * z * (z - 2 * x) / (2 * v), "gain"),
        Inequality((x - z) ** 2, "<= and attained", x**2, (z <= x,), "a shift never costs", (Eq(z, 0),)),
    ),
)
