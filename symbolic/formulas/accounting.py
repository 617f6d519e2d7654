"""Conversion from (alpha, rho)-RDP to (epsilon, delta)-DP; `divergences.delta_of_gdp` converts mu-GDP.

Source   Canonne, Kamath & Steinke 2020, Proposition 12; Asoodeh, Liao, Calmon, Kosut & Sankar 2021, Theorem 3.
"""

from sympy import Expr, exp, log


def quick_dp(order: Expr, epsilon: Expr, delta: Expr) -> Expr:
    """Epsilon of (epsilon, delta)-DP: rho + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1)."""
    return epsilon + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1)


def two_point_moment(p: Expr, order: Expr, epsilon: Expr, delta: Expr) -> Expr:
    """p^a q^(1-a) + (1-p)^a (1-q)^(1-a), q = (p - delta) e^-epsilon: the moment of the worst pair on two points.

    (a, rho)-RDP implies (epsilon, delta)-DP if this is at least e^((a-1) rho) for every p in (delta, 1].
    """
    q = (p - delta) * exp(-epsilon)
    return p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)


def recurring(inside: Expr, probability: Expr, again: Expr, base: Expr, count: Expr) -> Expr:
    """M_n for M_0 = ``base`` and M_(j+1) = (1 - p) ``inside`` + p ``again`` M_j; all are bounds on exp((a - 1) D_a)."""
    x = probability * again
    return (1 - probability) * inside * (1 - x**count) / (1 - x) + x**count * base
