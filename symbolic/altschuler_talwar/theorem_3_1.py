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

from sympy import Expr, Integer, Min, Rational, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, Relation, Role
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import D, K, T, alpha, b, eta, growth, n, sigma, sigma_dp, w, x

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
        key="altschuler_talwar/theorem_3_1",
        title="Theorem 3.1: min{T, ceil(D n/(K eta))} up to a constant",
        source=at(325, "Theorem 3.1"),
        assumptions=_ceiling,
        checks=(
            Asymptotic(_loss(32), Min(T, w), Integer(33), name="b < n/5"),
            Asymptotic(_loss(100), Min(T, w), Integer(101), name="b >= n/5"),
            Identity(w * (D / w) ** 2 * alpha / (2 * eta**2 * sigma_dp**2 / 2), (D * n / (K * eta)) ** 2 / w * _unit),
        ),
        mutants=(
            wrong("no ceiling", Asymptotic(_loss(32), Min(T, x), path={T: growth, w: _one, x: 1 / growth})),
            wrong("root of x", Asymptotic(_loss(32), Min(T, sqrt(x)), path={T: growth**4, w: growth**2, x: growth**2})),
        ),
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/theorem_3_1/price",
        title="Below (3.7): Lemma 2.12 gives 8 alpha (K/(n sigma_2))^2 where sigma_2 >= 8 K/b",
        source=at(452, "Step 4"),
        checks=(
            Identity(_price(b * sigma / (2 * K)), 8 * alpha * (K / (n * sigma)) ** 2, "price"),
            Inequality(Integer(4), Relation.TIGHT, b * sigma / (2 * K), (sigma >= 8 * K / b,), "noise of the lemma"),
            Inequality(
                8 * K / b, Relation.BELOW, sigma_dp / sqrt(2), (sigma_dp > 8 * sqrt(2) * K / b,), "noise of the theorem"
            ),
            Identity(b * (sigma_dp / sqrt(2)) / (2 * K), b * sigma_dp / (2 * sqrt(2) * K), "argument of alpha*"),
            Identity(2 * _price(b * (sigma_dp / sqrt(2)) / (2 * K)), 32 * _unit, "twice, half the variance"),
        ),
        mutants=(
            wrong("K for 2 K", Identity(_price(b * sigma / K), 8 * alpha * (K / (n * sigma)) ** 2)),
            wrong(
                "sigma_2 >= 4 K/b", Inequality(Integer(4), Relation.AT_MOST, b * sigma / (2 * K), (sigma >= 4 * K / b,))
            ),
            wrong(
                "8 K/b in the theorem",
                Inequality(8 * K / b, Relation.BELOW, sigma_dp / sqrt(2), (sigma_dp > 8 * K / b,)),
            ),
        ),
        role=Role.STEP,
    ),
    Claim(
        key="altschuler_talwar/theorem_3_1/best_window",
        title="Step 4: at w steps the minimum over windows is at most twice 1/n^2 + D/(eta K n)",
        source=at(460, "Step 4"),
        assumptions=_ceiling,
        checks=(
            Asymptotic(1 + w + x**2 / w, 1 + x, Integer(2), name="in units of 1/n^2"),
            Asymptotic(1 + x, w, Integer(2), given=(w < T,), name="last display"),
        ),
        mutants=(
            wrong("D for 1/n^2 + D", Asymptotic(1 + w + x**2 / w, x, path={w: _one, x: 1 / growth})),
            wrong("window 1", Asymptotic(2 + x**2, 1 + x, path={w: growth, x: growth})),
        ),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/theorem_3_1/large_batches",
        title="Footnote 8: for b >= n/5 one Gaussian step costs 2 alpha K^2/(b^2 sigma_2^2), tight up to a constant",
        source=at(478, "Footnote 8"),
        assumptions=(5 * b >= n, b <= n),
        checks=(
            Identity(
                alpha * (2 * eta * K / b) ** 2 / (2 * eta**2 * sigma**2), 2 * alpha * K**2 / (b**2 * sigma**2), "price"
            ),
            Asymptotic(1 / b**2, 1 / n**2, Integer(25), name="against 1/n^2"),
            Inequality(4 / b**2, Relation.AT_MOST, 100 / n**2, name="at half the variance"),
        ),
        mutants=(
            wrong(
                "alpha K^2/(b^2 sigma^2)",
                Identity(alpha * (2 * eta * K / b) ** 2 / (2 * eta**2 * sigma**2), alpha * K**2 / (b**2 * sigma**2)),
            ),
            wrong("b for n", Inequality(1 / b**2, Relation.AT_MOST, Rational(24) / n**2)),
        ),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
    ),
)
