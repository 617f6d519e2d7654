"""The divergence of the sampled Gaussian, its direction, and its reduction to one dimension.

Statement    S(q, s; alpha) = D_alpha(N(0, s^2) || (1 - q) N(0, s^2) + q N(1, s^2)); it "precisely captures" how well
             a noisy update on adjacent data sets is told apart. Lemma 2.11: on a ball of radius r it is S(q, s/r).
Assumptions  0 < q < 1, s > 0, alpha > 1. sampled_down is S, sampled_up the same with the mixture first.
Derivation   The mixture is at least 1 - q times the base, so S <= log(1/(1 - q)) at every order; the other direction
             grows like alpha/(2 s^2). Scaling by r <= 1 and adding the missing noise is post-processing.
Source       Altschuler & Talwar 2022, section 2.3 and appendix A.2.
Remark       Under replacement the two laws of one update are both mixtures; with a zero gradient among the losses
             they are the base and the mixture, in either order.
"""

from sympy import Expr, Integer, Rational, log

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, Step, Value
from lastiterate.symbolic.notation import alpha, gamma, kappa, p, q, r, sigma, u, x, xi, y
from lastiterate.symbolic.sampled_gaussian import sampled_down, sampled_up

_tenth, _one, _order = Rational(1, 10), Integer(1), Integer(20)
_up, _down = sampled_up(_tenth, _one, _order), sampled_down(_tenth, _one, _order)
_box = {sigma: (Rational(1, 2), Integer(1)), alpha: (Integer(8), Integer(20))}


def _below(left: Expr, right: Expr, name: str) -> IntervalInequality:
    return IntervalInequality(left, "<=", right, _box, name)


CLAIMS = (
    Claim(
        "altschuler_talwar/definition_2_10/both_orders",
        "S bounds the loss of one sampled update, whichever of the adjacent data sets comes first",
        at("Definition 2.10"),
        IntervalInequality(_up, "<=", _down, {}, "q = 1/10, s = 1, alpha = 20").mutant("twice S", right=2 * _down),
        IntervalInequality(_up, "<=", log(Rational(10, 9)), {}, "S never exceeds log(1/(1 - q))"),
        remark="""S is introduced as capturing precisely how far a noisy update on adjacent data sets is told apart.
        RDP asks for both orders, and with the mixture first the divergence at q = 1/10, s = 1 and alpha = 20 is 7.576,
        while S is below log(10/9). What captures it is the larger direction, which grows with the order.""",
    ),
    Ours(
        "altschuler_talwar/definition_2_10/larger_direction",
        "The mixture first is the larger direction; S never exceeds log(1/(1 - q))",
        at("Definition 2.10"),
        _below(sampled_down(_tenth, sigma, alpha), sampled_up(_tenth, sigma, alpha), "on a box, q = 1/10").mutant(
            "the base first", _below(sampled_up(_tenth, sigma, alpha), sampled_down(_tenth, sigma, alpha), "")
        ),
        _below(sampled_down(_tenth, sigma, alpha), -log(1 - _tenth), "S is bounded").mutant(
            "half of it", _below(sampled_down(_tenth, sigma, alpha), -log(1 - _tenth) / 2, "")
        ),
        Inequality(p / ((1 - q) * p + q * x), "<=", 1 / (1 - q), (q < 1,), "the ratio of densities"),
        Value(_up, "7.5762263", "the larger direction"),
        repairs="altschuler_talwar/definition_2_10/both_orders",
    ),
    Claim(
        "altschuler_talwar/definition_2_10/lemma_2_11",
        "Lemma 2.11: over laws on a ball of radius r the largest is S(q, s/r)",
        at("Lemma 2.11"),
        Identity((r * y - r) ** 2 / (2 * sigma**2), (y - 1) ** 2 / (2 * (sigma / r) ** 2), "change of variables"),
        IntervalInequality(
            sampled_down(_tenth, 1 / x, Integer(3)),
            "<",
            sampled_down(_tenth, _one, Integer(3)),
            {x: (Rational(1, 2), Rational(9, 10))},
            "shorter shifts, order 3",
        ).mutant("longer shifts", box={x: (Rational(11, 10), Rational(3, 2))}),
        Identity((u * sigma) ** 2 + (1 - u**2) * sigma**2, sigma**2, "scaled by u and noise added"),
    ),
    Step(
        "altschuler_talwar/definition_2_10/mixture_of_mixtures",
        "A.2: noise around a mixed centre is the mixture of the laws with fixed centres",
        at("A.2"),
        Identity(
            (1 - q) * xi + q * (u * gamma + (1 - u) * kappa),
            u * ((1 - q) * xi + q * gamma) + (1 - u) * ((1 - q) * xi + q * kappa),
            "densities, two centres",
        ),
    ),
)
