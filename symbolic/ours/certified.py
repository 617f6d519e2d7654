"""Constants of logistic regression and of a network with two layers, in closed form.

The Hessian in the logits is a covariance (Popoviciu 1935), the gradient p - e_y; p is a probability.
"""

from lastiterate.symbolic.formulas import networks
from lastiterate.symbolic.prelude import *

_one = Integer(1)

_steepest = networks.largest_tanh_curvature()
_bend = Inequality(
    Abs(networks.tanh_curvature(gamma)),
    "<= and attained",
    _steepest,
    (gamma**2 <= 1,),
    "|tanh''|",
    (Eq(gamma, sqrt(3) / 3),),
)
_top = (a + sqrt(a**2 + 4 * d**2)) / 2
_form = Inequality(
    a * xi**2 + 2 * d * xi * zeta,
    "<= and attained",
    _top * (xi**2 + zeta**2),
    name="form",
    attained=(Eq(xi, _top), Eq(zeta, d)),
)

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
        "Two layers: max |tanh''| = 4/(3 sqrt 3); the top eigenvalue of a x^2 + 2 d x y is (a + sqrt(a^2 + 4 d^2))/2",
        proof("constants", "Two layers"),
        Identity(Derivative(tanh(h), (h, 2)), networks.tanh_curvature(tanh(h)), "tanh''"),
        _bend.mutant("a bend three percent less", right=Rational(97, 100) * _steepest),
        _form.mutant("an eigenvalue three percent less", right=Rational(97, 100) * _top * (xi**2 + zeta**2)),
        letters={gamma: "tanh at a point", xi: "x", zeta: "y"},
    ),
)
