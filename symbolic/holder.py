"""g(x) = x + L x^lambda, its slope, and its inverse h in closed form wherever it has one.

A solution of x + L x^lambda = z is a root of a polynomial of degree at most four in a root of x for
lambda = 1, 1/2, 1/3, 2/3, 1/4, 3/4. The cubics are solved by triple-angle formulas, the quartics by two
quadratics found from a cubic. For every other lambda use a numerical root.

Source: Chien & Li 2025, Lemmas 3.8 and 3.9, (103)-(104); the closed forms other than 1/2 are ours.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from sympy import Expr, Ge, Integer, Piecewise, Rational, acos, acosh, asinh, cos, cosh, false, sinh, sqrt, true

__all__ = ["INVERSES", "expansion", "g", "inverse", "slope"]


def g(x: Expr, L: Expr, lam: Expr) -> Expr:
    """x + L x^lambda, the most to which a distance x grows. A length; x >= 0."""
    return x + L * x**lam


def slope(x: Expr, L: Expr, lam: Expr) -> Expr:
    """The derivative of g at x > 0: 1 + L lambda x^(lambda - 1)."""
    return 1 + L * lam * x ** (lam - 1)


def expansion(z: Expr, L: Expr, lam: Expr, s: Expr) -> Expr:
    """g(z) + s: one update with sensitivity s; L here is eta times the Hoelder constant."""
    return g(z, L, lam) + s


def _smooth(z: Expr, L: Expr) -> Expr:
    return z / (1 + L)


def _half(z: Expr, L: Expr) -> Expr:
    return ((sqrt(L**2 + 4 * z) - L) / 2) ** 2


def _sinh_root(k: Expr, z: Expr) -> Expr:
    """The real root of x^3 + k x = z, k > 0, z >= 0."""
    return 2 * sqrt(k / 3) * sinh(asinh(3 * z / (2 * k) * sqrt(3 / k)) / 3)


def _third(z: Expr, L: Expr) -> Expr:
    return _sinh_root(L, z) ** 3


def _two_thirds(z: Expr, L: Expr) -> Expr:
    ratio = 27 * z / (2 * L**3) - 1
    large = Ge(ratio, 1)
    # Each branch is complex where the other one holds, so a known region is settled at once.
    if large == true:
        return _cosh_root(ratio, L) ** 3
    if large == false:
        return _cos_root(ratio, L) ** 3
    return Piecewise((_cosh_root(ratio, L) ** 3, large), (_cos_root(ratio, L) ** 3, True))


def _cosh_root(ratio: Expr, L: Expr) -> Expr:
    return (2 * cosh(acosh(ratio) / 3) - 1) * L / 3


def _cos_root(ratio: Expr, L: Expr) -> Expr:
    return (2 * cos(acos(ratio) / 3) - 1) * L / 3


def _quarter(z: Expr, L: Expr) -> Expr:
    square = _sinh_root(4 * z, L**2)  # of the sum of two roots of u^4 + L u - z
    a = sqrt(square)
    return ((sqrt(2 * L / a - square) - a) / 2) ** 4


def _three_quarters(z: Expr, L: Expr) -> Expr:
    # With u = 1/v, u^4 + L u^3 = z turns into v^4 - (L/z) v - 1/z = 0, solved as for lambda = 1/4.
    square = _sinh_root(4 / z, (L / z) ** 2)
    a = sqrt(square)
    return (2 / (a + sqrt(2 * L / (z * a) - square))) ** 4


INVERSES: Final[Mapping[Expr, Callable[[Expr, Expr], Expr]]] = MappingProxyType(
    {
        Integer(1): _smooth,
        Rational(1, 2): _half,
        Rational(1, 3): _third,
        Rational(2, 3): _two_thirds,
        Rational(1, 4): _quarter,
        Rational(3, 4): _three_quarters,
    }
)
"""lambda -> (z, L) -> h(z)."""


def inverse(z: Expr, L: Expr, lam: Expr) -> Expr:
    """h(z), the solution x >= 0 of x + L x^lambda = z, for L > 0 and z > 0 (z = 0 gives 0).

    Raises:
        KeyError: lambda is not one of `INVERSES`; solve numerically then.

    >>> inverse(Integer(6), Integer(1), Rational(1, 2))
    4
    """
    return INVERSES[lam](z, L)
