"""E.1, the naive bound of post-processing and one Gaussian step.

Statement    2 alpha (D + eta K/b)^2 / sigma_DP^2 bounds the divergence of the last iterate.
Assumptions  a bounded domain, no smoothness.
Derivation   Two iterates are at most 2 D apart before the last step; the noise of the step is eta sigma_DP.
Source       Liang et al., E.1.
Remark       The paper's C is K. Lengths are put over a noise that is a gradient: a units check shows the lost eta.
"""

from sympy import Expr, Integer, Rational, exp, log, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours, Simulated
from lastiterate.symbolic.gaussian import cumulative, tail
from lastiterate.symbolic.liang.paper import at
from lastiterate.symbolic.notation import D, K, T, alpha, b, eta, gamma, kappa, sigma_dp, xi, zeta

_one = Integer(1)
_above, _below = cumulative(_one), tail(_one)
_sign = log(_above**2 / _below + _below**2 / _above)
_box = {D: (Rational(1, 100), Rational(1, 10)), eta: (Rational(1, 1000), Rational(1, 100))}
_naive = 2 * alpha * (D + eta * K / b) ** 2 / sigma_dp**2
_last = alpha * (2 * D + 2 * eta * K) ** 2 / (2 * eta**2 * sigma_dp**2)

# D_2 of a coin of weight w from a fair one is log(2 w^2 + 2 (1 - w)^2): the weight that the naive bound allows.
_seen = (1 + sqrt(exp(4 * (D + eta * K) ** 2 / sigma_dp**2) - 1)) / 2
_tiny = {T: 1, eta: Rational(1, 100), sigma_dp: 1, K: 1, D: Rational(1, 100)}


def _against(factor: Expr) -> IntervalInequality:
    """alpha = 2, b = K = sigma_DP = 1, one sample replaced, slopes K and -K: the sign of theta_1 alone."""
    return IntervalInequality(_sign, "<=", factor * 4 * (D + eta) ** 2, _box, "sign of theta_1")


CLAIMS = (
    Claim(
        "liang/appendix_e_1",
        "The naive bound 2 alpha (D + eta K/b)^2/sigma_DP^2",
        at("E.1", ""),
        _against(_one).mutant("half of it", _against(Rational(1, 2))),
        Simulated("positive_end", "<=", _seen, _tiny, name="the run itself, seen by its sign"),
        remark="""The naive bound puts a squared length over sigma_DP^2, the variance of the noise on the gradient; the
        noise on theta has eta^2 sigma_DP^2. One step with slopes +-K, b = n = 1, alpha = 2 shows 1.5 by the sign of
        theta_1 where the formula says at most 0.05 for D <= 0.1 and eta <= 0.01; a simulation of the run agrees. What
        is true is alpha (2 D + 2 eta K)^2/(2 eta^2 sigma_DP^2), with D the radius.""",
    ),
    Ours(
        "liang/appendix_e_1/last_step",
        "One last step from anywhere in the ball, gradients clipped to K, full batches or not: 2 D + 2 eta K apart",
        at("E.1", ""),
        Inequality(
            xi - zeta + eta * (gamma - kappa),
            "<= and attained",
            2 * D + 2 * eta * K,
            (xi <= D, -zeta <= D, gamma <= K, -kappa <= K),
            "distance before the noise",
        ),
        Identity(_last, _naive.subs(b, _one) / eta**2, "at b = 1 the naive formula over eta^2"),
        repairs="liang/appendix_e_1",
    ),
)
