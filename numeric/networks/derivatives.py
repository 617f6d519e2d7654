"""The derivatives of a feed-forward network on a ball of parameters, for one input.

Everything is a ball around what it is at the centre: activations, the derivatives da_l/da_j and dh_l/da_j, and the
derivative of the outputs in every h_l.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from lastiterate.numeric.networks.bounds import Affine, Spread, box, reached
from lastiterate.numeric.networks.layers import Layer
from lastiterate.numeric.networks.matrices import Floats, MatrixBall, Slopes, as_float, identity, length
from lastiterate.numeric.networks.normalisation import Normalisation
from lastiterate.numeric.networks.responses import Bends, Response, entrywise
from lastiterate.numeric.networks.sharing import Sharing
from lastiterate.numeric.rounding import exact


@dataclass(frozen=True)
class State:
    """h_l: what it is at the centre, and how far it may be from there with the input and with the parameters too."""

    center: Floats
    still: Spread
    moved: Spread

    @cached_property
    def size(self) -> arb:
        """At least |h_l|."""
        return length(self.center) + self.moved.total


@dataclass(frozen=True)
class Derivatives:
    """A network and its derivatives on the ball, for one input. Layers are counted from 0; h[0] is the input.

    Attributes:
        sizes: s_l, upper bounds of |V h + c| over directions (V, c) of layer l of unit length.
        inner: da_l/da_j, by (l, j), for the layers j <= l that move; da_l/d(V, c) and 1 for s_j where it is shared.
        outer: dh_(l+1)/da_j, or in (V, c), by (l, j).
        upward: the derivative of the outputs in phi_l(a_l), by l.
        slopes: phi_l', by l.
        bends: phi_l'', by l.
        entering: h_(l-1), by l, and the outputs at the end.
        outputs: the outputs at the centre, shape (outputs,).
        spread: how far the outputs may be from there.
        kinked: the first layer with a kink within the ball; None if there is none.
    """

    sizes: dict[int, arb]
    inner: dict[tuple[int, int], MatrixBall]
    outer: dict[tuple[int, int], MatrixBall]
    upward: list[MatrixBall]
    slopes: list[Slopes | MatrixBall]
    bends: list[Bends]
    entering: list[State]
    outputs: Floats
    spread: Spread
    kinked: int | None


def derivatives(
    layers: Sequence[Layer], affine: Sequence[Affine], radius: arb, x: Floats, input_radius: arb
) -> Derivatives:
    """The derivatives at every input within ``input_radius`` of x, for all parameters of the ball."""
    around = Spread(np.full(len(x), as_float(input_radius)), input_radius)
    states = [State(x, around, around)]
    sizes: dict[int, arb] = {}
    inner: dict[tuple[int, int], MatrixBall] = {}
    outer: dict[tuple[int, int], MatrixBall] = {}
    slopes, bends = list[Slopes | MatrixBall](), list[Bends]()
    for k, (layer, map_) in enumerate(zip(layers, affine, strict=True)):
        before = states[-1]
        for j in sizes:
            inner[k, j] = map_.ball.times(outer[k - 1, j])
        if layer.moves:
            inner[k, k], sizes[k] = _own(layer, before)
        center, rounding = map_.at(before.center)
        still = map_.image(before.still).plus(box(rounding))
        width = len(center)
        step = reached(radius, [(inner[k, j], sizes[j]) for j in sizes if j == k], width)
        moved = map_.image(before.moved).plus(box(rounding)).plus(step)
        moved = moved.least(still.plus(reached(radius, [(inner[k, j], sizes[j]) for j in sizes], width)))
        phi = layer.phi
        found = phi.response(center, moved) if isinstance(phi, Normalisation) else entrywise(phi, center, moved)
        slopes.append(found.slopes)
        bends.append(found.bends)
        skipped = _passed(layer, states[k + 1 - layer.skip]) if layer.skip else None
        for j in sizes:
            outer[k, j] = inner[k, j].after(found.slopes)
            if layer.skip and (k - layer.skip, j) in outer:
                passed = outer[k - layer.skip, j]
                outer[k, j] = outer[k, j].plus(layer.bypass.still.times(passed) if layer.bypass else passed)
        states.append(_after(found, still, moved, skipped))
        total = states[-1].still.plus(reached(radius, [(outer[k, j], sizes[j]) for j in sizes], width))
        states[-1] = State(states[-1].center, states[-1].still, states[-1].moved.least(total))
    upward = _upward(layers, affine, slopes)
    kinked = next((k for k, bend in enumerate(bends) if not bend.finite), None)
    last = states[-1]
    return Derivatives(sizes, inner, outer, upward, slopes, bends, states, last.center, last.moved, kinked)


def _own(layer: Layer, before: State) -> tuple[MatrixBall, arb]:
    """The derivative of a layer's a in its own parameters: a pair (S, s) as in `reached`."""
    if layer.sharing:
        return in_parameters(layer, layer.sharing, before), arb(1)
    squared = (before.size**2 if layer.weight_moves else arb(0)) + int(layer.bias_moves)
    return identity(layer.outputs), exact(as_float(squared.sqrt()))


def in_parameters(layer: Layer, sharing: Sharing, before: State) -> MatrixBall:
    """The derivative of a layer's a in its weights and biases, whose h at the bottom is ``before``."""
    channels, spread = len(np.asarray(layer.weight)), before.moved
    moves = {"weights": layer.weight_moves, "biases": layer.bias_moves}
    return sharing.derivative(before.center, spread.each, spread.total, channels, **moves)


def _upward(
    layers: Sequence[Layer], affine: Sequence[Affine], slopes: Sequence[Slopes | MatrixBall]
) -> list[MatrixBall]:
    """The derivative of the outputs in h_1, ..., h_depth."""
    depth = len(layers)
    found: list[MatrixBall] = [identity(len(affine[-1].weight))]
    for k in reversed(range(depth - 1)):
        above = found[0].before(slopes[k + 1]).times(affine[k + 1].ball)
        for m in range(k + 1, depth):
            if layers[m].skip == m - k:
                over, passed = layers[m].bypass, found[m - k - 1]
                above = above.plus(passed.times(over.still) if over else passed)
        found.insert(0, above)
    return found


def _passed(layer: Layer, state: State) -> State:
    """The state that skips to a layer, after the matrix on its way."""
    if not layer.bypass:
        return state
    center, rounding = layer.bypass.at(state.center)
    still, moved = (layer.bypass.image(one).plus(box(rounding)) for one in (state.still, state.moved))
    return State(center, still, moved)


def _after(found: Response, still: Spread, moved: Spread, skipped: State | None) -> State:
    """h from a: values at the centre with their roundings, and the spreads times the slopes."""
    still, moved = (one.stretched(found.slopes) for one in (still, moved))
    if found.most is not None:
        still, moved = still.least(found.most), moved.least(found.most)
    off = box(found.off)
    still, moved = still.plus(off), moved.plus(off)
    if skipped is None:
        return State(found.values, still, moved)
    total = found.values + skipped.center
    rounded = box(np.abs(total) * 2.0**-52 + 1e-290)
    return State(total, still.plus(skipped.still).plus(rounded), moved.plus(skipped.moved).plus(rounded))
