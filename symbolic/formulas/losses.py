"""Constants of losses in closed form, for features of norm at most r.

Source   ours (claims ours/certified/*); Popoviciu 1935 for the variance of a bounded variable.
"""

from sympy import Expr, Integer, Rational, sqrt


def logistic(r: Expr, scale: Expr, l2: Expr, reach: Expr) -> tuple[Expr, Expr]:
    """Lipschitz constant and smoothness of scale log(1 + exp(-y w.x)) + l2/2 |w|^2 over |w| <= reach."""
    return scale * r + l2 * reach, scale * r**2 / 4 + l2


def softmax(r: Expr, scale: Expr, l2: Expr, reach: Expr) -> tuple[Expr, Expr]:
    """As `logistic`, of the cross-entropy of the logits W x."""
    return scale * sqrt(Integer(2)) * r + l2 * reach, scale * r**2 * Rational(1, 2) + l2


def two_layer(r: Expr, second: Expr, scale: Expr, outputs: Expr, slope: Expr, curvature: Expr) -> tuple[Expr, Expr]:
    """As `logistic`, of the logits W2 phi(W1 x + b1) + b2 without regulariser.

    |W2| <= second, |phi|^2 <= outputs summed over the hidden units, |phi'| <= slope, |phi''| <= curvature.
    """
    jacobian = outputs + 1 + (slope * second * r) ** 2
    bent, mixed = curvature * second * r**2, slope * r
    hessian = (bent + sqrt(bent**2 + 4 * mixed**2)) / 2
    return scale * sqrt(2 * jacobian), scale * (jacobian / 2 + sqrt(Integer(2)) * hessian)
