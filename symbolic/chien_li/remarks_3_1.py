"""Remarks on Theorem 3.1 held against its formula, and output perturbation against one last step.

Costs in units of alpha / (2 sigma^2); D is the diameter. Decided by the closed forms of `theorem_3_1_window` and by
the bounds as printed by Altschuler & Talwar, (B.1) and (B.3), batches full.
"""

from lastiterate.symbolic.chien_li.paper import CLIPPED_RUNS, FULL_BATCHES, SMOOTH_RUNS, STRONG_RUNS, at, attacked
from lastiterate.symbolic.chien_li.refutations import OUTPUT_PERTURBATION, STRICT_EVERY_T
from lastiterate.symbolic.prelude import *

_final = best_window_cost(c, s, D)
_cost = window_cost(c, s, D, u)
_best = s / (s + D * (c - 1))
_flat = (s * w + D) ** 2 / w
_printed = (s * w + D + s) ** 2 / w  # (B.1) with its start D + s
_strong = s**2 * (w + 1) / beta + x**2 / ((1 - beta) * (W + y))
_strong_at = s**2 * (w + 1) / beta + D**2 / ((1 - beta) * W)
_share = (beta > 0, beta < 1)
_shares = (y > 0, y < x)  # y is the sum of the shares of x steps

_gaussian = D**2  # output perturbation
_reach = D + eta * (n - 1) / n * Min(L * D, 2 * K) + sensitivity()  # e(D)


# T = 1, sigma = 1, from the middle of [0, 1/100] with drift +-1/2: the chance to end at the upper end.
_pushed, _pulled = tail(Rational(1, 200) - Rational(1, 2)), tail(Rational(1, 200) + Rational(1, 2))

# From an end that is 0 or above the other 100 samples pull by 5 upwards, i* by 1/20: the chance to be there after 10^8
# steps is that of a chain with these chances to leave either half.
_down, _up = tail(Integer(5) + Rational(1, 20)), tail(Integer(5))
_stays = _up / (_up + _down) - Rational(1, 10**9)

CLAIMS = (
    Claim(
        "chien_li/remarks_3_1/burn_in",
        "After a burn-in there is no further loss, convex and non-convex (c >= 1): (3) is the same for all later T",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(
            s * (z + 1), "<=", c * x + s, given=(x >= s * z, c >= 1), name="from D/s steps on, D_tau = D"
        ).mutant("c < 1 too", given=(x >= s * z,)),
        Inequality(s**2, "<=", s**2 / beta, given=_share, name="a window costs s^2 a step or more, at any shares"),
        Inequality(
            _cost.subs(u, _best),
            "<=",
            _cost,
            given=(c > 1, u < _best),
            name="c > 1: longer than the best window",
        ),
        Inequality(
            (s * x + D) ** 2 / x,
            "<=",
            (s * y + D) ** 2 / y,
            given=(x * s >= D, y >= x, D > 0),
            name="c = 1: past D/s the cost grows",
        ).mutant("from the first step on", given=(y >= x, x >= 1)),
    ),
    Ours(
        "chien_li/remarks_3_1/converges",
        "Strongly convex, D (1 - c) >= s: direct shifts grow for ever, at a geometric rate, to s^2 (1 + c)/(1 - c)",
        at("Section 3.1", "below Theorem 3.1; Figure 1"),
        Inequality((1 - u) / (1 + u), "<", (1 - c * u) / (1 + c * u), name="strictly growing"),
        Inequality(1 - (1 - u) / (1 + u), "<=", 2 * u, name="what is missing at T, u = c^T"),
        Identity(
            s**2 * (1 + c) / (1 - c) - _final,
            (1 + c) / (1 - c) * (s - (1 - c) * D) ** 2,
            "what the best window from D is below it, where D (1 - c) < s",
        ),
        Inequality(
            s**2 * (1 + c) / (1 - c),
            "<",
            window_cost(c, s, D, 1 / u),
            given=(D * (1 - c) >= s, u < 1),
            name="and else no window from D is below it, u = c^w",
        ).mutant("from D below s / (1 - c), too", given=(u < 1,)),
        assumptions=(c > 0, c < 1, u <= 1),
    ),
    Claim(
        "chien_li/remarks_3_1/longer_burn_in",
        "Without convexity: a larger final loss, and composition is left behind later, at T = loss / s^2",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(4 * s * D, "<", _final, given=(c > 1,), name="final loss above that of c = 1"),
        Inequality(
            best_window_cost(x, s, D),
            "<",
            best_window_cost(y, s, D),
            given=(x >= 1, y > x),
            name="and growing in c",
        ),
        Inequality(
            Max(c * z + s - y, 0),
            "<=",
            x * z + s - y,
            given=(c <= x, x * z + s - y >= 0),
            name="whole windows, too: to the same states a steeper path needs no less shift",
        ),
    ),
    Claim(
        "chien_li/remarks_3_1/degenerates",
        "For convex losses (3) degenerates to Altschuler & Talwar's min{T, ceil(D n/(eta K))}, up to a constant",
        at("Section 3.1", "below Theorem 3.1; Remark 3.6"),
        Inequality(
            2 * x / y - beta * x**2 / y**2, "<=", 1 / beta, given=(*_share, *_shares), name="1/beta_t add to x^2/y"
        ),
        Inequality(
            (s * x + a) ** 2 / x,
            "<= and attained",
            s**2 * x**2 / y + a**2 / (x - y),
            given=_shares,
            name="(3) at c = 1, a window of x steps from a, the shares add to y",
        ).mutant("no window at all", sign="<=", left=(s * x + a) ** 2 / x + s**2, given=_shares),
        Inequality(
            Min(s**2 * (x + u), 4 * s * D),
            "<=",
            (s * x + Min(s * u, D)) ** 2 / x,
            given=(x > 0,),
            name="no window, after u steps, is below T s^2 and 4 s D",
        ),
        Inequality(
            (s * x + D) ** 2 / x, "<=", 4 * s * D + s**2, given=(s * x >= D, s * x <= D + s), name="about D/s steps"
        ),
        Asymptotic(Min(T, 4 * x + 1), Min(T, y), Integer(3), given=(y >= 2 * x, y >= 1), name="(3)/s^2, x = D/s"),
        Asymptotic(
            Min(T, y),
            z,
            Integer(2),
            given=(z >= 1, z >= Min(T, 4 * x), y <= 2 * x + 1),
            name="conversely, y = ceil(2 x)",
        ),
    ),
    Ours(
        "chien_li/remarks_3_1/below_altschuler_talwar",
        "For convex losses every window of (3) costs less than in (B.1), at most by the factor (1 + s/D)^2",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(_flat, "<", _printed, name="strictly less"),
        Inequality(_printed, "<=", (1 + s / D) ** 2 * _flat, name="same order"),
        attacked(
            "altschuler_talwar_b1",
            SMOOTH_RUNS[:4],
            "factor two dropped in 2 eta K / n",
            "noise counted twice",
            name="(B.1) is a valid bound",
        ),
        Derived("full_batch/convex", Gauss(_printed.subs(s, sensitivity()) / sigma**2), "a window of (B.1)"),
        assumptions=(alpha > 1, eta * L <= 2),
    ),
    Claim(
        "chien_li/remarks_3_1/strict_every_t",
        "Tracking gives a strict improvement over the prior bounds for all T, strongly convex losses",
        at("Section 3.1", "above Lemma 3.5"),
        Inequality(Min(2 * s**2, s**2 * (1 + c) ** 2), "<", 2 * s**2, name="T = 2, D >= s: (3) against composition")
        .mutant("already at c = 1/2", left=Min(2 * s**2, s**2 * Rational(9, 4)))
        .mutant("T = 1", left=Min(s**2, s**2 * (1 + c) ** 2), right=s**2),
        IntervalInequality(Rational(19, 10) ** 2, "<", Integer(2), {}, "T = 2, c = 0.9: the one window of (3)"),
        assumptions=(c > 0, c < 1),
        refutation=STRICT_EVERY_T,
        remark="""Both (3) and Altschuler & Talwar's (B.3) contain composition, T s^2. At T = 1 both are s^2, and at T
        = 2 the only window of (3) costs s^2 (1 + c)^2, above 2 s^2 unless c < sqrt(2) - 1, so neither is strictly
        below the other. It is strict wherever (B.3) uses a window, and direct shifts are strict for every T >= 2.""",
    ),
    Claim(
        "chien_li/remarks_3_1/strict_with_window",
        "Strongly convex: (3) is strictly below every windowed value of (B.3), for any uniform share beta",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(
            _strong,
            "<",
            _strong_at,
            given=(x <= D, y > 0),
            name="same share, start x = D_tau <= D, one more step y = c^-2(w+1) of shifts",
        )
        .mutant("without the additional step", left=_strong.subs(y, 0), given=(x <= D,))
        .mutant("start above D", given=(y > 0,)),
        assumptions=_share,
        repairs="chien_li/remarks_3_1/strict_every_t",
    ),
    Ours(
        "chien_li/remarks_3_1/domain",
        "m-strongly convex and K-Lipschitz on a domain forces its diameter to be at most 2 K / m",
        at("Table 1", "note *; A.1 (23)"),
        Inequality(
            d,
            "<= and attained",
            2 * K / m,
            given=(d**2 <= P, d**2 >= P, m * P <= Q, Q**2 <= P * R, R <= 4 * K**2),
            name="two points d apart",
        ).mutant("convex losses too", sign="<=", given=(d**2 <= P, d**2 >= P, Q >= 0, Q**2 <= P * R, R <= 4 * K**2)),
    ),
    Ours(
        "chien_li/remarks_3_1/when_below_output_perturbation",
        "The best window of real length is below D^2 exactly when c^2 + 2 s (c + 1)/D < 2, and no window is otherwise",
        at("Section 3.1", "interpretation of Theorem 3.1"),
        Inequality(_final, "<", _gaussian, given=(c**2 + 2 * s * (c + 1) / D < 2,), name="if")
        .mutant("for every c", given=())
        .mutant("c^2 < 2 suffices", given=(c**2 < 2,)),
        Inequality(c**2 + 2 * s * (c + 1) / D, "<", Integer(2), given=(_final < _gaussian,), name="only if"),
        Inequality(_gaussian, "<", _final, given=(c**2 >= 2,), name="never from c = sqrt(2), eta L = sqrt(2) - 1, on"),
        Inequality(
            _gaussian,
            "<=",
            _cost,
            given=(Ne(c, 1), (c - 1) * (1 - u) > 0, c**2 + 2 * s * (c + 1) / D >= 2),
            name="no window, u = c^-w",
        ),
        Inequality(_gaussian, "<=", _flat, given=(4 * s >= D,), name="no window, c = 1"),
        assumptions=(D * (1 - c) < s,),
    ),
    Claim(
        "chien_li/remarks_3_1/output_perturbation",
        "Output perturbation: alpha D^2 / (2 sigma^2) bounds the divergence of the last iterate of (1)",
        at("Section 1", "with footnote 1; Figure 1, caption; A.15"),
        attacked(
            "output_perturbation", CLIPPED_RUNS, "a tenth of the diameter", "noise counted twice", name="sensitivity D"
        ),
        IntervalInequality(
            log(_pushed**2 / _pulled + (1 - _pushed) ** 2 / (1 - _pulled)),
            "<=",
            Rational(1, 100) ** 2,
            {},
            "alpha = 2, T = 1, D = 0.01, drifts of +-1/2: the event of ending at the upper end",
        ),
        IntervalInequality(
            log(_stays**2 / (1 - _stays) + (1 - _stays) ** 2 / _stays),
            "<=",
            Rational(1, 10) ** 2,
            {},
            "alpha = 2, T = 10^8, D = s = 0.1, n = 101: the others pull towards the nearer end, by 5",
        ),
        statement=private(alpha * D**2 / (2 * sigma**2), *FULL_BATCHES),
        assumptions=(alpha > 1,),
        refutation=OUTPUT_PERTURBATION,
        remark="""The noise of the last step of (1) is added after a gradient step and before the projection, so what
        it hides is a distance e(D) > D. With D = 0.01 and drifts of +-1/2 the true divergence at alpha = 2 is 0.525
        where the formula claims 1e-4; a run with s = D = 0.1 breaks it as well. The valid baseline of this kind is
        alpha e(D)^2 / (2 sigma^2).""",
    ),
    Ours(
        "chien_li/remarks_3_1/last_step",
        "One last step from the whole domain: alpha e(D)^2 / (2 sigma^2)",
        at("Figure 1", "caption"),
        attacked("last_step_clipped", CLIPPED_RUNS, "noise counted twice", "alpha / 2 for alpha", name="clipped"),
        UpperBound("last_step_smooth", SMOOTH_RUNS, name="smooth"),
        Derived("last_step/smooth", Gauss(_reach**2 / sigma**2), "derived"),
        Identity(direct_cost(c, s, D, 1), (c * D + s) ** 2, "the window of one step"),
        statement=private(
            alpha * _reach**2 / (2 * sigma**2),
            *FULL_BATCHES,
            Smooth(L),
        ),
        assumptions=(alpha > 1,),
        repairs="chien_li/remarks_3_1/output_perturbation",
    ),
    Ours(
        "chien_li/remarks_3_1/last_step_strongly_convex",
        "One last step under strong convexity; with D + s under convexity",
        at("Figure 1", "caption"),
        UpperBound("last_step_strongly_convex", STRONG_RUNS, name="strongly convex"),
        attacked("last_step_convex", SMOOTH_RUNS[:4], "noise counted twice", "alpha / 2 for alpha", name="convex"),
        Derived("last_step/convex", Gauss((D + sensitivity()) ** 2 / sigma**2), "convex"),
        Derived("last_step/strongly convex", Gauss(((1 - eta * m) * D + sensitivity()) ** 2 / sigma**2), "one step"),
        statement=private(
            alpha * ((1 - eta * m) * D + sensitivity()) ** 2 / (2 * sigma**2),
            *FULL_BATCHES,
            StronglyConvex(m, L, K),
            eta * L <= 1,
        ),
        assumptions=(alpha > 1, m <= L, eta * L <= 1),
    ),
)
