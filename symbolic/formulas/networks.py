"""Derivatives of an activation and of a normalisation.

Letters   A normalisation is y = z / s, where z is the input (minus its mean in layer norm) with d entries, v = |z|^2 /
          d and s = sqrt(v + eps); n = y / sqrt(d), rho = |n|^2 = v / (v + eps), and c = n . u for a direction u of
          length 1 (of mean 0 in layer norm).
Source    ours, docs/proofs/network_constants.md.
"""

from sympy import Expr, Min, Rational, sqrt

Pair = tuple[Expr, Expr]
"""Coefficients of the direction u and of n."""


def tanh_slope(u: Expr) -> Expr:
    """tanh' at a point with tanh = u."""
    return 1 - u**2


def tanh_curvature(u: Expr) -> Expr:
    """tanh'' at a point with tanh = u."""
    return -2 * u * tanh_slope(u)


def largest_tanh_curvature() -> Expr:
    """4 / (3 sqrt 3), the largest |tanh''|, at u = 1 / sqrt 3."""
    return 4 / (3 * sqrt(3))


def deviation(t: Expr, c: Expr, s: Expr, d: Expr) -> Expr:
    """s along the line z + t u, since |z + t u|^2 = |z|^2 + 2 t sqrt(d) s c + t^2."""
    return sqrt(s**2 + 2 * t * c * s / sqrt(d) + t**2 / d)


def along(t: Expr, c: Expr, s: Expr, d: Expr) -> Pair:
    """y along the line z + t u, z = sqrt(d) s n."""
    return t / deviation(t, c, s, d), sqrt(d) * s / deviation(t, c, s, d)


def first(c: Expr, s: Expr) -> Pair:
    """y' along u: (u - c n) / s."""
    return 1 / s, -c / s


def second(c: Expr, s: Expr, d: Expr) -> Pair:
    """y'' along u: -(2 c u + (1 - 3 c^2) n) / (s^2 sqrt d)."""
    scale = -1 / (s**2 * sqrt(d))
    return 2 * c * scale, (1 - 3 * c**2) * scale


def third(c: Expr, s: Expr, d: Expr) -> Pair:
    """y''' along u: -3 ((1 - 3 c^2) u - c (3 - 5 c^2) n) / (s^3 d)."""
    scale = -3 / (s**3 * d)
    return (1 - 3 * c**2) * scale, -c * (3 - 5 * c**2) * scale


def squared(pair: Pair, c: Expr, rho: Expr) -> Expr:
    """The squared length of a vector with these coefficients."""
    return pair[0] ** 2 + 2 * pair[0] * pair[1] * c + pair[1] ** 2 * rho


def greatest_slope(v: Expr, eps: Expr) -> Expr:
    """1 / s, an upper bound on |y'| if the variance is at least v."""
    return 1 / sqrt(v + eps)


def greatest_bend() -> Expr:
    """The maximum of |y''| s^2 sqrt(d), attained if rho is at least 1/3."""
    return 2 / sqrt(3)


def worst_bend() -> Expr:
    """The maximum of |y''| eps sqrt(d), attained at rho = c^2 = 1/5."""
    return Rational(48, 25) / sqrt(5)


def curvature(v: Expr, eps: Expr, d: Expr) -> Expr:
    """An upper bound on |y''| if the variance is at least v."""
    return Min(greatest_bend() / (v + eps), worst_bend() / eps) / sqrt(d)


def twist(v: Expr, eps: Expr, d: Expr) -> Expr:
    """3 / (s^3 d) >= |y'''| if the variance is at least v, attained along every u orthogonal to n."""
    return 3 * greatest_slope(v, eps) ** 3 / d
