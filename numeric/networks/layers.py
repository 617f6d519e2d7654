"""The layers of a feed-forward network.

    h_0 = x,  a_l = W_l h_(l-1) + b_l,  h_l = phi_l(a_l) [+ F_l h_(l - skip)],  outputs h_depth.

Source: docs/proofs/network_constants.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count, echo
from lastiterate.numeric.losses.activations import Activation, PiecewiseLinear, SmoothActivation, activation
from lastiterate.numeric.networks.bounds import Affine
from lastiterate.numeric.networks.matrices import Floats, length
from lastiterate.numeric.networks.normalisation import Normalisation
from lastiterate.numeric.networks.sharing import Sharing
from lastiterate.numeric.rounding import exact


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


@teaches()
@dataclass(frozen=True, eq=False)
class Layer:
    """One layer phi(W h + b), and what of it moves.

    Attributes:
        weight: W at the centre of the ball, shape (outputs, inputs); where it is shared, (channels, terms).
        bias: b there, one number a row of the weight; None for no bias.
        activation: a name that `lastiterate.numeric.losses.activations.activation` knows, or an activation itself,
            or a `lastiterate.numeric.networks.normalisation.Normalisation`.
        skip: the outputs of so many layers before are added to those of this one; 0 for none, 1 for a residual layer.
        through: the matrix F by which they are multiplied before, shape (outputs, theirs), frozen; None for identity.
        weight_moves, bias_moves: whether the ball moves them; what does not is frozen at the centre.
        sharing: where each weight is used; None for once.
        rounded: whether the weights stand for numbers that are rounded to them.

    Raises:
        InputError: shapes that do not fit, values that are not finite, an activation that is not known.
    """

    weight: ArrayLike
    bias: ArrayLike | None = None
    activation: str | Activation | Normalisation = "identity"
    skip: int = 0
    through: ArrayLike | None = None
    weight_moves: bool = True
    bias_moves: bool = True
    sharing: Sharing | None = None
    rounded: bool = False
    phi: Activation | Normalisation = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weight = floats("weight", self.weight, 2)
        bias = np.zeros(len(weight)) if self.bias is None else floats("bias", self.bias, 1)
        if len(bias) != len(weight):
            raise InputError(f"bias needs one number an output, got bias of {len(bias)} for {len(weight)}; mend it.")
        known = isinstance(self.activation, SmoothActivation | PiecewiseLinear | Normalisation)
        phi = self.activation if known else activation(self.activation)  # type: ignore[arg-type]
        if self.sharing is not None and not isinstance(self.sharing, Sharing):
            raise InputError(
                f"sharing needs a Sharing or None, got sharing={echo(self.sharing)}; give convolution(...)."
            )
        if self.sharing and (weight.shape[1] != self.sharing.terms or len(weight) % self.sharing.groups):
            raise InputError(
                f"weight needs {self.sharing.terms} terms and a multiple of {self.sharing.groups} channels where it is "
                f"shared, got weight of shape {weight.shape}; mend it."
            )
        for name in ("weight_moves", "bias_moves", "rounded"):
            given = getattr(self, name)
            if not isinstance(given, bool):
                raise InputError(f"{name} needs True or False, got {name}={echo(given)}; say which.")
        if self.through is not None:
            object.__setattr__(self, "through", floats("through", self.through, 2))
        if self.bias is None:
            object.__setattr__(self, "bias_moves", False)
        for name, value in (("weight", weight), ("bias", bias), ("phi", phi), ("skip", count("skip", self.skip, 0))):
            object.__setattr__(self, name, value)

    @property
    def moves(self) -> bool:
        """True if anything of the layer moves."""
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
    def matrix(self) -> Floats:
        """W of the whole map, shape (outputs, inputs)."""
        weight = np.asarray(self.weight)
        return self.sharing.dense(weight) if self.sharing else weight

    @property
    def often(self) -> arb:
        """At least |W| over the length of the weights that it is made of."""
        return self.sharing.often if self.sharing else arb(1)

    @cached_property
    def bypass(self) -> Affine | None:
        """The map of what skips to this layer, or None for the identity."""
        if self.through is None:
            return None
        return Affine(np.asarray(self.through), np.zeros(self.outputs), arb(0), arb(0))

    def affine(self, radius: arb) -> Affine:
        """The affine map on the ball of this radius."""
        matrix = self.matrix
        off = exact(2.0**-53) * length(matrix) if self.rounded else arb(0)
        bias = np.repeat(np.asarray(self.bias), self.sharing.places if self.sharing else 1)
        return Affine(matrix, bias, self.often * radius if self.weight_moves else arb(0), off)


def checked(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers, whose shapes fit and of which one moves, or an `InputError` that says what does not."""
    if not isinstance(layers, list | tuple) or not layers or not all(isinstance(one, Layer) for one in layers):
        raise InputError(f"layers needs at least one Layer, got layers={echo(layers)}; give Layer(weight, bias), ....")
    widths = [layers[0].inputs, *(layer.outputs for layer in layers)]
    for place, layer in enumerate(layers):
        if layer.inputs != widths[place]:
            raise InputError(
                f"Layer {place} needs as many inputs as the layer before has outputs, got {layer.inputs} for "
                f"{widths[place]}; mend its weight."
            )
        wide = layer.outputs, widths[max(0, place + 1 - layer.skip)]
        fits = wide == np.shape(layer.through) if layer.through is not None else wide[0] == wide[1]
        if layer.skip > place + 1 or (layer.skip and not fits):
            raise InputError(
                f"Layer {place} needs a skip from an earlier layer of its own width, or through a matrix between the "
                f"two, got skip={layer.skip}; lower it."
            )
    if not any(layer.moves for layer in layers):
        raise InputError("layers needs parameters that move, got none; let weight_moves or bias_moves be true.")
    return tuple(layers)
