r"""Theorem 3.3 of Liang et al. 2026: the privacy of DPSGD without projection.

After $T$ steps it is $(\alpha, \epsilon)$-RDP for
$$\epsilon = O\Bigl(\frac{\alpha C^2 T}{n b \sigma_{DP}^2}\Bigr) \tag{11}, \qquad
\text{earlier version: } \epsilon = \frac{2 \alpha C^2 T}{\beta n b \sigma_{DP}^2}, \quad 0 < \beta < 1. \tag{12}$$

Both are refuted: they hold only for the order with the larger data set second. (42), with n^2 in place of n
b, is for small orders and wide noise, and withstands attacks in both orders. z stands for log n if alpha = 4
log n.
"""

from lastiterate.symbolic.liang.lemma_3_2 import EVENT
from lastiterate.symbolic.liang.paper import *

_sampled = SampledUp(b / n, b * sigma_dp / K, alpha)
_run = (
    "one step; a batch holds the added sample, of gradient K, with probability b/n; all other gradients are 0"
)
_order = 4 * z
_rate = _order / n
# One term of the binomial sum, a lower bound of the divergence: (alpha (alpha - 1)/2 - alpha log n)/(alpha - 1).
_last_term = (_order * (_order - 1) / 2 - _order * z) / (_order - 1)

CLAIMS = (
    Claim(
        "liang/theorem_3_3",
        "(11), (41): epsilon = O(alpha K^2 T/(n b sigma_DP^2)): one constant r for every n and alpha",
        at("Theorem 3.3", "(11)"),
        Inequality(_last_term, "<=", r * _rate, (z >= 1,), "alpha = 4 log n, b = K = sigma_DP = T = 1"),
        Asymptotic(_last_term, _rate, path={n: growth, z: log(growth)}, given=(z >= 1,), name="n large"),
        statement=for_some(
            (r,),
            private(
                r * alpha * K**2 * T / (n * b * sigma_dp**2),
                Clipped(K),
                PoissonBatches(b, n),
                Smooth(L),
                adjacency=OneMore,
            ),
        ),
        refutation=RefutingRun(
            fails=words(
                "No constant {} serves: the bound falls like {} as the data set grows, while one step with the larger "
                "data set first loses about {}.",
                r,
                1 / n,
                alpha * K**2 / (2 * b**2 * sigma_dp**2) - log(n / b),
            ),
            at={n: 10**4, b: 1, K: 1, sigma_dp: 1, T: 1, alpha: 40, r: 100},
            run=_run + "; r = 100 is tried",
            quantity=LAST_ITERATES,
            claimed=r * STEP / 2 * T,
            true=_sampled,
        ),
    ),
    Ours(
        "liang/theorem_3_3/ratio",
        "b = K = sigma_DP = T = 1, alpha = 4 log n: a lower bound of the truth over the rate alpha/n is at least n/16",
        at("Theorem 3.3", "(11)"),
        Inequality(n * _rate / 16, "<=", _last_term, (z >= 1,), "log n >= 1"),
        Inequality(r * _rate, "<", n * _rate / 16, (n > 16 * r, z >= 1), "no r serves"),
    ),
    Ours(
        "liang/theorem_3_3/forward",
        "The larger data set second: 2 alpha K^2 T/(n b sigma_DP^2) at every order, (12) at beta = 1",
        at("Theorem B.2", "(46)"),
        RenyiBound("noisy_sgd/one more, composition", STEP * T, (alpha > 1, b <= n), by=Sampled.SECOND).mutant(
            "the other order too", by=Sampled.RATE
        ),
        UpperBound(
            "liang_mended", ("added_fixed_second", "added_drawn_second"), name="solved runs, in this order"
        )
        .mutant("gradients one percent shorter", altered={K: K * 99 / 100})
        .mutant("both orders", attacks=("added_fixed", "added_drawn")),
        statement=one_order(STEP * T, Clipped(K)),
        repairs="liang/theorem_3_3",
    ),
    Ours(
        "liang/theorem_3_3/both_orders",
        "(11) in both orders with the constant 7/2, if 2 alpha (alpha - 1) K^2 <= b^2 sigma_DP^2",
        at("Theorem 3.3", "(11)"),
        RenyiBound("noisy_sgd/one more, composition", STEP * T * 7 / 4, by=Sampled.RATE).mutant(
            "at every order", bound=STEP * T, by=Sampled.MIXED
        ),
        assumptions=(alpha > 1, b <= n, *SMALL_STEPS),
        statement=private(
            STEP * T * 7 / 4, Clipped(K), BatchesOf(b, n), b <= n, *SMALL_STEPS, adjacency=OneMore
        ),
        repairs="liang/theorem_3_3",
    ),
    Ours(
        "liang/theorem_3_3/every_order",
        "Every alpha and noise, both orders: a step costs log(1 + b/n (e^x - 1))/(alpha - 1)",
        earlier("Theorem 3.3", "(12)"),
        RenyiBound("noisy_sgd/one more, composition", T * mixed_step(), by=Sampled.MIXED),
        assumptions=(alpha > 1, b <= n),
        statement=private(T * mixed_step(), Clipped(K), BatchesOf(b, n), b <= n, adjacency=OneMore),
        repairs="liang/theorem_3_3/earlier",
    ),
    Claim(
        "liang/theorem_3_3/strengthened",
        "(42), earlier (13): 8 alpha K^2 T/(beta n^2 sigma_DP^2), both orders, for small alpha and wide noise",
        earlier("Theorem 3.3", "(13)"),
        RenyiBound(
            "noisy_sgd/one more drawn, share",
            8 * alpha * K**2 / (beta * n**2 * sigma_dp**2) * T,
            (alpha > 1, *small_orders(beta)),
            by=Sampled.TWICE,
        ),
        UpperBound(
            "liang_mended_small_orders", ("added_fixed", "added_drawn"), name="solved runs, both orders"
        ).mutant("a quarter, which is what a step costs", altered={K: K * 49 / 100}),
        statement=private(
            8 * alpha * K**2 / (beta * n**2 * sigma_dp**2) * T,
            Clipped(K),
            PoissonBatches(b, n),
            *small_orders(beta),
            adjacency=OneMore,
        ),
    ),
    Claim(
        "liang/theorem_3_3/earlier",
        "Earlier version (12): epsilon = 2 alpha K^2 T/(beta n b sigma_DP^2), for every beta in (0, 1)",
        earlier("Theorem 3.3", "(12)"),
        IntervalInequality(
            SampledUp(Rational(1, 10), S.One, Integer(20)),
            "<=",
            4 / beta,
            {beta: (Rational(1, 2), Rational(99, 100))},
            "n = 10, b = K = sigma_DP = T = 1, alpha = 20",
        ),
        IntervalInequality(
            EVENT, "<=", 4 / beta, {beta: (Rational(3, 4), Rational(99, 100))}, "theta_1 > 20 alone"
        ),
        refutation=RefutingRun(
            fails=words(
                "The proof bounds the order with the larger data set second; with it first one step costs {}.",
                _sampled,
            ),
            at={n: 10, b: 1, K: 1, sigma_dp: 1, T: 1, beta: Rational(99, 100), alpha: 20},
            run=_run,
            quantity=LAST_ITERATES,
            claimed=STEP / beta * T,
            true=_sampled,
            says=private(STEP / beta * T, beta < 1, Clipped(K), BatchesOf(b, n), Smooth(L), adjacency=OneMore),
        ),
    ),
)
