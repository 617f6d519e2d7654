"""Comparison with Kong & Ribero 2024, and large data sets.

Statement    Kong & Ribero's bound (C_1 D + C_2)^2, C_1 > 1, C_2 > 0, is worse than D^2 and does not vanish as
             n -> infinity; the bound of Theorem 3.1 does.
Assumptions  costs in units of alpha / (2 sigma^2); s = 2 eta K / n; runs of any length.
Derivation   For c = 1 the best window costs at most 4 s D + s^2 / w. For c > 1 every window costs at least
             (c + 1) D (2 s + (c - 1) D), which tends to (c^2 - 1) D^2.
Source       Chien & Li 2025, A.15, lines 808-810.
Remark       "Strictly worse than output perturbation" compares with D^2, which is not a valid bound for (1)
             (`remarks_3_1/output_perturbation`); one last step costs (c D + s)^2, which has just that form.
"""

from sympy import Integer, Rational

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Identity, Inequality, Mutant, Relation, Role
from lastiterate.symbolic.notation import D, K, T, c, eta, n, s, u, w, y
from lastiterate.symbolic.shift_program import best_window_cost, window_cost

_flat = (s * w + D) ** 2 / w
_whole = (w >= D / s, w <= D / s + 1)
_final = best_window_cost(c, s, D)

CLAIMS = (
    Claim(
        key="chien_li/appendix_a_15/kong_ribero",
        title="(C_1 D + C_2)^2 is above D^2 for C_1 > 1, C_2 > 0 (written c and s)",
        source=at(808, "A.15", "Comparison to output perturbation bound"),
        checks=(Inequality(D**2, Relation.BELOW, (c * D + s) ** 2, given=(c > 1,), name="arithmetic"),),
        mutants=(
            Mutant("C_1 < 1", Inequality(D**2, Relation.BELOW, (c * D + s) ** 2, given=(c < 1,)), Engine.INEQUALITY),
            Mutant(
                "twice D^2", Inequality(2 * D**2, Relation.BELOW, (c * D + s) ** 2, given=(c > 1,)), Engine.INEQUALITY
            ),
        ),
        relation=Relation.BELOW,
    ),
    Claim(
        key="chien_li/appendix_a_15/large_n_convex",
        title="Convex losses: as n -> infinity the loss goes to 0, at most 8 eta K D / n + s^2 for every T",
        source=at(810, "A.15", "Behavior as dataset size n grows"),
        checks=(
            Inequality(_flat, Relation.AT_MOST, 4 * s * D + s**2, given=_whole, name="the window of about D/s steps"),
            Identity(
                (4 * s * D + s**2).subs(s, 2 * eta * K / n),
                8 * eta * K * D / n + (2 * eta * K / n) ** 2,
                "in n",
            ),
            Inequality(8 * eta * K * D / n, Relation.AT_MOST, y, given=(n * y >= 8 * eta * K * D,), name="below any y"),
        ),
        mutants=(
            Mutant(
                "half of it", Inequality(_flat, Relation.AT_MOST, 2 * s * D + s**2, given=_whole), Engine.INEQUALITY
            ),
            Mutant("for any window", Inequality(_flat, Relation.AT_MOST, 4 * s * D + s**2), Engine.INEQUALITY),
            Mutant(
                "factor two dropped in s",
                Identity((4 * s * D + s**2).subs(s, eta * K / n), 8 * eta * K * D / n + (2 * eta * K / n) ** 2),
                Engine.IDENTITY,
            ),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/appendix_a_15/large_n_smooth",
        title="In contrast to Kong & Ribero's, the bound vanishes as n -> infinity: smooth losses, c > 1, any T",
        source=at(810, "A.15", "significantly different from our bound"),
        assumptions=(c > 1,),
        checks=(
            Identity(_final.subs(s, 0), Integer(0), "the best window at s = 0"),
            Holds(
                best_window_cost(Rational(11, 10), Integer(10) ** -9, Integer(1)),
                Relation.AT_MOST,
                Rational(1, 100),
                {},
                "c = 1.1, D = 1, s = 1e-9",
            ),
        ),
        mutants=(
            Mutant("negative", Identity(_final.subs(s, 0), -(D**2)), Engine.IDENTITY),
            Mutant("a limit of D^2", Identity(_final.subs(s, 0), D**2), Engine.IDENTITY),
        ),
        remark=(
            "The sentence on convex losses is right. For c > 1 the paper's own bound at unlimited T tends to "
            "(c^2 - 1) D^2 > 0 as n grows, like Kong & Ribero's: only composition at a fixed T vanishes, T s^2. So the "
            "contrast with their bound holds for convex losses, not for the non-convex case that both treat."
        ),
    ),
    Claim(
        key="chien_li/appendix_a_15/large_n_limit",
        title="c > 1: every window costs more than (c^2 - 1) D^2, whatever n; composition at fixed T vanishes",
        source=at(810, "A.15", "Behavior as dataset size n grows"),
        checks=(
            Identity(_final, (c**2 - 1) * D**2 + 2 * (c + 1) * s * D, "the best window"),
            Inequality(
                (c**2 - 1) * D**2,
                Relation.BELOW,
                window_cost(c, s, D, u),
                given=(c > 1, u < 1),
                name="every window, u = c^-w",
            ),
            Inequality(T * s**2, Relation.AT_MOST, y, given=(T * s**2 <= y,), name="composition, s <= sqrt(y / T)"),
        ),
        mutants=(
            Mutant("limit c^2 D^2", Identity(_final.subs(s, 0), c**2 * D**2), Engine.IDENTITY),
            Mutant(
                "above c^2 D^2",
                Inequality(c**2 * D**2, Relation.AT_MOST, window_cost(c, s, D, u), given=(c > 1, u < 1)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "for c < 1 too",
                Inequality((1 - c**2) * D**2, Relation.BELOW, window_cost(c, s, D, u), given=(c < 1, u > 1)),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        repairs="chien_li/appendix_a_15/large_n_smooth",
    ),
)
