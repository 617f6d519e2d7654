"""The upper bound of Noisy-SGD up to a constant, and step 4 of its proof.

Statement    epsilon <~ alpha K^2/(n^2 sigma_DP^2) min{T, w}, w = ceil(D n/(K eta)), for sigma_DP > 8 sqrt(2) K/b and
             1 < alpha <= alpha*(b/n, b sigma_DP/(2 sqrt(2) K)).
Assumptions  x = D n/(K eta), x <= w <= x + 1; costs in units of alpha K^2/(n^2 sigma_DP^2); sigma is sigma_2. The
             price of one step is at most 32 of them where b < n/5 (twice Lemma 2.12 at half the variance), and 100
             for b >= n/5.
Derivation   Composition of T steps, or w steps of that price with shifts D/w at half the variance: x^2/w. z3 proves
             the constant; the smaller direction is not used.
Source       Altschuler & Talwar 2022, Theorem 3.1, step 4 and footnote 8.
Remark       The printed proof rests on (3.7), which fails; the theorem does not: see proof_3_1/swap.
"""

from sympy import Expr, Function, Integer, Min, ceiling, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, Step
from lastiterate.symbolic.letters import r, x
from lastiterate.symbolic.notation import D, K, L, T, alpha, b, eta, growth, n, sigma, sigma_dp, w
from lastiterate.symbolic.statement import BatchesOf, Convex, Diameter, for_some, private

_one = Integer(1)
_unit = alpha * K**2 / (n**2 * sigma_dp**2)
_ceiling = (x <= w, w <= x + 1)


def _loss(price: int) -> Expr:
    """Composition, or a window of w steps; where w > T the first is smaller."""
    return Min(price * T, price * w + x**2 / w)


def _price(noise: Expr) -> Expr:
    """2 alpha q^2/s^2 of Lemma 2.12 at q = b/n."""
    return 2 * alpha * (b / n) ** 2 / noise**2


CLAIMS = (
    Claim(
        "altschuler_talwar/theorem_3_1",
        "Theorem 3.1: min{T, ceil(D n/(K eta))} up to a constant",
        at("Theorem 3.1"),
        Asymptotic(_loss(32), Min(T, w), Integer(33), name="b < n/5")
        .mutant("no ceiling", right=Min(T, x), constant=None, path={T: growth, w: _one, x: 1 / growth})
        .mutant("root of x", right=Min(T, sqrt(x)), constant=None, path={T: growth**4, w: growth**2, x: growth**2}),
        Asymptotic(_loss(100), Min(T, w), Integer(101), name="b >= n/5"),
        Identity(w * (D / w) ** 2 * alpha / (2 * eta**2 * sigma_dp**2 / 2), (D * n / (K * eta)) ** 2 / w * _unit),
        statement=for_some(
            (r,),
            private(
                r * alpha * K**2 / (n**2 * sigma_dp**2) * Min(T, ceiling(D * n / (K * eta))),
                Diameter(D),
                BatchesOf(b, n),
                Convex(L, K),
                eta * L <= 2,
                sigma_dp > 8 * sqrt(2) * K / b,
                alpha <= Function("alpha^*")(b / n, b * sigma_dp / (2 * sqrt(2) * K)),
            ),
        ),
        assumptions=_ceiling,
    ),
    Step(
        "altschuler_talwar/theorem_3_1/price",
        "Below (3.7): Lemma 2.12 gives 8 alpha (K/(n sigma_2))^2 where sigma_2 >= 8 K/b",
        at("Step 4"),
        Identity(_price(b * sigma / (2 * K)), 8 * alpha * (K / (n * sigma)) ** 2, "price"),
        Inequality(
            Integer(4), "<= and attained", b * sigma / (2 * K), (sigma >= 8 * K / b,), "noise of the lemma"
        ).mutant("sigma_2 >= 4 K/b", sign="<=", given=(sigma >= 4 * K / b,)),
        Inequality(
            8 * K / b, "<", sigma_dp / sqrt(2), (sigma_dp > 8 * sqrt(2) * K / b,), "noise of the theorem"
        ).mutant("8 K/b in the theorem", given=(sigma_dp > 8 * K / b,)),
        Identity(b * (sigma_dp / sqrt(2)) / (2 * K), b * sigma_dp / (2 * sqrt(2) * K), "argument of alpha*"),
        Identity(2 * _price(b * (sigma_dp / sqrt(2)) / (2 * K)), 32 * _unit, "twice, half the variance"),
    ),
    Step(
        "altschuler_talwar/theorem_3_1/best_window",
        "Step 4: at w steps the minimum over windows is at most twice 1/n^2 + D/(eta K n)",
        at("Step 4"),
        Asymptotic(1 + w + x**2 / w, 1 + x, Integer(2), name="in units of 1/n^2")
        .mutant("D for 1/n^2 + D", right=x, constant=None, path={w: _one, x: 1 / growth})
        .mutant("window 1", left=2 + x**2, constant=None, path={w: growth, x: growth}),
        Asymptotic(1 + x, w, Integer(2), given=(w < T,), name="last display"),
        assumptions=_ceiling,
    ),
    Step(
        "altschuler_talwar/theorem_3_1/large_batches",
        "Footnote 8: for b >= n/5 one Gaussian step costs 2 alpha K^2/(b^2 sigma_2^2), tight up to a constant",
        at("Footnote 8"),
        Identity(
            alpha * (2 * eta * K / b) ** 2 / (2 * eta**2 * sigma**2), 2 * alpha * K**2 / (b**2 * sigma**2), "price"
        ),
        Asymptotic(1 / b**2, 1 / n**2, Integer(25), name="against 1/n^2"),
        Inequality(4 / b**2, "<= and attained", 100 / n**2, name="at half the variance"),
        assumptions=(5 * b >= n, b <= n),
    ),
)
