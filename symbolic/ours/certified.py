"""Constants of logistic regression and of a network with two layers, in closed form.

The Hessian in the logits is a covariance (Popoviciu 1935), the gradient p - e_y; p is a probability, u = tanh.
"""

from sympy import Expr, Function, Integer, Le

from lastiterate.symbolic.claim import Induction, Inequality, Ours
from lastiterate.symbolic.inductive import begin, gains
from lastiterate.symbolic.letters import a, d, gamma, kappa, p, r, u, x, xi, y, zeta
from lastiterate.symbolic.notation import t
from lastiterate.symbolic.papers import proof

_one = Integer(1)


def _bend(cubed: int) -> Inequality:
    """2 u (1 - u^2) <= x wherever ``cubed`` x^2 is at least 16."""
    given = (u <= 1, x**2 * cubed >= 16)
    return Inequality(2 * u * (1 - u**2), "<=", x, given=given, name="|tanh''|")


def _form(product: Expr) -> Inequality:
    given = (r >= a, product <= r * (r - a))
    return Inequality(a * x**2 + 2 * d * x * y, "<=", r * (x**2 + y**2), given=given, name="form")


# Of a class: its probability and the value there; sums of probabilities, of values and of their squares.
_chance, _total = (Function(name, nonnegative=True) for name in ("p", "S"))
_value, _mean, _square = (Function(name, real=True) for name in ("v", "M", "N"))

CLAIMS = (
    Ours(
        "ours/certified/cross_entropy",
        "Cross-entropy in its logits: curvature at most 1/2, gradient at most sqrt 2",
        proof("constants", "Cross-entropy in its logits"),
        # A variable with values v between xi and zeta: kappa is its mean square, gamma its mean.
        Induction(
            t,
            Le(_square(t), (xi + zeta) * _mean(t) - xi * zeta * _total(t)),
            begin(_total, _mean, _square),
            (
                gains(_total, _chance(t)),
                gains(_mean, _chance(t) * _value(t)),
                gains(_square, _chance(t) * _value(t) ** 2),
                Le(xi, _value(t)),
                Le(_value(t), zeta),
            ),
            name="its mean square, any number of classes",
        ),
        Inequality(
            kappa - gamma**2,
            "<=",
            (zeta - xi) ** 2 / 4,
            given=(kappa <= (xi + zeta) * gamma - xi * zeta,),
            name="so its variance (Popoviciu)",
        ),
        Inequality((zeta - xi) ** 2 / 4, "<=", (zeta**2 + xi**2) / 2, name="so the curvature"),
        Induction(
            t,
            Le(_square(t), _total(t) ** 2),
            begin(_square, _total),
            (gains(_square, _chance(t) ** 2), gains(_total, _chance(t))),
            name="squares of probabilities add to at most the square of their sum",
        ),
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
