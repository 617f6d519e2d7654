"""The steps of the proof of Theorem 3.1, (8)-(12), and the one that does not follow: conditioning on the shared noise.

Windows have any length, and sums over them are sequences; v is what a share leaves of the noise, 1 - beta. Conditioning
is held against T = 2, equal starts, noise shares N(0, 1), and gradients clipped at 1, or not clipped and of slope r:
Bayes' rule.
"""

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.prelude import *
from lastiterate.symbolic.windows import leads

_zero = Integer(0)
_u, _v = Vector("u"), Vector("v")


_reached, _paid, _room, _shift, _power = (Function(name, nonnegative=True) for name in ("R", "C", "W", "a", "q"))
_free = Function("v", positive=True)
_best = r * _free(t) * _power(t)
_from_zero = begin(_reached, _paid, _room)


def _window(shift: Expr) -> tuple[Relational, ...]:
    """Sums over a window: of q a, of the price a^2/v, of v q^2, with q = c^-j and v = 1 - beta_j."""
    return (
        gains(_reached, _power(t) * shift),
        gains(_paid, shift**2 / _free(t)),
        gains(_room, _free(t) * _power(t) ** 2),
    )


_one = Integer(1)
_squares = Function("S", nonnegative=True)
_left = v * sigma**2
_one_price = alpha * r**2 / (2 * _left)
_prices = (
    gains(_paid, _one_price.subs({r: _shift(t), v: _free(t)})),
    gains(_squares, _shift(t) ** 2 / _free(t)),
)


def _tilted_tail(z: Expr) -> Expr:
    """P(W'_1 > 1 given Z'_1 = z) where W'_1 is N(0, 1) and Z'_1 given W'_1 is N(-clip(W'_1, 1), 1)."""
    above = exp(-((z + 1) ** 2) / 2) * tail(_one)
    below = exp(-((z - 1) ** 2) / 2) * tail(_one)
    root = 2 ** Rational(1, 2)
    between = exp(-(z**2) / 4) / root * (cumulative(root * (1 + z / 2)) - cumulative(root * (z / 2 - 1)))
    return above / (above + between + below)


# Unclipped: W'_1 is N(0, v) and Z'_1 given W'_1 is N(-r W'_1, v); its law given Z'_1 = xi is Gaussian.
_tilted_mean = -r * xi / (1 + r**2)
_tilted_variance = v / (1 + r**2)


# The product of the two densities in zeta = W'_1 is a Gaussian around the mean times a constant.
_product = -(zeta**2) / (2 * v) - (xi + r * zeta) ** 2 / (2 * v)
_constant = -(xi**2) / (2 * v * (1 + r**2))


_PROOFS = (
    "theorem_3_1, convex",
    "theorem_3_1, strongly convex",
    "theorem_3_1, smooth",
    "theorem_3_7",
    "theorem_a_1",
    "corollary_a_3",
)

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
        Inequality(
            Abs(eta / n * (gamma - kappa)),
            "<= and attained",
            2 * eta * K / n,
            given=(Abs(gamma) <= K, Abs(kappa) <= K),
            name="two clipped gradients",
        ),
        NormBound(eta / n * (_u - _v), 2 * eta * K / n, (Norm(_u) <= K, Norm(_v) <= K), "in R^d"),
    ),
    Step(
        "chien_li/proof_3_1/unrolled",
        "(11): the shifts a_t add to sum c^-(t - tau + 1) a_t at tau",
        at("Section 3.1", "above (11)"),
        leads(_zero),
        Recursion(
            w, a / c, (PREVIOUS + a) / c, a * v_sum(c, w), start=1, name="equal shifts, any window", given=(Ne(c, 1),)
        ),
    ),
    Step(
        "chien_li/proof_3_1/price",
        "The unrolled price is the sum of alpha a_t^2 / (2 (1 - beta_t) sigma^2) from t = tau",
        at("Section 3.1", "above (11)"),
        Identity(renyi((r, _left), (_zero, _left), alpha), _one_price, "one price"),
        Induction(
            t,
            Eq(_paid(t), alpha * _squares(t) / (2 * sigma**2)),
            begin(_paid, _squares),
            _prices,
            name="from t = tau",
        ),
        misprint=Induction(
            t,
            Eq(_paid(t), alpha * _squares(t) / (2 * sigma**2)),
            (Eq(_paid(0), 0), Eq(_squares(1), 0)),
            _prices,
            start=1,
            name="from t = 1, as printed",
        ),
        assumptions=(alpha > 1,),
        remark="""The last line above (11) sums the prices from t = 1, while the shift is summed from t = tau. Read so,
        the first shift would be free at tau = 0, and steps before tau would be charged for tau > 1. The sum starts at
        tau, as it does in (11).""",
    ),
    Step(
        "chien_li/proof_3_1/cauchy_schwarz",
        "(12): price times sum (1 - beta_j) c^-2j is at least (sum a_j c^-j)^2, equal at a_j ~ (1 - beta_j) c^-j",
        at("Section 3.1", "(12)"),
        Induction(
            t,
            Le(_reached(t) ** 2, _paid(t) * _room(t)),
            _from_zero,
            _window(_shift(t)),
            name="any shifts and shares, any window",
        ),
        Induction(
            t, Eq(_reached(t), r * _room(t)), _from_zero[::2], _window(_best)[::2], name="the sum at shifts r v q"
        ),
        Induction(t, Eq(_paid(t), r**2 * _room(t)), _from_zero[1:], _window(_best)[1:], name="their price: equal"),
    ),
    Step(
        "chien_li/proof_3_1/conditioning",
        "Given Z = Z' the two processes have the same updates and noise, so W'_1 keeps the law of W_1",
        at("Section 3.1", "below (8); (10)"),
        Identity(_tilted_tail(xi), tail(_one), "P(W'_1 > 1 given Z'_1 = xi) is that of W_1, clipped gradients")
        .mutant("tilted the other way", left=_tilted_tail(-xi))
        .mutant("law doubled", right=2 * tail(_one)),
        Identity(_tilted_mean, _zero, "mean of W'_1 given Z'_1 = xi, unclipped").mutant(
            "variance not tilted", left=_tilted_variance, right=v
        ),
        *(Printed(f"chien_li/{one}", one) for one in _PROOFS),
        remark="""The mean of Z'_t is psi'(W'_t) - psi(W'_t), a function of W'_t, so conditioning on Z'_t = z also says
        something of W'_t: its law is tilted, and the second term of (10) is not that of two runs with one update and
        independent noise. With T = 2, equal starts and noise shares N(0, 1), the proof has divergence 0 there, while
        two Gaussian runs have more than 1 at order 2. The proofs of Theorems 3.7 and A.1 and of Corollary A.3 stop at
        the same line, and of random batches theorem_3_12/conditioning and altschuler_talwar/proof_3_1/same_maps; the
        statements for known batches hold all the same: each step may pay for its own share and then shift, or shift
        the two different maps directly, without splitting the noise (theorem_3_1_direct).""",
    ),
    Ours(
        "chien_li/proof_3_1/conditioning_numbers",
        "What conditioning does at T = 2: the tilted law, and a divergence where the proof has 0",
        at("Section 3.1", "(10)"),
        Identity(
            _product, -((zeta - _tilted_mean) ** 2) / (2 * _tilted_variance) + _constant, "law of W'_1 given Z'_1 = xi"
        ),
        Value(_tilted_tail(Integer(-2)), "0.4231", "P(W'_1 > 1 given Z'_1 = -2), clipped at 1"),
        Value(tail(_one), "0.1587", "P(W_1 > 1)"),
        Value(
            renyi((_zero, Integer(2)), (_one, Rational(3, 2)), Integer(2)),
            "1.0589",
            "D_2(W_2 || W'_2) given Z_1 = Z'_1 = -2, unclipped with r = v = 1",
        ),
        Value(
            renyi((_one, Rational(3, 2)), (_zero, Integer(2)), Integer(2)),
            "0.4323",
            "D_2(W'_2 || W_2), the other direction",
        ),
    ),
)
