"""The Hessian of a sample's loss in the parameters that move, as one ball of matrices.

It is the sum over the layers that docs/proofs/network_constants.md has, with matrices in the place of their norms. On a
small ball of parameters its radius is small, and the bound is near to the largest eigenvalue at the centre.

Source: docs/proofs/network_constants.md, "The Hessian as a matrix" (claims ours/certified/network/*).
"""

from collections.abc import Sequence

import numpy as np
from flint import arb

from lastiterate.numeric.networks.derivatives import Derivatives, in_parameters
from lastiterate.numeric.networks.layers import Layer
from lastiterate.numeric.networks.matrices import MatrixBall
from lastiterate.numeric.networks.outputs import Gradient, OutputLoss
from lastiterate.numeric.networks.sharing import Sharing


class Hessian:
    """The Hessian on a ball of parameters for one input, whatever the label.

    Args:
        layers: the network.
        found: its derivatives on the ball.
        loss: the loss on the outputs there.
    """

    def __init__(self, layers: Sequence[Layer], found: Derivatives, loss: OutputLoss) -> None:
        self._layers, self._found = layers, found
        self._sharing = {j: layers[j].sharing or _once(layers[j].inputs) for j in found.sizes}
        own = {j: in_parameters(layers[j], one, found.entering[j]) for j, one in self._sharing.items()}
        widths = {j: one.center.shape[1] for j, one in own.items()}
        self._starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist(), strict=False))
        in_all = [
            {(k, j): ball if layers[j].sharing else ball.times(own[j]) for (k, j), ball in several.items()}
            for several in (found.inner, found.outer)
        ]
        reached = range(min(widths), len(layers))
        self._inner, self._outer = ({k: _beside(one, k, widths) for k in reached} for one in in_all)
        root = loss.root.turned.times(self._outer[len(layers) - 1])
        flat = root.turned.times(root)
        self._flat = MatrixBall(flat.center, flat.radius + (loss.growth - 1) * root.norm**2)

    def of(self, gradient: Gradient) -> MatrixBall:
        """A ball that has the Hessian where the loss has this gradient in the outputs, shape (parameters, parameters).

        Layers and their channels stand in their order, the bias of each channel behind its weights.
        """
        total = self._flat
        for k, moved in self._inner.items():
            bends = self._found.bends[k].form(*gradient.before(self._found.upward[k]))
            total = total.plus(moved.turned.times(moved.after(bends)))
            if self._layers[k].weight_moves and k - 1 in self._outer:
                total = total.plus(self._mixed(k, gradient))
        return total

    def _mixed(self, k: int, gradient: Gradient) -> MatrixBall:
        """Derivatives in a weight of layer k and a parameter below it, on both sides of the diagonal."""
        sharing, layer = self._sharing[k], self._layers[k]
        at, off = gradient.before(self._found.upward[k].before(self._found.slopes[k]))
        weighed = sharing.weighed(at).reshape(-1, sharing.terms, sharing.inputs)
        if layer.bias_moves:
            weighed = np.concatenate([weighed, np.zeros((len(weighed), 1, sharing.inputs))], axis=1)
        ball = MatrixBall(weighed.reshape(-1, sharing.inputs), sharing.often * off.total).times(self._outer[k - 1])
        rows, columns = ball.center.shape
        both = np.zeros((columns, columns))
        both[self._starts[k] : self._starts[k] + rows] = ball.center
        return MatrixBall(both + both.T, ball.radius)


def parameters(layers: Sequence[Layer]) -> int:
    """Number of parameters that move."""
    weights = sum(np.asarray(layer.weight).size for layer in layers if layer.weight_moves)
    return weights + sum(np.asarray(layer.bias).size for layer in layers if layer.bias_moves)


def _once(inputs: int) -> Sharing:
    """Every weight is used at one place: a dense layer."""
    return Sharing(inputs, np.arange(inputs).reshape(1, -1, 1))


def _beside(balls: dict[tuple[int, int], MatrixBall], k: int, widths: dict[int, int]) -> MatrixBall:
    """The derivatives of layer k in the parameters of each layer, side by side; of those above it they are zero."""
    inside = [balls[k, j] for j in widths if (k, j) in balls]
    missing = np.zeros((len(inside[0].center), sum(widths[j] for j in widths if (k, j) not in balls)))
    center = np.concatenate([*(ball.center for ball in inside), missing], axis=1)
    return MatrixBall(center, sum((ball.radius**2 for ball in inside), arb(0)).sqrt())
