"""The price of a step between two mixtures: a moment as a mean of hockey sticks, those below 1 by those above.

x^alpha - 1 - alpha (x - 1) is the integral of alpha (alpha - 1) z^(alpha - 2) (x - z) over z from 1 to x, for a ratio x
of likelihoods above 1 or below. So the moment less 1 is the mean of the hockey sticks at z >= 1 with the weight
z^(alpha - 2), and of those of the other order at z >= 1 with the weight z^(-alpha - 1). Those of a step between two
mixtures are in both orders at most those of the larger direction of the sampled Gaussian.
"""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.prelude import *

_coin = SwapStep(q, (2 * eta * K / b) ** 2 / sigma**2)
_primitive = alpha * x * z ** (alpha - 1) - (alpha - 1) * z**alpha
_positive = (x > 0, z > 0)

CLAIMS = (
    Ours(
        "altschuler_talwar/proof_3_1/swap",
        "One step between two mixtures costs at most twice the larger direction of the sampled Gaussian",
        at("Step 3b", "(3.6)"),
        Derived(
            "without_replacement/composition",
            Power(_coin, T),
            "hockey sticks of a step, q E_tau from 1 on, both orders",
        ),
        Identity(
            Derivative(_primitive, z),
            alpha * (alpha - 1) * z ** (alpha - 2) * (x - z),
            "alpha (alpha - 1) z^(alpha - 2) (x - z) and its integral",
            _positive,
        ),
        Identity(
            put(_primitive, {z: x}) - put(_primitive, {z: 1}),
            x**alpha - 1 - alpha * (x - 1),
            "from 1 to the ratio x: what is left of its power",
            _positive,
        ),
        Identity(z ** (2 - alpha) / z**3, z ** (-alpha - 1), "the weights below 1, in z for 1/z", _positive),
        Inequality(
            (-alpha - 1) * x, "<=", (alpha - 2) * x, (alpha >= 1,), "weights of the hockey sticks at e^x"
        ).mutant("orders below 1/2", given=(alpha >= Rational(1, 5),)),
        Inequality(
            1 + x + p,
            "<= and attained",
            1 + 2 * (y - 1),
            (p <= x, 1 + x <= y),
            "so the part p below 1 is at most the part x above, and 1 + x at most the moment y of the larger direction",
        ),
        Inequality(1 + 2 * (y - 1), "<= and attained", y**2, (y >= 1,), "log(1 + 2 (y - 1)) <= 2 log y"),
        assumptions=(q <= 1,),
        repairs="altschuler_talwar/proof_3_1/same_maps",
    ),
)
