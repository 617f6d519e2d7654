"""Constants of logistic regression and of a network with two layers, in closed form.

The Hessian in the logits is a covariance (Popoviciu 1935), the gradient p - e_y; p is a probability, u = tanh.
"""

from sympy import Expr, Integer

from lastiterate.symbolic.claim import Inequality, Ours
from lastiterate.symbolic.letters import a, d, gamma, kappa, p, r, u, x, y
from lastiterate.symbolic.papers import proof

_one = Integer(1)


def _bend(cubed: int) -> Inequality:
    """2 u (1 - u^2) <= x wherever ``cubed`` x^2 is at least 16."""
    given = (u <= 1, x**2 * cubed >= 16)
    return Inequality(2 * u * (1 - u**2), "<=", x, given=given, name="|tanh''|")


def _form(product: Expr) -> Inequality:
    given = (r >= a, product <= r * (r - a))
    return Inequality(a * x**2 + 2 * d * x * y, "<=", r * (x**2 + y**2), given=given, name="form")


CLAIMS = (
    Ours(
        "ours/certified/cross_entropy",
        "Cross-entropy in its logits: curvature at most 1/2, gradient at most sqrt 2",
        proof("constants", "Cross-entropy in its logits"),
        # A variable with the values gamma and kappa, of probability p and 1 - p.
        Inequality(p * (1 - p) * (gamma - kappa) ** 2, "<=", _one / 2 * (gamma**2 + kappa**2)),
        # x is the root of the sum of squares of the other probabilities, at most their sum 1 - p.
        Inequality((1 - p) ** 2 + x**2, "<=", Integer(2), given=(x <= 1 - p,), name="|p - e_y|^2"),
        Inequality(p * (1 - p), "<= and attained", _one / 4),
        assumptions=(p <= 1,),
    ),
    Ours(
        "ours/certified/two_layer",
        "A network with two layers: |tanh''| <= 4/(3 sqrt 3), and the top eigenvalue of its mixed form",
        proof("constants", "Two layers"),
        _bend(27),
        _form(d**2),
    ),
)
