"""Hoelder reduction: I + phi brings a distance z to at most z + L z^lambda.

Statement    D^(z)((I + phi) mu || (I + phi) nu) <= D^(h(z))(mu || nu), h(z) + L h(z)^lambda = z.
Assumptions  phi is (L, lambda)-Hoelder, L >= 0, 0 < lambda <= 1; z >= 0.
Derivation   Path by path |X + phi(X) - Y - phi(Y)| <= |X - Y| + L |X - Y|^lambda, then the essential suprema
             of the two terms, (92)-(98); the rest is post-processing, as in Lemma 3.3.
Source       Chien & Li 2025, Lemma 3.8 and A.8, (91)-(102).
Remark       The sum of the suprema in (96) loses nothing: both terms grow with |X - Y|.
"""

from sympy import Abs, Integer, Max, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.holder import slope
from lastiterate.symbolic.notation import L, gamma, kappa, lam, p, q, r, v, x, xi, z, zeta

_moved = Abs(xi + gamma - zeta - kappa)
# lambda = 1/2 with |xi - zeta| <= z^2: no roots are needed.
_holder_half = (Abs(xi - zeta) <= z**2, Abs(gamma - kappa) <= L * z)
_lipschitz = (Abs(xi - zeta) <= z, Abs(gamma - kappa) <= L * z)
_zero = Integer(0)
_box = {x: (Rational(1, 50), 2), L: (0, 3), lam: (Rational(1, 20), 1)}

CLAIMS = (
    Claim(
        key="chien_li/lemma_3_8",
        title="(92)-(98): two points z apart are z + L z^lambda apart after I + phi, at most and attained",
        source=at(177, "Lemma 3.8", "(16); (93)-(98)"),
        checks=(
            Inequality(_moved, Relation.TIGHT, z**2 + L * z, given=_holder_half, name="lambda = 1/2, distance z^2"),
            Inequality(_moved, Relation.TIGHT, (1 + L) * z, given=_lipschitz, name="lambda = 1"),
        ),
        mutants=(
            Mutant(
                "phi does not move", Inequality(_moved, Relation.AT_MOST, z**2, given=_holder_half), Engine.INEQUALITY
            ),
            Mutant(
                "half of L",
                Inequality(_moved, Relation.AT_MOST, z**2 + L * z / 2, given=_holder_half),
                Engine.INEQUALITY,
            ),
            Mutant(
                "the order on both terms",
                Inequality(_moved, Relation.AT_MOST, z + L * z, given=_holder_half),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.TIGHT,
    ),
    Claim(
        key="chien_li/lemma_3_8/suprema",
        title="(95)-(97): the supremum of a sum is at most the sum of suprema, here equal",
        source=at(622, "A.8", "(96)-(97)"),
        checks=(
            Inequality(Max(p + q, r + v), Relation.AT_MOST, Max(p, r) + Max(q, v), name="two outcomes"),
            Inequality(
                Max(p + q, r + v), Relation.EQUAL, Max(p, r) + Max(q, v), given=(p <= r, q <= v), name="same order"
            ),
            Holds(_zero, Relation.BELOW, slope(x, L, lam), _box, "both terms grow"),
        ),
        mutants=(
            Mutant(
                "at least", Inequality(Max(p, r) + Max(q, v), Relation.AT_MOST, Max(p + q, r + v)), Engine.INEQUALITY
            ),
            Mutant(
                "equal for any order",
                Inequality(Max(p + q, r + v), Relation.EQUAL, Max(p, r) + Max(q, v)),
                Engine.INEQUALITY,
            ),
            Mutant("terms fall", Holds(slope(x, L, lam), Relation.AT_MOST, _zero, _box), Engine.ENCLOSURE),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
)
