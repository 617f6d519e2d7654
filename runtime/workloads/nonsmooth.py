"""Networks whose gradients jump, by the types of their parts: there a Hölder constant of no order is finite."""

from typing import Final

from torch import nn

__all__ = ["jumps"]

_JUMPING: Final = (
    nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.RReLU, nn.Hardtanh, nn.Hardsigmoid, nn.Hardswish, nn.Hardshrink, nn.Softshrink,
    nn.Threshold, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d,
    nn.AdaptiveMaxPool3d,
)  # fmt: skip
"""Maps with a kink or a jump. What a forward pass calls as a function is not seen."""


def jumps(module: nn.Module) -> str:
    """Warning about measured constants where a part of the network has kinks, or "".

    >>> jumps(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    ''
    >>> jumps(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    'ReLU gradients jump, so no finite constant is true: these describe the sampled distances only.'
    """
    kind = next((type(part).__name__ for part in module.modules() if isinstance(part, _JUMPING)), "")
    return (
        f"{kind} gradients jump, so no finite constant is true: these describe the sampled distances only."
        if kind
        else ""
    )
