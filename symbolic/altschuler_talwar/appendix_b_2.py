r"""Appendix B.2 of Altschuler & Talwar 2022: small batches.

(B.2): for convex losses, batches of $b$ of $n$ samples and $\eta \le 2/M$ Noisy-SGD is
$(\alpha, \varepsilon)$-RDP with
$$\varepsilon = \min\Big\{T S,\ \min_{\tau < T - 1}\ (T - \tau) S
  + \frac{\alpha D^2}{2\eta^2\sigma_1^2 (T - \tau - 1)}\Big\},\quad
  S = S_\alpha\Big(\frac bn, \frac{b\sigma_2}{2L}\Big).$$
Remark B.1: (B.2) holds for all orders and all noise.

Both are refuted by a run of one step, and hold if $S$ is the cost of a step between two mixtures.
"""

from lastiterate.symbolic.altschuler_talwar.paper import *
from lastiterate.symbolic.altschuler_talwar.proof_3_1 import LEAST, claimed
from lastiterate.symbolic.altschuler_talwar.proof_3_1 import SEEN as MANY_STEPS

# One step on an interval of diameter 100 or more; ten losses, zero but for i*, of gradient -1 or 0; b = eta = sigma_DP
# = 1: the last iterate is 9/10 N(0, 1) + 1/10 N(1, 1) or N(0, 1), and is seen above 20.
_tenth, _order = Rational(1, 10), Integer(20)
_claimed = SampledDown(_tenth, Rational(1, 2), _order)
_seen = event(_order, tail(Integer(19)) / 10, tail(Integer(20)))
_law = SampledUp(_tenth, S.One, _order)  # without projection
# In the refuting runs a step is N(0, 1), or with probability b/n N(K/(b sigma_DP), 1); they are seen above alpha.
COST, MOST = SampledDown(b / n, b * sigma_dp / (2 * K), alpha), log(n / (n - b))
"""The cost S of a step, and a bound on S at every order."""

_window = u * y + v / y  # a real window y, u = S and v = alpha D^2/(2 eta^2 sigma_1^2)
_longer = _window.subs(y, y + z)


def _one_step(left: Expr, name: str) -> IntervalInequality:
    return IntervalInequality(left, "<=", _claimed, {}, name)


def _window_range(last: Expr) -> Inequality:
    return Inequality(Min(y, last), "<=", T - 1, name="the window is one of 0..T-1")


def _falls(one: Expr, other: Expr, name: str) -> Inequality:
    return Inequality(alpha / (2 * one**2), "<=", alpha / (2 * other**2), (sigma <= sigma_dp,), name)


CLAIMS = (
    Claim(
        "altschuler_talwar/appendix_b_2/bound",
        "(B.2): T times the cost S of a step, or a window of them and the distance that is left",
        at("B.2", "(B.2)"),
        _one_step(_seen, "T = 1, order 20: 0.0807 claimed"),
        IntervalInequality(MANY_STEPS, "<=", claimed(LEAST), {}, "the second bound, T >= 176"),
        refutation=RefutingRun(
            fails=words(
                "The cost {} of a step has the law without the sample first and never exceeds {}; in the other order a "
                "last iterate above {} distinguishes the two runs.",
                *(COST, MOST, alpha),
            ),
            at={n: 10, b: 1, eta: 1, T: 1, K: 1, sigma_dp: 1, D: 100, alpha: 20},
            run="one step; the gradient of one sample is -K or 0, all others are 0",
            quantity=LAST_ITERATES,
            claimed=T * COST,
            true=event(alpha, tail(alpha - 1) * b / n, tail(alpha)),
            says=private(T * COST, Convex(L, K), Diameter(D), BatchesOf(b, n), eta * L <= 2),
        ),
    ),
    Ours(
        "altschuler_talwar/appendix_b_2/bound_repaired",
        "(B.2) with the cost of a step between two mixtures for S: T of them, or w of them and the distance",
        at("B.2", "(B.2)"),
        T_STEPS,
        CONVEX.mutant("with one shift more", bound=w * mixed_step(beta) + HALVES / (w + 1)),
        IntervalInequality(_seen, "<=", _law, {}, "the event"),
        IntervalInequality(Integer(7), "<", _seen, {}, "above 7"),
        statement=any_order(Min(T_STEPS.bound, CONVEX.bound), Convex(L, K), eta * L <= 2),
        repairs="altschuler_talwar/appendix_b_2/bound",
    ),
    Claim(
        "altschuler_talwar/appendix_b_2/remark_b_1",
        "Remark B.1: the bounds of appendix B hold for all orders and all noise",
        at("Remark B.1"),
        _one_step(_seen, "order 20, noise 1"),
        IntervalInequality(
            SampledUp(_tenth, Integer(4), Integer(200)), "<=", log(Rational(10, 9)), {}, "order 200, noise 4"
        ),
        refutation=RefutingRun(
            fails=words(
                "At large orders the cost {} stays below {}, whatever the noise, while the loss of one step grows like "
                "{}.",
                *(COST, MOST, alpha * K**2 / (2 * b**2 * sigma_dp**2)),
            ),
            at={n: 10, b: 1, eta: 1, T: 1, K: 1, sigma_dp: 4, D: 1000, alpha: 200},
            run="one step from the middle of an interval, seen above alpha; one sample has the gradient -K or 0, all "
            "others 0",
            quantity=LAST_ITERATES,
            claimed=T * COST,
            true=event(alpha, b / n * tail((alpha - 1) / sigma_dp), tail(alpha / sigma_dp)),
            says=condition("AllOrders", "(B.2) and (B.3) hold for all orders {0} and all noise {1}")(
                alpha, sigma_dp
            ),
        ),
    ),
    Ours(
        "altschuler_talwar/appendix_b_2/remark_b_1_repaired",
        "The larger direction grows with the order: above a third of alpha/(2 sigma^2) at order 200, noise 4",
        at("Remark B.1"),
        IntervalInequality(
            Rational(200, 96), "<", SampledUp(_tenth, Integer(4), Integer(200)), {}, "order 200"
        ),
        repairs="altschuler_talwar/appendix_b_2/remark_b_1",
    ),
    Step(
        "altschuler_talwar/appendix_b_2/first_part",
        "With tau = 0 the two auxiliary runs are the same, so that T S bounds T steps",
        at("B.2"),
        _one_step(_law, "T = 1, q = 1/10, gradients -1 and 0, order 20"),
    ),
    Ours(
        "altschuler_talwar/appendix_b_2/first_part_repaired",
        "T steps cost at most T times a step between two mixtures",
        at("B.2"),
        T_STEPS,
        statement=private(T_STEPS.bound, BatchesOf(b, n), b <= n, Clipped(K)),
        repairs="altschuler_talwar/appendix_b_2/first_part",
    ),
    Step(
        "altschuler_talwar/appendix_b_2/best_window",
        "Of real windows D/(eta sigma_1) sqrt(alpha/(2 S)) is best in (B.2); of whole ones its floor or its ceiling",
        at("B.2", "Numerical computation"),
        Inequality(
            2 * sqrt(u * v), "<= and attained", _window, (y > 0,), "at sqrt(v/u)", (Eq(y, sqrt(v / u)),)
        ),
        Inequality(
            _longer, "<=", _window, (y > 0, u * (y + z) ** 2 <= v), "a longer window up to it costs no more"
        ),
        Inequality(_window, "<=", _longer, (y > 0, v <= u * y**2), "a longer window from it on costs no less"),
        Identity(
            put(sqrt(v / u), {v: alpha * D**2 / (2 * eta**2 * sigma**2)}),
            D / (eta * sigma) * sqrt(alpha / (2 * u)),
            "as printed",
        ),
    ),
    Step(
        "altschuler_talwar/appendix_b_2/window_range",
        "The window is cut at T - 1",
        at("B.2", "Numerical computation"),
        _window_range(T - 1),
        misprint=_window_range(T),
    ),
    Step(
        "altschuler_talwar/appendix_b_2/monotone",
        "The bound decreases in sigma, which allows binary search",
        at("B.2", "Numerical computation"),
        _falls(sigma_dp, sigma, "a larger noise"),
        IntervalInequality(
            SampledDown(_tenth, Integer(2), Integer(3)),
            "<",
            SampledDown(_tenth, S.One, Integer(3)),
            {},
            "S at noise 2 and 1",
        ),
        misprint=_falls(sigma, sigma_dp, "increasing in sigma, as printed"),
    ),
)
