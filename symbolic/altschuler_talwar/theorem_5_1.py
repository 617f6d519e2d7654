"""Strongly convex losses: the rate of Theorem 5.1, by (5.3) with a window of kappa log(u)/2 steps, or one step.

r is the condition number kappa >= 1; y = log(u), u = alpha D^2/(eta^2 sigma_1^2 S r); costs in units of the price S.
"""

from sympy import Eq, Integer, Max, Min, ceiling, exp, log, oo, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.altschuler_talwar.theorem_3_1 import PRINTED, SMALL
from lastiterate.symbolic.claim import (
    Asymptotic,
    Claim,
    Inequality,
    IntervalInequality,
    Ours,
    RenyiBound,
    Step,
)
from lastiterate.symbolic.letters import r, y, z
from lastiterate.symbolic.notation import D, K, L, T, alpha, b, c, dim, eta, growth, m, n, sigma_dp, tau, w
from lastiterate.symbolic.statement import StronglyConvex, private

_one = Integer(1)
_unit = alpha * K**2 / (n**2 * sigma_dp**2)
_long = (c * (L + m) >= L - m, c**w * D * n <= K * eta)
_whole = ceiling(L / m)
_steps = _whole * Max(1, ceiling(log(D * n / (K * eta)) / log(3)))
_chosen = {w: _steps, tau: T - _steps, c: exp(-2 / _whole), y: 1 / _whole}
_window = r * y / 2 + 1  # at least the window ceil(r y/2)

CLAIMS = (
    Claim(
        "altschuler_talwar/section_5_1/theorem_5_1",
        "Theorem 5.1: RDP, 101 alpha K^2/(n sigma_DP)^2 min{T, w}, w = ceil(kappa) max(1, ceil(log_3(D n/(K eta))))",
        at("Theorem 5.1", "(5.1)"),
        RenyiBound("noisy_sgd/composition", 32 * _unit * T, SMALL, amplified=True, name="any T, b < n/5"),
        RenyiBound(
            "noisy_sgd/strongly convex",
            33 * _unit * w,
            (*SMALL, *_long),
            amplified=True,
            at=_chosen,
            name="w <= T, b < n/5",
        ),
        RenyiBound("noisy_sgd/composition", 100 * _unit * T, (5 * b >= n,), name="any T, b >= n/5"),
        RenyiBound(
            "noisy_sgd/strongly convex", 101 * _unit * w, (5 * b >= n, *_long), at=_chosen, name="w <= T, b >= n/5"
        ),
        IntervalInequality(
            1 - y, "<=", exp(-2 * y) * (1 + y), {y: (0, oo)}, "(kappa - 1)/(kappa + 1) <= exp(-2/kappa)"
        ),
        letters={w: "a window of at most T steps with c^w D n <= K eta", y: "1/ceil(kappa)"},
        assumptions=(
            alpha > 1,
            b <= n,
            m <= L,
            Eq(eta, 2 / (L + m)),
            sigma_dp > 8 * sqrt(2) * K / b,
        ),
        statement=private(
            101 * _unit * Min(T, _steps),
            *PRINTED,
            StronglyConvex(m, L, K),
            Eq(eta, 2 / (L + m)),
        ),
    ),
    Step(
        "altschuler_talwar/section_5_1/effective_diameter",
        "Without a domain the iterates move by O(T eta (K + sigma_DP)) with high probability",
        at("Section 5.1"),
        Asymptotic(
            sqrt(T * dim) * sigma_dp,
            T * (K + sigma_dp),
            path={T: _one, dim: growth, K: _one, sigma_dp: _one},
            name="root mean square of the noise, over eta",
        ).mutant("T^2", right=T**2 * (K + sigma_dp)),
        remark="""The iterates are said to stay within O(T eta (L + sigma)) of the start. In d dimensions one step of
        noise has length near eta sigma sqrt(d), which no constant covers. With sigma sqrt(d) for sigma it holds, and
        the logarithm gains one of the dimension.""",
    ),
    Ours(
        "altschuler_talwar/section_5_1/effective_diameter_repaired",
        "With sigma_DP sqrt(d) it holds in the mean square",
        at("Section 5.1"),
        Asymptotic(
            T * K + sqrt(T * dim) * sigma_dp, T * (K + sqrt(dim) * sigma_dp), _one, name="drift and noise"
        ).mutant(
            "for T steps of noise, once",
            right=K + sqrt(dim) * sigma_dp,
            constant=None,
            path={T: growth, dim: _one, K: _one, sigma_dp: _one},
        ),
        repairs="altschuler_talwar/section_5_1/effective_diameter",
    ),
    Step(
        "altschuler_talwar/section_5_1/rate",
        "Below (5.3): epsilon <~ S kappa log(alpha D^2/(eta^2 sigma_1^2 S kappa)), where the logarithm is 1 or more",
        at("Section 5.1"),
        Inequality((r - 1) / (r + 1), "<= and attained", 1 - 1 / r, name="c <= 1 - 1/kappa"),
        IntervalInequality(1 - z, "<=", exp(-z), {z: (0, 1)}, "1 - 1/kappa <= exp(-1/kappa), z = 1/kappa"),
        Asymptotic(_window + 1 + r / 2, r * y, Integer(4), given=(y >= 1,), name="window r y/2, y = log u").mutant(
            "any u", constant=None, path={r: _one, y: 1 / growth, z: _one}, given=()
        ),
        assumptions=(r >= 1, z <= 1),
    ),
)
