"""Strongly convex losses: the rate of Theorem 5.1, by (5.3) with a window of kappa log(u)/2 steps, or one step.

r is the condition number kappa >= 1; y = log(u), u = alpha D^2/(eta^2 sigma_1^2 S r); costs in units of the price S.
"""

from sympy import Integer, Min, Rational, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Ours, Step
from lastiterate.symbolic.letters import r, u, y
from lastiterate.symbolic.notation import K, T, dim, growth, sigma_dp

_one = Integer(1)
"""What w_T >= 1 shows at order 2 in the run of the docstring: 1/10 times 1/2 against 20 standard deviations."""


_window = r * y / 2 + 1  # at least the window ceil(r y/2)

CLAIMS = (
    Claim(
        "altschuler_talwar/section_5_1/theorem_5_1",
        "Theorem 5.1: min{T, kappa (1 + log(..))} up to a constant",
        at("Theorem 5.1", "(5.1)"),
        Asymptotic(
            Min(32 * T, 32 * (_window + 1 + r / 2)), Min(T, r * (1 + y)), Integer(80), name="price 32, window r y/2"
        ).mutant(
            "no condition number",
            left=Min(T, _window),
            right=Min(T, 1 + y),
            constant=None,
            path={T: growth**2, r: growth, y: _one},
        ),
        assumptions=(r >= 1, T >= 1),
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
        "Below (5.3): epsilon <~ S kappa log(alpha D^2/(eta^2 sigma_1^2 S kappa))",
        at("Section 5.1"),
        Asymptotic(_one, r * log(u), path={r: _one, u: 1 + 1 / growth}, name="(5.3) is at least S").mutant(
            "u/kappa", right=r / u, path={r: _one, u: growth + 1}
        ),
        assumptions=(r >= 1, u > 1),
        remark="""(5.3) is bounded by a constant times S kappa log(u), u = alpha D^2/(eta^2 sigma_1^2 S kappa), with no
        condition on u. (5.3) is at least S, and log(u) falls to 0 and below as D shrinks. With 1 + log(max(u, 1)) it
        holds, which the notation for suppressed logarithms may have meant.""",
    ),
    Ours(
        "altschuler_talwar/section_5_1/rate_repaired",
        "(5.3) is at most a constant times S kappa (1 + log(max(u, 1)))",
        at("Section 5.1"),
        Asymptotic(_window + 1 + r / 2, r * (1 + y), Rational(5, 2), name="window r y/2, y = log u >= 0").mutant(
            "without 1", right=r * y, constant=None, path={r: _one, y: 1 / growth}
        ),
        Asymptotic(1 + r * u / 2, r, Rational(3, 2), given=(u <= 1,), name="u <= 1, one step"),
        assumptions=(r >= 1,),
        repairs="altschuler_talwar/section_5_1/rate",
    ),
)
