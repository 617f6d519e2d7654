"""Full batches: the second bound of (B.1) and its best window.

Statement    w (D/w + s)^2 is least at w = D/s, "modulo a possible floor or ceiling".
Assumptions  D is the paper's D tilde; s = 2 eta L / n, L Lipschitz there, is the notation's 2 eta K / n; costs in
             units of alpha / (2 eta^2 sigma^2); x is the window length w taken real.
Derivation   (D + s x)^2 - 4 D s x = (D - s x)^2.
Source       Altschuler & Talwar 2022, appendix B.1, lines 760-766.
"""

from sympy import Integer

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Identity, Inequality, Mutant, Relation
from lastiterate.symbolic.notation import D, s, x

_cost = x * (D / x + s) ** 2

CLAIMS = (
    Claim(
        key="altschuler_talwar/appendix_b_1/best_window",
        title="The second bound of (B.1) is least at w = D/s, where it is 4 D s",
        source=at(766, "B.1", "Numerical computation"),
        assumptions=(x > 0,),
        checks=(
            Inequality(4 * D * s, Relation.AT_MOST, _cost, name="no window is better"),
            Identity(_cost.subs(x, D / s), 4 * D * s, "attained"),
            Identity(D + x * s - x * (D / x + s), Integer(0), "the shifts end at z_T = 0"),
        ),
        mutants=(
            Mutant("five for four", Inequality(5 * D * s, Relation.AT_MOST, _cost), Engine.INEQUALITY),
            Mutant("window 2 D/s", Identity(_cost.subs(x, 2 * D / s), 4 * D * s), Engine.IDENTITY),
            Mutant("shifts without s", Identity(D + x * s - x * (D / x), Integer(0)), Engine.IDENTITY),
        ),
    ),
)
