"""From the cost of a path to (alpha, epsilon)-RDP and to (epsilon, delta)-DP, and how guarantees are combined.

Source   Mironov 2017 (composition, Gaussian), Canonne, Kamath & Steinke 2020, Proposition 12, and Asoodeh, Liao,
         Calmon, Kosut & Sankar 2021, Theorem 3 (conversions); see `gaussian.delta_of_gdp` for that of mu-GDP.
"""

from sympy import Expr, binomial, exp, log


def release(distance: Expr, noise: Expr) -> Expr:
    """(a / sigma)^2, the cost (mu^2) of hiding a distance in one step."""
    return (distance / noise) ** 2


def gdp_rdp(cost: Expr, order: Expr) -> Expr:
    """Epsilon of (order, epsilon)-RDP of mu-GDP with mu^2 = cost, of either law from the other."""
    return order * cost / 2


def amplified_rdp(cost: Expr, order: Expr, count: Expr, step: Expr) -> Expr:
    """Epsilon of a Gaussian of mu^2 = cost composed with ``count`` steps of Renyi divergence ``step`` each."""
    return gdp_rdp(cost, order) + count * step


def quick_dp(order: Expr, epsilon: Expr, delta: Expr) -> Expr:
    """rho + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1), epsilon of (epsilon, delta)-DP."""
    return epsilon + log((order - 1) / order) - (log(delta) + log(order)) / (order - 1)


def two_point_moment(p: Expr, order: Expr, epsilon: Expr, delta: Expr) -> Expr:
    """p^a q^(1-a) + (1-p)^a (1-q)^(1-a), q = (p - delta) e^-epsilon: the moment of the worst pair on two points.

    (epsilon, delta)-DP follows from (a, rho)-RDP where this is at least e^((a-1) rho) for every p in (delta, 1].
    """
    q = (p - delta) * exp(-epsilon)
    return p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)


def event_mixture(inside: Expr, failure: Expr, outside: Expr, order: Expr) -> Expr:
    """log((1 - p) e^((a-1) G) + p e^((a-1) F)) / (a - 1): G holds outside an event of chance p, F always."""
    mean = (1 - failure) * exp((order - 1) * inside) + failure * exp((order - 1) * outside)
    return log(mean) / (order - 1)


def log_mean(costs: tuple[Expr, ...], order: Expr) -> Expr:
    """The cost of a mean over equally likely orders: log mean exp(kappa x) / kappa, kappa = a (a - 1)/2.

    By joint convexity of exp((a - 1) D_a), whichever law is the numerator. Source: Chien & Li 2025, (62).
    """
    kappa = order * (order - 1) / 2
    return log(sum((exp(kappa * cost) for cost in costs), start=costs[0] * 0) / len(costs)) / kappa


def binomial_tail(n: Expr, q: Expr, k: Expr) -> Expr:
    """P(X = k) / (1 - r), at least P(X >= k) for X ~ Binomial(n, q), r = P(X = k + 1) / P(X = k) < 1."""
    ratio = (n - k) / (k + 1) * q / (1 - q)
    return binomial(n, k) * q**k * (1 - q) ** (n - k) / (1 - ratio)
