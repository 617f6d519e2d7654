r"""Lemma 3.2 of Liang et al. 2026, noisy smooth-reduction.

For updates $\psi$, $\psi'$ on random batches of adjacent data sets,
$$D_\alpha^{((1 + \eta L) z)}\bigl(\psi\mu * N(0, \beta\eta^2\sigma_{DP}^2 I) \,\|\,
\psi'\nu * N(0, \beta\eta^2\sigma_{DP}^2 I)\bigr)
\le D_\alpha^{(z)}(\mu \| \nu) + \frac{2 \alpha C^2}{\beta n b \sigma_{DP}^2} \tag{10}$$

Checked: (10) for one step, in both orders, and the steps (29)-(46) of the printed proof.
Fails: (10) in the order with the larger data set first. The proof mixes the *second* law with weights 1 - b/n
and b/n, so it bounds the other order alone. (36) and (38) need batches of b = |B_t| samples: if each sample is
drawn with probability b/n, the factor is 1 + eta L n/b.
Letters: the paper's $C$ is K in the code.
"""

from lastiterate.symbolic.liang.paper import *

_claimed = STEP / beta
_gaussian = 2 * alpha * K**2 / (beta * b**2 * sigma_dp**2)
_small_orders = 8 * alpha * K**2 / (beta * n**2 * sigma_dp**2)
_noise = b * sqrt(beta) * sigma_dp / (2 * K)
# Of the event theta_1 > 20 alone, n = 10, b = K = sigma_DP = 1, alpha = 20.
EVENT = event(Integer(20), tail(Integer(19)) / 10, tail(Integer(20)))
_affinity = p**2 / q + (1 - p) ** 2 / (1 - q)

_u, _v = Vector("u"), Vector("v")
_points = tuple(smooth("f", L).at(point) for point in (X, Y))
_change = Function("g", nonnegative=True)
_summed = (
    VectorInequality(
        Norm(_points[0].image - _points[1].image),
        "<=",
        L * Norm(X - Y),
        _points,
        name="a gradient moves by L |x - y|",
    ),
    projection(CLIPPING),
    Induction(
        t,
        Le(_change(t), t * L * x),
        begin(_change),
        (Le(_change(t + 1), _change(t) + L * x),),
        name="t of them",
    ),
)


def _update(factor: Expr, most: Expr) -> NormBound:
    """An update on a batch of j <= ``most`` samples; the sum of the gradients is divided by b."""
    given = (Norm(_u) <= x, Norm(_v) <= j * L * x, j <= most)
    return NormBound(_u - eta / b * _v, factor * x, given, "the update, in R^d")


CLAIMS = (
    Claim(
        "liang/lemma_3_2",
        "(10), (34): one step costs at most 2 alpha K^2 / (beta n b sigma_DP^2), in both orders",
        at("Lemma 3.2", "(10)"),
        IntervalInequality(
            SampledUp(Rational(1, 10), sqrt(beta), Integer(20)),
            "<=",
            4 / beta,
            {beta: (Rational(1, 2), S.One)},
            "n = 10, b = K = sigma_DP = 1, alpha = 20, every share; numerator with the added sample",
        ),
        IntervalInequality(EVENT, "<=", Integer(4), {}, "the event theta_1 > 20 alone, beta = 1"),
        refutation=RefutingRun(
            fails=words(
                "The proof bounds one order of the two data sets, the larger one second. With it first a step costs "
                "{}, which grows like {}, not like {}.",
                SampledUp(b / n, b * sigma_dp / K, alpha),
                alpha * K**2 / (2 * b**2 * sigma_dp**2),
                alpha * K**2 / (n * b * sigma_dp**2),
            ),
            at={n: 10, b: 1, K: 1, sigma_dp: 1, beta: 1, alpha: 20},
            run="one step; a batch holds the added sample, of gradient K, with probability b/n; all other gradients "
            "are 0",
            quantity=LAST_ITERATES,
            claimed=_claimed,
            true=SampledUp(b / n, sqrt(beta) * b * sigma_dp / K, alpha),
            says=private(
                _claimed,
                condition("OneStep", "one step, with the share {0} of its noise")(beta),
                Clipped(K),
                BatchesOf(b, n),
                adjacency=OneMore,
            ),
        ),
    ),
    Ours(
        "liang/lemma_3_2/number",
        "n = 10, b = K = sigma_DP = 1, alpha = 20, T = 1: claimed 4, true 7.5762263",
        at("Lemma 3.2", "(10)"),
        Value(SampledUp(Rational(1, 10), S.One, Integer(20)), "7.5762263", "all noise in psi"),
    ),
    Step(
        "liang/lemma_3_2/lipschitz",
        "(36): an update on a batch of b = |B_t| samples expands distances at most by 1 + eta L",
        at("Lemma B.1", "(36)"),
        *_summed,
        _update(1 + eta * L, b),
    ),
    Step(
        "liang/lemma_3_2/lipschitz_drawn",
        "(36) where each sample comes with probability b/n, as step 1 of Algorithm 1 can be read",
        at("Lemma B.1", "(36)"),
        Inequality(
            (1 + eta * L * j / b) * x,
            "<= and attained",
            (1 + eta * L) * z,
            (x <= z, j <= n, b <= n, L > 0),
            "losses -L theta^2/2, a batch of j samples, sum divided by b",
        ),
        Printed("liang/theorem_3_4", "the printed proof of Theorem 3.4"),
    ),
    Ours(
        "liang/lemma_3_2/lipschitz_repaired",
        "Where each sample comes with probability b/n an update expands distances at most by 1 + eta L n/b",
        at("Lemma B.1", "(36)"),
        *_summed,
        _update(1 + eta * L * n / b, n),
        repairs="liang/lemma_3_2/lipschitz_drawn",
    ),
    Step(
        "liang/lemma_3_2/convexity",
        "(29): the divergence is convex in its second argument (two coins, order 2)",
        at("Lemma A.10", "(29)"),
        # The log of the affinity has a nonnegative second derivative.
        Inequality(
            diff(_affinity, q) ** 2, "<=", _affinity * diff(_affinity, q, 2), (p < 1, q < 1), "convex in q"
        ),
    ),
    Step(
        "liang/lemma_3_2/sensitivity",
        "(38): a sample moves the mean gradient by at most 2 K / b, so one Gaussian step costs 2 alpha K^2/(..)",
        at("Lemma B.1", "(38)"),
        NormBound(
            (_u - _v) / b, 2 * K / b, (Norm(_u) <= K, Norm(_v) <= K), "replaced; added, one of them is 0"
        ),
        Identity(put(alpha * z**2 / (2 * beta * sigma_dp**2), {z: 2 * K / b}), _gaussian, "cost of 2 K / b"),
        assumptions=(beta > 0,),
    ),
    Ours(
        "liang/lemma_3_2/forward",
        "(10), the larger data set second, of steps that expand distances by 1 + eta L, and diverge by its cost from a "
        "point (see lipschitz, forward_step)",
        at("Lemma 3.2", "(10)"),
        Deduced(statements.noisy_reduction(1 + eta * L, _claimed), "reduction/noisy"),
        statement=statements.noisy_reduction(1 + eta * L, _claimed),
        repairs="liang/lemma_3_2",
    ),
    Ours(
        "liang/lemma_3_2/both_orders",
        "(10) in both orders, at the cost log(1 + b/n (e^x - 1))/(alpha - 1), x = 2 alpha (alpha - 1) K^2/(beta b^2 "
        "sigma_DP^2), which theorem_3_3/every_order shows from any point",
        at("Lemma 3.2", "(10)"),
        Deduced(statements.noisy_reduction(1 + eta * L, mixed_step(beta)), "reduction/noisy, both orders"),
        statement=statements.noisy_reduction(1 + eta * L, mixed_step(beta)),
        repairs="liang/lemma_3_2",
    ),
    Ours(
        "liang/lemma_3_2/forward_step",
        "(39): from any point, batches of b = |B_t| samples, the larger data set second: T steps cost T times (34)",
        at("Lemma B.1", "(39)"),
        RenyiBound("noisy_sgd/one more, share", _claimed * T, (b <= n, beta > 0, beta <= 1), by=Sampled.SECOND),
        UpperBound("liang_mended", ("added_fixed_second",), name="such steps against solved runs").mutant(
            "gradients one percent shorter", altered={K: K * 99 / 100}
        ),
        assumptions=(alpha > 1,),
        statement=one_order(_claimed * T, Clipped(K), beta > 0, beta <= 1),
        repairs="liang/lemma_3_2",
    ),
    Step(
        "liang/lemma_3_2/strengthened",
        "(40): 2 alpha q^2 / s^2 at q = b/n, s = b sqrt(beta) sigma_DP/(2 K) is 8 alpha K^2/(beta n^2 sigma_DP^2)",
        at("Lemma B.1", "(40)"),
        Identity(put(2 * alpha * q**2 / z**2, {q: b / n, z: _noise}), _small_orders, "Lemma A.13 put in"),
        Inequality(
            Integer(4), "<", _noise, (sigma_dp > 8 * K / (b * sqrt(beta)),), "what A.13 asks of sigma_DP"
        ),
        Inequality(_small_orders, "<= and attained", _claimed * 4 / 5, (5 * b <= n,), "below (34), by 4 b/n"),
        assumptions=(beta > 0,),
    ),
    Step(
        "liang/lemma_3_2/other_order",
        "(44)-(46): what is shown for the larger data set second serves both orders",
        at("B.2", "(44)"),
        Printed("liang/theorem_3_3", "the printed proof of Theorem 3.3").mutant(
            "from the other order", derivation="liang/theorem_3_3, from the other order"
        ),
        Printed("liang/theorem_3_4, batches of b samples", "that of Theorem 3.4, with no more than b samples"),
    ),
)
