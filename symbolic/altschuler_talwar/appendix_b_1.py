"""Full batches: (B.1), its best window, and Remark B.2 on data sets of two sizes.

D stands for D~ in the window; costs in units of alpha/(2 eta^2 sigma_DP^2); x is the window length taken real, y an
increase of it. gamma is the mean gradient of n samples, kappa the gradient of one more.
"""

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.refutations import REMOVAL
from lastiterate.symbolic.prelude import *

_cost = x * (D / x + s) ** 2
_u, _v = Vector("u"), Vector("v")
_total = Function("G", nonnegative=True)  # length of the sum of t gradients
_longer = _cost.subs(x, x + y)
_RUNS = ("linear", "quadratic", "clamped_linear", "clamped_quadratic")


def _removed(bound: Expr) -> Inequality:
    """The move of the mean gradient by one more sample, in one dimension."""
    return Inequality(
        Abs((n * gamma + kappa) / (n + 1) - gamma),
        "<= and attained",
        bound,
        (Abs(gamma) <= K, Abs(kappa) <= K),
        "means, on the line",
    )


CLAIMS = (
    Claim(
        "altschuler_talwar/appendix_b_1/bound",
        "(B.1): T s^2 or w (D~/w + s)^2 over the windows, for convex losses and full batches",
        at("B.1", "(B.1)"),
        UpperBound("altschuler_talwar_b1", _RUNS, name="against solvable runs")
        .mutant("eta K/n", altered={K: K / 2})
        .mutant("2 n samples", altered={n: 2 * n}),
        Identity((D + w * s) - w * (D / w + s), Integer(0), "the shifts end at z_T = 0"),
        Derived("full_batch/composition", Gauss(T * sensitivity() ** 2 / sigma**2), "every step"),
        Derived("full_batch/convex", Gauss(w * ((D + sensitivity()) / w + sensitivity()) ** 2 / sigma**2), "a window"),
        statement=private(
            alpha
            / (2 * sigma**2)
            * Min(
                T * sensitivity() ** 2, LeastOver(w * ((D + sensitivity()) / w + sensitivity()) ** 2, Tuple(w, 1, T))
            ),
            Diameter(D),
            FullBatches(n),
            Convex(L, K),
            eta * L <= 2,
        ),
        assumptions=(alpha > 1, eta * L <= 2),
    ),
    Claim(
        "altschuler_talwar/appendix_b_1/best_window",
        "Of real windows w = D/s is best in (B.1), at 4 D s; of whole ones its floor or its ceiling",
        at("B.1", "Numerical computation"),
        Inequality(4 * D * s, "<= and attained", _cost, name="at w = D/s", attained=(Eq(x, D / s),)),
        Inequality(_longer, "<=", _cost, (s * (x + y) <= D,), "a longer window up to D/s costs no more"),
        Inequality(_cost, "<=", _longer, (s * x >= D,), "a longer window from D/s on costs no less"),
        Identity(D + x * s - x * (D / x + s), Integer(0), "the shifts end at z_T = 0"),
        assumptions=(x > 0,),
    ),
    Claim(
        "altschuler_talwar/appendix_b_1/remark_b_2",
        "Remark B.2: where a sample is removed and not replaced, K may stand for 2 K",
        at("Remark B.2"),
        _removed(K / n).mutant("half", _removed(K / (2 * n))),
        IntervalInequality(Integer(4) / 9, "<=", Integer(1) / 4, {}, "n = 2, gradients K, K and -K, squared"),
        refutation=REMOVAL,
        remark="""Under removal the bounds are said to hold with K for 2 K. The update divides by the number of
        samples, or by b drawn from them, so that a sample removed changes the weight of the others: means of n and n +
        1 gradients differ by up to 2 K/(n + 1), not K/n. One step at n = 10, sigma_DP = K/5 and order 2 shows 0.44 by
        the side of a point, on every wide domain, where (B.1) with K for 2 K has 0.25. K for 2 K is right when the sum
        is divided by a fixed number.""",
    ),
    Ours(
        "altschuler_talwar/appendix_b_1/remark_b_2_repaired",
        "In R^d means of n and of n + 1 gradients differ by up to 2 K/(n + 1), sums over a fixed number by K over it",
        at("Remark B.2"),
        NormBound(_u + _v, x + y, (Norm(_u) <= x, Norm(_v) <= y), "length of a sum of two"),
        Induction(
            t,
            Le(_total(t), t * K),
            begin(_total),
            (Le(_total(t + 1), _total(t) + K),),
            name="length of the sum of t gradients",
        ),
        NormBound(
            (_u + _v) / (n + 1) - _u / n, 2 * K / (n + 1), (Norm(_u) <= n * K, Norm(_v) <= K), "means, u the sum of n"
        ),
        _removed(2 * K / (n + 1)),
        NormBound(_v / n, K / n, (Norm(_v) <= K,), "sums divided by a fixed n: one gradient more"),
        Inequality(Abs(kappa) / n, "<= and attained", K / n, (Abs(kappa) <= K,), "the same, on the line"),
        repairs="altschuler_talwar/appendix_b_1/remark_b_2",
        letters={_u: "sum of gradients", _v: "one gradient more"},
    ),
)
