"""The best conversion of one Renyi order to (epsilon, delta), and the usual one inside it.

Statement    (alpha, rho)-RDP implies (eps, delta)-DP for the least eps with F(p) >= e^((alpha-1) rho) for all p in
             (delta, 1], F(p) = p^alpha q^(1-alpha) + (1-p)^alpha (1-q)^(1-alpha), q = (p - delta) e^-eps.
Assumptions  alpha > 1; delta < p; kappa = e^-eps.
Derivation   For an event S, laws on the two points "S or not" have no greater divergence. F is convex in p (`convex`),
             so a tangent bounds it. Its first term alone is least at p = alpha delta, and its value there is
             Proposition 12 of Canonne, Kamath & Steinke 2020 (`usual`).
Source       Asoodeh, Liao, Calmon, Kosut & Sankar 2021, theorem 3, by another proof.
"""

from sympy import Expr, diff, log

from lastiterate.symbolic.claim import Identity, Ours
from lastiterate.symbolic.letters import p, u, v
from lastiterate.symbolic.notation import alpha, s
from lastiterate.symbolic.papers import proof

# s is delta, u = e^-eps; the second term is the first with 1 - p and 1 - q, a line of the same slope in p.
_q = (p - s) * u
_first = p**alpha * _q ** (1 - alpha)


def _curved(right: Expr) -> Identity:
    return Identity(diff(_first, p, 2), right, "second derivative in p, a square")


def _turns(point: Expr) -> Identity:
    """The slope of log p^alpha (p - delta)^(1-alpha), which is what the first term depends on."""
    return Identity(alpha / p + (1 - alpha) / (p - s), (p - point) / (p * (p - s)), "where the first term turns")


_least = alpha * log(alpha * s) + (1 - alpha) * log(alpha * s - s)


def _usual(right: Expr) -> Identity:
    """Log of the first term at p = alpha delta, without eps (alpha - 1); v is alpha - 1."""
    return Identity(_least.subs(alpha, 1 + v), right.subs(alpha, 1 + v), "its least value")


CLAIMS = (
    Ours(
        "ours/conversion/convex",
        "What the divergence of two points has to exceed is convex in the chance of the event",
        proof("privacy_loss", "From one Renyi order to approximate differential privacy"),
        _curved(alpha * (alpha - 1) * p ** (alpha - 2) * _q ** (-alpha - 1) * (s * u) ** 2),
        letters={p: "chance of the event", s: "delta", u: "exp(-epsilon)"},
        assumptions=(alpha > 1, s < p),
    ),
    Ours(
        "ours/conversion/usual",
        "Without its second term the best conversion is Canonne, Kamath & Steinke's Proposition 12",
        proof("privacy_loss", "From one Renyi order to approximate differential privacy"),
        _turns(alpha * s),
        _usual(log(s) + alpha * log(alpha) - (alpha - 1) * log(alpha - 1)),
        letters={p: "chance of the event", s: "delta", v: "alpha - 1"},
        assumptions=(alpha > 1, s < p),
    ),
)
