"""Section 2: adjacency, conversion of RDP to DP, and the shift-reduction lemma on Gaussians.

Statement    (alpha, epsilon)-RDP gives (epsilon + log(1/delta)/(alpha - 1), delta)-DP; noise of variance v pays
             alpha a^2/(2 v) for a shift a.
Assumptions  as the definitions say; Gaussians on the line where a closed form is needed.
Derivation   D^(z) of N(x, v) from N(0, v) is alpha (x - z)^2/(2 v) for x >= z: the nearer mean is the best choice.
Source       Liang et al., Definitions 2.1-2.3, 2.5, Lemmas 2.4 and 2.6; earlier version the same.
Remark       u and v are variances here, a, x and z lengths.
"""

from sympy import Eq, Expr, Integer, Rational, exp

from lastiterate.symbolic.claim import Claim, Holds, Identity, Inequality, Relation, Units
from lastiterate.symbolic.gaussian import delta_of_gdp, renyi
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import a, alpha, chi, d, mu, p, q, u, v, x, z

_one = Integer(1)
_variances = {u: "length^2", v: "length^2"}
_box = {mu: (Rational(1, 2), 2), chi: (2, 12)}


def _conversion(order: Expr, power: Expr = _one) -> Expr:
    """Lemma 2.4 for the Gaussian mechanism of mu: epsilon at delta = exp(-chi)."""
    return order * mu**2 / 2 + power * chi / (order - 1)


CLAIMS = (
    Claim(
        key="liang/lemma_2_4",
        title="(epsilon + log(1/delta)/(alpha - 1), delta)-DP: the Gaussian mechanism, orders 2 and 5",
        source=at(107, "Lemma 2.4"),
        checks=(
            Holds(delta_of_gdp(_conversion(Integer(2)), mu), Relation.AT_MOST, exp(-chi), _box, "alpha = 2"),
            Holds(delta_of_gdp(_conversion(Integer(5)), mu), Relation.AT_MOST, exp(-chi), _box, "alpha = 5"),
        ),
        mutants=(
            wrong(
                "half of the log",
                Holds(delta_of_gdp(_conversion(Integer(5), Rational(1, 2)), mu), Relation.AT_MOST, exp(-chi), _box),
            ),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="liang/lemma_2_4/markov",
        title="The step behind it: exp((alpha - 1)(D - epsilon')) = delta at epsilon' = D + chi/(alpha - 1)",
        source=at(107, "Lemma 2.4"),
        assumptions=(alpha > 1,),
        checks=(Identity(exp((alpha - 1) * (x - (x + chi / (alpha - 1)))), exp(-chi), "Markov's inequality"),),
        mutants=(wrong("alpha for alpha - 1", Identity(exp((alpha - 1) * (x - (x + chi / alpha))), exp(-chi))),),
    ),
    Claim(
        key="liang/definition_2_2",
        title="(2) on Gaussians of equal variance is alpha |u|^2/(2 sigma^2), as (38) quotes it, either way",
        source=at(95, "Definition 2.2", "(2)"),
        assumptions=(alpha > 1,),
        checks=(
            Identity(renyi((d, v), (Integer(0), v), alpha), alpha * d**2 / (2 * v), "forward"),
            Identity(renyi((Integer(0), v), (d, v), alpha), alpha * d**2 / (2 * v), "backward"),
            Units(alpha * d**2 / (2 * v), _one, name="a number"),
        ),
        mutants=(
            wrong("standard deviation for variance", Units(alpha * d**2 / (2 * v), d)),
            wrong("alpha - 1", Identity(renyi((d, v), (Integer(0), v), alpha), (alpha - 1) * d**2 / (2 * v))),
        ),
    ),
    Claim(
        key="liang/definition_2_2/two_directions",
        title="(3) asks for every pair of adjacent sets, so for both directions, and they differ: coins of 1/4 and 1/2",
        source=at(103, "Definition 2.3", "(3)"),
        checks=(
            Identity(
                (p**2 / q + (1 - p) ** 2 / (1 - q)).subs({p: Rational(1, 4), q: Rational(1, 2)}),
                Rational(5, 4),
                "exp D_2 one way",
            ),
            Identity(
                (p**2 / q + (1 - p) ** 2 / (1 - q)).subs({p: Rational(1, 2), q: Rational(1, 4)}),
                Rational(4, 3),
                "and the other",
            ),
        ),
        mutants=(
            wrong(
                "equal",
                Identity(
                    (p**2 / q + (1 - p) ** 2 / (1 - q)).subs({p: Rational(1, 2), q: Rational(1, 4)}), Rational(5, 4)
                ),
            ),
        ),
    ),
    Claim(
        key="liang/lemma_2_6",
        title="(5) on Gaussians: (x - z)^2/(u + v) <= (x - z - a)^2/u + a^2/v",
        source=at(121, "Lemma 2.6", "(5)"),
        assumptions=(z + a <= x,),
        checks=(
            Inequality((x - z) ** 2 / (u + v), Relation.TIGHT, (x - z - a) ** 2 / u + a**2 / v, name="over alpha/2"),
            Units(alpha * (x - z - a) ** 2 / (2 * u) + alpha * a**2 / (2 * v), _one, _variances, "the right side adds"),
        ),
        mutants=(
            wrong(
                "a^2/(2 v)",
                Inequality((x - z) ** 2 / (u + v), Relation.AT_MOST, (x - z - a) ** 2 / u + a**2 / (2 * v)),
            ),
            wrong("a for a^2", Units(alpha * (x - z - a) ** 2 / (2 * u) + alpha * a / (2 * v), _one, _variances)),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="liang/definition_2_5",
        title="(4) at z = 0 is the divergence, and it falls to 0 at z = |x|: Gaussians of equal variance",
        source=at(113, "Definition 2.5", "(4)"),
        checks=(
            Identity(
                alpha * (x - z) ** 2 / (2 * v) - alpha * x**2 / (2 * v), alpha * z * (z - 2 * x) / (2 * v), "gain"
            ),
            Inequality((x - z) ** 2, Relation.TIGHT, x**2, (z <= x,), "a shift never costs", (Eq(z, 0),)),
        ),
        mutants=(
            wrong("a shift halves", Inequality((x - z) ** 2, Relation.AT_MOST, x**2 / 2, (z <= x,))),
            wrong(
                "gain z^2", Identity(alpha * (x - z) ** 2 / (2 * v) - alpha * x**2 / (2 * v), -alpha * z**2 / (2 * v))
            ),
        ),
    ),
)
