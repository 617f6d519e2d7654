"""Hoelder reduction: I + phi brings a distance z to at most z + L z^lambda.

Path by path |X + phi(X) - Y - phi(Y)| <= |X - Y| + L |X - Y|^lambda, then the essential suprema of the two terms, which
lose nothing: both grow with |X - Y|.
"""

from sympy import Abs, Integer, Max, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Inequality, IntervalInequality, Step
from lastiterate.symbolic.holder import slope
from lastiterate.symbolic.letters import gamma, kappa, p, q, r, v, x, xi, z, zeta
from lastiterate.symbolic.notation import L, alpha, lam
from lastiterate.symbolic.statement import FIRST, MAP, SECOND, HolderMove, Image, ShiftedDivergence, closed

_moved = Abs(xi + gamma - zeta - kappa)
# lambda = 1/2 with |xi - zeta| <= z^2: no roots are needed.
_holder_half = (Abs(xi - zeta) <= z**2, Abs(gamma - kappa) <= L * z)
_lipschitz = (Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * z)
_zero = Integer(0)
_box = {x: (Rational(1, 50), 2), L: (0, 3), lam: (Rational(1, 20), 1)}

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
    Step(
        "chien_li/lemma_3_8/suprema",
        "(95)-(97): the supremum of a sum is at most the sum of suprema, here equal",
        at("A.8", "(96)-(97)"),
        Inequality(Max(p + q, r + v), "<=", Max(p, r) + Max(q, v), name="two outcomes")
        .mutant("at least", left=Max(p, r) + Max(q, v), right=Max(p + q, r + v))
        .mutant("equal for any order", sign="=="),
        Inequality(Max(p + q, r + v), "==", Max(p, r) + Max(q, v), given=(p <= r, q <= v), name="same order"),
        IntervalInequality(_zero, "<", slope(x, L, lam), _box, "both terms grow").mutant(
            "terms fall", left=slope(x, L, lam), sign="<=", right=_zero
        ),
    ),
)
