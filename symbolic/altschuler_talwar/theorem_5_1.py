"""Strongly convex losses: the rate of Theorem 5.1.

Statement    epsilon <~ min{T, kappa (1 + log(..))} in units of the price S of a step.
Assumptions  r is the condition number kappa >= 1; y = log(u), u = alpha D^2/(eta^2 sigma_1^2 S r).
Derivation   (5.3) with a window of kappa log(u)/2 steps; below u = 1, one step.
Source       Altschuler & Talwar 2022, Theorem 5.1 and section 5.1 below (5.3).
"""

from sympy import Integer, Min, Rational, exp, log, sqrt

from lastiterate.symbolic.altschuler_talwar.paper import at
from lastiterate.symbolic.claim import Asymptotic, Claim, Holds, Inequality, Relation, Role
from lastiterate.symbolic.mutants import wrong
from lastiterate.symbolic.notation import K, T, dim, growth, r, sigma_dp, u, x, y

_one = Integer(1)
"""What w_T >= 1 shows at order 2 in the run of the docstring: 1/10 times 1/2 against 20 standard deviations."""


_window = r * y / 2 + 1  # at least the window ceil(r y/2)

CLAIMS = (
    Claim(
        key="altschuler_talwar/section_5_1/theorem_5_1",
        title="Theorem 5.1: min{T, kappa (1 + log(..))} up to a constant",
        source=at(514, "Theorem 5.1", "(5.1)"),
        assumptions=(r >= 1, T >= 1),
        checks=(
            Asymptotic(
                Min(32 * T, 32 * (_window + 1 + r / 2)), Min(T, r * (1 + y)), Integer(80), name="price 32, window r y/2"
            ),
        ),
        mutants=(
            wrong(
                "no condition number",
                Asymptotic(Min(T, _window), Min(T, 1 + y), path={T: growth**2, r: growth, y: _one}),
            ),
        ),
        relation=Relation.UP_TO_CONSTANT,
    ),
    Claim(
        key="altschuler_talwar/section_5_1/effective_diameter",
        title="Without a domain the iterates move by O(T eta (K + sigma_DP)) with high probability",
        source=at(518, "Section 5.1"),
        checks=(
            Asymptotic(
                sqrt(T * dim) * sigma_dp,
                T * (K + sigma_dp),
                path={T: _one, dim: growth, K: _one, sigma_dp: _one},
                name="root mean square of the noise, over eta",
            ),
        ),
        mutants=(
            wrong(
                "T^2",
                Asymptotic(
                    sqrt(T * dim) * sigma_dp,
                    T**2 * (K + sigma_dp),
                    path={T: _one, dim: growth, K: _one, sigma_dp: _one},
                ),
            ),
        ),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "The iterates are said to stay within O(T eta (L + sigma)) of the start. In d dimensions one step of "
            "noise has length near eta sigma sqrt(d), which no constant covers. With sigma sqrt(d) for sigma it "
            "holds, and the logarithm gains one of the dimension."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_5_1/effective_diameter_repaired",
        title="With sigma_DP sqrt(d) it holds in the mean square",
        source=at(518, "Section 5.1"),
        assumptions=(T >= 1,),
        checks=(
            Asymptotic(T * K + sqrt(T * dim) * sigma_dp, T * (K + sqrt(dim) * sigma_dp), _one, name="drift and noise"),
        ),
        mutants=(
            wrong(
                "for T steps of noise, once",
                Asymptotic(
                    T * K + sqrt(T * dim) * sigma_dp,
                    K + sqrt(dim) * sigma_dp,
                    path={T: growth, dim: _one, K: _one, sigma_dp: _one},
                ),
            ),
        ),
        role=Role.OURS,
        relation=Relation.UP_TO_CONSTANT,
        repairs="altschuler_talwar/section_5_1/effective_diameter",
    ),
    Claim(
        key="altschuler_talwar/section_5_1/contraction_bound",
        title="Below (5.3): (kappa - 1)/(kappa + 1) <= 1 - 1/kappa <= exp(-1/kappa)",
        source=at(561, "Section 5.1"),
        checks=(
            Inequality((r - 1) / (r + 1), Relation.AT_MOST, 1 - 1 / r, (r >= 1,), "first"),
            Holds(1 - x, Relation.AT_MOST, exp(-x), {x: (0, 1)}, "second, x = 1/kappa"),
        ),
        mutants=(
            wrong("1 - 2/kappa", Inequality((r - 1) / (r + 1), Relation.AT_MOST, 1 - 2 / r, (r >= 1,))),
            wrong("exp(-2/kappa)", Holds(1 - x, Relation.AT_MOST, exp(-2 * x), {x: (0, 1)})),
        ),
        role=Role.STEP,
        relation=Relation.AT_MOST,
    ),
    Claim(
        key="altschuler_talwar/section_5_1/rate",
        title="Below (5.3): epsilon <~ S kappa log(alpha D^2/(eta^2 sigma_1^2 S kappa))",
        source=at(559, "Section 5.1"),
        assumptions=(r >= 1, u > 1),
        checks=(Asymptotic(_one, r * log(u), path={r: _one, u: 1 + 1 / growth}, name="(5.3) is at least S"),),
        mutants=(wrong("u/kappa", Asymptotic(_one, r / u, path={r: _one, u: growth + 1})),),
        role=Role.STEP,
        relation=Relation.UP_TO_CONSTANT,
        remark=(
            "(5.3) is bounded by a constant times S kappa log(u), u = alpha D^2/(eta^2 sigma_1^2 S kappa), with no "
            "condition on u. (5.3) is at least S, and log(u) falls to 0 and below as D shrinks. With 1 + log(max(u, "
            "1)) it holds, which the notation for suppressed logarithms may have meant."
        ),
    ),
    Claim(
        key="altschuler_talwar/section_5_1/rate_repaired",
        title="(5.3) is at most a constant times S kappa (1 + log(max(u, 1)))",
        source=at(559, "Section 5.1"),
        assumptions=(r >= 1,),
        checks=(
            Asymptotic(_window + 1 + r / 2, r * (1 + y), Rational(5, 2), name="window r y/2, y = log u >= 0"),
            Asymptotic(1 + r * u / 2, r, Rational(3, 2), given=(u <= 1,), name="u <= 1, one step"),
        ),
        mutants=(wrong("without 1", Asymptotic(_window + 1 + r / 2, r * y, path={r: _one, y: 1 / growth})),),
        role=Role.OURS,
        relation=Relation.UP_TO_CONSTANT,
        repairs="altschuler_talwar/section_5_1/rate",
    ),
)
