"""Feed-forward networks of torch, read layer by layer, for constants that are proved.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Callable, Iterator
from math import inf
from types import MappingProxyType
from typing import Final

import numpy as np
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, within
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.activations import SMOOTH, Activation, hardtanh, leaky_relu
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.layers import Layer

_PLAIN: Final = MappingProxyType({nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", nn.Softplus: "softplus", nn.GELU: "gelu"})
_POOLS: Final = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_THRESHOLD: Final = 20.0
_SUPPORTED: Final = "Linear, Flatten, Identity, Tanh, Sigmoid, Softplus, GELU, ReLU, LeakyReLU, Hardtanh, Residual"


class Residual(nn.Sequential):
    """A block of modules to whose output its input is added: x + body(x)."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  # as torch names it
        """The input plus what the modules make of it, shape (samples, width)."""
        moved = input
        for part in self:
            moved = part(moved)
        return input + moved


def constants_of_network(
    input_norm: float, *, loss: str = "cross_entropy", scale: float = 1.0
) -> Callable[[nn.Module, float], LossConstants]:
    """Constants of a feed-forward network for any short input, as a `Workload` takes them.

    Args:
        input_norm: greatest norm of any possible input.
        loss: "cross_entropy", or "logistic" of one output; what the workload's loss is, but for its scale.
        scale: factor of the loss.

    Returns:
        constants(module, diameter), as `lastiterate.runtime.workloads.workload.Workload` has them. Upper bounds.

    >>> round(constants_of_network(1.0)(nn.Linear(2, 2), 1e6).smoothness, 12)
    1.0
    """
    reach = within("input_norm", input_norm, "a finite number of at least 0", lambda x: 0 <= x < inf, "shorten inputs.")

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        layers = layers_of(module)
        if isinstance(layers, str):
            return LossConstants(inf, inf, -inf, layers)
        origin = np.zeros((1, np.shape(layers[0].weight)[1]))
        if within("diameter", diameter, "a number of at least 0", lambda x: x >= 0, "0 is a point.") == inf:
            return LossConstants(inf, inf, -inf, "the domain is unbounded, and so may be the constants of a network")
        return network_constants(layers, origin, diameter / 2, input_radius=reach, loss=loss, scale=scale)

    return constants


def layers_of(module: nn.Module) -> tuple[Layer, ...] | str:
    """The layers of a network; or, where it pools by maxima, why its gradients have no Lipschitz constant.

    Parameters that ask for no gradient are frozen.

    Raises:
        InputError: a part that is not known, or parameters that two parts share.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"Certified constants need a torch module, got {type(module).__name__}; give one.")
    parts = list(_parts(module, "module"))
    pools = [type(part).__name__ for _, part in parts if isinstance(part, _POOLS)]
    if pools:
        return f"{pools[0]} has a kink wherever two entries of a window are equal, so the gradient jumps there"
    owned = [
        id(p) for _, part in parts if isinstance(part, nn.Linear) for p in (part.weight, part.bias) if p is not None
    ]
    if len(set(owned)) < len(owned):
        raise InputError(
            "Certified constants need parameters of their own in each layer, got some that are shared; copy them."
        )
    found: list[Layer] = []
    open_blocks: list[int] = []
    for name, part in parts:
        if isinstance(part, nn.Linear):
            found.append(_linear(part))
        elif part == "begin":
            open_blocks.append(len(found))
        elif part == "end":
            _close(found, open_blocks.pop(), name)
        elif not isinstance(part, nn.Flatten | nn.Identity):
            _activate(found, _activation(name, part), name)
    if not found:
        raise InputError("Certified constants need a linear layer, got a module without any; add one.")
    return tuple(found)


def _parts(module: nn.Module, name: str) -> Iterator[tuple[str, nn.Module | str]]:
    """The modules in the order in which they act, with marks where a residual block begins and ends."""
    kind = type(module)
    if kind is nn.Sequential or kind is Residual:
        if kind is Residual:
            yield name, "begin"
        for key, part in module._modules.items():  # named_children leaves out what stands there twice
            if part is None:
                continue
            yield from _parts(part, key if name == "module" else f"{name}.{key}")
        if kind is Residual:
            yield name, "end"
    elif kind in (nn.Linear, nn.Identity, nn.ReLU, nn.LeakyReLU, nn.Hardtanh, nn.ReLU6, nn.Flatten, *_PLAIN, *_POOLS):
        if not _as_usual(module):
            raise InputError(
                f"Certified constants need {kind.__name__} with its default settings, got {name}={module}; change it."
            )
        yield name, module
    else:
        raise InputError(
            f"Certified constants need a Sequential of {_SUPPORTED}, got {name}={kind.__name__}; "
            "use those, or measure the constants instead."
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
    return True


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


def _linear(module: nn.Linear) -> Layer:
    bias = None if module.bias is None else module.bias.detach().cpu().double().numpy()
    moves = module.bias is not None and module.bias.requires_grad
    weight = module.weight.detach().cpu().double().numpy()
    return Layer(weight, bias, weight_moves=module.weight.requires_grad, bias_moves=moves)


def _activate(found: list[Layer], phi: Activation, name: str) -> None:
    """Put an activation behind the last layer, or behind a frozen identity where that has one already."""
    if not found:
        raise InputError(f"Certified constants need a linear layer first, got {name}={phi.name}; put it behind one.")
    last = found[-1]
    if last.phi.name == "identity" and not last.skip:
        found[-1] = Layer(last.weight, last.bias, phi, weight_moves=last.weight_moves, bias_moves=last.bias_moves)
    else:
        found.append(_frozen_identity(len(np.asarray(last.weight)), phi))


def _close(found: list[Layer], begun: int, name: str) -> None:
    """End a residual block that began before layer ``begun``."""
    if len(found) == begun:
        raise InputError(f"A Residual needs a linear layer in it, got {name} without any; add one or take it out.")
    if found[-1].skip:
        found.append(_frozen_identity(len(np.asarray(found[-1].weight)), SMOOTH["identity"]))
    last = found[-1]
    found[-1] = Layer(
        last.weight,
        last.bias,
        last.phi,
        skip=len(found) - begun,
        weight_moves=last.weight_moves,
        bias_moves=last.bias_moves,
    )


def _frozen_identity(width: int, phi: Activation) -> Layer:
    return Layer(np.eye(width), None, phi, weight_moves=False, bias_moves=False)
