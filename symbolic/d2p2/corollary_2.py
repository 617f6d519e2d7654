"""The utility bound for non-convex losses at the step size 1/sqrt(K).

Statement    min_k E|grad f(x_k)| <~ 1/sqrt(K) + ln K/K^1.5 + 1/sqrt(K) + sigma + stab, and the gradients that takes.
Assumptions  as Theorem 3; noise nu fixed.
Derivation   Term by term from (3) at eta = 1/sqrt(K).
Source       D2P2-SGD, Corollary 2 and section 3.2 below it.
"""

from sympy import Rational, sqrt

from lastiterate.symbolic.claim import Claim, Identity, Inequality, Step
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.d2p2.theorem_3 import clipping_bias, first_term, noise_term
from lastiterate.symbolic.letters import r, u
from lastiterate.symbolic.notation import L, T, ell, eta, nu, sigma_A, sigma_sgd, stab

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
        Inequality(clipping_bias, "<=", 2 * (sigma_sgd + stab), name="bias").mutant("bias", right=sigma_sgd + stab),
    ),
    Step(
        "d2p2/corollary_2/complexity",
        "B = sigma^2/xi^2 and K = 1/xi^2 make K B = sigma^2/xi^4 gradients",
        at("Section 3.2", "below Corollary 2"),
        Identity((sigma_sgd**2 / u**2) * (1 / u**2), sigma_sgd**2 / u**4, "u is xi"),
    ),
)
