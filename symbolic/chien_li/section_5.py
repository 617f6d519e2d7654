"""Open problems: a uniform improvement over composition, and clipped convex losses.

At T = 2 the window of one step costs s^2 (1 + c)^2. For the clipped update f(x) = (x_1^2 + x_2^2 / 10) / 2 at a point
whose gradient points along (1, 1) and is longer than K; u = eta K / |gradient|.
"""

from sympy import Expr, Integer, Rational, sqrt

from lastiterate.symbolic.chien_li.paper import at
from lastiterate.symbolic.claim import Claim, Identity, Inequality, IntervalInequality, Ours
from lastiterate.symbolic.letters import u, x, xi, zeta
from lastiterate.symbolic.notation import c, s
from lastiterate.symbolic.unevaluated import put

_window = (s * c + s) ** 2  # T = 2, tau = 1: start s, one step
_composition = 2 * s**2
_weak = Rational(1, 10)


def _square_after(moved: Expr) -> Expr:
    """|v - u moved f|^2 for v = (xi, zeta), f = (1, -1)/sqrt(2) across the gradient; moved = sqrt(2) <f, H v>."""
    return (xi - u * moved / 2) ** 2 + (zeta + u * moved / 2) ** 2


_clipped = _square_after(xi - _weak * zeta)
_before = xi**2 + zeta**2

# The same in plain coordinates, eta = 1: (10, 100), whose gradient (10, 10) is as long as K, goes to (0, 90).
_end = (Rational(1005, 100), Rational(1001, 10))
_slope = (_end[0], _weak * _end[1])
_factor = 10 * sqrt(2) / sqrt(_slope[0] ** 2 + _slope[1] ** 2)
_moved = (_end[0] - _factor * _slope[0]) ** 2 + (_end[1] - _factor * _slope[1] - 90) ** 2

CLAIMS = (
    Claim(
        "chien_li/section_5/no_early_gain",
        "The results give no improvement over composition before a burn-in: c < 1, T = 2, (3) is not below 2 s^2",
        at("Section 5", "Uniform strict improvement"),
        Inequality(_composition, "<=", _window, name="T = 2, tau = 1")
        .mutant("twice composition", left=2 * _composition)
        .mutant("never an improvement", right=_window / 2),
        IntervalInequality(Integer(2), "<=", Rational(4, 3) ** 2, {}, "c = 1/3, in units of s^2"),
        assumptions=(c > 0, c < 1),
        remark="""At T = 2 the window of one step costs s^2 (1 + c)^2, below composition as soon as c < sqrt(2) - 1. So
        (3) itself improves at once for strong contraction. For c >= 1 the sentence is true while T s <= D, and direct
        shifts are strictly below composition for every c < 1 and T >= 2.""",
    ),
    Ours(
        "chien_li/section_5/early_gain",
        "(3) is below composition at T = 2 exactly for c < sqrt(2) - 1; for c = 1 not while T s <= D",
        at("Section 5", "Uniform strict improvement"),
        Inequality(_window, "<", _composition, given=((1 + c) ** 2 < 2,), name="if").mutant(
            "for every c < 1", given=(c < 1,)
        ),
        Inequality((1 + c) ** 2, "<", Integer(2), given=(_window < _composition,), name="only if"),
        Inequality(
            s**2 * x,
            "<=",
            (s * x) ** 2 / (x - u),
            given=(x > u,),
            name="c = 1: T = x, tau = u, start s tau",
        ),
        repairs="chien_li/section_5/no_early_gain",
    ),
    Claim(
        "chien_li/section_5/clipped_convex",
        "The clipped gradient update of a convex smooth loss is 1-Lipschitz for eta <= 2/L",
        at("Section 5", "Gradient clipping"),
        Inequality(_clipped, "<=", _before, name="a small step (xi, zeta) past the clip")
        .mutant("it contracts", right=_before / 2)
        .mutant("for small steps", given=(u <= Rational(1, 100),)),
        IntervalInequality(_moved, "<=", Rational(1, 80), {}, "from (10, 100) to (10.05, 100.1), K = 10 sqrt 2"),
        assumptions=(u <= 2,),
        remark="""The paper conjectures this, possibly under additional assumptions. Without them it is false in two
        dimensions: where a gradient is clipped, its derivative is the Hessian projected across it, which is not
        monotone unless the gradient is an eigenvector. For f(x) = (x_1^2 + x_2^2/10)/2 some steps expand at any eta.
        In one dimension, and for Hessians c I, the clipped update is 1-Lipschitz.""",
    ),
    Ours(
        "chien_li/section_5/clipped_isotropic",
        "With an isotropic Hessian the clipped update is 1-Lipschitz, but no longer contracts",
        at("Section 5", "Gradient clipping"),
        Inequality(_square_after(xi - zeta), "<= and attained", _before, name="1-Lipschitz"),
        Identity(put(_square_after(xi - zeta), {zeta: xi}), put(_before, {zeta: xi}), "along the gradient"),
        assumptions=(u <= 2,),
        repairs="chien_li/section_5/clipped_convex",
    ),
)
