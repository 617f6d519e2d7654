"""Feed-forward torch networks, read layer by layer, and their proved constants.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, prod
from textwrap import shorten
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, count, echo, teaches, within
from lastiterate.numeric.losses.activations import SMOOTH, Activation, hardtanh, leaky_relu
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.layers import LARGEST, Layer, Sharing, average_pool, convolution
from lastiterate.numeric.rounding import exact, precision
from lastiterate.runtime.trials import refuse_complex

_POOLS: Final = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_AVERAGES: Final = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_CONVOLUTIONS: Final = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_BATCH_NORMS: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_DROPOUTS: Final = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
_THRESHOLD: Final = 20.0

_ACTIVATIONS: Final[Mapping[type[nn.Module], Callable[[Any], Activation]]] = MappingProxyType({
    nn.Tanh: lambda _: SMOOTH["tanh"],
    nn.Sigmoid: lambda _: SMOOTH["sigmoid"],
    nn.Softplus: lambda _: SMOOTH["softplus"],
    nn.GELU: lambda _: SMOOTH["gelu"],
    nn.ReLU: lambda _: leaky_relu(),
    nn.LeakyReLU: lambda part: leaky_relu(float(part.negative_slope), name="leaky_relu"),
    nn.Hardtanh: lambda part: hardtanh(float(part.min_val), float(part.max_val)),
    nn.ReLU6: lambda part: hardtanh(float(part.min_val), float(part.max_val)),
})  # fmt: skip


_SUPPORTED: Final = (
    nn.Linear, *_CONVOLUTIONS, *_AVERAGES, nn.Flatten, nn.Identity, *_ACTIVATIONS, *_BATCH_NORMS,
)  # fmt: skip


def no_constants(why: str) -> Callable[[nn.Module, float], LossConstants]:
    """Function ``constants`` for a network without proved constants; its results contain the reason."""
    return lambda _module, _diameter: LossConstants.unknown(why)


@teaches()
def constants_of_network(
    input_norm: float, *, shape: Sequence[int] | None = None, loss: str = "cross_entropy", scale: float = 1.0
) -> Callable[[nn.Module, float], LossConstants]:
    """Upper bounds on the constants of a feed-forward network for all inputs of bounded norm, for `Workload`.

    Args:
        input_norm: largest norm of any possible input.
        shape: shape of an input, (channels, *sizes), which convolutions need; None for one vector.
        loss: "cross_entropy", or "logistic" for one output: the workload's loss up to its scale.
        scale: factor of the loss.
    """
    reach = within(
        "input_norm", input_norm, "a finite number of at least 0", lambda x: 0 <= x < inf, "shorten inputs."
    )

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        layers = layers_of(module, shape)
        if isinstance(layers, str):
            return LossConstants.unknown(layers)
        origin = np.zeros((1, layers[0].inputs))
        if within("diameter", diameter, "a number of at least 0", lambda x: x >= 0, "0 is one point.") == inf:
            return LossConstants.unknown("the domain is unbounded, so the constants of a network may be, too")
        return network_constants(layers, origin, diameter / 2, input_radius=reach, loss=loss, scale=scale)

    return constants


class _NoConstantsError(Exception):
    """A part of the network has no proved constants; the message gives the reason."""


def layers_of(module: nn.Module, shape: Sequence[int] | None = None) -> tuple[Layer, ...] | str:
    """Layers of a network, or the reason why it has no constants: max pooling or a layer that is too large.

    ``shape`` is as in `constants_of_network`.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"Certified constants need a torch module, got {type(module).__name__}; pass one.")
    refuse_complex(
        "A network of certified constants", **{name: [one] for name, one in module.named_parameters()}
    )
    owned = [id(one) for _, one in module.named_parameters(remove_duplicate=False)]
    if len(set(owned)) < len(owned):
        raise InputError(
            "Certified constants need each layer to have parameters of its own, got some that are shared; copy them."
        )
    reader = _Reader(shape)
    try:
        reader.read("module", module)
    except _NoConstantsError as why:
        return str(why)
    if not any(layer.moves for layer in reader.found):
        raise InputError("Certified constants need a trained linear layer, got a module without any; add one.")
    return tuple(reader.found)


def _as_usual(module: nn.Module) -> bool:
    """True if the module computes the standard function of its type, without hooks."""
    if module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module):
        return False
    if isinstance(module, nn.GELU):
        return module.approximate == "none"
    if isinstance(module, nn.Softplus):
        return module.beta == 1 and module.threshold >= _THRESHOLD
    if isinstance(module, nn.Flatten):
        return module.start_dim == 1 and module.end_dim == -1
    if isinstance(module, _CONVOLUTIONS):
        return module.padding_mode == "zeros" and not isinstance(module.padding, str)
    if isinstance(module, _AVERAGES):
        divisor = getattr(module, "divisor_override", None)
        return module.count_include_pad and not module.ceil_mode and divisor is None
    return True


class _Reader:
    """Layers read so far, and the shape of their output."""

    def __init__(self, shape: Sequence[int] | None) -> None:
        self.found: list[Layer] = []
        if not isinstance(shape, list | tuple | None):
            raise InputError(
                f"shape needs the sizes of one input, got shape={echo(shape)}; give (channels, *sizes)."
            )
        self._shape = None if shape is None else tuple(count("shape", size) for size in shape)

    def read(self, name: str, module: Any) -> None:
        kind = type(module)
        if not _as_usual(module):
            raise InputError(
                f"Certified constants need {kind.__name__} without hooks and with default settings, got "
                f"{name}={shorten(str(module), 200, placeholder=' ...')}; change that layer."
            )
        if kind is nn.Sequential:
            for key, part in module._modules.items():  # named_children omits duplicates
                if part is not None:
                    self.read(key if name == "module" else f"{name}.{key}", part)
        elif kind in _POOLS:
            raise _NoConstantsError(
                f"{kind.__name__} has a kink wherever two entries of a window are equal, so the gradient jumps there"
            )
        elif kind is nn.Linear:
            self._straight(name, module)
            self.found.append(Layer(_numbers(module.weight), _numbers(module.bias), **_moves(module)))
        elif kind in _CONVOLUTIONS or kind in _AVERAGES:
            self._windows(name, module)
        elif kind in _BATCH_NORMS:
            self._batch_norm(name, module)
        elif kind is nn.Flatten:
            self._shape = None if self._shape is None else (prod(self._shape),)
        elif kind in _ACTIVATIONS:
            self._activate(_ACTIVATIONS[kind](module), name)
        elif kind is not nn.Identity and (kind not in _DROPOUTS or module.training):
            known = ", ".join(one.__name__ for one in _SUPPORTED)
            raise InputError(
                f"Certified constants need a Sequential of {known}, got {name}={kind.__name__}; use those, give "
                "network_constants its layers as arrays, or measure the constants instead."
            )

    def _straight(self, name: str, part: nn.Linear) -> None:
        if self._shape is not None and self._shape != (part.in_features,):
            raise InputError(
                f"{name}=Linear needs inputs of shape ({part.in_features},), got shape={self._shape}; put a Flatten "
                "before it."
            )
        self._shape = (part.out_features,)

    def _windows(self, name: str, part: Any) -> None:
        if self._shape is None:
            raise InputError(
                f"{name}={type(part).__name__} needs the shape of an input, got shape=None; give (channels, *sizes)."
            )
        average = isinstance(part, _AVERAGES)
        try:
            if len(self._shape) != 2 + (_AVERAGES if average else _CONVOLUTIONS).index(type(part)):
                raise ValueError
            with torch.no_grad():
                after = part(torch.zeros(1, *self._shape).to(next(part.parameters(), torch.zeros(0)))).shape[1:]
        except (RuntimeError, ValueError):
            raise InputError(
                f"{name}={part} needs inputs of a shape that fits, got shape={self._shape}; correct one of them."
            ) from None
        if prod(self._shape) * prod(after) > LARGEST:
            raise _NoConstantsError(
                f"not known: {name}={type(part).__name__} has {prod(self._shape)} inputs and {prod(after)} outputs, "
                "too many for a proof"
            )
        if average:
            self.found.append(
                average_pool(self._shape, part.kernel_size, stride=part.stride, padding=part.padding)
            )
        else:
            settings = {key: getattr(part, key) for key in ("stride", "padding", "dilation", "groups")}
            self.found.append(
                convolution(_numbers(part.weight), _numbers(part.bias), self._shape, **settings, **_moves(part))
            )
        self._shape = tuple(after)

    def _batch_norm(self, name: str, part: Any) -> None:
        """Append batch norm in its eval mode, and its learned factors as a further layer."""
        shape = self._shape or ((self.found[-1].outputs,) if self.found else tuple(np.shape(part.weight)))
        if prod(shape) ** 2 > LARGEST:
            raise _NoConstantsError(
                f"not known: {name}={type(part).__name__} has {prod(shape)} entries, too many for a proof"
            )
        each = prod(shape[1:])  # number of entries that share a factor
        self.found += _batch_norm(name, part, each)
        if isinstance(part.weight, Tensor):
            self.found.append(_diagonal(_numbers(part.weight), _numbers(part.bias), each, **_moves(part)))

    def _activate(self, phi: Activation, name: str) -> None:
        """Apply an activation to the last layer, or to a frozen identity if that layer has an activation."""
        if not self.found:
            raise InputError(
                f"Certified constants need a linear layer first, got {name}={phi.name}; put one before it."
            )
        last = self.found[-1]
        if last.phi.name == "identity":
            self.found[-1] = replace(last, activation=phi)
        else:
            self.found.append(Layer(np.eye(last.outputs), None, phi, weight_moves=False, bias_moves=False))


def _batch_norm(name: str, module: Any, each: int) -> list[Layer]:
    """Layers of (x - mean) / sqrt(variance + eps) with the stored mean and variance."""
    mean, variance = _numbers(module.running_mean), _numbers(module.running_var)
    if module.training or mean is None or variance is None:
        raise InputError(
            f"Certified constants need a batch norm in eval mode, got {name}={module}, which uses the batch; call "
            "eval()."
        )
    with precision():
        factors = [float((1 / (exact(v) + exact(float(module.eps))).sqrt()).mid()) for v in variance.tolist()]
    return [_diagonal(np.ones(len(mean)), -mean, each), _diagonal(np.array(factors), None, each, rounded=True)]


def _diagonal(
    factors: Array, bias: Array | None, each: int, *, weight_moves: bool = False, bias_moves: bool = False,
    rounded: bool = False,
) -> Layer:  # fmt: skip
    """Layer with one factor and one bias for each block of ``each`` consecutive entries."""
    channels = len(factors)
    sharing = Sharing(channels * each, np.arange(channels * each).reshape(channels, 1, each))
    return Layer(
        factors[:, None],
        bias,
        weight_moves=weight_moves,
        bias_moves=bias_moves,
        sharing=sharing,
        rounded=rounded,
    )


def _numbers(values: Any) -> Any:
    return None if values is None else values.detach().cpu().double().numpy()


def _moves(part: Any) -> dict[str, Any]:
    bias = getattr(part, "bias", None)
    return {"weight_moves": part.weight.requires_grad, "bias_moves": bias is not None and bias.requires_grad}
