r"""Constants of logistic regression and of a network with two layers, in closed form (docs/proofs/constants.md).

For cross-entropy as a function of the logits, the gradient is $p - e_y$ with $|p - e_y|^2 \le 2$. The Hessian
is the covariance $\mathrm{diag}(p) - p p^\top$, with
$\mathrm{Var}_p(v) \le (\max v - \min v)^2/4 \le |v|^2/2$ (Popoviciu 1935). For two layers,
$\max|\tanh''| = 4/(3\sqrt3)$, and the largest value of $a x^2 + 2 d x y$ on the unit circle is
$(a + \sqrt{a^2 + 4 d^2})/2$.
"""

from lastiterate.symbolic.formulas import networks
from lastiterate.symbolic.ours.paper import *

_top = (a + sqrt(a**2 + 4 * d**2)) / 2
# Of a class: its probability and the value there; sums of probabilities, of values and of their squares.
_chance, _total = (Function(name, nonnegative=True) for name in "pS")
_value, _mean, _square = (Function(name, real=True) for name in "vMN")

CLAIMS = (
    Ours(
        "ours/certified/cross_entropy",
        "Cross-entropy in its logits: curvature at most 1/2, gradient at most sqrt 2",
        proof("constants", "Cross-entropy as a function of the logits"),
        # A variable with values v between xi and zeta: kappa is its mean square, gamma its mean.
        sum_induction(
            "its mean square, any number of classes",
            Le(_square(t), (xi + zeta) * _mean(t) - xi * zeta * _total(t)),
            {_total: _chance(t), _mean: _chance(t) * _value(t), _square: _chance(t) * _value(t) ** 2},
            Le(xi, _value(t)),
            Le(_value(t), zeta),
        ),
        Inequality(
            kappa - gamma**2,
            "<=",
            (zeta - xi) ** 2 / 4,
            (kappa <= (xi + zeta) * gamma - xi * zeta,),
            "so its variance (Popoviciu)",
        ),
        Inequality((zeta - xi) ** 2 / 4, "<=", (zeta**2 + xi**2) / 2, name="so the curvature"),
        sum_induction(
            "squares of probabilities add to at most the square of their sum",
            Le(_square(t), _total(t) ** 2),
            {_square: _chance(t) ** 2, _total: _chance(t)},
        ),
        # x is the root of the sum of squares of the other probabilities, at most their sum 1 - p.
        Inequality((1 - p) ** 2 + x**2, "<=", Integer(2), (x <= 1 - p,), "|p - e_y|^2"),
        Inequality(p * (1 - p), "<= and attained", Rational(1, 4), name="curvature of the logistic loss"),
        assumptions=(p <= 1,),
    ),
    Ours(
        "ours/certified/two_layer",
        "Two layers: max |tanh''| = 4/(3 sqrt 3); the top eigenvalue of a x^2 + 2 d x y is (a + sqrt(a^2 + 4 d^2))/2",
        proof("constants", "Two layers"),
        Identity(Derivative(tanh(h), (h, 2)), networks.tanh_curvature(tanh(h)), "tanh''"),
        Inequality(
            Abs(networks.tanh_curvature(gamma)),
            "<= and attained",
            networks.largest_tanh_curvature(),
            (gamma**2 <= 1,),
            "|tanh''|",
            (Eq(gamma, sqrt(3) / 3),),
        ),
        Inequality(
            a * xi**2 + 2 * d * xi * zeta,
            "<= and attained",
            _top * (xi**2 + zeta**2),
            name="form",
            attained=(Eq(xi, _top), Eq(zeta, d)),
        ),
        letters={gamma: "tanh at a point", xi: "x", zeta: "y"},
    ),
)
