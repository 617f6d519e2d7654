"""The informal main result, its (epsilon, delta) form, and footnotes 3 and 4.

x = D n/(K eta); w is the T bar of Theorem 3.1, the least whole number with x <= w; v is the factor
min{..} K^2/(n^2 sigma_DP^2); chi = log(1/delta).
"""

from sympy import Eq, Expr, Integer, Min, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, Inequality, NormBound, Unbounded, Units
from lastiterate.symbolic.letters import a, p, q, r, u, v, x, z
from lastiterate.symbolic.notation import D, K, T, alpha, b, c, chi, eta, growth, n, sigma_dp, w
from lastiterate.symbolic.unevaluated import carried_out, put
from lastiterate.symbolic.vectors import Norm, Vector, inner

_lemma = put(2 * alpha * q**2 / z**2, {q: b / n, z: b * sigma_dp / (2 * K)})
_step = carried_out(_lemma)
_rate = alpha * K**2 / (n**2 * sigma_dp**2)
_noise = b * sigma_dp / (n * K)
_one = Integer(1)
_u, _v = Vector("u"), Vector("v")
_near = (2 * Norm(_u) <= c * z, 2 * Norm(_v) <= c * z, inner(_u - _v, _u - _v) >= z**2)


def _gradients(bound: Expr) -> NormBound:
    """Two updates on the batches that hold the different sample, in units of eta."""
    return NormBound((_u - _v) / b, bound, (Norm(_u) <= K, Norm(_v) <= K), "the sample that differs")


CLAIMS = (
    Claim(
        "altschuler_talwar/section_1/known_rate",
        "(1.1): where Lemma 2.12 applies T steps of the sampled Gaussian cost 8 alpha K^2 T/(n^2 sigma_DP^2)",
        at("Section 1.2", "(1.1)"),
        Identity(T * _lemma, 8 * _rate * T, "Lemma 2.12 put in"),
        Asymptotic(T * _step, _rate * T, Integer(8), name="constant 8").mutant(
            "n for n^2",
            left=_step,
            right=_rate / n,
            constant=None,
            path=dict.fromkeys((alpha, b, K, sigma_dp), _one) | {n: growth},
        ),
    ),
    Claim(
        "altschuler_talwar/section_1/theorem_1_3",
        "(1.2): min{T, D n/(K eta)} for that of Theorem 3.1, up to a constant, where D n >= K eta",
        at("Theorem 1.3", "(1.2)"),
        Asymptotic(Min(T, w), Min(T, x), Integer(2), given=(x >= 1,), name="twice").mutant(
            "any D", constant=None, path={T: growth, w: _one, x: 1 / growth}, given=()
        ),
        Asymptotic(Min(T, x), Min(T, w), _one, name="conversely").mutant(
            "D^2 for D",
            left=Min(T, w),
            right=Min(T, sqrt(x)),
            constant=None,
            path={T: growth**4, w: growth**2, x: growth**2},
        ),
        Unbounded(Min(T, w), Min(T, x), {T: growth, w: _one, x: 1 / growth}, name="not on all domains"),
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
        ).mutant("at any order", constant=None, path={alpha: growth, T: _one, x: 2 * _one}, given=()),
        assumptions=(alpha > 1,),
    ),
    Claim(
        "altschuler_talwar/section_1/remark_1_4",
        "(1.3): the best order gives v + 2 sqrt(v chi), at most 3 sqrt(v chi) where v <= 1 <= chi",
        at("Remark 1.4", "(1.3)"),
        Identity((1 + sqrt(chi / v)) * v + chi / sqrt(chi / v), v + 2 * sqrt(v * chi), "Lemma 2.5 at 1 + sqrt(chi/v)"),
        Inequality(
            2 * sqrt(v * chi),
            "<= and attained",
            (alpha - 1) * v + chi / (alpha - 1),
            (alpha > 1,),
            "no order is better",
            (Eq(alpha, 1 + sqrt(chi / v)),),
        ),
        Asymptotic(v + 2 * sqrt(v * chi), sqrt(v * chi), Integer(3), given=(v <= 1, chi >= 1)).mutant(
            "any epsilon", constant=None, path={v: growth, chi: _one}, given=()
        ),
    ),
    Claim(
        "altschuler_talwar/section_1/remark_1_4_range",
        "The range of delta, exp(-b sigma_DP/(n K)), does not change when the losses are rescaled",
        at("Remark 1.4"),
        Identity(put(_noise, {sigma_dp: u * sigma_dp, K: u * K}), _noise, "losses times u"),
        Units(_noise, _one, name="a number"),
        misprint=Units(b * sigma_dp / n, _one, name="as printed"),
        remark="""delta may be as small as exp(-b sigma/n), it is said. Losses times u with eta/u give the same run,
        but b sigma/n is multiplied by u: it is a gradient, not a number. With the Lipschitz constant in the
        denominator, which other places take to be 1, it is a number.""",
    ),
    Claim(
        "altschuler_talwar/section_1/footnote_3",
        "Footnote 3: one noise in three conventions, by rescaling",
        at("Footnote 3"),
        Identity(put(eta * z**2, {z: sqrt(eta) * sigma_dp}), (eta * sigma_dp) ** 2, "variance eta times a square"),
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
        remark="""Footnote 4 has updates on adjacent data sets differ by at most eta K/b. Adjacent means that one
        sample is replaced, and opposite gradients of norm K differ by 2 K. The right bound is 2 eta K/b, which (3.5)
        and section 5.2 use.""",
    ),
    Claim(
        "altschuler_talwar/section_1/schedule_rate",
        "With step sizes t^-c the threshold D n/(K eta_T) grows as T^c, more slowly than T",
        at("Section 1.2"),
        Identity(put(z / eta, {eta: T ** (-u)}), z * T**u, "D n/K over eta_T"),
        Unbounded(T, T**u, {T: growth, u: _one / 2}, (u < 1,), "T over T^c at c = 1/2").mutant(
            "c = 1", path={T: growth, u: _one}, given=(u <= 1,)
        ),
        Unbounded(sqrt(T), sqrt(T**u), {T: growth, u: _one / 2}, (u < 1,), "the roots, for DP"),
    ),
    Claim(
        "altschuler_talwar/section_1/strongly_convex_threshold",
        "Strongly convex losses: the threshold is logarithmic in n, kappa times log((D n/(eta K))^2/(8 kappa))",
        at("Section 1.2", "Strongly convex losses"),
        Identity(
            put(alpha * D**2 / (eta**2 * v * p * r), {p: 8 * alpha * (K / n) ** 2 / v}),
            (D * n / (eta * K)) ** 2 / (8 * r),
            "the logarithm of 5.1 at the price p of a step; v is the variance of either share of the noise",
        ),
        letters={r: "condition number kappa", v: "variance of a share of the noise", p: "price of a step"},
    ),
    Claim(
        "altschuler_talwar/section_1/fixed_points",
        "Where the set of fixed points of a map is not convex, the map is no contraction",
        at("Section 1.2", "Convexity"),
        NormBound(
            (_u + _v) / 2,
            a * z,
            (*_near, c**2 - 1 <= 4 * a**2),
            "how far a c-Lipschitz map moves the middle of two fixed points; c = 1: not at all",
        ),
        letters={
            _u: "image of the middle less the first fixed point",
            _v: "image less the second",
            z: "their distance",
        },
    ),
)
