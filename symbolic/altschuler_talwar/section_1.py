r"""Section 1 of Altschuler & Talwar 2022: the main result in its informal form, and footnotes 3 and 4.

Theorem 1.3 (1.2): $\varepsilon \lesssim \frac{\alpha L^2}{n^2\sigma^2}\min\{T, \frac{Dn}{L\eta}\}$, and
this is tight.
Remark 1.4 (1.3): so Noisy-SGD is $(\varepsilon, \delta)$-DP with
$\varepsilon \lesssim \frac{L}{n\sigma}\sqrt{\min\{T, \frac{Dn}{L\eta}\}\log\frac1\delta}$.

(1.2) needs $Dn \ge L\eta$, the tightness needs bounded orders, and (1.3) needs
$\varepsilon \le 1 \le \log\frac1\delta$.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

# x = D n/(K eta); w is the T bar of Theorem 3.1, the least integer >= x; v = min{T, x} K^2/(n sigma_DP)^2.
_lemma = put(2 * alpha * q**2 / z**2, {q: b / n, z: b * sigma_dp / (2 * K)})
_rate = alpha * K**2 / (n**2 * sigma_dp**2)
_noise = b * sigma_dp / (n * K)
_u, _v = Vector("u"), Vector("v")


def _between(lipschitz: Expr, far: Expr, name: str) -> VectorInequality:
    """A Lipschitz map with fixed points u, v moves (1 - theta) u + theta v by at most sqrt(far) |u - v|."""
    family, middle = Operators("T", lipschitz), (1 - theta) * _u + theta * _v
    ends = tuple(replace(family.at(point), image=point) for point in (_u, _v))
    moved = family.at(middle)
    return VectorInequality(
        Norm(moved.image - middle) ** 2, "<=", far * Norm(_u - _v) ** 2, (*ends, moved), name=name
    )


def _gradients(bound: Expr) -> NormBound:
    return NormBound((_u - _v) / b, bound, (Norm(_u) <= K, Norm(_v) <= K), "the sample that differs")


CLAIMS = (
    Claim(
        "altschuler_talwar/section_1/known_rate",
        "(1.1): where Lemma 2.12 applies T steps of the sampled Gaussian cost 8 alpha K^2 T/(n^2 sigma_DP^2)",
        at("Section 1.2", "(1.1)"),
        Identity(T * _lemma, 8 * _rate * T, "Lemma 2.12 put in"),
    ),
    Claim(
        "altschuler_talwar/section_1/theorem_1_3",
        "(1.2): min{T, D n/(K eta)} for that of Theorem 3.1, up to a constant, where D n >= K eta",
        at("Theorem 1.3", "(1.2)"),
        Asymptotic(Min(T, w), Min(T, x), Integer(2), given=(x >= 1,), name="twice").mutant(
            "any D", constant=None, path={T: growth, w: S.One, x: 1 / growth}, given=()
        ),
        Asymptotic(Min(T, x), Min(T, w), S.One, name="conversely"),
        Unbounded(Min(T, w), Min(T, x), {T: growth, w: S.One, x: 1 / growth}, name="not on all domains"),
        assumptions=(x <= w, w <= x + 1),
    ),
    Claim(
        "altschuler_talwar/section_1/tight_at_bounded_orders",
        "The upper bound (1.2), at orders up to 1000, and the lower bound (4.1), at order 100, agree up to a constant",
        at("Theorem 1.3"),
        Asymptotic(
            alpha * Min(T, x),
            Min(T, 3 * x / 4) / 10**5,
            Integer(2 * 10**8),
            given=(alpha <= 1000,),
            name="both over K^2/(n sigma)^2",
        ).mutant("at any order", constant=None, path={alpha: growth, T: S.One, x: 2 * S.One}, given=()),
        Asymptotic(Min(T, 3 * x / 4) / 10**5, alpha * Min(T, x), S.One, name="conversely"),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_1/remark_1_4",
        "(1.3): the best order gives v + 2 sqrt(v chi), at most 3 sqrt(v chi) where v <= 1 <= chi",
        at("Remark 1.4", "(1.3)"),
        Inequality(
            2 * sqrt(v * chi),
            "<= and attained",
            (alpha - 1) * v + chi / (alpha - 1),
            (alpha > 1,),
            "Lemma 2.5 less v: no order is better than 1 + sqrt(chi/v)",
            (Eq(alpha, 1 + sqrt(chi / v)),),
        ),
        Asymptotic(v + 2 * sqrt(v * chi), sqrt(v * chi), Integer(3), given=(v <= 1, chi >= 1)).mutant(
            "any epsilon", constant=None, path={v: growth, chi: S.One}, given=()
        ),
    ),
    Claim(
        "altschuler_talwar/section_1/remark_1_4_range",
        "The range of delta, exp(-b sigma_DP/(n K)), does not change when the losses are rescaled",
        at("Remark 1.4"),
        Identity(put(_noise, {sigma_dp: u * sigma_dp, K: u * K}), _noise, "losses times u"),
        Units(_noise, S.One, name="a number"),
        misprint=Units(b * sigma_dp / n, S.One, name="as printed"),
    ),
    Claim(
        "altschuler_talwar/section_1/footnote_3",
        "Footnote 3: one noise in three conventions, by rescaling",
        at("Footnote 3"),
        Identity(
            put(eta * z**2, {z: sqrt(eta) * sigma_dp}), (eta * sigma_dp) ** 2, "variance eta times a square"
        ),
        Identity(put(z**2, {z: eta * sigma_dp}), (eta * sigma_dp) ** 2, "variance a square"),
    ),
    Claim(
        "altschuler_talwar/section_1/footnote_4",
        "Updates differ by at most 2 eta K/b, with probability b/n, so that it takes about D n/(K eta) to reach D",
        at("Footnote 4"),
        _gradients(2 * K / b),
        Identity(put(x * (b / n) * (2 * eta * K / b), {x: D * n / (2 * K * eta)}), D, "in the mean"),
        assumptions=(b >= 1,),
        misprint=_gradients(K / b),
    ),
    Claim(
        "altschuler_talwar/section_1/schedule_rate",
        "Step sizes t^-c, any c < 1: D n/(K eta_T) is D n/K T^c, and T^c is at most T/M from T = M^(1/(1 - c)) on",
        at("Section 1.2"),
        Identity(put(z / eta, {eta: T ** (-u)}), z * T**u, "D n/K over eta_T"),
        Identity(log(exp(v) * T**u), v + u * log(T), "M T^c, M = e^v"),
        Inequality(
            v + u * y, "<= and attained", y, (y * (1 - u) >= v,), "M T^c <= T, y = log T; or log T/2, for DP"
        ),
        assumptions=(u < 1,),
        letters={u: "c", z: "D n/K", v: "log M", y: "log T"},
    ),
    Claim(
        "altschuler_talwar/section_1/strongly_convex_threshold",
        "Strongly convex losses: the threshold is logarithmic in n, kappa times log((D n/(eta K))^2/(8 kappa))",
        at("Section 1.2", "Strongly convex losses"),
        Identity(
            put(alpha * D**2 / (eta**2 * v * p * r), {p: 8 * alpha * (K / n) ** 2 / v}),
            (D * n / (eta * K)) ** 2 / (8 * r),
            "the logarithm of 5.1",
        ),
        letters={r: "condition number kappa", v: "variance of either share of the noise", p: "cost of a step"},
    ),
    Claim(
        "altschuler_talwar/section_1/fixed_points",
        "A contraction of R^d fixes every point between two fixed points, so that these form a convex set",
        at("Section 1.2", "Convexity"),
        _between(S.One, S.Zero, "c = 1").mutant("c = 101/100", _between(Rational(101, 100), S.Zero, "c")),
        _between(c, (c**2 - 1) * theta * (1 - theta), "any c"),
        assumptions=(theta <= 1,),
        letters={theta: "share of the way from one fixed point to the other"},
    ),
)
