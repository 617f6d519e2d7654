"""Divergences of Gaussians, and of one step with random batches or a random projection.

Every name says which law is the numerator, or the numerator comes first. Laws of one step lie at 0 and at a gap in
units of the noise.

Source   Mironov, Talwar & Zhang 2019, sections 3.1 to 3.3 (sampled Gaussian of whole orders); Balle, Barthe & Gaboardi
         2018, Theorem 2 (advanced joint convexity); Dong, Roth & Su 2022 (trade-off of two Gaussians); the projected
         steps are ours (claims ours/projection/*).
"""

from sympy import Dummy, Expr, Function, Integral, Sum, binomial, erfc, exp, log, oo, pi, sqrt


def density_exponent(point: Expr, mean: Expr, variance: Expr) -> Expr:
    """The exponent of a Gaussian density, without its normalising constant."""
    return -((point - mean) ** 2) / (2 * variance)


def moment_exponent(point: Expr, first: tuple[Expr, Expr], second: tuple[Expr, Expr], order: Expr) -> Expr:
    """The exponent of first^order second^(1 - order) for Gaussians given as (mean, variance)."""
    return order * density_exponent(point, *first) + (1 - order) * density_exponent(point, *second)


def renyi(first: tuple[Expr, Expr], second: tuple[Expr, Expr], order: Expr) -> Expr:
    """D_order(first || second), the numerator law first, for Gaussians given as (mean, variance). Exact.

    Finite where order * variance_2 + (1 - order) * variance_1 > 0, which is assumed.

    >>> from sympy import Integer
    >>> renyi((Integer(3), Integer(1)), (Integer(0), Integer(1)), Integer(2))
    9
    """
    (m1, v1), (m2, v2) = first, second
    mixed = order * v2 + (1 - order) * v1
    widths = log(v1 * v2 / mixed) / 2 - order * log(v1) / 2 - (1 - order) * log(v2) / 2
    return order * (m1 - m2) ** 2 / (2 * mixed) + widths / (order - 1)


def tail(x: Expr) -> Expr:
    """P(N(0, 1) > x)."""
    return erfc(x / sqrt(2)) / 2


def cumulative(x: Expr) -> Expr:
    """P(N(0, 1) <= x)."""
    return tail(-x)


def delta_of_gdp(epsilon: Expr, mu: Expr) -> Expr:
    """The least delta for which mu-GDP gives (epsilon, delta)-DP, either law as the numerator. Exact.

    Source: Dong, Roth & Su 2022, Corollary 2.13 (Balle & Wang 2018, Theorem 8).

    >>> from sympy import Integer
    >>> delta_of_gdp(Integer(1), Integer(1)).evalf(6)
    0.126937
    """
    return cumulative(mu / 2 - epsilon / mu) - exp(epsilon) * cumulative(-mu / 2 - epsilon / mu)


class SampledUp(Function):  # type: ignore[misc]
    """D_order(M || N(0, noise^2)) of (rate, noise, order), M = (1 - rate) N(0, noise^2) + rate N(1, noise^2).

    For rates in (0, 1), positive noise and orders above 1. It has no closed form for general orders;
    `lastiterate.numeric.enclosure.tape` knows it.
    """

    nargs = (3,)


class SampledDown(Function):  # type: ignore[misc]
    """D_order(N(0, noise^2) || M) of the same: the base is the numerator.

    Source: Altschuler & Talwar 2022, Definition 2.10; Chien & Li 2025, Definition 3.11.
    """

    nargs = (3,)


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
