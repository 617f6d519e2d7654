r"""Section 5 of Chien & Li 2025, open problems: a uniform improvement over composition, and clipped convex losses.

"(3) gives no strict improvement over $\frac{\alpha}{2 \sigma^2} T s^2$ before a burn-in." Conjecture: under further
assumptions on a convex $f$ the clipped update $x - \eta\, \mathrm{clip}_K(\nabla f(x))$ is nonexpansive.

The first statement holds; at T = 2, it needs c >= sqrt(2) - 1, because a window of one step costs s^2 (1 +
c)^2. Without further assumptions the conjecture fails: the derivative of a clipped gradient is the Hessian
projected orthogonally to the gradient. An example is f(x) = (x_1^2 + x_2^2 / 10) / 2 at a point whose
gradient points along (1, 1) and is longer than K. In the code, u = eta K / |gradient|.
"""

from lastiterate.symbolic.chien_li.paper import *

_shares, _inverse, _rest, _power = (Function(name, nonnegative=True) for name in "YPWq")
_share = Function("beta", positive=True)
_sum = gains(_shares, _share(t))


def _square_after(moved: Expr) -> Expr:
    """|v - u moved f|^2 for v = (xi, zeta), f = (1, -1)/sqrt(2); moved = sqrt(2) <f, H v>."""
    return (xi - u * moved / 2) ** 2 + (zeta + u * moved / 2) ** 2


_before = xi**2 + zeta**2

# The same in plain coordinates, eta = 1: (10, 100), whose gradient (10, 10) is as long as K, goes to (0, 90).
_end = (Rational(1005, 100), Rational(1001, 10))
_slope = (_end[0], _end[1] / 10)
_factor = 10 * sqrt(2) / sqrt(_slope[0] ** 2 + _slope[1] ** 2)
_moved = (_end[0] - _factor * _slope[0]) ** 2 + (_end[1] - _factor * _slope[1] - 90) ** 2

_one, _other = map(CLIPPING.at, (X, Y))  # gradients L w of L |w|^2 / 2 at two points

CLAIMS = (
    Claim(
        "chien_li/section_5/no_early_gain",
        "(3) gives no improvement over composition before some burn-in: T = 1, and for c >= 1 all T with T s <= D",
        at("Section 5", "Uniform strict improvement"),
        Inequality(s**2, "<=", s**2 / beta, (beta > 0, beta < 1), "T = 1"),
        Inequality(
            s**2 * (x + u),
            "<=",
            s**2 * x**2 / y + (s * u) ** 2 / (x - y),
            (y > 0, y < x),
            "c = 1: x steps after u, from s u, the shares add to y",
        ),
        Inequality(s * (u + 1), "<=", c * z + s, (c >= 1, z >= s * u), "c > 1: from no less"),
        Induction(
            t,
            Le(t**2, _shares(t) * _inverse(t)),
            begin(_shares, _inverse),
            (_sum, gains(_inverse, 1 / _share(t))),
            name="1/beta adds to t^2 over the sum of the shares, at least",
        ),
        Induction(
            t,
            Le(_rest(t), t - _shares(t)),
            begin(_shares, _rest),
            (_sum, gains(_rest, (1 - _share(t)) * _power(t)), _share(t) <= 1, _power(t) <= 1),
            name="c >= 1: (1 - beta) c^-2j adds to t less the shares, at most",
        ),
    ),
    Ours(
        "chien_li/section_5/early_gain",
        "(3) is below composition at T = 2, D >= s, exactly for c < sqrt(2) - 1",
        at("Section 5", "Uniform strict improvement"),
        Inequality(
            (s * c + s) ** 2, "<", 2 * s**2, ((1 + c) ** 2 < 2,), "if: T = 2, tau = 1, start s, one step"
        ),
        Inequality((1 + c) ** 2, "<", Integer(2), ((s * c + s) ** 2 < 2 * s**2,), "only if"),
    ),
    Claim(
        "chien_li/section_5/local_constant",
        "Where |x - y| <= 1 no larger Hoelder constant is needed for lambda < 1: L |x - y| <= L |x - y|^lambda",
        at("Section 5", "Non-uniform Hoelder continuous gradient"),
        Inequality(z ** (1 - lam), "<=", S.One, (z > 0,), "z = |x - y|, which is z^lambda times this"),
        assumptions=(z <= 1, lam <= 1),
    ),
    Ours(
        "chien_li/section_5/clipped_convex",
        "Without further assumptions on f the clipped update expands some steps, at any step size",
        at("Section 5", "Gradient clipping"),
        Inequality(
            _before, "<", _square_after(xi - zeta / 10), (xi > zeta / 10, zeta > xi), "a small step (xi, zeta)"
        ),
        IntervalInequality(Rational(1, 80), "<", _moved, {}, "from (10, 100) to (10.05, 100.1), K = 10 sqrt 2"),
    ),
    Ours(
        "chien_li/section_5/clipped_isotropic",
        "With the Hessian L I, eta L <= 2, the clipped update is 1-Lipschitz on R^d, but no longer contracts",
        at("Section 5", "Gradient clipping"),
        VectorInequality(
            Norm(X - Y - eta * L * (_one.image - _other.image)),
            "<=",
            Norm(X - Y),
            (_one, _other),
            name="a step",
        ),
        Identity(put(_square_after(xi - zeta), {zeta: xi}), put(_before, {zeta: xi}), "along the gradient"),
        assumptions=(eta * L <= 2,),
        letters={X: "gradient L w at a point w", Y: "gradient at another"},
    ),
)
