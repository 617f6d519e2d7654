"""Hoelder reduction: I + phi brings a distance z to at most z + L z^lambda.

Path by path |X + phi(X) - Y - phi(Y)| <= |X - Y| + L |X - Y|^lambda, then the essential suprema of the two terms, which
lose nothing: both grow with |X - Y|.
"""

from sympy import Abs

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Inequality
from lastiterate.symbolic.letters import gamma, kappa, xi, z, zeta
from lastiterate.symbolic.notation import L, alpha, lam
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, HolderMove, Image, ShiftedDivergence, closed

_moved = Abs(xi + gamma - zeta - kappa)
# lambda = 1/2 with |xi - zeta| <= z^2: no roots are needed.
_holder_half = (Abs(xi - zeta) <= z**2, Abs(gamma - kappa) <= L * z)
_lipschitz = (Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * z)

CLAIMS = (
    Claim(
        "chien_li/lemma_3_8",
        "(92)-(98): two points z apart are z + L z^lambda apart after I + phi, at most and attained",
        at("Lemma 3.8", "(16); (93)-(98)"),
        Inequality(_moved, "<= and attained", z**2 + L * z, given=_holder_half, name="lambda = 1/2, distance z^2"),
        Inequality(_moved, "<= and attained", (1 + L) * z, given=_lipschitz, name="lambda = 1"),
        statement=closed(
            ShiftedDivergence(alpha, z + L * z**lam, Image(MAP, FIRST), Image(MAP, SECOND))
            <= ShiftedDivergence(alpha, z, FIRST, SECOND),
            HolderMove(MAP, L, lam),
            lam <= 1,
            alpha > 1,
        ),
    ),
)
