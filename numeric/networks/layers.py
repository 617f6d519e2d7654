"""The layers of a feed-forward network and its derivatives on a ball of parameters, for one input.

    h_0 = x,  a_l = W_l h_(l-1) + b_l,  h_l = phi_l(a_l) [+ h_(l - skip)],  outputs h_depth.

Everything is a ball around what it is at the centre: activations, the derivatives da_l/da_j and dh_l/da_j, and the
derivative of the outputs in every h_l.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.networks.activations import Activation, PiecewiseLinear, Smooth, activation
from lastiterate.numeric.networks.bounds import Affine, Spread, box, reached
from lastiterate.numeric.networks.matrices import Floats, MatrixBall, Slopes, as_float, identity, length
from lastiterate.numeric.rounding import exact, upper


def floats(name: str, given: ArrayLike, dimensions: int) -> Floats:
    """The array in float64, or an `InputError` where it is none of finite numbers in so many dimensions."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} needs an array of numbers, got {name}={type(given).__name__}; give one.") from None
    if values.ndim != dimensions or not values.size or not np.isfinite(values).all():
        raise InputError(
            f"{name} needs finite numbers in {dimensions} dimensions, got {name} of shape {values.shape}; check it."
        )
    return values


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer phi(W h + b), and what of it moves.

    Attributes:
        weight: W at the centre of the ball, shape (outputs, inputs).
        bias: b there, shape (outputs,); None for no bias.
        activation: a name that `lastiterate.numeric.networks.activations.activation` knows, or an activation itself.
        skip: the outputs of so many layers before are added to those of this one; 0 for none, 1 for a residual layer.
        weight_moves, bias_moves: whether the ball moves them; what does not is frozen at the centre.

    Raises:
        InputError: shapes that do not fit, values that are not finite, an activation that is not known.
    """

    weight: ArrayLike
    bias: ArrayLike | None = None
    activation: str | Activation = "identity"
    skip: int = 0
    weight_moves: bool = True
    bias_moves: bool = True
    phi: Activation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weight = floats("weight", self.weight, 2)
        bias = np.zeros(len(weight)) if self.bias is None else floats("bias", self.bias, 1)
        if len(bias) != len(weight):
            raise InputError(f"bias needs one number an output, got bias of {len(bias)} for {len(weight)}; mend it.")
        phi = self.activation if isinstance(self.activation, Smooth | PiecewiseLinear) else activation(self.activation)
        for name, given in (("weight_moves", self.weight_moves), ("bias_moves", self.bias_moves)):
            if not isinstance(given, bool):
                raise InputError(f"{name} needs True or False, got {name}={given!r:.60}; say which.")
        if self.bias is None:
            object.__setattr__(self, "bias_moves", False)
        for name, value in (("weight", weight), ("bias", bias), ("phi", phi), ("skip", count("skip", self.skip, 0))):
            object.__setattr__(self, name, value)

    @property
    def moves(self) -> bool:
        """True if anything of the layer moves."""
        return self.weight_moves or self.bias_moves

    def affine(self, radius: arb) -> Affine:
        """The affine map on the ball of this radius."""
        return Affine(
            np.asarray(self.weight),
            np.asarray(self.bias),
            radius if self.weight_moves else arb(0),
            radius if self.bias_moves else arb(0),
        )


def checked(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers, whose shapes fit and of which one moves, or an `InputError` that says what does not."""
    if not isinstance(layers, list | tuple) or not layers or not all(isinstance(one, Layer) for one in layers):
        raise InputError(f"layers needs at least one Layer, got layers={layers!r:.60}; give Layer(weight, bias), ....")
    widths = [np.shape(layers[0].weight)[1], *(len(np.asarray(layer.weight)) for layer in layers)]
    for place, layer in enumerate(layers):
        inputs = np.shape(layer.weight)[1]
        if inputs != widths[place]:
            raise InputError(
                f"Layer {place} needs as many inputs as the layer before has outputs, got {inputs} for "
                f"{widths[place]}; mend its weight."
            )
        if layer.skip > place + 1 or (layer.skip and widths[place + 1 - layer.skip] != widths[place + 1]):
            raise InputError(
                f"Layer {place} needs a skip from an earlier layer of its own width, got skip={layer.skip}; lower it."
            )
    if not any(layer.moves for layer in layers):
        raise InputError("layers needs parameters that move, got none; let weight_moves or bias_moves be true.")
    return tuple(layers)


@dataclass(frozen=True)
class _State:
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
        inner: da_l/da_j, by (l, j), for the layers j <= l that move.
        outer: dh_(l+1)/da_j, by (l, j).
        upward: the derivative of the outputs in phi_l(a_l), by l.
        slopes: phi_l', by l.
        bends: upper bounds of |phi_l''|, one a neuron, by l; infinite at a kink.
        outputs: the outputs at the centre, shape (outputs,).
        spread: how far the outputs may be from there.
        kinked: the first layer with a kink within the ball; None if there is none.
    """

    sizes: dict[int, arb]
    inner: dict[tuple[int, int], MatrixBall]
    outer: dict[tuple[int, int], MatrixBall]
    upward: list[MatrixBall]
    slopes: list[Slopes]
    bends: list[Floats]
    outputs: Floats
    spread: Spread
    kinked: int | None


def derivatives(
    layers: Sequence[Layer], affine: Sequence[Affine], radius: arb, x: Floats, input_radius: arb
) -> Derivatives:
    """The derivatives at every input within ``input_radius`` of x, for all parameters of the ball."""
    around = Spread(np.full(len(x), as_float(input_radius)), input_radius)
    states = [_State(x, around, around)]
    sizes: dict[int, arb] = {}
    inner: dict[tuple[int, int], MatrixBall] = {}
    outer: dict[tuple[int, int], MatrixBall] = {}
    slopes, bends = [], []
    for k, (layer, map_) in enumerate(zip(layers, affine, strict=True)):
        before = states[-1]
        if layer.moves:
            squared = (before.size**2 if layer.weight_moves else arb(0)) + int(layer.bias_moves)
            sizes[k] = exact(as_float(squared.sqrt()))
        for j in sizes:
            inner[k, j] = identity(len(map_.weight)) if j == k else map_.ball.times(outer[k - 1, j])
        center, rounding = map_.at(before.center)
        still = map_.image(before.still).plus(box(rounding))
        pushed = sizes.get(k, arb(0)) * radius
        width = len(center)
        step = Spread(np.full(width, as_float(pushed)), exact(as_float(pushed)))
        moved = map_.image(before.moved).plus(box(rounding)).plus(step)
        moved = moved.least(still.plus(reached(radius, [(inner[k, j], sizes[j]) for j in sizes], width)))
        found, bend = _ranges(layer.phi, center, moved.each)
        slopes.append(found)
        bends.append(bend)
        skipped = states[k + 1 - layer.skip] if layer.skip else None
        for j in sizes:
            outer[k, j] = inner[k, j].after(found)
            if layer.skip and (k - layer.skip, j) in outer:
                outer[k, j] = outer[k, j].plus(outer[k - layer.skip, j])
        states.append(_after(layer, center, still, moved, found, skipped))
        total = states[-1].still.plus(reached(radius, [(outer[k, j], sizes[j]) for j in sizes], width))
        states[-1] = _State(states[-1].center, states[-1].still, states[-1].moved.least(total))
    upward = _upward(layers, affine, slopes)
    kinked = next((k for k, bend in enumerate(bends) if not np.isfinite(bend).all()), None)
    last = states[-1]
    return Derivatives(sizes, inner, outer, upward, slopes, bends, last.center, last.moved, kinked)


def _upward(layers: Sequence[Layer], affine: Sequence[Affine], slopes: list[Slopes]) -> list[MatrixBall]:
    """The derivative of the outputs in h_1, ..., h_depth."""
    depth = len(layers)
    found: list[MatrixBall] = [identity(len(affine[-1].weight))]
    for k in reversed(range(depth - 1)):
        above = found[0].before(slopes[k + 1]).times(affine[k + 1].ball)
        for m in range(k + 1, depth):
            if layers[m].skip == m - k:
                above = above.plus(found[m - k - 1])
        found.insert(0, above)
    return found


def _after(
    layer: Layer, center: Floats, still: Spread, moved: Spread, slopes: Slopes, skipped: _State | None
) -> _State:
    """h from a: values at the centre with their roundings, and the spreads times the slopes."""
    exactly = [layer.phi.value(exact(a)) for a in center.tolist()]
    values = np.array([float(value.mid()) for value in exactly])
    off = box(np.array([as_float(abs(v - exact(c))) for v, c in zip(exactly, values.tolist(), strict=True)]))
    still, moved = (one.stretched(slopes.above).plus(off) for one in (still, moved))
    if skipped is None:
        return _State(values, still, moved)
    total = values + skipped.center
    rounded = box(np.abs(total) * 2.0**-52 + 1e-290)
    return _State(total, still.plus(skipped.still).plus(rounded), moved.plus(skipped.moved).plus(rounded))


def _ranges(phi: Activation, center: Floats, spread: Floats) -> tuple[Slopes, Floats]:
    middles, radii, bends = [], [], []
    for a, off in zip(center.tolist(), spread.tolist(), strict=True):
        low, high = exact(a) - exact(off), exact(a) + exact(off)
        least, most = phi.slopes(low, high)
        middle = float(((least + most) / 2).mid())
        middles.append(middle)
        radii.append(as_float((most - exact(middle)).max(exact(middle) - least)))
        bends.append(upper(phi.bend(low, high)))
    return Slopes(np.array(middles), np.array(radii)), np.array(bends)
