r"""Appendix B.1 of Altschuler & Talwar 2022: full batches.

(B.1): for convex losses and $\eta \le 2/M$ noisy gradient descent is $(\alpha, \varepsilon)$-RDP with
$$\varepsilon = \frac{\alpha}{2\eta^2\sigma^2}
  \min\Big\{T s^2,\ \min_{w < T} w\Big(\frac{\tilde D}{w} + s\Big)^2\Big\},
  \quad s = \frac{2\eta L}{n},\ \tilde D = D + s,$$
which is least at the window $w = \tilde D/s$. Remark B.2: if a sample is removed, $L$ can replace $2L$.

(B.1) holds, and this window is optimal. Remark B.2 is refuted: removal changes the weight of all other
samples.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *

_s = sensitivity()
_cost = x * (D / x + s) ** 2  # of a real window x, D for D~, in units of alpha/(2 eta^2 sigma_DP^2)
_longer = _cost.subs(x, x + y)
_RUNS = ("linear", "quadratic", "clamped_linear", "clamped_quadratic")
_u, _v = Vector("u"), Vector("v")
_total = Function("G", nonnegative=True)  # length of the sum of t gradients
# Probability to be on one's side of the middle of means 2 K/(n + 1) apart.
_side = cumulative(K / ((n + 1) * sigma_dp))


def _removed(bound: Expr) -> Inequality:
    """The change of the mean gamma of n gradients when a gradient kappa is added, in one dimension."""
    moved, given = Abs((n * gamma + kappa) / (n + 1) - gamma), (Abs(gamma) <= K, Abs(kappa) <= K)
    return Inequality(moved, "<= and attained", bound, given, "means, on the line")


CLAIMS = (
    Claim(
        "altschuler_talwar/appendix_b_1/bound",
        "(B.1): T s^2 or w (D~/w + s)^2 over the windows, for convex losses and full batches",
        at("B.1", "(B.1)"),
        UpperBound("altschuler_talwar_b1", _RUNS, name="against solvable runs").mutant(
            "eta K/n", altered={K: K / 2}
        ),
        Derived("full_batch/composition", Gauss(T * _s**2 / sigma**2), "every step"),
        Derived("full_batch/convex", Gauss(w * ((D + _s) / w + _s) ** 2 / sigma**2), "a window"),
        statement=private(
            alpha / (2 * sigma**2) * Min(T * _s**2, LeastOver(w * ((D + _s) / w + _s) ** 2, Tuple(w, 1, T))),
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
        assumptions=(x > 0,),
    ),
    Claim(
        "altschuler_talwar/appendix_b_1/remark_b_2",
        "Remark B.2: where a sample is removed and not replaced, K may stand for 2 K",
        at("Remark B.2"),
        _removed(K / n).mutant("half", _removed(K / (2 * n))),
        IntervalInequality(Integer(4) / 9, "<=", S.One / 4, {}, "n = 2, gradients K, K and -K, squared"),
        refutation=RefutingRun(
            fails=words(
                "Removing a sample changes the weight of all others, so that means of {} and of {} gradients of length "
                "{} differ by up to {}, not {}.",
                *(n, n + 1, K, 2 * K / (n + 1), K / n),
            ),
            at={n: 10, K: 5, sigma_dp: 1, eta: 1, T: 1, D: 1000, alpha: 2},
            run="one full-batch step on an interval, seen by its side of a point; n linear losses of slope K, and one "
            "more, -K",
            quantity=LAST_ITERATES,
            claimed=alpha * K**2 / (2 * n**2 * sigma_dp**2),
            true=two_coins(_side, 1 - _side),
            says=condition(
                "Removal", "under removal of a sample the bounds of appendix B hold with {0} for {1}"
            )(K, 2 * K),
        ),
    ),
    Ours(
        "altschuler_talwar/appendix_b_1/remark_b_2_repaired",
        "In R^d means of n and of n + 1 gradients differ by up to 2 K/(n + 1), sums over a fixed number by K over it",
        at("Remark B.2"),
        Induction(
            t,
            Le(_total(t), t * K),
            begin(_total),
            (Le(_total(t + 1), _total(t) + K),),
            name="length of the sum of t gradients",
        ),
        NormBound((_u + _v) / (n + 1) - _u / n, 2 * K / (n + 1), (Norm(_u) <= n * K, Norm(_v) <= K), "means"),
        _removed(2 * K / (n + 1)),
        NormBound(_v / n, K / n, (Norm(_v) <= K,), "sums divided by a fixed n"),
        Inequality(Abs(kappa) / n, "<= and attained", K / n, (Abs(kappa) <= K,), "the same, on the line"),
        repairs="altschuler_talwar/appendix_b_1/remark_b_2",
        letters={_u: "sum of n gradients", _v: "one gradient more"},
    ),
)
