"""Losses as functions of the outputs of a network: gradient and Hessian on a box of outputs.

For probabilities p and label y, cross-entropy has the gradient p - e_y and the Hessian diag(p) - p p^T = B
B^T, where B = diag(q) (I - q q^T) and q = sqrt(p). The logistic loss of one output f has the gradient
sigma(f) - y and the Hessian sigma'(f). If the outputs move by d, these Hessians grow by at most the factors
exp(max d - min d) and exp(|d|).

Source: docs/proofs/network_constants.md, "The loss as a function of the outputs" (claims
ours/certified/network/outputs, ours/certified/cross_entropy).
"""

from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Final

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.activations import SMOOTH
from lastiterate.numeric.networks.matrices import MatrixBall, Spread, as_float, length, round_up, row_lengths
from lastiterate.numeric.rounding import exact


@dataclass(frozen=True)
class Gradient:
    """Gradients in the outputs for one label, within ``radius`` of ``center``, shape (outputs,)."""

    center: Array
    radius: arb
    norm: arb  # upper bound on the length

    def before(self, matrix: MatrixBall) -> tuple[Array, Spread]:
        """A^T g at the centre of a ball of matrices A, and the largest distance of A^T g from this value."""
        outputs = len(self.center)
        sizes = round_up(np.abs(matrix.center).T @ np.abs(self.center), outputs) * (outputs * 2.0**-52)
        columns = row_lengths(matrix.turned.center)
        turned = matrix.radius * self.norm
        each = round_up(sizes + columns * as_float(self.radius) + as_float(turned), 4)
        return matrix.center.T @ self.center, Spread(
            each, length(sizes) + matrix.center_norm * self.radius + turned
        )


@dataclass(frozen=True)
class OutputLoss:
    """Gradients and Hessian of a loss on a box of outputs.

    Attributes:
        gradients: one for each label.
        curvature: upper bound on the spectral norm of the Hessian.
        root: ball that contains a B such that B B^T is the Hessian at the centre.
        growth: as a quadratic form, the Hessian is at most this factor times the Hessian at the centre.
    """

    gradients: tuple[Gradient, ...]
    curvature: arb
    root: MatrixBall
    growth: arb


def cross_entropy(center: Array, spread: Spread) -> OutputLoss:
    """Softmax cross-entropy of outputs within ``spread`` of ``center``."""
    classes = range(len(center))
    at = [exact(float(value)) for value in center]
    off = [exact(float(value)) for value in spread.each]
    middle = [1 / sum(((at[j] - at[i]).exp() for j in classes), arb(0)) for i in classes]
    low, high = (
        [
            1 / (1 + sum(((at[j] - at[i] + sign * (off[j] + off[i])).exp() for j in classes if j != i), arb(0)))
            for i in classes
        ]
        for sign in (1, -1)
    )
    swing = (2 * reduce(arb.max, off)).min(arb(2).sqrt() * spread.total)
    roots = [value.sqrt() for value in middle]
    root = _rounded([[roots[i] * ((i == j) - roots[i] * roots[j]) for j in classes] for i in classes])
    curvature = (
        (arb(1) / 2)
        .min(reduce(arb.max, high))
        .min(reduce(arb.max, [2 * _largest_product(low[i], high[i]) for i in classes]))
        .min(swing.exp() * root.norm**2)
    )
    moved = (curvature * spread.total).min(_norm([high[i] - low[i] for i in classes]))
    gradients = []
    for label in classes:
        wrong = 1 - low[label]
        others = sum((high[j] ** 2 for j in classes if j != label), arb(0))
        at_most = (wrong**2 + (wrong**2).min(others)).sqrt()
        gradients.append(
            _gradient([middle[j] - (j == label) for j in classes], moved, at_most.min(arb(2).sqrt()))
        )
    return OutputLoss(tuple(gradients), curvature, root, swing.exp())


def logistic(center: Array, spread: Spread) -> OutputLoss:
    """Logistic loss log(1 + exp(f)) - y f of one output, y = 0 or 1."""
    sigmoid = SMOOTH["sigmoid"]
    at, off = exact(float(center[0])), exact(float(spread.each[0])).min(spread.total)
    curvature = sigmoid.slopes(at - off, at + off)[1].min(arb(1) / 4)
    below, above = sigmoid.value(at - off), sigmoid.value(at + off)
    gradients = [
        _gradient([sigmoid.value(at) - y], (curvature * off).min(above - below), (1 - below) if y else above)
        for y in (0, 1)
    ]
    return OutputLoss(tuple(gradients), curvature, _rounded([[sigmoid.slope(at).sqrt()]]), off.exp())


LOSSES: Final = MappingProxyType({"cross_entropy": cross_entropy, "logistic": logistic})
"""Losses by name."""


def _gradient(entries: list[arb], moved: arb, at_most: arb) -> Gradient:
    rounded = _rounded([entries])
    radius = moved + rounded.radius
    return Gradient(rounded.center[0], radius, at_most.min(rounded.norm + moved))


def _rounded(rows: list[list[arb]]) -> MatrixBall:
    center = np.array([[float(entry.mid()) for entry in row] for row in rows])
    off = [
        abs(entry - exact(float(c)))
        for row, line in zip(rows, center, strict=True)
        for entry, c in zip(row, line, strict=True)
    ]
    return MatrixBall(center, exact(as_float(_norm(off))))


def _norm(values: list[arb]) -> arb:
    return exact(as_float(sum((value**2 for value in values), arb(0)))).sqrt()


def _largest_product(low: arb, high: arb) -> arb:
    """Upper bound on p (1 - p) for p in [low, high]."""
    if high < arb(1) / 2:
        return high * (1 - high)
    if low > arb(1) / 2:
        return low * (1 - low)
    return arb(1) / 4
