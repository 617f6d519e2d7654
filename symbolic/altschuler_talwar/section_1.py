"""The informal main result, its (epsilon, delta) form, and footnotes 3 and 4.

x = D n/(K eta); w is the T bar of Theorem 3.1, the least whole number with x <= w; v is the factor
min{..} K^2/(n^2 sigma_DP^2); chi = log(1/delta).
"""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.prelude import *

_lemma = put(2 * alpha * q**2 / z**2, {q: b / n, z: b * sigma_dp / (2 * K)})
_step = carried_out(_lemma)
_rate = alpha * K**2 / (n**2 * sigma_dp**2)
_noise = b * sigma_dp / (n * K)
_one = Integer(1)
_u, _v = Vector("u"), Vector("v")
_stretched = (c**2 - 1) * theta * (1 - theta)


def _between(lipschitz: Expr, far: Expr, name: str) -> VectorInequality:
    """A Lipschitz map moves the point at theta between two fixed points by their distance times sqrt(far) at most."""
    family, middle = Operators("T", lipschitz), (1 - theta) * _u + theta * _v
    ends = tuple(replace(family.at(point), image=point) for point in (_u, _v))
    moved = family.at(middle)
    return VectorInequality(Norm(moved.image - middle) ** 2, "<=", far * Norm(_u - _v) ** 2, (*ends, moved), name=name)


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
        Asymptotic(Min(T, 3 * x / 4) / 10**5, alpha * Min(T, x), _one, name="conversely"),
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
        "Step sizes t^-c, any c < 1: D n/(K eta_T) is D n/K T^c, and T^c is at most T/M from T = M^(1/(1 - c)) on",
        at("Section 1.2"),
        Identity(put(z / eta, {eta: T ** (-u)}), z * T**u, "D n/K over eta_T"),
        Identity(log(exp(v) * T**u), v + u * log(T), "M T^c, M = e^v"),
        Inequality(v + u * y, "<= and attained", y, (y * (1 - u) >= v,), "M T^c <= T, y = log T: their logarithms"),
        Inequality(
            v + u * y / 2, "<= and attained", y / 2, (y * (1 - u) >= 2 * v,), "the roots, for DP, T = M^(2/(1 - c))"
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
            "the logarithm of 5.1 at the price p of a step; v is the variance of either share of the noise",
        ),
        letters={r: "condition number kappa", v: "variance of a share of the noise", p: "price of a step"},
    ),
    Claim(
        "altschuler_talwar/section_1/fixed_points",
        "A map of R^d whose fixed points are no convex set is no contraction, which fixes every point between two",
        at("Section 1.2", "Convexity"),
        _between(Integer(1), Integer(0), "c = 1").mutant("c = 101/100", _between(Rational(101, 100), Integer(0), "c")),
        _between(c, _stretched, "any c").mutant("one percent less", _between(c, 99 * _stretched / 100, "less")),
        assumptions=(theta <= 1,),
        letters={theta: "share of the way from one fixed point to the other"},
    ),
)
