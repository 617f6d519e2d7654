"""Strongly convex losses: the rate of Theorem 5.1, by (5.3) with a window of kappa log(u)/2 steps, or one step.

r is the condition number kappa >= 1; y = log(u), u = alpha D^2/(eta^2 sigma_1^2 S r); costs in units of the price S.
"""

from sympy import Eq, Function, Integer, Min, exp, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Inequality, IntervalInequality, Ours, Step
from lastiterate.symbolic.letters import r, y, z
from lastiterate.symbolic.notation import C_2, D, K, L, T, alpha, b, dim, eta, growth, m, n, sigma_dp
from lastiterate.symbolic.statement import BatchesOf, Diameter, StronglyConvex, for_some, private

_one = Integer(1)
_long = L / m * (1 + log(1 + m / L * (D * n / (K * eta)) ** 2))  # kappa, and the logarithm of u at S of Lemma 2.12
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
        statement=for_some(
            (C_2,),
            private(
                C_2 * alpha * K**2 / (n**2 * sigma_dp**2) * Min(T, _long),
                Diameter(D),
                BatchesOf(b, n),
                StronglyConvex(m, L, K),
                Eq(eta, 2 / (L + m)),
                sigma_dp > 8 * sqrt(2) * K / b,
                alpha < Function("alpha^*")(b / n, b * sigma_dp / (2 * sqrt(2) * K)),
            ),
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
