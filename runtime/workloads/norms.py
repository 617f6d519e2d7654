"""Norms of torch as layers whose constants are proved.

Source: docs/proofs/network_constants.md, "Normalisation" (claims ours/certified/network/normalisation/*).
"""

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.networks.layers import Layer
from lastiterate.numeric.networks.matrices import Floats
from lastiterate.numeric.networks.normalisation import Normalisation
from lastiterate.numeric.networks.sharing import Sharing
from lastiterate.numeric.rounding import exact, precision

_BATCH: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
NORMS: Final = (nn.LayerNorm, nn.RMSNorm, nn.GroupNorm, *_BATCH)
"""The norms that are read; of batch norm the one that was trained before, an affine map of each channel."""


def normalised(name: str, module: nn.Module, shape: Sequence[int]) -> Normalisation | list[Layer]:
    """A norm without what it learns: an activation, or for batch norm the layers that it is.

    Args:
        name: of the module, for what is said of it.
        module: one of `NORMS`.
        shape: of its input, (features,) or (channels, *sizes).

    Raises:
        InputError: a norm over a part of the entries, one that adds no eps, or batch norm over the batch.
    """
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        if tuple(module.normalized_shape) != tuple(shape):
            raise InputError(
                f"Certified constants need a norm over all entries, got {name}={module} of inputs of shape={shape}; "
                "flatten them, or take GroupNorm."
            )
        groups, eps = 1, module.eps or 0.0  # None of RMSNorm is that of the floats in use
    elif isinstance(module, nn.GroupNorm):
        groups, eps = module.num_groups, module.eps
    else:
        return _batch(name, module, shape)
    if not eps > 0:
        raise InputError(f"Certified constants need a norm with eps > 0, got {name}={module}; give it one.")
    words = {nn.RMSNorm: "rms_norm", nn.GroupNorm: "group_norm"}.get(type(module), "layer_norm")
    return Normalisation(groups, float(eps), centred=not isinstance(module, nn.RMSNorm), name=words)


def learned(module: nn.Module, shape: Sequence[int]) -> list[Layer]:
    """The factors and biases of a norm as a layer, one an entry or a channel; none where it learns nothing."""
    factors, bias = module.weight, getattr(module, "bias", None)
    if not isinstance(factors, Tensor):
        return []
    share = 1 if isinstance(module, nn.LayerNorm | nn.RMSNorm) else prod(shape[1:])
    moves = isinstance(bias, Tensor) and bias.requires_grad
    given = None if bias is None else _numbers(bias)
    return [_diagonal(_numbers(factors), given, share, (factors.requires_grad, moves))]


def _batch(name: str, module: nn.Module, shape: Sequence[int]) -> list[Layer]:
    """(x - mean) / sqrt(variance + eps) with the mean and the variance that are kept."""
    mean, variance = module.running_mean, module.running_var
    if module.training or mean is None or variance is None:
        raise InputError(
            f"Certified constants need a batch norm in its eval mode, got {name}={module} over the batch; "
            "call eval(), or take GroupNorm."
        )
    eps, share = float(module.eps), prod(shape[1:])  # type: ignore[arg-type]
    with precision():
        factors = [float((1 / (exact(v) + exact(eps)).sqrt()).mid()) for v in _numbers(variance).tolist()]
    shifts, frozen = -_numbers(mean), (False, False)
    ones = np.ones(len(shifts))
    return [_diagonal(ones, shifts, share, frozen), _diagonal(np.array(factors), None, share, frozen, rounded=True)]


def _diagonal(
    factors: Floats, bias: Floats | None, share: int, moves: tuple[bool, bool], *, rounded: bool = False
) -> Layer:
    """One factor and one bias for each of so many entries in a row."""
    channels = len(factors)
    meets = np.arange(channels * share).reshape(channels, 1, share)
    return Layer(
        factors[:, None], bias, weight_moves=moves[0], bias_moves=moves[1],
        sharing=Sharing(channels * share, meets), rounded=rounded,
    )  # fmt: skip


def _numbers(values: object) -> Floats:
    assert isinstance(values, Tensor)  # noqa: S101
    return values.detach().cpu().double().numpy()
