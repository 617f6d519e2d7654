"""Feed-forward networks of torch, read layer by layer, for constants that are proved.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, count, echo
from lastiterate.numeric.losses.activations import SMOOTH, Activation, hardtanh, leaky_relu
from lastiterate.numeric.networks.convolutions import LARGEST, average_pool, convolution
from lastiterate.numeric.networks.layers import Layer
from lastiterate.numeric.networks.normalisation import Normalisation
from lastiterate.runtime.workloads.modules import LowRank, Residual
from lastiterate.runtime.workloads.norms import NORMS, learned, normalised
from lastiterate.runtime.workloads.trials import refuse_complex

_PLAIN: Final = MappingProxyType({nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", nn.Softplus: "softplus", nn.GELU: "gelu"})
_POOLS: Final = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_AVERAGES: Final = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
_CONVOLUTIONS: Final = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_PIECES: Final = (nn.ReLU, nn.LeakyReLU, nn.Hardtanh, nn.ReLU6)
_DROPOUTS: Final = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
_THRESHOLD: Final = 20.0
_SUPPORTED: Final = (
    "Linear, LowRank, Conv, AvgPool, Flatten, Identity, Tanh, Sigmoid, Softplus, GELU, ReLU, LeakyReLU, Hardtanh, "
    "LayerNorm, RMSNorm, GroupNorm, BatchNorm, Residual"
)


def layers_of(module: nn.Module, shape: Sequence[int] | None = None) -> tuple[Layer, ...] | str:
    """The layers of a network; or, where it pools by maxima or a layer is too large, why it has no constants.

    Parameters that ask for no gradient are frozen.

    Args:
        module: the network.
        shape: of an input, (channels, *sizes), which convolutions need; None for one vector.

    Raises:
        InputError: a part that is not known, or parameters that two parts share.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"Certified constants need a torch module, got {type(module).__name__}; give one.")
    refuse_complex("A network of certified constants", **{name: [one] for name, one in module.named_parameters()})
    parts = list(_parts(module, "module"))
    pools = [type(part).__name__ for _, part in parts if isinstance(part, _POOLS)]
    if pools:
        return f"{pools[0]} has a kink wherever two entries of a window are equal, so the gradient jumps there"
    owned = [id(p) for _, part in parts if isinstance(part, nn.Module) for p in part.parameters()]
    if len(set(owned)) < len(owned):
        raise InputError(
            "Certified constants need parameters of their own in each layer, got some that are shared; copy them."
        )
    reader = _Reader(shape)
    for name, part in parts:
        reader.read(name, part)
        if reader.large:
            return reader.large
    if not any(layer.moves for layer in reader.found):
        raise InputError("Certified constants need a linear layer that moves, got a module without any; add one.")
    return tuple(reader.found)


def _parts(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module | str]]:
    """The modules in the order in which they act, with marks where a residual block begins and ends."""
    kind = type(module)
    if not _as_usual(module):
        raise InputError(
            f"Certified constants need {kind.__name__} with its default settings, got {name}={module}; change it."
        )
    if kind in _DROPOUTS and not module.training:
        return  # in eval mode it is the identity
    if kind is nn.Sequential or kind is Residual:
        if kind is Residual:
            yield name, "begin"
        for key, part in module._modules.items():  # named_children leaves out what stands there twice
            if part is None:
                continue
            yield from _parts(part, key if name == "module" else f"{name}.{key}")
        if kind is Residual:
            yield name, "end"
    elif kind in (
        nn.Linear,
        LowRank,
        nn.Identity,
        nn.Flatten,
        *_PIECES,
        *_PLAIN,
        *_POOLS,
        *_AVERAGES,
        *_CONVOLUTIONS,
        *NORMS,
    ):
        yield name, module
    else:
        raise InputError(
            f"Certified constants need a Sequential of {_SUPPORTED}, got {name}={kind.__name__}; "
            "use those, give network_constants its layers as arrays, or measure the constants instead."
        )


def _as_usual(module: nn.Module) -> bool:
    """True if the module computes what its type stands for here, and nothing hooks into it."""
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
    if isinstance(module, LowRank):
        return all(type(part) is nn.Linear and _as_usual(part) for part in module.children())
    return True


class _Reader:
    """Layers that were read so far, and the shape of what they give.

    Attributes:
        found: the layers.
        large: which layer is too large, or "".
    """

    def __init__(self, shape: Sequence[int] | None) -> None:
        self.found: list[Layer] = []
        self.large = ""
        if not isinstance(shape, list | tuple | None):
            raise InputError(f"shape needs the sizes of one input, got shape={echo(shape)}; give (channels, *sizes).")
        self._shape = None if shape is None else tuple(count("shape", size) for size in shape)
        self._begun: list[tuple[int, tuple[int, ...] | None]] = []

    def read(self, name: str, part: nn.Module | str) -> None:
        """Put a part behind the layers."""
        if part == "begin":
            self._begun.append((len(self.found), self._shape))
        elif part == "end":
            self._close(name)
        elif isinstance(part, nn.Linear):
            self._straight(name, part)
            self.found.append(_linear(part))
        elif isinstance(part, LowRank):
            self._straight(name, part.linear)
            self._low_rank(part)
        elif isinstance(part, (*_CONVOLUTIONS, *_AVERAGES)):
            self._windows(name, part)
        elif isinstance(part, NORMS):
            self._norm(name, part)
        elif isinstance(part, nn.Flatten):
            self._shape = None if self._shape is None else (prod(self._shape),)
        elif not isinstance(part, nn.Identity):
            self._activate(_activation(name, part), name)

    def _straight(self, name: str, part: nn.Linear) -> None:
        if self._shape is not None and self._shape != (part.in_features,):
            raise InputError(
                f"{name}=Linear needs inputs of shape ({part.in_features},), got shape={self._shape}; put a Flatten "
                "before it."
            )
        self._shape = (part.out_features,)

    def _windows(self, name: str, part: nn.Module) -> None:
        if self._shape is None:
            raise InputError(
                f"{name}={type(part).__name__} needs the shape of an input, got shape=None; give (channels, *sizes)."
            )
        kinds = _AVERAGES if isinstance(part, _AVERAGES) else _CONVOLUTIONS
        try:
            if len(self._shape) != 2 + kinds.index(type(part)):
                raise ValueError
            with torch.no_grad():
                after = part(torch.zeros(1, *self._shape).to(next(part.parameters(), torch.zeros(0)))).shape[1:]
        except (RuntimeError, ValueError):
            raise InputError(f"{name}={part} needs inputs that fit, got shape={self._shape}; mend it.") from None
        if prod(self._shape) * prod(after) > LARGEST:
            self.large = (
                f"not known: {name}={type(part).__name__} has {prod(self._shape)} inputs and {prod(after)} outputs, "
                "too many for a proof"
            )
            return
        self.found.append(_averaged(part, self._shape) if isinstance(part, _AVERAGES) else _conv(part, self._shape))
        self._shape = tuple(after)

    def _norm(self, name: str, part: nn.Module) -> None:
        """A norm as an activation of what stands before it, and what it learns as a layer."""
        shape = self._shape or ((self.found[-1].outputs,) if self.found else tuple(np.shape(part.weight)))  # type: ignore[arg-type]
        width, phi = prod(shape), normalised(name, part, shape)
        if width**2 > LARGEST:
            self.large = f"not known: {name}={type(part).__name__} has {width} entries, too many for a proof"
            return
        if isinstance(phi, Normalisation):
            if not self.found:
                self.found.append(_frozen_identity(width, SMOOTH["identity"]))
            self._activate(phi, name)
        else:
            self.found += phi
        self.found += learned(part, shape)

    def _low_rank(self, part: LowRank) -> None:
        """A and B one after the other, and W on the way past them."""
        through, down, up = (_linear(one) for one in (part.linear, part.down, part.up))
        if through.weight_moves:
            raise InputError("A LowRank needs a linear layer that is frozen, got one that moves; freeze it.")
        self.found.append(down)
        if part.scale != 1:
            self.found.append(Layer(part.scale * np.eye(down.outputs), weight_moves=False))
        self.found.append(
            replace(
                up, bias=through.bias, bias_moves=through.bias_moves, through=through.weight, skip=2 + (part.scale != 1)
            )
        )

    def _activate(self, phi: Activation | Normalisation, name: str) -> None:
        """Put an activation behind the last layer, or behind a frozen identity where that is not its own."""
        if not self.found:
            raise InputError(f"Certified constants need a linear layer first, got {name}={phi.name}; swap them.")
        last = self.found[-1]
        if last.phi.name == "identity" and not last.skip and all(begun < len(self.found) for begun, _ in self._begun):
            self.found[-1] = replace(last, activation=phi)
        else:
            self.found.append(_frozen_identity(last.outputs, phi))

    def _close(self, name: str) -> None:
        """End a residual block."""
        begun, shape = self._begun.pop()
        if shape not in (None, self._shape):
            raise InputError(f"A Residual needs outputs of shape {shape}, got {name} with {self._shape}; mend it.")
        if len(self.found) == begun:
            raise InputError(f"A Residual needs a linear layer in it, got {name} without any; add one or take it out.")
        if self.found[-1].skip:
            self.found.append(_frozen_identity(self.found[-1].outputs, SMOOTH["identity"]))
        self.found[-1] = replace(self.found[-1], skip=len(self.found) - begun)


def _activation(name: str, module: nn.Module | str) -> Activation:
    for kind, known in _PLAIN.items():
        if isinstance(module, kind):
            return SMOOTH[known]
    if isinstance(module, nn.LeakyReLU):
        return leaky_relu(float(module.negative_slope), name="leaky_relu")
    if isinstance(module, nn.Hardtanh):
        return hardtanh(float(module.min_val), float(module.max_val))
    if isinstance(module, nn.ReLU):
        return leaky_relu()
    raise InputError(f"Certified constants need an activation that is known, got {name}={module}; use tanh.")


def _numbers(values: Tensor | None) -> NDArray[np.float64] | None:
    return None if values is None else values.detach().cpu().double().numpy()


def _linear(module: nn.Linear) -> Layer:
    moves = module.bias is not None and module.bias.requires_grad
    weight = _numbers(module.weight)
    return Layer(weight, _numbers(module.bias), weight_moves=module.weight.requires_grad, bias_moves=moves)  # type: ignore[arg-type]


def _conv(module: nn.Module, shape: tuple[int, ...]) -> Layer:
    return convolution(
        _numbers(module.weight),  # type: ignore[arg-type]
        _numbers(module.bias),  # type: ignore[arg-type]
        shape,
        stride=module.stride,  # type: ignore[arg-type]
        padding=module.padding,  # type: ignore[arg-type]
        dilation=module.dilation,  # type: ignore[arg-type]
        groups=module.groups,  # type: ignore[arg-type]
        weight_moves=module.weight.requires_grad,  # type: ignore[arg-type]
        bias_moves=module.bias is not None and module.bias.requires_grad,  # type: ignore[arg-type]
    )


def _averaged(module: nn.Module, shape: tuple[int, ...]) -> Layer:
    return average_pool(shape, module.kernel_size, stride=module.stride, padding=module.padding)  # type: ignore[arg-type]


def _frozen_identity(width: int, phi: Activation | Normalisation) -> Layer:
    return Layer(np.eye(width), None, phi, weight_moves=False, bias_moves=False)
