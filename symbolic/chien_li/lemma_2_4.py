"""Strong composition, on finite distributions.

Statement    D(X_1, X_2 || Y_1, Y_2) <= D(X_1 || Y_1) + sup over x_1 of D(X_2 | x_1 || Y_2 | x_1).
Assumptions  alpha > 1. With the moments exp((alpha - 1) D): p, q > 0 are the two terms of the first
             step, x, y > 0 the moments of the second step given its outcome.
Derivation   The moment of the pair is p x + q y, at most (p + q) max(x, y).
Source       Chien & Li 2025, Lemma 2.4. The supremum is over the outcomes of the first step; both laws
             of the second step are conditioned on the same outcome.
Remark       For independent Gaussian steps it is an equality, and the costs a_t^2 / sigma_t^2 add.
"""

from sympy import Integer, Max, Min

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality
from lastiterate.symbolic.gaussian import moment_exponent
from lastiterate.symbolic.notation import SHIFTS, alpha, p, q, r, sigma, v, xi, zeta

_zero = Integer(0)
_first, _second = SHIFTS[0], SHIFTS[1]
_pair = p * r + q * v
_two_steps = moment_exponent(xi, (_first, sigma**2), (_zero, sigma**2), alpha) + moment_exponent(
    zeta, (_second, sigma**2), (_zero, sigma**2), alpha
)
_centred = -((xi - alpha * _first) ** 2 + (zeta - alpha * _second) ** 2) / (2 * sigma**2)
_gain = alpha * (alpha - 1) / (2 * sigma**2)

CLAIMS = (
    Claim(
        "chien_li/lemma_2_4",
        "The moment of a pair is at most the product of the first moment and the worst second one",
        at("Lemma 2.4"),
        Inequality(_pair, "<=", (p + q) * Max(r, v), name="worst outcome")
        .mutant("best outcome", right=(p + q) * Min(r, v))
        .mutant("mean outcome", right=(p + q) * (r + v) / 2),
        Identity(_two_steps, _centred + _gain * (_first**2 + _second**2), "independent Gaussians add")
        .mutant("only the worse step counts", right=_centred + _gain * Max(_first, _second) ** 2)
        .mutant("shifts add before squaring", right=_centred + _gain * (_first + _second) ** 2),
        assumptions=(alpha > 1,),
    ),
)
