"""Shift reduction: fresh noise pays for a shift.

Statement    D^(z)(mu * N(0, sigma^2) || nu * N(0, sigma^2)) <= D^(z + a)(mu || nu) + alpha a^2 / (2 sigma^2).
Assumptions  alpha > 1; a, z >= 0.
Derivation   On mu = N(d, v), nu = N(0, v) with x = d - z the claim reads
             x^2 / (v + sigma^2) <= max(x - a, 0)^2 / v + a^2 / sigma^2, and the difference is a square.
Source       Chien & Li 2025, Lemma 3.2, (5), citing Feldman et al. 2018.
Remark       Equality at a = x sigma^2 / (v + sigma^2). Point masses are the limit v -> 0, a >= x.
"""

from sympy import Expr, Max

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality
from lastiterate.symbolic.notation import a, alpha, sigma, v, x, z
from lastiterate.symbolic.statement import FIRST, SECOND, Noisy, ShiftedDivergence, closed

_left = alpha * x**2 / (2 * (v + sigma**2))
_paid = alpha * a**2 / (2 * sigma**2)


def _right(paid: Expr) -> Expr:
    return alpha * Max(x - a, 0) ** 2 / (2 * v) + paid


_gap = alpha * (x - a) ** 2 / (2 * v) + _paid - _left
_square = alpha * (sigma**2 * x - (sigma**2 + v) * a) ** 2 / (2 * v * sigma**2 * (v + sigma**2))

CLAIMS = (
    Claim(
        "chien_li/lemma_3_2",
        "Noise of variance sigma^2 absorbs a shift a at the price alpha a^2 / (2 sigma^2)",
        at("Lemma 3.2", "(5)"),
        Identity(_gap, _square, "the difference is a square"),
        Inequality(_left / alpha, "<= and attained", _right(_paid) / alpha, name="Gaussian laws").mutant(
            "noise counted on both sides",
            sign="<=",
            right=Max(x - a, 0) ** 2 / (2 * (v + sigma**2)) + a**2 / (2 * sigma**2),
        ),
        Inequality(x**2 / (2 * sigma**2), "<=", a**2 / (2 * sigma**2), given=(x <= a,), name="point masses").mutant(
            "point masses further apart than the shift", given=(x <= 2 * a,)
        ),
        statement=closed(
            ShiftedDivergence(alpha, z, Noisy(FIRST, sigma**2), Noisy(SECOND, sigma**2))
            <= ShiftedDivergence(alpha, z + a, FIRST, SECOND) + alpha * a**2 / (2 * sigma**2),
            alpha > 1,
        ),
        assumptions=(alpha > 1,),
    ),
)
