"""The utility of DPSGD-GC and DPSGD-DC as printed, and what units say: 3.7, 3.8, C.1; 3.10, 3.12, C.3.

Substitution of the noise of privacy; the units engine adds the terms. r is the initial gap l(theta_0) - l*, which (14)
leaves out; x stands for min{T, T-bar}, a number; the paper's C is K, its mu is m.
"""

from lastiterate.symbolic import families
from lastiterate.symbolic.liang.appendix_c_1_sums import LEAST_MEAN
from lastiterate.symbolic.liang.paper import SMOOTH, at, earlier
from lastiterate.symbolic.prelude import *

_gap = {**SMOOTH, r: GRADIENT * LENGTH}
_noise = alpha * K**2 * T / (epsilon * n * b)
_strong = alpha * K**2 * T / (epsilon * n**2)
_positive = (L > 0, epsilon > 0)


def _start(gap: Expr) -> Expr:
    """The first two terms of (14)."""
    return gap / (eta * K * T) + sqrt(gap) / sqrt(eta * T)


_least = Min(sigma_sgd, sigma_sgd**2 / K) + sqrt(eta * L) * sigma_sgd / sqrt(b)
_fifth = dim * L * eta / K * sigma_dp**2
_sixth = sqrt(dim * L * eta) * sigma_dp
_rest = _least + _fifth + _sixth


def _at(term: Expr, variance: Expr) -> Expr:
    return put(term, {sigma_dp: sqrt(variance)})


_utility = Cited(
    LeastGradient(T) <= Constant(_start(r) + _rest),
    Source(cited("Koloskova, Hendrikx & Stich 2023"), "clipped SGD with noise"),
    (ClippedSteps(eta, b, K, sigma_dp, dim), Smooth(L), Variance(sigma_sgd**2), eta <= 1 / (9 * L)),
)


def _traded(count: Expr) -> Consequence:
    """The bound (14) at a variance of at most theta alpha C^2 T/(epsilon n b), or n^2 for n b; theta is that of O()."""
    root = sqrt(alpha * dim * L * eta * T) * K / sqrt(epsilon * count)
    noise = theta * alpha * dim * L * eta * K * T / (epsilon * count) + theta * root
    return Consequence(
        LeastGradient(T) <= Constant(_start(r) + _least + noise),
        (_utility,),
        (*_utility.given, sigma_dp**2 <= theta * alpha * K**2 * T / (epsilon * count), theta >= 1),
    )


def _under_root(variance: Expr, below: Expr, name: str) -> Asymptotic:
    """Comparison of (14) at this noise with the printed bound, C under the root: the path K = N^2, eta = 1/N."""
    first_four = _start(Integer(1)) + _least
    printed = first_four + _fifth + sqrt(alpha * dim * L * eta * T * K) / sqrt(epsilon * below)
    left, right = (one.subs(sigma_dp, sqrt(variance)) for one in (first_four + _fifth + _sixth, printed))
    return Asymptotic(left, right, path=_PATH, name=name)


_PATH = dict.fromkeys((L, T, dim, alpha, b, n, epsilon, sigma_sgd), Integer(1)) | {K: growth**2, eta: 1 / growth}
_letters = {r: "initial gap l(theta_0) - l*", theta: "constant of the O() of the noise"}

_printed = r * (1 / (eta * K * T) + 1 / sqrt(eta * T))
_far = (g > 2 * r + L * eta * K * T, eta * K * T >= 1, eta * T >= 1)

_count = {**SMOOTH, x: NUMBER}
_bias = Min(L ** Rational(3, 4) / m ** Rational(5, 4) * sigma_sgd, sqrt(sigma_sgd**3 / (m * K)))
_linear = dim * eta * sigma_dp**2 * sqrt(L) / K
_root = sqrt(dim * eta) * sigma_dp
_first = sqrt(L) * D**2 / (eta * K * T)
_rate = _first + D / sqrt(eta * T) + _bias + sqrt(eta) * sigma_sgd / sqrt(b) + _linear + _root
_noise_late = alpha * K**2 / (epsilon * n * b) * x
_strong_late = alpha * K**2 / (epsilon * n**2) * x
_late = (1 + eta * L) ** 2 * n * b * D**2 / (eta**2 * K**2)


def _hidden(size: Expr) -> Expr:
    """The noise of the earlier version over alpha/epsilon."""
    return (1 + eta * L) ** 2 * D**2 / eta**2 + K**2 / size


_earlier = alpha / epsilon * _hidden(n * b)

CLAIMS = (
    Claim(
        "liang/lemma_3_7",
        "(14), with the initial gap r = l(theta_0) - l*: the least mean length of the gradient up to a constant",
        at("Lemma 3.7", "(14)"),
        _utility,
        Units(_start(r) + _rest, g, _gap, "with the gap r and its root").mutant(
            "1 for the gap", left=_start(Integer(1)) + _rest
        ),
        remark="""(14) prints 1/(eta C T) + 1/sqrt(eta T), which are a length^-1 and no gradient: its constant stands
        for the initial gap F_0, too. With it the terms are F_0/(eta C T) + sqrt(F_0/(eta T)) and the
        constant depends on nothing.""",
        letters={r: "initial gap l(theta_0) - l*"},
    ),
    Ours(
        "liang/lemma_3_7/gap_needed",
        "Without the gap (14) fails far from the minimum: T clipped steps lower the gradient by L eta C T",
        at("Lemma 3.7", "(14)"),
        Inequality(_printed, "<", g - L * eta * K * T, _far, "no r serves; g at the start, no noise"),
    ),
    Claim(
        "liang/proposition_3_8",
        "(15), (80): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n b)), for every constant of that O()",
        at("Proposition 3.8", "(15)"),
        _traded(n * b),
        misprint=_under_root(_noise, n * b, "C under the root"),
        letters=_letters,
        remark="""In our copy of the later version the root of the sixth term of (15), (80), (81) and (83) reaches over
        C: no gradient, and no constant makes (14) as small at K = N^2, eta = 1/N. Putting in the noise gives C outside,
        as the earlier (20) and (21) have it, and C^2 in (84), the square. It rests on the cited liang/lemma_3_7, with
        the initial gap. The noise is that of (11), enough for RDP in one order only: liang/theorem_3_3.""",
    ),
    Claim(
        "liang/proposition_c_1",
        "(81): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n^2)), for every constant of that O()",
        at("Proposition C.1", "(81)"),
        _traded(n**2),
        misprint=_under_root(_strong, n, "C and n under the root"),
        letters=_letters,
        remark="""The sixth term of (81) has C and n under the root, as in (15). The conditions that (81) adds on b, the
        order and sigma_DP are those of the noise; the inequality holds without them. It rests on the cited
        liang/lemma_3_7.""",
    ),
    Claim(
        "liang/corollary_3_11",
        "(20), (21): (14) at sigma_DP^2 = O(alpha C^2 T/(epsilon n b)), or n^2 for n b, C outside the roots",
        earlier("Corollary 3.11", "(20), (21)"),
        replace(_traded(n * b), name="(20)"),
        replace(_traded(n**2), name="(21)"),
        letters=_letters,
    ),
    Ours(
        "liang/proposition_3_8/privacy",
        "sigma_DP^2 = 2 alpha C^2 T/(epsilon n b) makes (46) at most epsilon: the noise is needed from below",
        at("Proposition 3.8"),
        Identity(_at(2 * alpha * K**2 * T / (n * b * sigma_dp**2), 2 * _noise), epsilon, "(46), all noise"),
        Inequality(
            epsilon,
            "<= and attained",
            2 * alpha * K**2 * T / (n * b * sigma_dp**2),
            (sigma_dp**2 <= 2 * _noise,),
            "less",
        ),
        assumptions=_positive,
    ),
    Step(
        "liang/theorem_3_10",
        "(17): the least mean root of the gap, by cases that bound the mean of the least along a path",
        at("Theorem 3.10", "(17)"),
        LEAST_MEAN,
        statement=closed(
            LeastOver(Expectation(sqrt(Function("gap")(t))), Tuple(t, 0, T)) <= Constant(_rate),
            Smooth(L),
            families.StronglyConvex(Symbol("l"), m),
            Variance(sigma_sgd**2),
            Clipped(K),
            Diameter(D),
            InSet(Symbol("theta*"), Symbol("int X")),
            20 * eta * L <= 9,
        ),
        remark="""The proof of C.1 does not show (17), and nothing here shows it false. Its cases depend on the random
        theta_t and bound E min_t, not min_t E (liang/appendix_c_1/random_cases); for its third term they give the
        larger of the two, not the smaller (liang/appendix_c_1/minimum); and steps inside the cases fail
        (liang/appendix_c_1/clipping_bias, liang/appendix_c_1/mean_square, liang/appendix_c_1/square_2). The six terms
        of (17) are roots of a loss: liang/theorem_3_10/units.""",
        letters={Symbol("l"): "the population risk", Symbol("theta*"): "its minimiser"},
    ),
    Claim(
        "liang/theorem_3_10/units",
        "(17), (79): the six terms add, and are roots of a loss",
        at("Theorem 3.10", "(17)"),
        Units(_rate, G, SMOOTH, "six terms"),
    ),
    Claim(
        "liang/proposition_3_12",
        "(18), (94): sigma_DP^2 = alpha C^2 min{T, T-bar}/(epsilon n b) put into the last two terms of (17)",
        at("Proposition 3.12", "(18)"),
        Identity(_at(_linear, _noise_late), alpha * dim * eta * K * sqrt(L) / (epsilon * n * b) * x, "fifth term"),
        Identity(_at(_root, _noise_late), sqrt(alpha * dim * eta / (epsilon * n * b) * x) * K, "sixth, C outside"),
        Units(_at(_linear + _root, _noise_late), G, _count, "roots of a loss"),
        assumptions=_positive,
        misprint=Identity(
            _at(_root, _noise_late), sqrt(alpha * dim * eta / (epsilon * n * b) * x * K), "C under the root"
        ),
        remark="""In our copy of the later version the root of the sixth term of (18) and (94) reaches over C, and that
        of (95) and (96) over C/n, so the terms are no roots of a loss. Substituting the noise gives them outside.
        (97), the square, has C^2/n^2 and agrees with that reading. The noise is that of (12), which is not enough for
        RDP: liang/theorem_3_4 and liang/theorem_3_3.""",
    ),
    Claim(
        "liang/proposition_c_3",
        "(95), (97): the last two terms of (17) at n^2 for n b, and their squares at alpha/epsilon = 8 chi/epsilon^2",
        at("Proposition C.3", "(95), (97)"),
        Identity(_at(_linear, _strong_late), alpha * dim * eta * K * sqrt(L) / (epsilon * n**2) * x, "fifth of (95)"),
        Identity(_at(_root, _strong_late), sqrt(alpha * dim * eta / epsilon * x) * K / n, "sixth of (95)"),
        Identity(
            _at(_linear**2, _strong_late.subs(alpha, 8 * chi / epsilon)),
            64 * dim**2 * L * eta**2 * K**2 * chi**2 / (epsilon**4 * n**4) * x**2,
            "fifth of (97)",
        ),
        Identity(
            _at(_root**2, _strong_late.subs(alpha, 8 * chi / epsilon)),
            8 * dim * eta * chi * K**2 / (epsilon**2 * n**2) * x,
            "sixth of (97)",
        ),
        Identity(put(G**2, {G: _first}), L * D**4 / (eta**2 * K**2 * T**2), "first of (97)"),
        Inequality(Min(T, y) ** 2, "==", Min(T**2, y**2), name="the square of the minimum"),
        assumptions=_positive,
    ),
    Claim(
        "liang/proposition_3_12/earlier",
        "(22), (23): sigma_DP^2 = alpha/epsilon ((1 + eta L)^2 D^2/eta^2 + C^2/(n b)), or n^2, put into (19)",
        earlier("Corollary 3.12", "(22), (23)"),
        Identity(_at(_linear, _earlier), dim * alpha * eta * sqrt(L) / (epsilon * K) * _hidden(n * b), "fifth of (22)"),
        Identity(_at(_root, _earlier), sqrt(dim * alpha * eta / epsilon * _hidden(n * b)), "sixth of (22)"),
        Identity(
            _at(_linear, _earlier.subs(b, n)), dim * alpha * eta * sqrt(L) / (epsilon * K) * _hidden(n**2), "of (23)"
        ),
        Identity(_at(_root, _earlier.subs(b, n)), sqrt(dim * alpha * eta / epsilon * _hidden(n**2)), "sixth of (23)"),
        Units(_earlier, K**2, SMOOTH, "a variance of gradients"),
        Identity(_earlier, alpha * K**2 / (epsilon * n * b) * (1 + _late), "1 + T-bar times the rate"),
        Inequality(Min(T, _late), "<", 1 + _late, name="above the later noise, always"),
        assumptions=_positive,
    ),
    Ours(
        "liang/proposition_3_12/versions",
        "The noise of the later Proposition 3.12 vanishes with D; that of the earlier Corollary 3.12 does not",
        at("Proposition 3.12"),
        Unbounded(1 + y, Min(T, y), {y: 1 / growth, T: Integer(1)}, (y > 0,), "earlier over later, small domains"),
        Inequality(Min(T, 1 + y), "==", 1 + y, (1 + y <= T,), "min{T, 1 + T-bar} late").mutant("any T", given=()),
        letters={y: "T-bar; the noise in units of alpha C^2/(epsilon n b)"},
    ),
)
