"""The rate of Corollary 1 and Table 1, and the noise that Theorem 1 asks for.

Statement    With eta = 1/sqrt(K) Theorem 2 gives O(1/sqrt(K) + ln K / K^1.5).
Assumptions  nu does not depend on K; Theorem 1 asks for nu^2 proportional to K^2 at a fixed epsilon.
Derivation   The noise term is eta ln K nu^2 / K: ln K / K^1.5 for fixed nu, sqrt(K) ln K for nu^2 = K^2.
Source       D2P2-SGD, Corollary 1 and Table 1.
"""

from sympy import Expr, Integer, log, sqrt

from lastiterate.symbolic.claim import Asymptotic, Claim, Identity, IntervalInequality, Ours
from lastiterate.symbolic.d2p2.paper import at
from lastiterate.symbolic.notation import T, growth, nu

_step = 1 / sqrt(T)


def _noise(variance: Expr) -> Expr:
    return _step * log(T) * variance / T


_rate = 1 / sqrt(T) + log(T) / (T * sqrt(T))
_many = {T: (1000, 2000)}

CLAIMS = (
    Claim(
        "d2p2/corollary_1",
        "eta = 1/sqrt(K): the three terms of Theorem 2 are 1/sqrt(K), nu^2 ln K / K^1.5 and 1/sqrt(K)",
        at("Corollary 1"),
        Identity(1 / (_step * T), 1 / sqrt(T), "initialisation"),
        Identity(_noise(nu**2), nu**2 * log(T) / (T * sqrt(T)), "noise, nu fixed"),
    ),
    Claim(
        "d2p2/corollary_1/private_rate",
        "The rate of Table 1 covers the noise term with Theorem 1's nu^2 = K^2 (other factors 1), up to 100",
        at("Table 1", "D2P2-SGD (Convex)"),
        IntervalInequality(_noise(T**2), "<=", 100 * _rate, _many, "K from 1000 to 2000").mutant(
            "nu^2 = K^3", left=_noise(T**3)
        ),
        Asymptotic(_noise(T**2), _rate, path={T: growth}, name="K large"),
        remark="""The rate 1/sqrt(K) + ln K / K^1.5 is for noise that does not depend on K. Theorem 1 asks for nu^2 of
        the order K^2 at a fixed (epsilon, delta), and then the noise term is sqrt(K) ln K, which grows. With privacy
        the table's rate is not reached by any choice of constant, by balls at K = 1000 and by the limit.""",
    ),
    Ours(
        "d2p2/corollary_1/private_rate_rightly",
        "With nu^2 = K^2 the noise term is sqrt(K) ln K; over the rate without noise, 1/sqrt(K), it is K ln K",
        at("Table 1", "D2P2-SGD (Convex)"),
        Identity(_noise(T**2), sqrt(T) * log(T), "it grows"),
        Identity(_noise(T**2) * sqrt(T), T * log(T), "against 1/sqrt(K)"),
        IntervalInequality(Integer(100), "<", T * log(T), {T: (1000, 2000)}, "above every constant").mutant(
            "below 100", left=T * log(T), sign="<=", right=Integer(100)
        ),
        repairs="d2p2/corollary_1/private_rate",
    ),
)
