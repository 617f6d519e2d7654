"""Convolutions and averages over windows, as layers whose weights are shared.

Source: docs/proofs/network_constants.md, "Weights that are shared" (claim ours/certified/network/sharing).
"""

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count, echo
from lastiterate.numeric.losses.activations import Activation
from lastiterate.numeric.networks.layers import Layer, floats
from lastiterate.numeric.networks.sharing import Sharing

LARGEST: Final = 2**24
"""Entries of the matrix of a layer, 128 MiB in float64."""

Sizes = int | Sequence[int]
"""One number for every dimension, or one each."""


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
    """A convolution as torch has it, padded with zeros, in any number of dimensions.

    Args:
        weight: shape (channels, input channels of a group, *kernel).
        bias: shape (channels,); None for none.
        shape: of an input, (input channels, *sizes); inputs and outputs are flattened in this order.
        stride: of the windows.
        padding: zeros at each end.
        dilation: distance of the entries of a window.
        groups: how many parts of the channels have nothing to do with each other.
        activation: what follows it.
        weight_moves: whether the ball moves the weights.
        bias_moves: whether it moves the biases.

    Raises:
        InputError: shapes that do not fit.

    >>> convolution([[[1.0, -1.0]]], None, (1, 3)).matrix.tolist()
    [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]
    """
    sizes = _shape(shape)
    values = floats("weight", weight, len(sizes) + 1)
    parts = count("groups", groups)
    if values.shape[1] * parts != sizes[0] or len(values) % parts:
        raise InputError(
            f"A convolution needs weights (channels, input channels / groups, ...), got weight of shape {values.shape} "
            f"for inputs of shape {sizes} in groups={parts}; mend it."
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
def average_pool(shape: Sequence[int], kernel: Sizes, *, stride: Sizes | None = None, padding: Sizes = 0) -> Layer:
    """Averages over windows of each channel, padding counted as zeros: a layer that does not move.

    Args:
        shape: of an input, (channels, *sizes).
        kernel: size of the windows.
        stride: of the windows; None for their size.
        padding: zeros at each end.

    Raises:
        InputError: windows that do not fit.

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
        raise InputError(f"shape needs (channels, *sizes), got shape={echo(shape)}; give that of one input.")
    return tuple(count("shape", size) for size in shape)


def _each(name: str, given: Sizes, dimensions: int, least: int) -> tuple[int, ...]:
    several = tuple(given) if isinstance(given, list | tuple) else (given,) * dimensions
    if len(several) != dimensions:
        raise InputError(f"{name} needs one number, or {dimensions}, got {name}={echo(given)}; give one a dimension.")
    return tuple(count(name, one, least) for one in several)


def _windows(
    shape: Sequence[int], kernel: Sequence[int], stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Sharing:
    """The inputs, flattened in the order (channels, *sizes), that stand in each window."""
    channels, *sizes = shape
    several = len(sizes)
    steps, pads, gaps = (
        _each(name, given, several, least)
        for name, given, least in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1))
    )
    ends = zip(sizes, kernel, steps, pads, gaps, strict=True)
    places = [(size + 2 * pad - gap * (width - 1) - 1) // step + 1 for size, width, step, pad, gap in ends]
    if min(places) < 1:
        raise InputError(f"A window needs to fit its input, got kernel={tuple(kernel)} on shape={shape}; shorten it.")
    if channels * prod(sizes) * max(prod(places), prod(kernel)) > LARGEST:
        raise InputError(f"A layer needs at most {LARGEST} entries, got shape={shape}; measure its constants instead.")
    at, inside = np.zeros((1,) * 2 * several, dtype=np.int64), np.ones((1,) * 2 * several, dtype=bool)
    for d, (size, width, step, pad, gap) in enumerate(zip(sizes, kernel, steps, pads, gaps, strict=True)):
        room = size + 2 * pad - gap * (width - 1) - 1
        if room < 0:
            raise InputError(
                f"A window needs to fit its input, got kernel={width} on size={size}; pad it or shorten it."
            )
        line = np.arange(width)[:, None] * gap + np.arange(room // step + 1) * step - pad
        line = np.expand_dims(line, tuple(axis for axis in range(2 * several) if axis not in (d, several + d)))
        at, inside = at * size + line, inside & (line >= 0) & (line < size)
    window = np.where(inside, at, -1).reshape(prod(kernel), -1)
    starts = np.arange(channels)[:, None, None] * prod(sizes)
    meets = np.where(window < 0, -1, window + starts)
    return Sharing(channels * prod(sizes), meets.reshape(groups, -1, window.shape[1]))
