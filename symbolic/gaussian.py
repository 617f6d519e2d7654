"""Divergences of Gaussians on the line, in closed form.

Source: Chien & Li 2025, Definition 2.1 and (40)(c); Dong, Roth & Su 2022 for the trade-off of two Gaussians.
"""

from sympy import Expr, erfc, exp, log, sqrt

__all__ = ["cumulative", "delta_of_gdp", "density_exponent", "moment_exponent", "renyi", "tail"]


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
