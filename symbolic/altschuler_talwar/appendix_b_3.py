r"""Appendix B.3 of Altschuler & Talwar 2022: strongly convex losses.

(B.3): with $c = \max(1 - \eta m, \eta M - 1) < 1$, Noisy-SGD is $(\alpha, \varepsilon)$-RDP with
$$\varepsilon = \min\Big\{T S,\ \min_{\tau < T - 1}\ (T - \tau) S
  + \frac{\alpha D^2}{2\eta^2\sigma_1^2}\,\frac{1 - c^2}{c^{-2(T - \tau - 1)} - 1}\Big\},$$
by the shifts of footnote 11.

(B.3) is refuted by a run of one step, and holds if $S$ is the cost of a step between two mixtures. Footnote
11 holds.
"""

from lastiterate.symbolic.altschuler_talwar.appendix_b_2 import COST, MOST
from lastiterate.symbolic.altschuler_talwar.paper import *
from lastiterate.symbolic.altschuler_talwar.section_5_1 import SEEN
from lastiterate.symbolic.windows import ANY_SHIFTS

# u is c^(-2w) > 1, w = T - tau - 1; epsilon stands for S, and r for alpha D^2/(2 eta^2 sigma_1^2).
_beta = c ** (tau + 2) * (1 - c**-2) / (1 - u)
_squares = c**-2 * (1 - u) / (1 - c**-2)  # c^-2 + ... + c^(-2w)
_cost = -epsilon * log(u) / (2 * log(c)) + r * (1 - c**2) / (u - 1)
_sum: Any = Function("S", nonnegative=True)
_shares = mixed_window("strongly convex, shares", HALVES * (1 - c**2) / (c ** (-2 * w) - 1), *CONTRACTS, c < 1)
_equal_losses = SampledDown(Rational(1, 10), Rational(1, 60), Integer(2))
_far = 2 / sigma_dp  # deviations between the minimisers -1 and 1


def _slope(factor: Expr) -> Expr:
    """Slope of the cost at the point u with u + 1/u = 2 - 2 r log(c) factor / S."""
    return put(Derivative(_cost, u), {r: -((u - 1) ** 2) * epsilon / (2 * u * factor * log(c))})


CLAIMS = (
    Claim(
        "altschuler_talwar/appendix_b_3/bound",
        "(B.3): T times the cost S of a step, or a window of them and the distance that is left",
        at("B.3", "(B.3)"),
        IntervalInequality(SEEN, "<=", _equal_losses, {}, "T = 1, ten quadratics of one curvature"),
        IntervalInequality(SEEN, "<=", log(Rational(10, 9)), {}, "S is at most log(1/(1 - q))"),
        refutation=RefutingRun(
            fails=words(
                "The cost {} of a step is at most {}; in the other order an iterate above 1, of probability {} against "
                "{}, shows a loss that grows like {}.",
                *(COST, MOST, b / n / 2, tail(_far), 2 / sigma_dp**2),
            ),
            at={n: 10, b: 1, eta: 1, T: 1, K: 3, L: 1, m: 1, D: 4, sigma_dp: Rational(1, 10), alpha: 2},
            run="one step on [-2, 2]; ten losses with curvature 1 and minimum at -1, that of the replaced sample at 1 "
            "or -1",
            quantity=LAST_ITERATES,
            claimed=T * COST,
            true=event(alpha, b / n / 2, tail(_far)),
            says=private(T * COST, StronglyConvex(m, L, K), Diameter(D), BatchesOf(b, n), Eq(eta, 2 / (L + m))),
        ),
    ),
    Ours(
        "altschuler_talwar/appendix_b_3/bound_repaired",
        "(B.3) with the cost of a step between two mixtures for S: T of them, or w of them and footnote 11's shifts",
        at("B.3", "(B.3)"),
        T_STEPS,
        _shares,
        statement=any_order(Min(T_STEPS.bound, _shares.bound), StronglyConvex(m, L, K), *CONTRACTS, c < 1),
        repairs="altschuler_talwar/appendix_b_3/bound",
    ),
    Claim(
        "altschuler_talwar/appendix_b_3/footnote_11",
        "The shifts of footnote 11 meet the constraint and cost (1 - c^2) D^2 / (c^(-2w) - 1)",
        at("B.3", "footnote 11"),
        sum_induction(
            "the sum of c^-2, ..., c^(-2 w) for w steps",
            Eq(_sum(t) * (1 - c**-2), c**-2 * (1 - c ** (-2 * t))),
            {_sum: c ** (-2 * (t + 1))},
        ),
        Identity(c**tau * _beta * D * c ** (-2 * tau) * _squares, D, "constraint"),
        Identity(
            _beta**2 * D**2 * c ** (-2 * tau) * _squares, (1 - c**2) * D**2 / (u - 1), "value, as in (B.3)"
        ),
        replace(
            ANY_SHIFTS, name="no shifts that meet the constraint cost less: any shifts (Cauchy and Schwarz)"
        ),
        assumptions=(c < 1, u > 1),
    ),
    Claim(
        "altschuler_talwar/appendix_b_3/window",
        "The window meets first-order optimality of (B.3), with 1 - c^2 in beta",
        at("B.3", "Numerical computation"),
        Identity(_slope(1 - c**2), S.Zero, "slope at the window"),
        assumptions=(c < 1, u > 1, epsilon > 0),
        misprint=Identity(_slope((1 - c) ** 2), S.Zero, "with (1 - c)^2, as printed"),
    ),
)
