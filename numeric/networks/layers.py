"""Layers of a feed-forward network: dense layers, convolutions and averages over windows.

    h_0 = x,  a_l = W_l h_(l-1) + b_l,  h_l = phi_l(a_l),  outputs h_depth.

The inputs to which the shared weights of a channel are applied at one place form a column of a matrix X(h).
The outputs of the channel are its row of weights times X(h). So |V X(h)| <= |V| |X(h)| for weights V, and
|X(h)| <= sqrt(m) |h| in the Frobenius norm if no input occurs in more than m columns.

Source: docs/proofs/network_constants.md, "Shared weights" (claim ours/certified/network/sharing).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from typing import Final

import numpy as np
from flint import arb
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count, echo, teaches
from lastiterate.numeric.losses.activations import Activation, activation
from lastiterate.numeric.networks.matrices import (
    MatrixBall,
    Spread,
    as_float,
    length,
    round_up,
    row_lengths,
    spectral_norm,
)
from lastiterate.numeric.rounding import exact

LARGEST: Final = 2**24
"""Maximum number of entries of a layer's matrix, which take 128 MiB in float64."""

Sizes = int | Sequence[int]
"""One number for all dimensions, or one per dimension."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """Assignment of the weights of a layer to its inputs.

    Attributes:
        meets: shape (groups, terms, places). At place p, weight k of each channel of group g is applied to
            input ``meets[g, k, p]``, or to a zero if this index is -1. Groups hold equally many channels, in
            order. Outputs are ordered by channel, then by place.

    Raises:
        InputError: an input does not exist, or occurs twice at one place or for one weight.
    """

    inputs: int
    meets: NDArray[np.int64]

    def __post_init__(self) -> None:
        meets = np.asarray(self.meets)
        whole = meets.ndim == 3 and meets.size and meets.dtype.kind in "iu"
        if not whole or not -1 <= meets.min() <= meets.max() < self.inputs:
            raise InputError(
                f"meets needs whole numbers from -1 to {self.inputs - 1}, in an array of shape "
                f"(groups, terms, places), got meets of shape {meets.shape}; give the indices of inputs."
            )
        for axis in (1, 2):
            ordered = np.moveaxis(np.sort(meets, axis=axis), axis, 0)
            if ((ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)).any():
                raise InputError(
                    "meets needs each input at most once per place and per weight, got an input twice; split the layer."
                )
        object.__setattr__(self, "meets", meets)

    @property
    def groups(self) -> int:
        """Number of groups of channels."""
        return len(self.meets)

    @property
    def terms(self) -> int:
        """Number of weights of a channel."""
        return int(self.meets.shape[1])

    @property
    def places(self) -> int:
        """Number of outputs of a channel."""
        return int(self.meets.shape[2])

    @cached_property
    def often(self) -> arb:
        """Square root of the largest number of places at which a group uses one input; at least |X(h)| / |h|."""
        met = [np.bincount(group[group >= 0], minlength=1).max() for group in self.meets]
        return arb(int(max(met))).sqrt()

    def dense(self, weight: Array) -> Array:
        """Matrix of the layer, shape (channels * places, inputs), from weights of shape (channels, terms)."""
        return self._spread_out(weight, self.meets.swapaxes(1, 2))

    def derivative(self, h: Array, spread: Spread, channels: int, *, weights: bool, biases: bool) -> MatrixBall:
        """Derivative of the outputs in the weights and biases that move, ordered by channel.

        The inputs h, shape (inputs,), are known up to ``spread``.
        """
        columns, offs = (np.append(one, 0.0)[self.meets] for one in (h, spread.each))
        parts = columns if weights else np.zeros((self.groups, 0, self.places))
        if biases:
            parts = np.concatenate([parts, np.ones((self.groups, 1, self.places))], axis=1)
        share, rows = channels // self.groups, parts.shape[1]
        center = np.zeros((channels, self.places, channels, rows))
        for c in range(channels):
            center[c, :, c] = parts[c // share].T
        off = reduce(arb.max, map(spectral_norm, offs))
        radius = (self.often * spread.total).min(off) if weights else arb(0)
        return MatrixBall(center.reshape(channels * self.places, channels * rows), radius)

    def weighed(self, outputs: Array) -> Array:
        """Matrix of the map from h' to the derivative of u . V X(h') in V; shape (channels * terms, inputs).

        Its entries are 0 or entries of u = ``outputs``, shape (channels * places,).
        """
        return self._spread_out(outputs.reshape(-1, self.places), self.meets)

    def _spread_out(self, values: Array, meets: NDArray[np.int64]) -> Array:
        share, rows = len(values) // self.groups, meets.shape[1]
        matrix = np.zeros((len(values), rows, self.inputs + 1))
        for c, row in enumerate(values):
            matrix[c, np.arange(rows)[:, None], meets[c // share]] = row
        return matrix[:, :, :-1].reshape(len(values) * rows, self.inputs)


@dataclass(frozen=True)
class AffineMap:
    """Affine map a = W h + b of a layer, with W within ``radius`` of its centre in the spectral norm.

    ``weight``, shape (outputs, inputs), is the centre up to a rounding error of norm at most ``error``.
    """

    weight: Array
    bias: Array
    radius: arb
    error: arb

    @cached_property
    def still(self) -> MatrixBall:
        """Ball around the weights at the centre."""
        return MatrixBall(self.weight, self.error)

    @cached_property
    def ball(self) -> MatrixBall:
        """Ball that holds the weights for all parameters."""
        return MatrixBall(self.weight, self.radius + self.error)

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        return np.abs(self.weight), row_lengths(self.weight)

    def at(self, center: Array) -> tuple[Array, Array]:
        """Image of a vector under the map at the centre, and upper bounds on the rounding errors of its entries."""
        image = self.weight @ center + self.bias
        size = round_up(self._sizes[0] @ np.abs(center) + np.abs(self.bias), self.weight.shape[1] + 2)
        return image, round_up(size * ((self.weight.shape[1] + 2) * 2.0**-52), 2)

    def image(self, spread: Spread) -> Spread:
        """Spread of W h for h with this spread, with W at the centre."""
        sizes, rows = self._sizes
        columns = self.weight.shape[1]
        each = np.minimum(
            round_up(sizes @ spread.each, columns + 1), round_up(rows * as_float(spread.total), 1)
        )
        total = self.still.norm * spread.total
        return Spread(np.minimum(each, as_float(total)), total.min(length(each)))


def floats(name: str, given: ArrayLike, dimensions: int) -> Array:
    """The array in float64; raises an `InputError` unless it has this many dimensions and finite entries."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} needs an array of numbers, got {name}={type(given).__name__}; pass one."
        ) from None
    if values.ndim != dimensions or not values.size or not np.isfinite(values).all():
        raise InputError(
            f"{name} needs a finite array with {dimensions} dimensions, got {name} of shape {values.shape}; correct it."
        )
    return values


@teaches()
@dataclass(frozen=True, eq=False)
class Layer:
    """One layer phi(W h + b), with a choice of the parameters that move.

    Attributes:
        weight: W at the centre, shape (outputs, inputs), or (channels, terms) if weights are shared.
        bias: b at the centre, one number per row of ``weight``; None for no bias.
        activation: an activation, or its name in `lastiterate.numeric.losses.activations.activation`.
        weight_moves, bias_moves: whether the weights, or the biases, vary over the ball.
        sharing: the inputs to which each weight is applied; None for a dense layer.
        rounded: whether ``weight`` holds the true weights rounded to float64.

    Raises:
        InputError: shapes do not fit, values are not finite, or the activation is unknown.
    """

    weight: ArrayLike
    bias: ArrayLike | None = None
    activation: str | Activation = "identity"
    weight_moves: bool = True
    bias_moves: bool = True
    sharing: Sharing | None = None
    rounded: bool = False
    phi: Activation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weight = floats("weight", self.weight, 2)
        bias = np.zeros(len(weight)) if self.bias is None else floats("bias", self.bias, 1)
        if len(bias) != len(weight):
            raise InputError(
                f"bias needs one number per output, got {len(bias)} for {len(weight)} outputs; correct bias."
            )
        phi = self.activation if isinstance(self.activation, Activation) else activation(self.activation)
        if self.sharing is not None and not isinstance(self.sharing, Sharing):
            raise InputError(
                f"sharing needs a Sharing or None, got sharing={echo(self.sharing)}; pass convolution(...)."
            )
        if self.sharing and (weight.shape[1] != self.sharing.terms or len(weight) % self.sharing.groups):
            raise InputError(
                f"A shared weight needs {self.sharing.terms} terms and a multiple of {self.sharing.groups} channels, "
                f"got weight of shape {weight.shape}; correct it."
            )
        for name in ("weight_moves", "bias_moves", "rounded"):
            given = getattr(self, name)
            if not isinstance(given, bool):
                raise InputError(f"{name} needs True or False, got {name}={echo(given)}; choose one.")
        if self.bias is None:
            object.__setattr__(self, "bias_moves", False)
        for name, value in (("weight", weight), ("bias", bias), ("phi", phi)):
            object.__setattr__(self, name, value)

    @property
    def moves(self) -> bool:
        """Tell whether any parameter moves."""
        return self.weight_moves or self.bias_moves

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self.sharing.inputs if self.sharing else np.shape(self.weight)[1]

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(np.asarray(self.weight)) * (self.sharing.places if self.sharing else 1)

    @property
    def matrix(self) -> Array:
        """W as a full matrix, shape (outputs, inputs)."""
        weight = np.asarray(self.weight)
        return self.sharing.dense(weight) if self.sharing else weight

    def affine(self, radius: arb) -> AffineMap:
        """The affine map on the ball of this radius."""
        matrix, often, places = self.matrix, arb(1), 1
        if self.sharing:
            often, places = self.sharing.often, self.sharing.places
        off = exact(2.0**-53) * length(matrix) if self.rounded else arb(0)
        bias = np.repeat(np.asarray(self.bias), places)
        return AffineMap(matrix, bias, often * radius if self.weight_moves else arb(0), off)


def fitting_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers; raises an `InputError` unless their shapes fit and a parameter moves."""
    if not isinstance(layers, list | tuple) or not layers or not all(isinstance(one, Layer) for one in layers):
        raise InputError(
            f"layers needs at least one Layer, got layers={echo(layers)}; give for example [Layer(weight, bias)]."
        )
    widths = [layers[0].inputs, *(layer.outputs for layer in layers)]
    for place, layer in enumerate(layers):
        if layer.inputs != widths[place]:
            raise InputError(
                f"Layer {place} needs as many inputs as the previous layer has outputs, got {layer.inputs} inputs for "
                f"{widths[place]} outputs; correct its weight."
            )
    if not any(layer.moves for layer in layers):
        raise InputError("layers needs a trained parameter, got none; set weight_moves or bias_moves to True.")
    return tuple(layers)


@teaches()
def convolution(
    weight: ArrayLike,
    bias: ArrayLike | None,
    shape: Sequence[int],
    *,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    activation: str | Activation = "identity",
    weight_moves: bool = True,
    bias_moves: bool = True,
) -> Layer:
    """A convolution as in torch, padded with zeros, in any number of dimensions.

    ``weight`` has shape (channels, input channels of a group, *kernel). An input has the ``shape`` (input
    channels, *sizes); inputs and outputs are flattened in this order. Other arguments are as in torch and
    `Layer`.

    Raises:
        InputError: shapes do not fit.

    >>> convolution([[[1.0, -1.0]]], None, (1, 3)).matrix.tolist()
    [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]
    """
    sizes = _shape(shape)
    values = floats("weight", weight, len(sizes) + 1)
    parts = count("groups", groups)
    if values.shape[1] * parts != sizes[0] or len(values) % parts:
        raise InputError(
            "A convolution needs a weight of shape (channels, input channels / groups, ...), got weight of shape "
            f"{values.shape} for inputs of shape {sizes} with groups={parts}; correct it."
        )
    return Layer(
        values.reshape(len(values), -1),
        bias,
        activation,
        weight_moves=weight_moves,
        bias_moves=bias_moves,
        sharing=_windows(sizes, values.shape[2:], stride, padding, dilation, parts),
    )


@teaches()
def average_pool(
    shape: Sequence[int], kernel: Sizes, *, stride: Sizes | None = None, padding: Sizes = 0
) -> Layer:
    """Averages over windows of each channel, counting padding as zeros: a layer with fixed weights.

    Arguments are as in `convolution`; the default ``stride`` is the size of the windows.

    Raises:
        InputError: windows do not fit.

    >>> average_pool((1, 4), 2).matrix.tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    sizes = _shape(shape)
    windows = _each("kernel", kernel, len(sizes) - 1, 1)
    sharing = _windows(sizes, windows, kernel if stride is None else stride, padding, 1, sizes[0])
    weights = np.full((sizes[0], sharing.terms), 1 / sharing.terms)
    return Layer(weights, sharing=sharing, weight_moves=False, rounded=True)


def _shape(shape: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(shape, list | tuple) or len(shape) < 2:  # channels and a size
        raise InputError(
            f"shape needs (channels, *sizes), got shape={echo(shape)}; give the shape of one input."
        )
    return tuple(count("shape", size) for size in shape)


def _each(name: str, given: Sizes, dimensions: int, least: int) -> tuple[int, ...]:
    several = tuple(given) if isinstance(given, list | tuple) else (given,) * dimensions
    if len(several) != dimensions:
        raise InputError(
            f"{name} needs one number, or {dimensions} numbers, got {name}={echo(given)}; give one per dimension."
        )
    return tuple(count(name, one, least) for one in several)


def _windows(
    shape: Sequence[int], kernel: Sequence[int], stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Sharing:
    channels, *sizes = shape
    several = len(sizes)
    steps, pads, gaps = (
        _each(name, given, several, least)
        for name, given, least in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1))
    )
    axes = list(zip(sizes, kernel, steps, pads, gaps, strict=True))
    places = [(size + 2 * pad - gap * (width - 1) - 1) // step + 1 for size, width, step, pad, gap in axes]
    if min(places) < 1:
        raise InputError(
            f"A window must fit its input, got kernel={tuple(kernel)} on shape={shape}; use a smaller kernel."
        )
    padded = [size + 2 * pad for size, _, _, pad, _ in axes]
    if channels * max(prod(sizes) * max(prod(places), prod(kernel)), prod(padded)) > LARGEST:
        raise InputError(
            f"A layer can have at most {LARGEST} entries, got shape={shape}; measure its constants instead."
        )
    borders = [(0, 0), *((pad, pad) for pad in pads)]
    inputs = np.pad(np.arange(channels * prod(sizes)).reshape(channels, *sizes), borders, constant_values=-1)
    reach = [gap * (width - 1) + 1 for width, gap in zip(kernel, gaps, strict=True)]
    windows = sliding_window_view(inputs, reach, axis=tuple(range(1, several + 1)))
    met = windows[:, *(slice(None, None, step) for step in steps), *(slice(None, None, gap) for gap in gaps)]
    terms = met.reshape(channels, prod(places), prod(kernel)).swapaxes(1, 2)
    return Sharing(channels * prod(sizes), terms.reshape(groups, -1, prod(places)))
