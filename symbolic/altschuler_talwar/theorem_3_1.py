r"""Theorem 3.1 of Altschuler & Talwar 2022: the upper bound for Noisy-SGD, up to a constant.

Let the domain be convex of diameter $D$, the losses convex, $L$-Lipschitz and $M$-smooth, $\eta \le 2/M$,
$\sigma > 8\sqrt2 L/b$ and $1 < \alpha \le \alpha^*(b/n, b\sigma/(2\sqrt2 L))$. Then Noisy-SGD is
$(\alpha, \varepsilon)$-RDP for
$$\varepsilon \lesssim \frac{\alpha L^2}{n^2\sigma^2}\min\{T, \bar T\},\quad
  \bar T = \Big\lceil\frac{Dn}{L\eta}\Big\rceil.$$

Checked: it holds with the constant 101, or 33 if $b < n/5$, by composition, or by $w$
coins and $w$ shifts $D/w$, each with half of the variance. So do the numbers of the printed proof.
Fails: (3.7), on which the printed proof rests (`proof_3_1`).
Letters: the paper's $L$, $M$ and $\sigma$ are K, L and sigma_DP in the code.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_unit = alpha * K**2 / (n**2 * sigma_dp**2)
_steps = ceiling(D * n / (K * eta))
_stated = private(101 * _unit * Min(T, _steps), *PRINTED, Convex(L, K), eta * L <= 2)

_chosen = {w: _steps, tau: T - _steps}
_long = (D * n <= K * eta * w,)


def _cost(noise: Expr) -> Expr:
    return put(2 * alpha * q**2 / z**2, {q: b / n, z: noise})


CLAIMS = (
    Claim(
        "altschuler_talwar/theorem_3_1",
        "Theorem 3.1: RDP with 101 alpha K^2/(n^2 sigma_DP^2) min{T, w}, w = ceil(D n/(K eta)); 33 for b < n/5",
        at("Theorem 3.1"),
        RenyiBound(
            "noisy_sgd/composition", 32 * _unit * T, SMALL, by=Sampled.TWICE, name="any T, b < n/5"
        ).mutant("no condition on the order", given=SMALL[:1]),
        RenyiBound(
            "noisy_sgd/convex",
            33 * _unit * w,
            (*SMALL, *_long),
            by=Sampled.TWICE,
            at=_chosen,
            name="w <= T, b < n/5",
        ),
        RenyiBound("noisy_sgd/composition", 100 * _unit * T, (5 * b >= n,), name="any T, b >= n/5"),
        RenyiBound(
            "noisy_sgd/convex", 101 * _unit * w, (5 * b >= n, *_long), at=_chosen, name="w <= T, b >= n/5"
        ),
        letters={w: "any window with D n/(K eta) <= w <= T"},
        assumptions=(alpha > 1, b <= n, eta * L <= 2, sigma_dp > 8 * sqrt(2) * K / b),
        statement=_stated,
    ),
    Step(
        "altschuler_talwar/theorem_3_1/price",
        "Below (3.7): Lemma 2.12 gives 8 alpha (K/(n sigma_2))^2 where sigma_2 >= 8 K/b",
        at("Step 4"),
        Identity(_cost(b * sigma / (2 * K)), 8 * alpha * (K / (n * sigma)) ** 2, "cost of a step"),
        Inequality(
            Integer(4), "<= and attained", b * sigma / (2 * K), (sigma >= 8 * K / b,), "noise of the lemma"
        ),
        Inequality(
            8 * K / b, "<", sigma_dp / sqrt(2), (sigma_dp > 8 * sqrt(2) * K / b,), "noise of the theorem"
        ),
        Identity(
            put(b * sigma / (2 * K), {sigma: sigma_dp / sqrt(2)}),
            b * sigma_dp / (2 * sqrt(2) * K),
            "argument of alpha*",
        ),
        Identity(2 * _cost(b * (sigma_dp / sqrt(2)) / (2 * K)), 32 * _unit, "twice, half the variance"),
    ),
    Step(
        "altschuler_talwar/theorem_3_1/best_window",
        "Step 4: at w steps the minimum over windows is at most twice 1/n^2 + D/(eta K n)",
        at("Step 4"),
        Asymptotic(1 + w + x**2 / w, 1 + x, Integer(2), name="in units of 1/n^2").mutant(
            "window 1", left=2 + x**2, constant=None, path={w: growth, x: growth}
        ),
        Asymptotic(1 + x, w, Integer(2), given=(w < T,), name="last display"),
        assumptions=(x <= w, w <= x + 1),
        letters={x: "D n/(K eta)", w: "the whole number from x on"},
    ),
    Step(
        "altschuler_talwar/theorem_3_1/large_batches",
        "Footnote 8: for b >= n/5 a Gaussian step costs 2 alpha K^2/(b^2 sigma_2^2), at most 25 times the rate 1/n^2",
        at("Footnote 8"),
        Identity(
            put(alpha * z**2 / (2 * eta**2 * sigma**2), {z: 2 * eta * K / b}),
            2 * alpha * K**2 / (b**2 * sigma**2),
            "cost of a step",
        ),
        Asymptotic(1 / b**2, 1 / n**2, Integer(25), name="against 1/n^2"),
        Inequality(4 / b**2, "<= and attained", 100 / n**2, name="at half the variance"),
        assumptions=(5 * b >= n, b <= n),
    ),
)
