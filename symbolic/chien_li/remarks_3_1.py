r"""The remarks on Theorem 3.1 of Chien & Li 2025: burn-in, degeneration, earlier bounds, and output perturbation.

"For all $T$ a strict improvement over the prior bounds" (above Lemma 3.5); "(3) degenerates to
$\min\{T, \lceil D n/(\eta K) \rceil\}$" for convex losses; output perturbation (footnote 1):
$$D_\alpha(W_T \| W_T') \le \frac{\alpha D^2}{2 \sigma^2}.$$

Output perturbation is refuted, and the improvement is strict only if a window is used; the other remarks
hold. Costs are in units of alpha / (2 sigma^2), and D is the diameter; (B.1) and (B.3) are from Altschuler &
Talwar, for full batches.
"""

from lastiterate.symbolic.chien_li.paper import *

_final = best_window_cost(c, s, D)
_cost = window_cost(c, s, D, u)
_flat = (s * w + D) ** 2 / w
_printed = (s * w + D + s) ** 2 / w  # (B.1) with its start D + s
_share = (beta > 0, beta < 1)
_shares = (y > 0, y < x)  # y is the sum of the shares of x steps
_reach = D + eta * (n - 1) / n * Min(L * D, 2 * K) + sensitivity()  # e(D)
_end = two_coins(tail((D / 2 - eta * K) / sigma), tail((D / 2 + eta * K) / sigma))

CLAIMS = (
    Claim(
        "chien_li/remarks_3_1/output_perturbation",
        "Output perturbation: alpha D^2 / (2 sigma^2) bounds the divergence of the last iterate of (1)",
        at("Section 1", "with footnote 1; Figure 1, caption; A.15"),
        attacked("output_perturbation", CLIPPED_RUNS, "a tenth of the diameter", "noise counted twice"),
        IntervalInequality(
            _end.subs({eta: 1, K: Rational(1, 2), sigma: 1, D: Rational(1, 100)}),
            "<=",
            Rational(1, 100) ** 2,
            {},
            "alpha = 2, T = 1, D = 0.01, drifts of +-1/2: the event of ending at the upper end",
        ),
        statement=private(alpha * D**2 / (2 * sigma**2), *FULL_BATCHES),
        assumptions=(alpha > 1,),
        refutation=RefutingRun(
            fails=words(
                "The last noise is added after a gradient step, so that it has to hide more than the diameter: two "
                "runs from one point are {} apart before it, however small {} is.",
                sensitivity(),
                D,
            ),
            at={n: 1, eta: 1, K: Rational(1, 2), sigma: 1, T: 1, D: Rational(1, 100), alpha: 2},
            run="one step from the middle of an interval; the one sample has the constant gradient K or -K",
            quantity=LAST_ITERATES,
            claimed=alpha * D**2 / (2 * sigma**2),
            true=_end,
        ),
    ),
    Ours(
        "chien_li/remarks_3_1/last_step",
        "One last step from the whole domain: alpha e(D)^2 / (2 sigma^2)",
        at("Figure 1", "caption"),
        attacked(
            "last_step_clipped", CLIPPED_RUNS, "noise counted twice", "alpha / 2 for alpha", name="clipped"
        ),
        UpperBound("last_step_smooth", SMOOTH_RUNS, name="smooth"),
        Derived("last_step/smooth", Gauss(_reach**2 / sigma**2), "derived"),
        statement=private(alpha * _reach**2 / (2 * sigma**2), *FULL_BATCHES, Smooth(L)),
        assumptions=(alpha > 1,),
        repairs="chien_li/remarks_3_1/output_perturbation",
    ),
    Ours(
        "chien_li/remarks_3_1/last_step_strongly_convex",
        "One last step under strong convexity; with D + s under convexity",
        at("Figure 1", "caption"),
        UpperBound("last_step_strongly_convex", STRONG_RUNS, name="strongly convex"),
        attacked(
            "last_step_convex", SMOOTH_RUNS[:4], "noise counted twice", "alpha / 2 for alpha", name="convex"
        ),
        Derived("last_step/convex", Gauss((D + sensitivity()) ** 2 / sigma**2), "convex"),
        Derived(
            "last_step/strongly convex", Gauss(((1 - eta * m) * D + sensitivity()) ** 2 / sigma**2), "one step"
        ),
        statement=private(
            alpha * ((1 - eta * m) * D + sensitivity()) ** 2 / (2 * sigma**2),
            *FULL_BATCHES,
            StronglyConvex(m, L, K),
            eta * L <= 1,
        ),
        assumptions=(alpha > 1, m <= L, eta * L <= 1),
    ),
    Claim(
        "chien_li/remarks_3_1/burn_in",
        "After a burn-in nothing more is lost, convex and non-convex (c >= 1): (3) is the same for all later T",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(s * (z + 1), "<=", c * x + s, (x >= s * z, c >= 1), "from D/s steps on, D_tau = D"),
        Inequality(s**2, "<=", s**2 / beta, _share, "a window costs s^2 a step or more, at any shares"),
        Inequality(
            _cost.subs(u, s / (s + D * (c - 1))),
            "<=",
            _cost,
            (c > 1, u < s / (s + D * (c - 1))),
            "c > 1: past the best",
        ),
        Inequality(
            (s * x + D) ** 2 / x, "<=", (s * y + D) ** 2 / y, (x * s >= D, y >= x, D > 0), "c = 1: past D/s"
        ),
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
            "excess over the best window from D, where D (1 - c) < s",
        ),
        Inequality(
            s**2 * (1 + c) / (1 - c),
            "<",
            window_cost(c, s, D, 1 / u),
            (D * (1 - c) >= s, u < 1),
            "and else no window from D is below it, u = c^w",
        ),
        assumptions=(c > 0, c < 1, u <= 1),
    ),
    Claim(
        "chien_li/remarks_3_1/longer_burn_in",
        "Without convexity: a larger final loss, and composition is left behind later, at T = loss / s^2",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(
            best_window_cost(x, s, D),
            "<",
            best_window_cost(y, s, D),
            (x >= 1, y > x),
            "final loss, growing in c",
        ),
        Inequality(
            Max(c * z + s - y, 0),
            "<=",
            x * z + s - y,
            (c <= x, x * z + s - y >= 0),
            "whole windows, too: to the same states a steeper path needs no less shift",
        ),
    ),
    Claim(
        "chien_li/remarks_3_1/degenerates",
        "For convex losses (3) degenerates to Altschuler & Talwar's min{T, ceil(D n/(eta K))}, up to a constant",
        at("Section 3.1", "below Theorem 3.1; Remark 3.6"),
        Inequality(
            2 * x / y - beta * x**2 / y**2, "<=", 1 / beta, (*_share, *_shares), "1/beta_t add to x^2/y"
        ),
        Inequality(
            (s * x + a) ** 2 / x,
            "<= and attained",
            s**2 * x**2 / y + a**2 / (x - y),
            _shares,
            "(3) at c = 1, a window of x steps from a, the shares add to y",
        ),
        Inequality(
            Min(s**2 * (x + u), 4 * s * D),
            "<=",
            (s * x + Min(s * u, D)) ** 2 / x,
            (x > 0,),
            "no window, after u steps, is below T s^2 and 4 s D",
        ),
        Inequality(
            (s * x + D) ** 2 / x, "<=", 4 * s * D + s**2, (s * x >= D, s * x <= D + s), "about D/s steps"
        ),
        Asymptotic(
            Min(T, 4 * x + 1), Min(T, y), Integer(3), given=(y >= 2 * x, y >= 1), name="(3)/s^2, x = D/s"
        ),
        Asymptotic(
            Min(T, y), z, Integer(2), given=(z >= 1, z >= Min(T, 4 * x), y <= 2 * x + 1), name="conversely"
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
            name="(B.1)",
        ),
        Derived("full_batch/convex", Gauss(_printed.subs(s, sensitivity()) / sigma**2), "a window of (B.1)"),
        assumptions=(alpha > 1, eta * L <= 2),
    ),
    Claim(
        "chien_li/remarks_3_1/strict_every_t",
        "Tracking gives a strict improvement over the prior bounds for all T, strongly convex losses",
        at("Section 3.1", "above Lemma 3.5"),
        Inequality(Min(2 * s**2, s**2 * (1 + c) ** 2), "<", 2 * s**2, name="T = 2, D >= s"),
        IntervalInequality(Rational(19, 10) ** 2, "<", Integer(2), {}, "T = 2, c = 0.9: the one window of (3)"),
        assumptions=(c > 0, c < 1),
        refutation=RefutingRun(
            fails=words(
                "For two steps the only window costs {}, more than composition, {}, unless {} is below {}: the two "
                "bounds are equal there, and none is strictly better.",
                s**2 * (1 + c) ** 2,
                2 * s**2,
                c,
                sqrt(Integer(2)) - 1,
            ),
            at={T: 2, c: Rational(1, 2), s: 1},
            run="two steps that contract by c, on a domain of diameter at least s",
            quantity=SHIFT_COST,
            claimed=T * s**2,
            true=Min(T * s**2, s**2 * (1 + c) ** 2),
            sign="<",
            says=closed(
                condition("Stricter", "(3) is strictly below (B.3) of Altschuler & Talwar for every {0}")(T),
                c < 1,
            ),
        ),
    ),
    Claim(
        "chien_li/remarks_3_1/strict_with_window",
        "Strongly convex: (3) is strictly below every windowed value of (B.3), for any uniform share beta",
        at("Section 3.1", "below Theorem 3.1"),
        Inequality(
            s**2 * (w + 1) / beta + x**2 / ((1 - beta) * (W + y)),
            "<",
            s**2 * (w + 1) / beta + D**2 / ((1 - beta) * W),
            (x <= D, y > 0),
            "same share, start x = D_tau <= D, one more step y = c^-2(w+1) of shifts",
        ),
        assumptions=_share,
        repairs="chien_li/remarks_3_1/strict_every_t",
    ),
    Ours(
        "chien_li/remarks_3_1/domain",
        "m-strongly convex and K-Lipschitz on a domain forces its diameter to be at most 2 K / m",
        at("Table 1", "note *; A.1 (23)"),
        Inequality(
            d, "<= and attained", 2 * K / m, (d**2 <= P, d**2 >= P, m * P <= Q, Q**2 <= P * R, R <= 4 * K**2)
        ),
    ),
    Ours(
        "chien_li/remarks_3_1/when_below_output_perturbation",
        "The best window of real length is below D^2 exactly when c^2 + 2 s (c + 1)/D < 2, and no window is otherwise",
        at("Section 3.1", "interpretation of Theorem 3.1"),
        Inequality(_final, "<", D**2, (c**2 + 2 * s * (c + 1) / D < 2,), "if"),
        Inequality(c**2 + 2 * s * (c + 1) / D, "<", Integer(2), (_final < D**2,), "only if"),
        Inequality(D**2, "<", _final, (c**2 >= 2,), "never from c = sqrt(2), eta L = sqrt(2) - 1, on"),
        Inequality(
            D**2, "<=", _cost, (Ne(c, 1), (c - 1) * (1 - u) > 0, c**2 + 2 * s * (c + 1) / D >= 2), "no window"
        ),
        Inequality(D**2, "<=", _flat, (4 * s >= D,), "no window, c = 1"),
        assumptions=(D * (1 - c) < s,),
    ),
)
