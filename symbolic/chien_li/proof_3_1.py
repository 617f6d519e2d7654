r"""The proof of Theorem 3.1 of Chien & Li 2025, (8)-(12), and the line that does not follow.

Below (8): the noise is split, $G_t = Y_t + Z_t$, and $\psi(W') + Y + Z'$ has the law of $\psi'(W') + G$.
$$D_\alpha(W_T \| W_T') \le D_\alpha(Z_{\tau:T-1} \| Z'_{\tau:T-1})
+ \sup_z D_\alpha(W_T | Z = z \,\|\, W_T' | Z' = z) \tag{10}$$
In the second term the two processes have "the same updates and independent noise".

They do not: the mean of Z'_t is a function of W'_t, so Z' = z tilts the law of W'_t. The other steps hold,
for windows of any length. Bayes' rule is applied at T = 2, equal starts, noise shares N(0, 1), and gradients
that are clipped at 1, or unclipped with slope r. v = 1 - beta is the rest of the noise.
"""

from lastiterate.symbolic.chien_li.paper import *
from lastiterate.symbolic.windows import leads

_u, _v = Vector("u"), Vector("v")
_left = v * sigma**2
_one_cost = alpha * r**2 / (2 * _left)

# Sums over a window: of q a, of the cost a^2/v, of v q^2 and of a^2/v, with q = c^-j and v = 1 - beta_j.
_reached, _paid, _room, _squares, _shift, _power = (Function(name, nonnegative=True) for name in "RCWSaq")
_free = Function("v", positive=True)
_best = r * _free(t) * _power(t)
_grows = gains(_room, _free(t) * _power(t) ** 2)
_costs = (gains(_paid, _one_cost.subs({r: _shift(t), v: _free(t)})), gains(_squares, _shift(t) ** 2 / _free(t)))
_summed = Eq(_paid(t), alpha * _squares(t) / (2 * sigma**2))

# Unclipped: W'_1 is N(0, v) and Z'_1 given W'_1 is N(-r W'_1, v); its law given Z'_1 = xi is Gaussian.
_tilted_mean, _tilted_variance = -r * xi / (1 + r**2), v / (1 + r**2)


def _tilted_tail(z: Expr) -> Expr:
    """P(W'_1 > 1 given Z'_1 = z), for W'_1 ~ N(0, 1) and Z'_1 ~ N(-clip(W'_1, 1), 1) given W'_1."""
    above = exp(-((z + 1) ** 2) / 2) * tail(S.One)
    below = exp(-((z - 1) ** 2) / 2) * tail(S.One)
    root = 2 ** Rational(1, 2)
    between = exp(-(z**2) / 4) / root * (cumulative(root * (1 + z / 2)) - cumulative(root * (z / 2 - 1)))
    return above / (above + between + below)


CLAIMS = (
    Step(
        "chien_li/proof_3_1/coupling",
        "(8), (70): psi(W') + Y + Z' has the law of psi'(W') + G, Z' with mean psi'(W') - psi(W')",
        at("Section 3.1", "(8)"),
        Identity(put(gamma + xi, {xi: kappa - gamma}), kappa, "mean, gamma and kappa the two updates of W'"),
        Identity((1 - beta) * sigma**2 + beta * sigma**2, sigma**2, "variances of Y and Z'"),
    ),
    Step(
        "chien_li/proof_3_1/sensitivity",
        "(33)-(36), (75): the two update maps differ by at most 2 eta K / n",
        at("A.4", "(75)"),
        NormBound(
            eta / n * (_u - _v), 2 * eta * K / n, (Norm(_u) <= K, Norm(_v) <= K), "two clipped gradients"
        ),
    ),
    Step(
        "chien_li/proof_3_1/conditioning",
        "Given Z = Z' the two processes have the same updates and noise, so W'_1 keeps the law of W_1",
        at("Section 3.1", "below (8); (10)"),
        Identity(
            _tilted_tail(xi), tail(S.One), "P(W'_1 > 1 given Z'_1 = xi) is that of W_1, clipped gradients"
        ),
        *(
            Printed(f"chien_li/{one}", one)
            for one in (
                *(f"theorem_3_1, {losses}" for losses in ("convex", "strongly convex", "smooth")),
                *("theorem_3_7", "theorem_a_1", "corollary_a_3"),
            )
        ),
    ),
    Ours(
        "chien_li/proof_3_1/conditioning_numbers",
        "Conditioning at T = 2: the tilted law, and a divergence where the proof has 0",
        at("Section 3.1", "(10)"),
        Identity(
            -(zeta**2) / (2 * v) - (xi + r * zeta) ** 2 / (2 * v),
            -((zeta - _tilted_mean) ** 2) / (2 * _tilted_variance) - xi**2 / (2 * v * (1 + r**2)),
            "law of W'_1 = zeta given Z'_1 = xi, unclipped: the product of two densities",
        ),
        Value(
            _tilted_tail(Integer(-2)),
            "0.4231",
            "P(W'_1 > 1 given Z'_1 = -2), clipped at 1; P(W_1 > 1) is 0.1587",
        ),
        Value(
            renyi((S.Zero, Integer(2)), (S.One, Rational(3, 2)), Integer(2)),
            "1.0589",
            "D_2(W_2 || W'_2) given Z_1 = Z'_1 = -2, unclipped with r = v = 1",
        ),
    ),
    Step(
        "chien_li/proof_3_1/unrolled",
        "(11): the shifts a_t add to sum c^-(t - tau + 1) a_t at tau",
        at("Section 3.1", "above (11)"),
        leads(S.Zero),
    ),
    Step(
        "chien_li/proof_3_1/price",
        "The unrolled cost is the sum of alpha a_t^2 / (2 (1 - beta_t) sigma^2) from t = tau",
        at("Section 3.1", "above (11)"),
        Identity(renyi((r, _left), (S.Zero, _left), alpha), _one_cost, "one cost"),
        Induction(t, _summed, begin(_paid, _squares), _costs, name="from t = tau"),
        misprint=Induction(
            t, _summed, (Eq(_paid(0), 0), Eq(_squares(1), 0)), _costs, start=1, name="from t = 1, as printed"
        ),
        assumptions=(alpha > 1,),
    ),
    Step(
        "chien_li/proof_3_1/cauchy_schwarz",
        "(12): cost times sum (1 - beta_j) c^-2j is at least (sum a_j c^-j)^2, equal at a_j ~ (1 - beta_j) c^-j",
        at("Section 3.1", "(12)"),
        Induction(
            t,
            Le(_reached(t) ** 2, _paid(t) * _room(t)),
            begin(_reached, _paid, _room),
            (gains(_reached, _power(t) * _shift(t)), gains(_paid, _shift(t) ** 2 / _free(t)), _grows),
            name="any shifts and shares, any window",
        ),
        Induction(
            t,
            Eq(_reached(t), r * _room(t)),
            begin(_reached, _room),
            (gains(_reached, _power(t) * _best), _grows),
            name="the sum at shifts r v q",
        ),
        Induction(
            t,
            Eq(_paid(t), r**2 * _room(t)),
            begin(_paid, _room),
            (gains(_paid, _best**2 / _free(t)), _grows),
            name="their cost",
        ),
    ),
)
