r"""Theorem 3.4 of Liang et al. 2026: the Rényi privacy of DPSGD on a bounded domain.

With projection onto a convex set of diameter $D$, DPSGD is $(\alpha, \epsilon)$-RDP for
$$\epsilon = O\Bigl(\frac{\alpha C^2}{n b \sigma_{DP}^2}
\min\Bigl\{T, \frac{(1 + \eta L)^2 n b D^2}{\eta^2 C^2}\Bigr\}\Bigr), \tag{12}$$
$$\text{earlier version: } \epsilon = \frac{A}{\beta} + \frac{B}{1 - \beta}, \quad
A = \frac{2 \alpha C^2}{n b \sigma_{DP}^2}, \quad
B = \frac{\alpha (1 + \eta L)^2 D^2}{2 \eta^2 \sigma_{DP}^2}. \tag{14}$$

Checked: (12), (48) and the earlier (14), (15) against one-step and solved runs; the steps (50)-(55) of the proof.
Fails: (12) and (48), which vanish with D, while the sign of the last iterate reveals the data; (14) in the order
with the larger data set first. In the other order, with min{T, 1 + ...} in (12), both hold for batches of b =
|B_t| samples, and in both orders with an extra condition on alpha or with another cost of a step.
Letters: the paper's $C$ is K in the code; x = sqrt(A), y = sqrt(B), and r is the constant of the O.
"""

from lastiterate.symbolic.liang.paper import *

_rate = r * alpha * K**2 / (n * b * sigma_dp**2) * Min(T, REACH)
_stated = for_some(
    (r,), private(_rate, Clipped(K), Diameter(D), PoissonBatches(b, n), Smooth(L), adjacency=OneMore)
)

_share = (beta > 0, beta < 1)
_points = (Abs(xi) <= D, Abs(zeta) <= D)
_rate_48 = r * alpha * K**2 / (n**2 * sigma_dp**2) * Min(T, REACH * n / b)
_split = STEP / beta + DOMAIN / (1 - beta)

# T steps, and the last step with a share of its noise; a step costs 7/4 of the rate in both orders.
_possible = (alpha > 1, b <= n)
_composed = RenyiBound(
    "noisy_sgd/one more, composition", STEP * T, _possible, by=Sampled.SECOND, name="T steps"
)
_last = replace(
    _composed,
    derivation="noisy_sgd/one more, last step",
    bound=_split,
    given=(*_possible, *_share),
    name="the last step",
)
_half = replace(_last, at={beta: S.Half})
_small_half = (4 * alpha * (alpha - 1) * K**2 <= b**2 * sigma_dp**2,)
_small = 8 * alpha * K**2 / (n**2 * sigma_dp**2)
_small_last = replace(
    _last, bound=_small / beta + DOMAIN / (1 - beta), given=(alpha > 1, *small_orders(beta)), by=Sampled.TWICE
)
_of_domain = (Clipped(K), Diameter(D), Smooth(L))

# The sign of theta_1: N(1/2, 1) against N(-1/2, 1); and one sample of five added, its gradient a tenth of the noise.
_sign = two_coins(cumulative(S.Half), tail(S.Half))
_rare_sign = log(1 + 4 * ((cumulative(Rational(1, 10)) - S.Half) / 5) ** 2)
_near = {z: (Rational(1, 10**4), Rational(1, 10)), r: (S.One, Integer(1000))}  # z = D/eta
# The weight w of a coin of which D_2 from a fair one, log(2 w^2 + 2 (1 - w)^2), is 100 times (12).
_seen = (1 + sqrt(exp(200 * z**2) - 1)) / 2

# (14) at alpha = 2, n = 100, K = 10, b = eta = sigma_DP = T = 1, L = 0 on [-D/2, D/2]: all gradients K, the added -K.
_right = tail(K + D / 2)
_right_with = (1 - 1 / n) * _right + tail(D / 2 - K) / n
_numbers = {n: Integer(100), K: Integer(10)}
_edge = {D: Rational(1, 100)}

# Figure 1: every step of a window has its own share, and costs (s + x_j)^2, s^2 = A.
_c = Rational(6, 5)
_s = sqrt(2 * Rational(11, 10) * 4 / (8 * 2 * 16))
_Delta = sqrt(Rational(11, 10) / (2 * Rational(1, 25) * 16))
_V4, _W4 = sums(_c, 4)
_flat = (s * w + Delta) ** 2 / w  # clipping alone, c = 1

CLAIMS = (
    Claim(
        "liang/theorem_3_4",
        "(12), (47): O(alpha K^2/(n b sigma_DP^2) min{T, (1 + eta L)^2 n b D^2/(eta^2 K^2)})",
        at("Theorem 3.4", "(12)"),
        IntervalInequality(_sign, "<=", 2 * r * z**2, _near, "T = n = b = K = sigma_DP = 1, alpha = 2, L = 0"),
        IntervalInequality(
            cumulative(S.One), "<=", _seen, {z: (0, Rational(1, 100))}, "probability that theta_1 > 0, r = 100"
        ),
        statement=_stated,
        refutation=RefutingRun(
            fails=words(
                "The bound vanishes with the diameter {}, the loss does not: it is the noise of the last step that "
                "hides the data, and the sign of the last iterate distinguishes the two runs on any domain.",
                D,
            ),
            at={T: 1, n: 1, b: 1, eta: 1, K: 1, L: 1, sigma_dp: 1, D: Rational(1, 100), alpha: 2, r: 100},
            run="one step from the middle of an interval, all samples in it; one linear loss of slope K/2, and with it "
            "one of slope -K, so that the sums are K/2 and -K/2; r = 100 is tried",
            quantity=LAST_ITERATES,
            claimed=_rate,
            true=two_coins(cumulative(K / (2 * sigma_dp)), tail(K / (2 * sigma_dp))),
        ),
    ),
    Ours(
        "liang/theorem_3_4/step_only",
        "The sign of theta_1 shows 0.52 in a step: alpha = 2, slopes +-K/2, sigma_DP = K, b = n = 1, any D",
        at("Theorem 3.4", "(12)"),
        Inequality(2 * r * z**2, "<", Rational(52, 100), (r * z**2 <= Rational(1, 4),), "no r serves (12)"),
        IntervalInequality(Rational(52, 100), "<", _sign, {}, "D_2 of the two coins"),
    ),
    Step(
        "liang/theorem_3_4/radius",
        "(50): in a domain of diameter D two runs are at most D apart, so z_tau = D starts from divergence 0",
        at("Theorem B.3", "below (50)"),
        Inequality(
            Abs(xi - zeta), "<= and attained", D, (2 * Abs(xi) <= D, 2 * Abs(zeta) <= D), "ball of radius D/2"
        ),
        misprint=Inequality(Abs(xi - zeta), "<=", D, _points, "K = {|theta| <= D}, as section 2.2 prints it"),
    ),
    Ours(
        "liang/theorem_3_4/diameter",
        "Two points of the ball of radius D are at most 2 D apart, and B becomes 4 B",
        at("Section 2.2", "above (6)"),
        Inequality(Abs(xi - zeta), "<= and attained", 2 * D, _points, "two points of the line"),
        NormBound(Vector("u") - Vector("v"), 2 * D, (Norm(Vector("u")) <= D, Norm(Vector("v")) <= D), "of R^d"),
        Identity(put(DOMAIN, {D: 2 * D}), 4 * DOMAIN, "(51) at twice the diameter"),
    ),
    Step(
        "liang/theorem_3_4/last_window",
        "(51): with all of the shift at tau, the best tau is T - 1",
        at("Theorem B.3", "(51)"),
        Inequality(STEP / beta + y, "<= and attained", STEP / beta * T + y, _share, "least over T - tau >= 1"),
    ),
    Step(
        "liang/theorem_3_4/best_share",
        "(53), (54): min over beta of A/beta + B/(1 - beta) is (sqrt A + sqrt B)^2 at sqrt A/(sqrt A + sqrt B)",
        at("Theorem B.3", "(53), (54)"),
        Identity(put(u**2 / beta + v**2 / (1 - beta), {beta: u / (u + v)}), (u + v) ** 2, "the value there"),
        Inequality((u + v) ** 2, "<= and attained", u**2 / beta + v**2 / (1 - beta), _share, "the minimum"),
    ),
    Step(
        "liang/theorem_3_4/dropped",
        "(54) -> (55): min{A T, (sqrt A + sqrt B)^2} <= r min{A T, B} for some constant r",
        at("Theorem B.3", "(55)"),
        Asymptotic(
            Min(T * x**2, (x + y) ** 2),
            Min(T * x**2, y**2),
            path={x: growth, y: S.One, T: growth},
            name="B small",
        ).mutant("A T alone", right=Min(T, y**2)),
    ),
    Ours(
        "liang/theorem_3_4/kept",
        "min{A T, (sqrt A + sqrt B)^2} <= 2 min{A T, A + B}, and the constant 2 is best",
        at("Theorem B.3", "(55)"),
        Inequality(
            Min(T * x**2, (x + y) ** 2),
            "<= and attained",
            2 * Min(T * x**2, x**2 + y**2),
            attained=(Eq(y, x), Eq(T, 4)),
        ),
        Inequality(r * y**2, "<", x**2, (x > 0, (r + 1) * y <= x), "below A, so no r serves (55)"),
        repairs="liang/theorem_3_4/dropped",
    ),
    Ours(
        "liang/theorem_3_4/additive_term",
        "(12) with min{T, 1 + (1 + eta L)^2 n b D^2/(4 eta^2 K^2)} and the constant 4, the larger data set second",
        at("Theorem B.3", "(54)"),
        _composed,
        _half.mutant("in both orders", by=Sampled.RATE),
        UpperBound(
            "liang_mended", ("added_fixed_second",), name="(54) and (46) against solved runs, in this order"
        )
        .mutant("gradients one percent shorter", altered={K: K * 99 / 100})
        .mutant("without the domain", altered={D: D / 10**6})
        .mutant("without the smoothness", altered={L: L / 1000}),
        statement=one_order(2 * STEP * Min(T, 1 + REACH / 4), *_of_domain),
        repairs="liang/theorem_3_4",
    ),
    Ours(
        "liang/theorem_3_4/large_domain",
        "(12) as printed, with the constant 2 and the larger data set second, if 2 eta K <= (1 + eta L) D sqrt(n b)",
        at("Theorem 3.4", "(12)"),
        _composed,
        _half,
        statement=one_order(2 * STEP / 2 * Min(T, REACH), *_of_domain, REACH >= 4),
        repairs="liang/theorem_3_4",
    ),
    Ours(
        "liang/theorem_3_4/both_orders",
        "(12), both orders: min{T, 1 + (1 + eta L)^2 n b D^2/(7 eta^2 K^2)}, 4 alpha (alpha - 1) K^2 <= (b sigma_DP)^2",
        at("Theorem 3.4", "(12)"),
        replace(_composed, bound=STEP * T * 7 / 4, by=Sampled.RATE),
        replace(
            _half,
            bound=STEP / beta * 7 / 4 + DOMAIN / (1 - beta),
            given=(*_half.given, 2 * alpha * (alpha - 1) * K**2 <= beta * b**2 * sigma_dp**2),
            by=Sampled.RATE,
        ),
        assumptions=_small_half,
        statement=private(
            STEP * Rational(7, 2) * Min(T, 1 + REACH / 7),
            *_of_domain,
            BatchesOf(b, n),
            b <= n,
            *_small_half,
            adjacency=OneMore,
        ),
        repairs="liang/theorem_3_4",
    ),
    Claim(
        "liang/theorem_3_4/strengthened",
        "(48): O(alpha K^2/(n^2 sigma_DP^2) min{T, (1 + eta L)^2 n^2 D^2/(eta^2 K^2)}), small orders and wide noise",
        at("Theorem B.3", "(48)"),
        IntervalInequality(_rare_sign, "<=", r / 1250 * 25 * z**2, _near, "n = 5, sigma_DP = 10, T = 1"),
        Asymptotic(Min(T, (1 + y) ** 2), Min(T, y**2), path={y: 1 / growth, T: S.One}, name="from (40)"),
        refutation=RefutingRun(
            fails=words(
                "Like (12) the bound vanishes with the diameter {}, while the sign of the last iterate distinguishes "
                "two runs on any domain.",
                D,
            ),
            at={T: 1, n: 5, b: 1, eta: 1, K: 1, L: 1, sigma_dp: 10, D: Rational(1, 1000), alpha: 2, r: 100},
            run="one step from the middle of an interval; one sample in five is added, of slope K, the others are 0; "
            "r = 100",
            quantity=LAST_ITERATES,
            claimed=_rate_48,
            true=log(1 + 4 * ((cumulative(K / sigma_dp) - S.Half) / n) ** 2),
            says=private(_rate_48, Clipped(K), Diameter(D), PoissonBatches(b, n), Smooth(L), adjacency=OneMore),
        ),
    ),
    Ours(
        "liang/theorem_3_4/strengthened_kept",
        "With 1 + (1 + eta L)^2 n^2 D^2/(eta^2 K^2) the version of (48) follows from (40), in both orders",
        at("Theorem B.3", "(48)"),
        replace(
            _small_last, derivation="noisy_sgd/one more, share", bound=T * _small / beta, at={beta: S.Half}
        ),
        replace(_small_last, at={beta: S.Half}),
        Inequality(r * y**2, "<", S.One, ((r + 1) * y <= 1,), "no r serves (48)"),
        UpperBound("liang_mended_small_orders", ("added_fixed",), name="solved runs, both orders").mutant(
            "a quarter, which is what a step costs", altered={K: K * 49 / 100}
        ),
        statement=private(
            2 * _small * Min(T, 1 + REACH * n / b / 16),
            *_of_domain,
            BatchesOf(b, n),
            *small_orders(S.Half),
            adjacency=OneMore,
        ),
        repairs="liang/theorem_3_4/strengthened",
    ),
    Claim(
        "liang/theorem_3_4/earlier",
        "Earlier version (14): A/beta + B/(1 - beta), for every beta in (0, 1), in both orders",
        earlier("Theorem 3.4", "(14)"),
        IntervalInequality(
            two_coins(_right_with, _right).subs({**_numbers, **_edge}),
            "<=",
            (4 * K**2 / (beta * n) + D**2 / (1 - beta)).subs({**_numbers, **_edge}),
            {beta: (Rational(1, 4), Rational(9, 10))},
            "alpha = 2, n = 100, K = 10, D = 0.01, T = 1",
        ),
        IntervalInequality(
            (K**2 / 2 - log(2 * n**2)).subs(_numbers),
            "<=",
            (4 * K**2 / (beta * n) + D**2 / (1 - beta)).subs({**_numbers, **_edge}),
            {beta: (Rational(1, 4), Rational(9, 10))},
            "log(p^2/q) from p >= 1/(2 n) and Chernoff's q <= exp(-K^2/2)/2",
        ),
        refutation=RefutingRun(
            fails=words(
                "The proof bounds one order of the two data sets, the larger one second; with it first a gradient far "
                "longer than the noise shows about {}, where the bound has {} over {}.",
                K**2 / (2 * sigma_dp**2),
                4 * K**2 / sigma_dp**2,
                beta * n,
            ),
            at={
                n: 100,
                b: 1,
                eta: 1,
                K: 10,
                L: 1,
                sigma_dp: 1,
                T: 1,
                D: Rational(1, 100),
                beta: S.Half,
                alpha: 2,
            },
            run="one step on one sample, from the middle of an interval; gradients K for all samples but the added "
            "one, which has -K and is drawn with probability b/n",
            quantity=LAST_ITERATES,
            claimed=_split,
            true=two_coins(_right_with, _right),
            says=private(
                _split, beta < 1, Clipped(K), Diameter(D), BatchesOf(b, n), Smooth(L), adjacency=OneMore
            ),
        ),
    ),
    Ours(
        "liang/theorem_3_4/earlier_order",
        "(14) at every share beta and every order alpha, the larger data set second",
        earlier("Theorem 3.4", "(14)"),
        _last.mutant("half of the distance", bound=STEP / beta + DOMAIN / (1 - beta) / 4),
        UpperBound(
            "liang_mended", ("added_fixed_second",), name="(14) at its best beta against solved runs"
        ).mutant("gradients one percent shorter", altered={K: K * 99 / 100}),
        statement=one_order(_split, *_of_domain, *_share),
        repairs="liang/theorem_3_4/earlier",
    ),
    Ours(
        "liang/theorem_3_4/earlier_both_orders",
        "(14) at every alpha in both orders: the last step costs log(1 + b/n (e^x - 1))/(alpha - 1) with its share",
        earlier("Theorem 3.4", "(14)"),
        replace(_composed, bound=T * mixed_step(), by=Sampled.MIXED),
        replace(_last, bound=mixed_step(beta) + DOMAIN / (1 - beta), by=Sampled.MIXED),
        statement=private(
            Min(T * mixed_step(), mixed_step(beta) + DOMAIN / (1 - beta)),
            *_of_domain,
            BatchesOf(b, n),
            b <= n,
            *_share,
            adjacency=OneMore,
        ),
        repairs="liang/theorem_3_4/earlier",
    ),
    Claim(
        "liang/theorem_3_4/earlier_strengthened",
        "Earlier (15): 8 alpha K^2/(beta n^2 sigma_DP^2) + B/(1 - beta), both orders, b = |B_t|, small alpha",
        earlier("Theorem 3.4", "(15)"),
        _small_last,
        UpperBound("liang_mended_small_orders", ("added_fixed",), name="solved runs, both orders").mutant(
            "a quarter, which is what a step costs", altered={K: K * 49 / 100}
        ),
        statement=private(
            _small_last.bound, *_of_domain, BatchesOf(b, n), *small_orders(beta), adjacency=OneMore
        ),
    ),
    Ours(
        "liang/theorem_3_4/versions_order",
        "Later (12) is at most four times earlier (12), (14) at their best beta, and no constant serves the other way",
        earlier("Theorem 3.4", "(14)"),
        Inequality(Min(T * x**2 / 2, 2 * y**2), "<=", 4 * Min(T * x**2, (x + y) ** 2), name="in this order"),
        Inequality(2 * r * y**2, "<", x**2, (x > 0, (r + 2) * y <= x), "no r serves the other"),
    ),
    Claim(
        "liang/remark_3_5",
        "(54) does not depend on T, and grows like D^2: from B up to 2 (A + B)",
        at("Remark 3.5"),
        Inequality(y**2 * D**2, "<=", (x + y * D) ** 2, name="at least B; x^2 = A, y^2 = B at D = 1"),
        Inequality((x + y * D) ** 2, "<= and attained", 2 * (x**2 + y**2 * D**2), name="at most 2 (A + B)"),
    ),
    Ours(
        "liang/theorem_3_4/linear",
        "The square is not inherent (Remark 3.5): a window of w = Delta/s steps costs 4 s Delta, clipping alone",
        at("Remark 3.5"),
        Inequality(4 * s * Delta, "<= and attained", _flat, name="least over the window"),
        Inequality(4 * s * Delta, "<", r * Delta**2, (r * Delta > 4 * s,), "no r serves Remark 3.5"),
        Identity(put(_flat, {Delta: s * w}), 4 * s * (s * w), "attained at Delta = s w"),
        Inequality(
            _flat, "<", (s + Delta) ** 2, (w >= 2, Delta > s * 2, w * s <= Delta), "below (54) from D > 2 s"
        ),
    ),
    Ours(
        "liang/theorem_3_4/figure_1",
        "D.1: at Figure 1's setting (54) is 1.684; four steps with their own shares give 1.135",
        at("D.1", "Figure 1"),
        Value(direct_cost(_c, _s, _Delta, 1), "1.684", "(54): the window of one step"),
        Value(cost(_s, _Delta, _V4, _W4), "1.135", "the window of four steps"),
        IntervalInequality(_s, "<", (_s * _V4 + _Delta) / _W4 * _c**-4, {}, "all its shifts are positive"),
    ),
)
