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
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours
from lastiterate.symbolic.letters import u, y
from lastiterate.symbolic.notation import D, K, T, c, eta, n, s, w
from lastiterate.symbolic.shift_program import best_window_cost, window_cost

_flat = (s * w + D) ** 2 / w
_whole = (w >= D / s, w <= D / s + 1)
_final = best_window_cost(c, s, D)

CLAIMS = (
    Claim(
        "chien_li/appendix_a_15/kong_ribero",
        "(C_1 D + C_2)^2 is above D^2 for C_1 > 1, C_2 > 0 (written c and s)",
        at("A.15", "Comparison to output perturbation bound"),
        Inequality(D**2, "<", (c * D + s) ** 2, given=(c > 1,), name="arithmetic")
        .mutant("C_1 < 1", given=(c < 1,))
        .mutant("twice D^2", left=2 * D**2),
    ),
    Claim(
        "chien_li/appendix_a_15/large_n_convex",
        "Convex losses: as n -> infinity the loss goes to 0, at most 8 eta K D / n + s^2 for every T",
        at("A.15", "Behavior as dataset size n grows"),
        Inequality(_flat, "<=", 4 * s * D + s**2, given=_whole, name="the window of about D/s steps")
        .mutant("half of it", right=2 * s * D + s**2)
        .mutant("for any window", given=()),
        Identity(
            (4 * s * D + s**2).subs(s, 2 * eta * K / n),
            8 * eta * K * D / n + (2 * eta * K / n) ** 2,
            "in n",
        ),
        Inequality(8 * eta * K * D / n, "<=", y, given=(n * y >= 8 * eta * K * D,), name="below any y"),
    ),
    Claim(
        "chien_li/appendix_a_15/large_n_smooth",
        "In contrast to Kong & Ribero's, the bound vanishes as n -> infinity: smooth losses, c > 1, any T",
        at("A.15", "significantly different from our bound"),
        Identity(_final.subs(s, 0), Integer(0), "the best window at s = 0")
        .mutant("negative", right=-(D**2))
        .mutant("a limit of D^2", right=D**2),
        IntervalInequality(
            best_window_cost(Rational(11, 10), Integer(10) ** -9, Integer(1)),
            "<=",
            Rational(1, 100),
            {},
            "c = 1.1, D = 1, s = 1e-9",
        ),
        assumptions=(c > 1,),
        remark="""The sentence on convex losses is right. For c > 1 the paper's own bound at unlimited T tends to (c^2
        - 1) D^2 > 0 as n grows, like Kong & Ribero's: only composition at a fixed T vanishes, T s^2. So the contrast
        with their bound holds for convex losses, not for the non-convex case that both treat.""",
    ),
    Ours(
        "chien_li/appendix_a_15/large_n_limit",
        "c > 1: every window costs more than (c^2 - 1) D^2, whatever n; composition at fixed T vanishes",
        at("A.15", "Behavior as dataset size n grows"),
        Identity(_final, (c**2 - 1) * D**2 + 2 * (c + 1) * s * D, "the best window").mutant(
            "limit c^2 D^2", left=_final.subs(s, 0), right=c**2 * D**2
        ),
        Inequality(
            (c**2 - 1) * D**2,
            "<",
            window_cost(c, s, D, u),
            given=(c > 1, u < 1),
            name="every window, u = c^-w",
        )
        .mutant("above c^2 D^2", left=c**2 * D**2, sign="<=")
        .mutant("for c < 1 too", left=(1 - c**2) * D**2, given=(c < 1, u > 1)),
        Inequality(T * s**2, "<=", y, given=(T * s**2 <= y,), name="composition, s <= sqrt(y / T)"),
        repairs="chien_li/appendix_a_15/large_n_smooth",
    ),
)
