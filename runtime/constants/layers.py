"""Constants of every layer: how much the layer's block of the gradient changes when all parameters move.

With g_j (L_j, lambda_j)-Hölder, each layer of its own order, the whole gradient has the modulus omega(r)^2 =
sum_j L_j^2 r^(2 lambda_j), |x - y| being the distance of *all* parameters. A layer is a module that owns parameters
itself: the weight and the bias of a linear map are one block. Measured blocks of one order never combine to less than
the measured whole; what they can gain is an order for each layer (`combined`).

Source: docs/proofs/expansions.md (claims ours/layers/*); Chien & Li 2025, section 5, leaves it open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Blocks, Holder, Minimum, Modulus
from lastiterate.runtime.constants.fit import Constants, Envelope, envelope_of, read_off
from lastiterate.runtime.pair_table import Kind, PairTable

_SHORTEST: Final = 1e-4
_TRIED: Final = 9
"""An order for each layer is chosen at so many distances, from that share of the largest one on."""


@dataclass(frozen=True)
class Layer:
    """Measurement of one layer's block of the gradient. Direction: lower estimates.

    Attributes:
        name: of the module that owns the parameters, as in ``named_modules``; "(module)" for the outermost.
        size: number of its parameters.
        measured: for each kind of gradient the block's constants, in the order of the lambdas asked for.
        envelopes: for each kind of gradient the block's measured modulus.
    """

    name: str
    size: int
    measured: dict[Kind, Constants]
    envelopes: dict[Kind, Envelope]


def layers_of(table: PairTable, sizes: dict[str, int], lambdas: Sequence[float], radius: float) -> tuple[Layer, ...]:
    """The constants and moduli of every layer, from the table that the whole gradient's are read off.

    ``sizes`` are numbers of parameters by the layer's name, in the order of the table's blocks.
    """
    found = []
    for j, (name, size) in enumerate(sizes.items()):
        block = table.block(j)
        measured = {kind: read_off(block, kind, lambdas) for kind in Kind}
        found.append(Layer(name, size, measured, {kind: envelope_of(block, kind, radius) for kind in Kind}))
    return tuple(found)


def combined(layers: Sequence[Layer], lambdas: Sequence[float], kind: Kind, reach: float) -> Modulus | Minimum:
    """Modulus of the whole gradient from the constants of the layers, each of the order that suits it.

    Every choice of an order for each layer gives a modulus; taken are those that are least at some distance up to
    ``reach``, and all of them hold together. Nothing is proved by it: the constants are measured.

    Raises:
        InputError: no layers, or one of which no pair could be trusted.
    """
    if not layers:
        raise InputError("Layers need to be measured, got layers=(); measure again with layers=True.")
    for layer in layers:
        if not layer.measured[kind].kept:
            raise InputError(
                f"Every layer needs a pair that rounding does not dominate, got none for layer={layer.name}; measure "
                "in float64 or with a larger radius, or freeze a layer that does nothing."
            )
    constants = np.array([layer.measured[kind].constants for layer in layers])
    distances = reach * np.geomspace(_SHORTEST, 1, _TRIED)
    values = constants[None] * distances[:, None, None] ** np.array(lambdas)
    choices = dict.fromkeys(tuple(row) for row in values.argmin(axis=2).tolist())
    moduli = [
        Blocks(*(Holder(L[k], lambdas[k]) for L, k in zip(constants.tolist(), row, strict=True))) for row in choices
    ]
    return moduli[0] if len(moduli) == 1 else Minimum(*moduli)
