"""Derivatives of a feed-forward network, and the Hessian of a loss, on a ball of parameters for one input.

Activations, the derivatives da_l/da_j and dh_l/da_j, and the derivative of the outputs in every h_l are
enclosed in balls around their values at the centre. The Hessian is the sum over the layers in `constants`,
with matrices instead of norms.

Source: docs/proofs/network_constants.md, "The Hessian as a matrix" (claims ours/certified/network/*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.activations import Activation
from lastiterate.numeric.networks.layers import AffineMap, Layer, Sharing
from lastiterate.numeric.networks.matrices import (
    MatrixBall,
    Slopes,
    Spread,
    as_float,
    box,
    identity,
    length,
    parameter_spread,
)
from lastiterate.numeric.networks.outputs import Gradient, OutputLoss
from lastiterate.numeric.rounding import exact


def _entrywise(phi: Activation, center: Array, spread: Spread) -> tuple[Array, Array, Slopes, Slopes]:
    """Values of phi at ``center``, their errors, and ranges of phi' and phi'' within ``spread``."""
    entries = [exact(a) for a in center.tolist()]
    ends = [(a - exact(off), a + exact(off)) for a, off in zip(entries, spread.each.tolist(), strict=True)]
    exactly = [phi.value(a) for a in entries]
    values = np.array([float(value.mid()) for value in exactly])
    off = np.array([as_float(abs(v - exact(c))) for v, c in zip(exactly, values.tolist(), strict=True)])
    slopes, bends = (_around([curve(*one) for one in ends]) for curve in (phi.slopes, phi.curvatures))
    return values, off, slopes, bends


def _around(ranges: list[tuple[arb, arb]]) -> Slopes:
    middles, radii = [], []
    for least, most in ranges:
        middle = float(((least + most) / 2).mid())
        middles.append(middle if isfinite(middle) else 0.0)
        radii.append(as_float((most - exact(middles[-1])).max(exact(middles[-1]) - least)))
    return Slopes(np.array(middles), np.array(radii))


@dataclass(frozen=True)
class _State:
    center: Array
    still: Spread
    moved: Spread


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of a network on the ball, for one input. Layers are counted from 0; h[0] is the input.

    Attributes:
        sizes: s_l, upper bounds on |V h + c| for unit directions (V, c) of the parameters of layer l.
        inner: da_l/da_j at (l, j), for moving layers j <= l; da_l/d(V, c), with s_j = 1, for shared weights.
        outer: dh_(l+1)/da_j or dh_(l+1)/d(V, c) at (l, j).
        upward: derivative of the outputs in phi_l(a_l), for each l.
        slopes: phi_l', for each l.
        bends: phi_l'', for each l.
        entering: h_l, the input of layer l, for each l; at the end the outputs.
    """

    sizes: dict[int, arb]
    inner: dict[tuple[int, int], MatrixBall]
    outer: dict[tuple[int, int], MatrixBall]
    upward: list[MatrixBall]
    slopes: list[Slopes]
    bends: list[Slopes]
    entering: list[_State]

    @property
    def outputs(self) -> tuple[Array, Spread]:
        """The outputs at the centre, shape (outputs,), and their largest distances from these values."""
        return self.entering[-1].center, self.entering[-1].moved

    @property
    def kinked(self) -> int | None:
        """Index of the first layer with a kink within the ball, or None."""
        return next((k for k, bend in enumerate(self.bends) if not np.isfinite(bend.spread).all()), None)


def derivatives(
    layers: Sequence[Layer], affine: Sequence[AffineMap], radius: arb, x: Array, input_radius: arb
) -> Derivatives:
    """Derivatives at every input within ``input_radius`` of x, for all parameters in the ball."""
    around = Spread(np.full(len(x), as_float(input_radius)), input_radius)
    states = [_State(x, around, around)]
    sizes: dict[int, arb] = {}
    inner: dict[tuple[int, int], MatrixBall] = {}
    outer: dict[tuple[int, int], MatrixBall] = {}
    slopes, bends = list[Slopes](), list[Slopes]()
    for k, (layer, map_) in enumerate(zip(layers, affine, strict=True)):
        before = states[-1]
        for j in sizes:
            inner[k, j] = map_.ball.times(outer[k - 1, j])
        if layer.moves:
            inner[k, k], sizes[k] = _own(layer, before)
        center, rounding = map_.at(before.center)
        still = map_.image(before.still).plus(box(rounding))
        width = len(center)
        step = parameter_spread(radius, [(inner[k, j], sizes[j]) for j in sizes if j == k], width)
        moved = map_.image(before.moved).plus(box(rounding)).plus(step)
        moved = moved.least(
            still.plus(parameter_spread(radius, [(inner[k, j], sizes[j]) for j in sizes], width))
        )
        values, off, slope, bend = _entrywise(layer.phi, center, moved)
        slopes.append(slope)
        bends.append(bend)
        for j in sizes:
            outer[k, j] = inner[k, j].after(slope)
        after = _State(values, *(one.stretched(slope).plus(box(off)) for one in (still, moved)))
        total = after.still.plus(parameter_spread(radius, [(outer[k, j], sizes[j]) for j in sizes], width))
        states.append(_State(after.center, after.still, after.moved.least(total)))
    upward = [identity(len(affine[-1].weight))]  # the derivative of the outputs in h_1, ..., h_depth
    for slope, map_ in zip(reversed(slopes[1:]), reversed(affine[1:]), strict=True):
        upward.insert(0, upward[0].before(slope).times(map_.ball))
    return Derivatives(sizes, inner, outer, upward, slopes, bends, states)


def _own(layer: Layer, before: _State) -> tuple[MatrixBall, arb]:
    if layer.sharing:
        return _in_parameters(layer, layer.sharing, before), arb(1)
    size = length(before.center) + before.moved.total
    squared = (size**2 if layer.weight_moves else arb(0)) + int(layer.bias_moves)
    return identity(layer.outputs), exact(as_float(squared.sqrt()))


def _in_parameters(layer: Layer, sharing: Sharing, before: _State) -> MatrixBall:
    channels, moves = len(np.asarray(layer.weight)), {"weights": layer.weight_moves, "biases": layer.bias_moves}
    return sharing.derivative(before.center, before.moved, channels, **moves)


class Hessian:
    """Hessian of a loss of the outputs on a ball of parameters for one input."""

    def __init__(self, layers: Sequence[Layer], found: Derivatives, loss: OutputLoss) -> None:
        self._layers, self._found = layers, found
        self._sharing = {j: layers[j].sharing or _dense(layers[j].inputs) for j in found.sizes}
        own = {j: _in_parameters(layers[j], one, found.entering[j]) for j, one in self._sharing.items()}
        widths = {j: one.center.shape[1] for j, one in own.items()}
        self._starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist(), strict=False))
        in_all = [
            {(k, j): ball if layers[j].sharing else ball.times(own[j]) for (k, j), ball in several.items()}
            for several in (found.inner, found.outer)
        ]
        reached = range(min(widths), len(layers))
        self._inner, self._outer = ({k: _joined(one, k, widths) for k in reached} for one in in_all)
        root = loss.root.turned.times(self._outer[len(layers) - 1])
        flat = root.turned.times(root)
        self._flat = MatrixBall(flat.center, flat.radius + (loss.growth - 1) * root.norm**2)

    def of(self, gradient: Gradient) -> MatrixBall:
        """A ball that contains the Hessian for this gradient in the outputs; shape (parameters, parameters).

        Layers and channels are in order; the bias of a channel follows its weights.
        """
        total = self._flat
        for k, moved in self._inner.items():
            at, off = gradient.before(self._found.upward[k])
            total = total.plus(moved.turned.times(moved.after(self._found.bends[k].times(at, off))))
            if self._layers[k].weight_moves and k - 1 in self._outer:
                total = total.plus(self._mixed(k, gradient))
        return total

    def _mixed(self, k: int, gradient: Gradient) -> MatrixBall:
        sharing, layer = self._sharing[k], self._layers[k]
        at, off = gradient.before(self._found.upward[k].before(self._found.slopes[k]))
        weighed = sharing.weighed(at).reshape(-1, sharing.terms, sharing.inputs)
        if layer.bias_moves:
            weighed = np.concatenate([weighed, np.zeros((len(weighed), 1, sharing.inputs))], axis=1)
        ball = MatrixBall(weighed.reshape(-1, sharing.inputs), sharing.often * off.total).times(
            self._outer[k - 1]
        )
        rows, columns = ball.center.shape
        both = np.zeros((columns, columns))
        both[self._starts[k] : self._starts[k] + rows] = ball.center
        return MatrixBall(both + both.T, ball.radius)


def _dense(inputs: int) -> Sharing:
    return Sharing(inputs, np.arange(inputs).reshape(1, -1, 1))


def _joined(balls: dict[tuple[int, int], MatrixBall], k: int, widths: dict[int, int]) -> MatrixBall:
    inside = [balls[k, j] for j in widths if (k, j) in balls]
    missing = np.zeros((len(inside[0].center), sum(widths[j] for j in widths if (k, j) not in balls)))
    center = np.concatenate([*(ball.center for ball in inside), missing], axis=1)
    return MatrixBall(center, sum((ball.radius**2 for ball in inside), arb(0)).sqrt())
