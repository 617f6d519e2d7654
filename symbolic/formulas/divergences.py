"""Renyi divergences of one step with random batches or a random projection, as sums and integrals.

Every name says which law is the numerator; distances of means are in units of the noise.

Source   Mironov, Talwar & Zhang 2019, sections 3.1 to 3.3 (sampled Gaussian of whole orders); Balle, Barthe & Gaboardi
         2018, Theorem 2 (advanced joint convexity); the projected steps are ours (claims ours/projection/*).
"""

from sympy import Dummy, Expr, Integral, Sum, binomial, exp, log, oo, pi, sqrt

__all__ = [
    "down_integral",
    "projected_moment",
    "projected_order_limit",
    "projected_step",
    "replacement_bound",
    "up_sum",
]


def up_sum(q: Expr, gap: Expr, order: int) -> Expr:
    """D_order((1 - q) N(0, 1) + q N(gap, 1) || N(0, 1)) at a whole order: the mixture is the numerator."""
    j = Dummy("j", integer=True, nonnegative=True)
    term = binomial(order, j) * (1 - q) ** (order - j) * q**j * exp(j * (j - 1) * gap**2 / 2)
    return log(Sum(term, (j, 0, order)).doit()) / (order - 1)


def _ratio(x: Expr, q: Expr, gap: Expr) -> Expr:
    return 1 - q + q * exp(gap * x - gap**2 / 2)


def down_integral(q: Expr, gap: Expr, order: Expr) -> Expr:
    """D_order(N(0, 1) || (1 - q) N(0, 1) + q N(gap, 1)) by its integral: the base is the numerator."""
    x = Dummy("x", real=True)
    moment = Integral(exp(-(x**2) / 2) / sqrt(2 * pi) * _ratio(x, q, gap) ** (1 - order), (x, -oo, oo))
    return log(moment) / (order - 1)


def replacement_bound(q: Expr, gap: Expr, order: Expr) -> Expr:
    """At least D_order of one step without replacement in both directions, outcomes at most ``gap`` apart.

    log(1 + integral from gap/2 of phi (r^a - 1)(1 - r^(1-a))) / (a - 1), r the ratio of the mixture to its base.
    """
    x = Dummy("x", real=True)
    r = _ratio(x, q, gap)
    integrand = exp(-(x**2) / 2) / sqrt(2 * pi) * (r**order - 1) * (1 - r ** (1 - order))
    return log(1 + Integral(integrand, (x, gap / 2, oo))) / (order - 1)


def projected_moment(load: Expr, ratio: Expr, dimension: Expr) -> Expr:
    """E exp(load |A^T v|^2 / (2 p s^2)) = (1 - load R)^(-p/2), finite for load R < 1."""
    return (1 - load * ratio) ** (-dimension / 2)


def projected_step(order: Expr, ratio: Expr, dimension: Expr, rate: Expr) -> Expr:
    """D_order of one projected step, A known: the sample that differs is there with chance ``rate``, revealed."""
    return log(1 + rate * (projected_moment(order * (order - 1), ratio, dimension) - 1)) / (order - 1)


def projected_order_limit(ratio: Expr) -> Expr:
    """The order from which on a projected step is infinite: alpha (alpha - 1) R = 1."""
    return (1 + sqrt(1 + 4 / ratio)) / 2
