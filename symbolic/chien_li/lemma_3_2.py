"""Shift reduction and Lipschitz reduction: fresh noise pays for a shift, and a c-Lipschitz map scales it by c.

On mu = N(d, v), nu = N(0, v) with x = d - z the first reads x^2 / (v + sigma^2) <= max(x - a, 0)^2 / v + a^2 / sigma^2;
point masses are the limit v -> 0. For the second the law that attains D^(z) is moved by phi at most c z, (76), and the
rest is post-processing, (77).
"""

from sympy import Integer, Max

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality
from lastiterate.symbolic.formulas.divergences import renyi
from lastiterate.symbolic.letters import a, d, v, x, z
from lastiterate.symbolic.notation import alpha, c, sigma
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, Image, Lipschitz, Noisy, ShiftedDivergence, closed

_left = alpha * x**2 / (2 * (v + sigma**2))
_paid = alpha * a**2 / (2 * sigma**2)


_gap = alpha * (x - a) ** 2 / (2 * v) + _paid - _left
_square = alpha * (sigma**2 * x - (sigma**2 + v) * a) ** 2 / (2 * v * sigma**2 * (v + sigma**2))

_zero = Integer(0)
_before = renyi((d - z, sigma**2), (_zero, sigma**2), alpha)


_after = renyi((c * d - c * z, (c * sigma) ** 2), (_zero, (c * sigma) ** 2), alpha)


CLAIMS = (
    Claim(
        "chien_li/lemma_3_2",
        "Noise of variance sigma^2 absorbs a shift a at the price alpha a^2 / (2 sigma^2)",
        at("Lemma 3.2", "(5)"),
        Identity(_gap, _square, "the difference is a square"),
        Inequality(
            _left / alpha,
            "<= and attained",
            (alpha * Max(x - a, 0) ** 2 / (2 * v) + _paid) / alpha,
            name="Gaussian laws",
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
    Claim(
        "chien_li/lemma_3_3",
        "On Gaussians and x -> c x the Lipschitz reduction is an equality",
        at("Lemma 3.3", "(6)"),
        Identity(_after, _before, "x -> c x"),
        statement=closed(
            ShiftedDivergence(alpha, c * z, Image(MAP, FIRST), Image(MAP, SECOND))
            <= ShiftedDivergence(alpha, z, FIRST, SECOND),
            Lipschitz(MAP, c),
            alpha > 1,
        ),
        assumptions=(alpha > 1, z <= d),
    ),
)
