"""What the paper says of Theorem 3.1, held against its formula.

Statement    Burn-in, degeneration to Altschuler & Talwar, and strict improvement over them.
Assumptions  as Theorem 3.1; costs in units of alpha / (2 sigma^2); D is the diameter.
Derivation   By the closed forms of `theorem_3_1_window` and the bounds as printed by Altschuler & Talwar
             (001_96660e9b2b742051.txt, (B.1) at line 760 and (B.3) at line 784, batches full).
Source       Chien & Li 2025, sections 1 and 3.1, figure 1, Remark 3.6.
Remark       m-strongly convex and K-Lipschitz together force D <= 2 K / m (`domain`): Table 1's note that strong
             convexity lets the bounded domain go speaks of no loss at all in Theorem 3.1's third case.
"""

from sympy import Expr, Integer, Min, Rational

from lastiterate.symbolic.chien_li.paper import SMOOTH_RUNS, altered, at
from lastiterate.symbolic.claim import Claim, Engine, Holds, Inequality, Mutant, Relation, Role, UpperBound
from lastiterate.symbolic.notation import D, K, L, P, Q, R, W, alpha, beta, c, d, eta, m, s, u, w, x, y
from lastiterate.symbolic.shift_program import best_window_cost, cost, window_cost

_final = best_window_cost(c, s, D)
_cost = window_cost(c, s, D, u)
_best = s / (s + D * (c - 1))
_tracked = s * (1 - u) / (1 - c)  # D_tau for c < 1, u = c^tau
_tracked_next = s * (1 - c * u) / (1 - c)
_flat = (s * w + D) ** 2 / w
_printed = (s * w + D + s) ** 2 / w  # (B.1) with its start D + s
_strong = s**2 * (w + 1) / beta + x**2 / ((1 - beta) * (W + y))
_strong_at = s**2 * (w + 1) / beta + D**2 / ((1 - beta) * W)
_share = (beta > 0, beta < 1)
_thirteen_steps = [(s, Rational(2, 25)), (D, Integer(1)), (w, Integer(13))]


def _grown(steps: int) -> Expr:
    """s^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T) in units of s^2 at c = 0.9."""
    power = Rational(9, 10) ** steps
    return 19 * (1 - power) / (1 + power)


CLAIMS = (
    Claim(
        key="chien_li/remarks_3_1/burn_in",
        title="After a burn-in there is no further loss (c >= 1): longer windows than the best never help",
        source=at(101, "Section 3.1", "below Theorem 3.1"),
        checks=(
            Inequality(
                _cost.subs(u, _best),
                Relation.AT_MOST,
                _cost,
                given=(c > 1, u < _best),
                name="c > 1: longer than the best window",
            ),
            Inequality(
                (s * x + D) ** 2 / x,
                Relation.AT_MOST,
                (s * y + D) ** 2 / y,
                given=(x * s >= D, y >= x, D > 0),
                name="c = 1: past D/s the cost grows",
            ),
        ),
        mutants=(
            Mutant(
                "from the first step on",
                Inequality(
                    (s * x + D) ** 2 / x,
                    Relation.AT_MOST,
                    (s * y + D) ** 2 / y,
                    given=(y >= x, x >= 1),
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "longer windows cost less",
                Inequality(_cost, Relation.AT_MOST, _cost.subs(u, _best), given=(c > 1, u < _best)),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="chien_li/remarks_3_1/burn_in_strongly_convex",
        title="After a burn-in there is no further loss, strongly convex case of figure 1 (D >= s / (1 - c))",
        source=at(101, "Section 3.1", "below Theorem 3.1; Figure 1"),
        assumptions=(c > 0, c < 1, u <= 1, D * (1 - c) >= s),
        checks=(
            Inequality(_tracked_next, Relation.AT_MOST, Min(_tracked, D), name="the tracked distance stops growing"),
            Holds(_grown(101), Relation.AT_MOST, _grown(100), {}, "the best bound, c = 0.9, T = 101 against 100"),
        ),
        mutants=(
            Mutant(
                "it has shrunk",
                Inequality(_tracked_next, Relation.AT_MOST, _tracked / 2),
                Engine.INEQUALITY,
            ),
            Mutant(
                "the cost of each window stops growing",
                Inequality(cost(s, _tracked_next, s, W), Relation.AT_MOST, cost(s, _tracked, s, W)),
                Engine.INEQUALITY,
            ),
        ),
        remark=(
            "For c < 1 the tracked distance s (1 - c^tau)/(1 - c) grows at every step and reaches D only if "
            "D < s/(1 - c). In figure 1, c = 0.9, s = 0.08 and D = 1 > 0.8, so (3) grows strictly at every T, and so "
            "does the best bound, s^2 (1 + c)/(1 - c) (1 - c^T)/(1 + c^T). It converges; that is all the figure shows."
        ),
    ),
    Claim(
        key="chien_li/remarks_3_1/converges",
        title="Strongly convex: the loss grows for ever, at a geometric rate, to s^2 (1 + c)/(1 - c)",
        source=at(101, "Section 3.1", "below Theorem 3.1; Figure 1"),
        assumptions=(c > 0, c < 1, u <= 1),
        checks=(
            Inequality((1 - u) / (1 + u), Relation.BELOW, (1 - c * u) / (1 + c * u), name="strictly growing"),
            Inequality(1 - (1 - u) / (1 + u), Relation.AT_MOST, 2 * u, name="what is missing at T, u = c^T"),
        ),
        mutants=(
            Mutant(
                "constant",
                Inequality((1 - c * u) / (1 + c * u), Relation.AT_MOST, (1 - u) / (1 + u)),
                Engine.INEQUALITY,
            ),
            Mutant("missing c^T / 2", Inequality(1 - (1 - u) / (1 + u), Relation.AT_MOST, u / 2), Engine.INEQUALITY),
        ),
        role=Role.OURS,
        repairs="chien_li/remarks_3_1/burn_in_strongly_convex",
    ),
    Claim(
        key="chien_li/remarks_3_1/longer_burn_in",
        title="Without convexity: a larger final loss, and composition is left behind later, at T = loss / s^2",
        source=at(101, "Section 3.1", "below Theorem 3.1"),
        checks=(
            Inequality(4 * s * D, Relation.BELOW, _final, given=(c > 1,), name="final loss above that of c = 1"),
            Inequality(
                best_window_cost(x, s, D),
                Relation.BELOW,
                best_window_cost(y, s, D),
                given=(x >= 1, y > x),
                name="and growing in c",
            ),
        ),
        mutants=(
            Mutant(
                "smaller final loss", Inequality(_final, Relation.AT_MOST, 4 * s * D, given=(c > 1,)), Engine.INEQUALITY
            ),
            Mutant(
                "twice that of c = 1",
                Inequality(8 * s * D, Relation.AT_MOST, _final, given=(c > 1,)),
                Engine.INEQUALITY,
            ),
        ),
        relation=Relation.BELOW,
    ),
    Claim(
        key="chien_li/remarks_3_1/degenerates",
        title="For convex losses the result degenerates to Altschuler & Talwar's, (B.1)",
        source=at(101, "Section 3.1", "below Theorem 3.1; Remark 3.6, line 157"),
        checks=(
            Inequality(_flat, Relation.EQUAL, _printed, name="the same at every window"),
            Holds(
                _printed.subs(_thirteen_steps),
                Relation.AT_MOST,
                _flat.subs(_thirteen_steps),
                {},
                "s = 0.08, D = 1, 13 steps",
            ),
        ),
        mutants=(
            Mutant("Altschuler & Talwar are smaller", Inequality(_printed, Relation.AT_MOST, _flat), Engine.INEQUALITY),
            Mutant("equal up to s^2", Inequality(_printed, Relation.EQUAL, _flat + s**2), Engine.INEQUALITY),
        ),
        remark=(
            "(B.1) starts from D~ = D + 2 eta L / n where (3) with c = 1 starts from D, so every window of (3) costs "
            "strictly less: 4 s D against 4 s (D + s) at the best lengths. The two agree in order, not in value. What "
            "is true is that (3) is at most (B.1), strictly so where a window is used."
        ),
    ),
    Claim(
        key="chien_li/remarks_3_1/below_altschuler_talwar",
        title="For convex losses every window of (3) costs less than in (B.1), at most by the factor (1 + s/D)^2",
        source=at(101, "Section 3.1", "below Theorem 3.1"),
        checks=(
            Inequality(_flat, Relation.BELOW, _printed, name="strictly less"),
            Inequality(_printed, Relation.AT_MOST, (1 + s / D) ** 2 * _flat, name="same order"),
            UpperBound("altschuler_talwar_b1", SMOOTH_RUNS[:4], name="(B.1) is a valid bound"),
        ),
        assumptions=(alpha > 1, eta * L <= 2),
        mutants=(
            Mutant("not less", Inequality(_printed, Relation.AT_MOST, _flat), Engine.INEQUALITY),
            Mutant("equal up to one s^2", Inequality(_printed, Relation.AT_MOST, _flat + s**2), Engine.INEQUALITY),
            *altered(
                "altschuler_talwar_b1", SMOOTH_RUNS[:4], "factor two dropped in 2 eta K / n", "noise counted twice"
            ),
        ),
        role=Role.OURS,
        relation=Relation.BELOW,
        repairs="chien_li/remarks_3_1/degenerates",
    ),
    Claim(
        key="chien_li/remarks_3_1/strict_every_t",
        title="Tracking gives a strict improvement over the prior bounds for all T, strongly convex losses",
        source=at(120, "Section 3.1", "above Lemma 3.5"),
        assumptions=(c > 0, c < 1),
        checks=(
            Inequality(
                Min(2 * s**2, s**2 * (1 + c) ** 2), Relation.BELOW, 2 * s**2, name="T = 2: (3) against composition"
            ),
            Holds(Rational(19, 10) ** 2, Relation.BELOW, Integer(2), {}, "T = 2, c = 0.9: the one window of (3)"),
        ),
        mutants=(
            Mutant(
                "already at c = 1/2",
                Inequality(Min(2 * s**2, s**2 * Rational(9, 4)), Relation.BELOW, 2 * s**2),
                Engine.INEQUALITY,
            ),
            Mutant("T = 1", Inequality(Min(s**2, s**2 * (1 + c) ** 2), Relation.BELOW, s**2), Engine.INEQUALITY),
        ),
        relation=Relation.BELOW,
        remark=(
            "Both (3) and Altschuler & Talwar's (B.3) contain composition, T s^2. At T = 1 both are s^2, and at T = 2 "
            "the only window of (3) costs s^2 (1 + c)^2, above 2 s^2 unless c < sqrt(2) - 1, so neither is strictly "
            "below the other. It is strict wherever (B.3) uses a window, and direct shifts are strict for every T >= 2."
        ),
    ),
    Claim(
        key="chien_li/remarks_3_1/strict_with_window",
        title="Strongly convex: (3) is strictly below every windowed value of (B.3), for any uniform share beta",
        source=at(101, "Section 3.1", "below Theorem 3.1"),
        assumptions=_share,
        checks=(
            Inequality(
                _strong,
                Relation.BELOW,
                _strong_at,
                given=(x <= D, y > 0),
                name="same share, start x = D_tau <= D, one more step y = c^-2(w+1) of shifts",
            ),
        ),
        mutants=(
            Mutant(
                "without the additional step",
                Inequality(_strong.subs(y, 0), Relation.BELOW, _strong_at, given=(x <= D,)),
                Engine.INEQUALITY,
            ),
            Mutant(
                "not below", Inequality(_strong_at, Relation.AT_MOST, _strong, given=(x <= D, y > 0)), Engine.INEQUALITY
            ),
            Mutant("start above D", Inequality(_strong, Relation.BELOW, _strong_at, given=(y > 0,)), Engine.INEQUALITY),
        ),
        relation=Relation.BELOW,
        repairs="chien_li/remarks_3_1/strict_every_t",
    ),
    Claim(
        key="chien_li/remarks_3_1/domain",
        title="m-strongly convex and K-Lipschitz on a domain forces its diameter to be at most 2 K / m",
        source=at(22, "Table 1", "note *; A.1 (23)"),
        checks=(
            Inequality(
                d,
                Relation.TIGHT,
                2 * K / m,
                given=(d**2 <= P, d**2 >= P, m * P <= Q, Q**2 <= P * R, R <= 4 * K**2),
                name="two points d apart",
            ),
        ),
        mutants=(
            Mutant(
                "K / m",
                Inequality(
                    d,
                    Relation.AT_MOST,
                    K / m,
                    given=(d**2 <= P, d**2 >= P, m * P <= Q, Q**2 <= P * R, R <= 4 * K**2),
                ),
                Engine.INEQUALITY,
            ),
            Mutant(
                "convex losses too",
                Inequality(
                    d,
                    Relation.AT_MOST,
                    2 * K / m,
                    given=(d**2 <= P, d**2 >= P, Q >= 0, Q**2 <= P * R, R <= 4 * K**2),
                ),
                Engine.INEQUALITY,
            ),
        ),
        role=Role.OURS,
        relation=Relation.TIGHT,
    ),
)
