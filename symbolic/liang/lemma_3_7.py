"""Lemma 3.7 and Propositions 3.8 and C.1: the utility of DPSGD-GC as printed, and what its units say.

Statement    (14): six terms bound min_t E|grad l|; (15), (80), (81) put the noise of privacy in.
Assumptions  L-smooth risk, eta <= 1/(9 L), sigma_DP^2 = alpha K^2 T/(epsilon n b), or n^2 for n b.
Derivation   Substitution; the units engine adds the terms.
Source       Liang et al., Lemma 3.7, Propositions 3.8 and C.1; earlier version (17), (20), (21).
Remark       r is the initial gap l(theta_0) - l*, which (14) leaves out.
"""

from sympy import Expr, Integer, Min, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Units
from lastiterate.symbolic.liang.paper import SMOOTH, at
from lastiterate.symbolic.notation import K, L, T, alpha, b, dim, epsilon, eta, g, n, r, sigma_dp, sigma_sgd

_gap = {**SMOOTH, r: "gradient length"}
_noise = alpha * K**2 * T / (epsilon * n * b)
_strong = alpha * K**2 * T / (epsilon * n**2)
_positive = (L > 0, epsilon > 0)


def _start(gap: Expr) -> Expr:
    """The first two terms of (14)."""
    return gap / (eta * K * T) + sqrt(gap) / sqrt(eta * T)


_rest = (
    Min(sigma_sgd, sigma_sgd**2 / K)
    + sqrt(eta * L) * sigma_sgd / sqrt(b)
    + dim * L * eta / K * sigma_dp**2
    + sqrt(dim * L * eta) * sigma_dp
)
_fifth = dim * L * eta / K * sigma_dp**2
_sixth = sqrt(dim * L * eta) * sigma_dp


def _at(term: Expr, variance: Expr) -> Expr:
    return term.subs(sigma_dp, sqrt(variance))


_printed = r * (1 / (eta * K * T) + 1 / sqrt(eta * T))
_far = (g > 2 * r + L * eta * K * T, eta * K * T >= 1, eta * T >= 1)

CLAIMS = (
    Claim(
        "liang/lemma_3_7",
        "(14): its six terms are gradients once the first two carry the initial gap l(theta_0) - l*",
        at("Lemma 3.7", "(14)"),
        Units(_start(r) + _rest, g, _gap, "with the gap r and its root")
        .mutant("gap for its root", left=r / (eta * K * T) + r / sqrt(eta * T) + _rest)
        .mutant("sigma_SGD / C", left=_start(r) + sigma_sgd / K + _rest),
        misprint=Units(_start(Integer(1)) + _rest, g, _gap, "as printed, 1 for the gap"),
        remark="""(14) prints 1/(eta C T) + 1/sqrt(eta T), which are a length^-1 and no gradient, beside terms that are
        gradients. Koloskova et al. have the initial gap F_0 = l(theta_0) - l* there: F_0/(eta C T) + sqrt(F_0/(eta
        T)). As printed no constant serves all problems, since F_0 may be as large as one likes.""",
    ),
    Ours(
        "liang/lemma_3_7/gap_needed",
        "Without the gap (14) fails far from the minimum: T clipped steps lower the gradient by L eta C T",
        at("Lemma 3.7", "(14)"),
        Inequality(_printed, "<", g - L * eta * K * T, _far, "no r serves; g at the start, no noise").mutant(
            "3 r", left=3 * _printed
        ),
    ),
    Claim(
        "liang/proposition_3_8",
        "(15), (80): sigma_DP^2 = alpha C^2 T/(epsilon n b) put into the last two terms of (14)",
        at("Proposition 3.8", "(15)"),
        Identity(_at(_fifth, _noise), alpha * dim * L * eta * K * T / (epsilon * n * b), "fifth term"),
        Identity(_at(_sixth, _noise), sqrt(alpha * dim * L * eta * T) * K / sqrt(epsilon * n * b), "sixth, C outside"),
        Units(_at(_fifth + _sixth, _noise), g, SMOOTH, "gradients").mutant(
            "under the root, by units", left=sqrt(alpha * dim * L * eta * T * K / (epsilon * n * b))
        ),
        assumptions=_positive,
        misprint=Identity(
            _at(_sixth, _noise), sqrt(alpha * dim * L * eta * T * K) / sqrt(epsilon * n * b), "C under the root"
        ),
        remark="""In our copy of the later version the root of the sixth term of (15), (80), (81) and (83) reaches over
        C, so the term is no gradient. Substituting the noise gives C outside the root, which is what the earlier
        version's (20) and (21) print. (84), its square, has C^2 and agrees with that reading.""",
    ),
    Claim(
        "liang/proposition_c_1",
        "(81): sigma_DP^2 = alpha C^2 T/(epsilon n^2) put into the last two terms of (14)",
        at("Proposition C.1", "(81)"),
        Identity(_at(_fifth, _strong), alpha * dim * L * eta * K * T / (epsilon * n**2), "fifth term"),
        Identity(_at(_sixth, _strong), sqrt(alpha * dim * L * eta * T) * K / (sqrt(epsilon) * n), "sixth, C outside"),
        Inequality(_strong, "<= and attained", _noise, (b <= n,), "less noise than (15) by b/n"),
        assumptions=_positive,
    ),
    Ours(
        "liang/proposition_3_8/privacy",
        "sigma_DP^2 = 2 alpha C^2 T/(epsilon n b) makes (46) at most epsilon: the noise is needed from below",
        at("Proposition 3.8"),
        Identity(2 * alpha * K**2 * T / (n * b * sigma_dp**2) * sigma_dp**2 / (2 * _noise), epsilon, "(46), all noise"),
        Inequality(
            epsilon,
            "<= and attained",
            2 * alpha * K**2 * T / (n * b * sigma_dp**2),
            (sigma_dp**2 <= 2 * _noise,),
            "less",
        ),
        assumptions=_positive,
    ),
)
