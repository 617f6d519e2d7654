r"""Lemma 3.7, Propositions 3.8 and C.1 of Liang et al. 2026: utility without projection, and the trade-off.

$$\min_t E\|\nabla l(\theta_t)\| = O\Bigl(\frac{1}{\eta C T} + \frac{1}{\sqrt{\eta T}}
+ \min\Bigl\{\sigma_{SGD}, \frac{\sigma_{SGD}^2}{C}\Bigr\} + \sqrt{\frac{\eta L}{b}} \sigma_{SGD}
+ \frac{d L \eta}{C} \sigma_{DP}^2 + \sqrt{d L \eta}\, \sigma_{DP}\Bigr), \qquad \eta \le \frac{1}{9 L} \tag{14}$$
$$\sigma_{DP}^2 = O\Bigl(\frac{\alpha C^2 T}{\epsilon n b}\Bigr) \tag{3.8}, \qquad
\sigma_{DP}^2 = O\Bigl(\frac{\alpha C^2 T}{\epsilon n^2}\Bigr) \tag{C.1}$$

Lemma 3.7 is cited. (14) leaves out the initial gap r = l(theta_0) - l* and is false without r.
"""

from lastiterate.symbolic.liang.paper import *


def _start(gap: Expr) -> Expr:
    return gap / (eta * K * T) + sqrt(gap) / sqrt(eta * T)


_sampling = Min(sigma_sgd, sigma_sgd**2 / K) + sqrt(eta * L) * sigma_sgd / sqrt(b)
_fifth, _sixth = dim * L * eta / K * sigma_dp**2, sqrt(dim * L * eta) * sigma_dp
_rest = _sampling + _fifth + _sixth
_utility = Cited(
    LeastGradient(T) <= Constant(_start(r) + _rest),
    Source(cited("Koloskova, Hendrikx & Stich 2023"), "clipped SGD with noise"),
    (ClippedSteps(eta, b, K, sigma_dp, dim), Smooth(L), Variance(sigma_sgd**2), eta <= 1 / (9 * L)),
)
_least_noise = 2 * alpha * K**2 * T / (epsilon * n * b)
_letters = {r: "initial gap l(theta_0) - l*", theta: "constant of the O() of the noise"}


def _traded(below: Expr, name: str = "consequence") -> Consequence:
    """The bound (14) for a variance of at most theta alpha C^2 T/(epsilon ``below``)."""
    root = sqrt(alpha * dim * L * eta * T) * K / sqrt(epsilon * below)
    noise = theta * alpha * dim * L * eta * K * T / (epsilon * below) + theta * root
    return Consequence(
        LeastGradient(T) <= Constant(_start(r) + _sampling + noise),
        (_utility,),
        (*_utility.given, sigma_dp**2 <= theta * alpha * K**2 * T / (epsilon * below), theta >= 1),
        name=name,
    )


def _under_root(variance: Expr, below: Expr, name: str) -> Asymptotic:
    """(14) at this noise, compared with the printed bound (C under the root) for K = N^2, eta = 1/N."""
    path = dict.fromkeys((L, T, dim, alpha, b, n, epsilon, sigma_sgd), S.One) | {K: growth**2, eta: 1 / growth}
    noisy = _start(S.One) + _sampling + _fifth
    printed = noisy + sqrt(alpha * dim * L * eta * T * K) / sqrt(epsilon * below)
    left, right = (one.subs(sigma_dp, sqrt(variance)) for one in (noisy + _sixth, printed))
    return Asymptotic(left, right, path=path, name=name)


CLAIMS = (
    Claim(
        "liang/lemma_3_7",
        "(14), with the initial gap r = l(theta_0) - l*: the least mean length of the gradient up to a constant",
        at("Lemma 3.7", "(14)"),
        _utility,
        Units(_start(r) + _rest, g, WITH_GAP, "with the gap r and its root").mutant(
            "1 for the gap", left=_start(S.One) + _rest
        ),
        letters={r: "initial gap l(theta_0) - l*"},
    ),
    Ours(
        "liang/lemma_3_7/gap_needed",
        "Without the gap (14) fails far from the minimum: T clipped steps lower the gradient by L eta C T",
        at("Lemma 3.7", "(14)"),
        Inequality(
            r * (1 / (eta * K * T) + 1 / sqrt(eta * T)),
            "<",
            g - L * eta * K * T,
            (g > 2 * r + L * eta * K * T, eta * K * T >= 1, eta * T >= 1),
            "no r serves; g at the start, no noise",
        ),
    ),
    Claim(
        "liang/proposition_3_8",
        "(15), (80): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n b)), for every constant of that O()",
        at("Proposition 3.8", "(15)"),
        _traded(n * b),
        misprint=_under_root(alpha * K**2 * T / (epsilon * n * b), n * b, "C under the root"),
        letters=_letters,
    ),
    Ours(
        "liang/proposition_3_8/privacy",
        "sigma_DP^2 = 2 alpha C^2 T/(epsilon n b) makes (46) at most epsilon: the noise is needed from below",
        at("Proposition 3.8"),
        Identity(put(STEP * T, {sigma_dp: sqrt(_least_noise)}), epsilon, "(46) at that noise"),
        Inequality(epsilon, "<= and attained", STEP * T, (sigma_dp**2 <= _least_noise,), "no less noise does"),
        assumptions=(epsilon > 0,),
    ),
    Claim(
        "liang/proposition_c_1",
        "(81): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n^2)), for every constant of that O()",
        at("Proposition C.1", "(81)"),
        _traded(n**2),
        misprint=_under_root(alpha * K**2 * T / (epsilon * n**2), n, "C and n under the root"),
        letters=_letters,
    ),
    Claim(
        "liang/corollary_3_11",
        "(20), (21): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n b)), or n^2 for n b, C outside the roots",
        earlier("Corollary 3.11", "(20), (21)"),
        _traded(n * b, "(20)"),
        _traded(n**2, "(21)"),
        letters=_letters,
    ),
)
