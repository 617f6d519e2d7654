"""The utility bound for non-convex losses at the step size 1/sqrt(K), and its dimensions in A.8.

By substitution into (3) and (35). A.8: B = 1 but in the clipping bias; chi = ln(1/delta); theta stands for ln K.
"""

from sympy import Expr, Integer, Rational, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Ours, Step, Value
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.theorem_3 import clipping_bias, first_term, noise_term
from lastiterate.symbolic.letters import r, theta, u
from lastiterate.symbolic.notation import L, T, b, chi, dim, ell, epsilon, eta, n, nu, sigma, sigma_A, sigma_sgd, stab

_step = ell ** Rational(3, 2) / (dim**2 * sqrt(T))
_variance = T * sqrt(chi) / (ell ** Rational(5, 2) * theta * n * epsilon * L)


def _at(term: Expr) -> Expr:
    return term.subs({eta: _step, nu: sqrt(_variance)})


_noise = eta * ell ** Rational(3, 2) * theta * L * nu**2 / T
_projection = L * eta * sqrt(ell) * dim**2 * sigma_A**2
_bias = sigma / sqrt(b) + stab


def _range(size: int) -> Expr:
    """1000 B^2 K / n^2."""
    return Integer(1000 * 1024**2 * 40) / Integer(size) ** 2


CLAIMS = (
    Claim(
        "d2p2/corollary_2",
        "eta = 1/sqrt(K) in (3): 1/sqrt(K), ln K/K^1.5 for fixed nu, 1/sqrt(K), and sigma + gamma",
        at("Corollary 2"),
        Identity((first_term * T * eta).subs(eta, 1 / sqrt(T)), r / (sigma_A**2 * sqrt(ell)), "start, times eta K"),
        Identity(1 / (T * (1 / sqrt(T))), 1 / sqrt(T), "so 1/sqrt(K)"),
        Identity(
            noise_term.subs(eta, 1 / sqrt(T)),
            L * ell ** Rational(3, 2) * nu**2 / (T * sqrt(T)),
            "noise over ln K + 1",
        ),
        Inequality(clipping_bias, "<=", 2 * (sigma_sgd + stab), name="bias"),
    ),
    Step(
        "d2p2/corollary_2/complexity",
        "B = sigma^2/xi^2 and K = 1/xi^2 make K B = sigma^2/xi^4 gradients",
        at("Section 3.2", "below Corollary 2"),
        Identity((sigma_sgd**2 / u**2) * (1 / u**2), sigma_sgd**2 / u**4, "u is xi"),
    ),
    Claim(
        "d2p2/appendix_a_8",
        "(36): the privacy and projection terms of (35) after the substitution",
        at("A.8", "(36)"),
        Identity(_at(_noise), sqrt(ell * chi) / (dim**2 * n * epsilon) / sqrt(T), "privacy"),
        Identity(_at(_projection), L * ell**2 * sigma_A**2 / sqrt(T), "projection, with L"),
        assumptions=(epsilon > 0, L > 0),
        misprint=Identity(_at(_projection), ell**2 * sigma_A**2 / sqrt(T), name="projection as printed, without L"),
        remark="""The projection error of (36) is printed as p^2 sigma_A^2. The term it comes from carries L, which the
        chosen C_2 cancels in the privacy error only. It should be L p^2 sigma_A^2.""",
    ),
    Step(
        "d2p2/appendix_a_8/clipping_bias",
        "(36): the clipping bias sigma/sqrt(B) + stab of (35) is at most (sigma + stab)/sqrt(B)",
        at("A.8", "(36)"),
        Inequality(_bias, "<=", (sigma + stab) / sqrt(b), name="any B").mutant("over B", right=(sigma + stab) / b),
        remark="""(36) divides the stability constant by sqrt(B), (35) and Theorem 3 do not. A larger batch does not
        shrink that part of the bias. What follows is at most sigma + stab.""",
    ),
    Ours(
        "d2p2/appendix_a_8/clipping_bias_rightly",
        "sigma/sqrt(B) + stab <= sigma + stab",
        at("A.8", "(36)"),
        Inequality(_bias, "<= and attained", sigma + stab, name="any B"),
        repairs="d2p2/appendix_a_8/clipping_bias",
    ),
    Ours(
        "d2p2/appendix_a_8/a_9_2",
        "A.9.2: B = 1024, K = 40: B^2 K / n^2 is 0.01165 and 0.00782, so C_1 = 314 allows epsilon 3.66 and 2.45",
        at("A.9.2"),
        Value(_range(60000), "11.65", "n = 60000, in 1/1000"),
        Value(_range(73257), "7.82", "n = 73257, in 1/1000"),
        Value(314 * _range(60000) / 1000, "3.66", "epsilon allowed"),
        Value(314 * _range(73257) / 1000, "2.45", "epsilon allowed"),
    ),
)
