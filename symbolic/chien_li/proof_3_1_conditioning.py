"""The step of the proof of Theorem 3.1 that does not follow: conditioning on the shared noise.

Statement    Given Z = Z' the two processes have the same updates and noise, so W'_1 keeps the law of W_1.
Assumptions  T = 2, equal starts, noise shares N(0, 1); gradients clipped at 1, or not clipped and of slope r.
Derivation   Z'_1 has the mean psi'(W'_1) - psi(W'_1), so its value says something of W'_1: Bayes' rule.
Source       Chien & Li 2025, section 3.1, below (8) and (10).
"""

from sympy import Expr, Integer, Rational, exp

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Identity, Ours, Step, Value
from lastiterate.symbolic.gaussian import cumulative, renyi, tail
from lastiterate.symbolic.notation import r, v, xi, zeta

_one, _zero = Integer(1), Integer(0)


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


def _tilted(mean: Expr, variance: Expr) -> Identity:
    """The product of the two densities in zeta = W'_1 is a Gaussian around the mean times a constant."""
    product = -(zeta**2) / (2 * v) - (xi + r * zeta) ** 2 / (2 * v)
    constant = -(xi**2) / (2 * v * (1 + r**2))
    return Identity(product, -((zeta - mean) ** 2) / (2 * variance) + constant, "law of W'_1 given Z'_1 = xi")


CLAIMS = (
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
        remark="""The mean of Z'_t is psi'(W'_t) - psi(W'_t), a function of W'_t, so conditioning on Z'_t = z also says
        something of W'_t: its law is tilted, and the second term of (10) is not that of two runs with one update and
        independent noise. With T = 2, equal starts and noise shares N(0, 1), the proof has divergence 0 there, while
        two Gaussian runs have more than 1 at order 2. Theorem 3.1 holds all the same: shift the two different maps
        directly, without splitting the noise (theorem_3_1_direct).""",
    ),
    Ours(
        "chien_li/proof_3_1/conditioning_numbers",
        "What conditioning does at T = 2: the tilted law, and a divergence where the proof has 0",
        at("Section 3.1", "(10)"),
        _tilted(_tilted_mean, _tilted_variance).mutant("no tilt", _tilted(_zero, v)),
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
