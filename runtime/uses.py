"""Uses of large parameters in `torch.nn.functional`: what goes in, and zeros added to what comes out for its slope."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from threading import RLock
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

_GRAM_COST: Final = 4
"""Cost of the products of tokens, in double precision, in that of passing over a gradient."""

_ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "linear": {"bias": None},
    "conv2d": {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1},
    "embedding": {
        "padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False,
    },
}  # fmt: skip
"""The functions that have a rule, and their arguments after the input and the parameter."""

_ONE_AT_A_TIME: Final = RLock()


class Outer(NamedTuple):
    """Gradients of some samples in matrices of one shape (out, in), or in tables of one shape (rows, out).

    Attributes:
        inputs: a_t, shape (matrices, samples, tokens, in); of tables the number of the row, (tables, samples, tokens).
        slopes: d_t, shape (matrices, samples, tokens, out).
    """

    inputs: Tensor
    slopes: Tensor


@dataclass(frozen=True)
class Use:
    """One use of one parameter: the function, its further arguments, and the shape of what it returned."""

    leaf: int
    name: str
    rest: tuple[Any, ...]
    shape: tuple[int, ...]

    def tokens(self, parameter: torch.Size) -> int:
        """Number of tokens of a sample."""
        outside = parameter[1] if self.name == "embedding" else parameter[0]
        return torch.Size(self.shape).numel() // outside

    def pays(self, parameter: torch.Size) -> bool:
        """Tell whether fewer operations go into the products of tokens than into a gradient."""
        if self.name == "embedding":
            return self.tokens(parameter) < parameter[0]
        out, inside = parameter[0], parameter[1:].numel()
        return _GRAM_COST * self.tokens(parameter) * (inside + out) <= inside * out

    def of_samples(self, inputs: Tensor, slopes: Tensor, parameter: torch.Size) -> Outer:
        """The factors of samples in one parameter, from what went in and the slopes, shapes (samples, 1, ...)."""
        if self.name == "conv2d":
            _bias, stride, padding, dilation, _groups = self.rest
            patches = _patches(inputs[:, 0], parameter[2:], self.shape[2:], *map(_pair, (stride, padding, dilation)))
            return Outer(patches, slopes.flatten(0, 1).flatten(2).mT)
        wide = slopes.reshape(len(slopes), -1, slopes.shape[-1])
        if self.name == "embedding":
            return Outer(inputs.reshape(len(wide), -1).expand(-1, wide.shape[1]), wide)
        return Outer(inputs.reshape(len(wide), -1, inputs.shape[-1]), wide)


def _pair(setting: int | tuple[int, int]) -> tuple[int, int]:
    return (setting, setting) if isinstance(setting, int) else (setting[0], setting[-1])


def _patches(
    images: Tensor,
    kernel: Sequence[int],
    places: Sequence[int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
) -> Tensor:
    """Patches that a convolution looks at, shape (images, places, channels times entries of the kernel).

    They are `torch.nn.functional.unfold`, transposed, which on a GPU goes image by image.
    """
    high, wide = padding
    padded = functional.pad(images, (wide, wide, high, high))
    image, channel, row, column = padded.stride()
    windows = padded.as_strided(
        (len(images), *places, padded.shape[1], *kernel),
        (image, stride[0] * row, stride[1] * column, channel, dilation[0] * row, dilation[1] * column),
    )
    return windows.reshape(len(images), prod(places), -1)


class Watch:
    """Inputs of the maps that use certain parameters, and zeros added to what comes out of them.

    The parameters are detached there, so that a gradient in one of them is of another use of it.
    """

    def __init__(self, leaves: Sequence[Tensor], added: dict[int, Tensor] | None) -> None:
        self._leaf = {id(leaf): k for k, leaf in enumerate(leaves) if added is None or k in added}
        self._added = added
        self.uses: list[Use] = []
        self.inputs: dict[int, Tensor] = {}

    def of(self, name: str, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """The function of this name that tells this watch of every call."""
        defaults = list(_ARGUMENTS[name].items())

        def called(input: Tensor, weight: Tensor, *given: Any, **options: Any) -> Tensor:  # noqa: A002
            leaf = self._leaf.get(id(weight))
            rest = (*given, *(options.get(key, value) for key, value in defaults[len(given) :]))
            if name == "conv2d":
                plain = input.ndim == 4 and rest[4] == 1 and not isinstance(rest[2], str)
            else:
                plain = name == "linear" or (rest[1] is None and not rest[3] and not rest[4])
            if leaf is None or not plain:
                return original(input, weight, *given, **options)
            out = original(input, weight.detach(), *given, **options)
            self.uses.append(Use(leaf, name, rest, tuple(out.shape)))
            self.inputs[leaf] = input
            if self._added is None:
                return out
            zeros = self._added[leaf]
            if name == "embedding" and rest[0] is not None:  # that row has no gradient
                zeros = zeros * (input != rest[0] % len(weight))[..., None]
            return out + zeros

        return called


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Let the functions of torch tell ``watch``; other threads see no difference, as it goes by the parameters."""
    fast = torch.backends.mha.get_fastpath_enabled()
    with _ONE_AT_A_TIME:
        kept = {name: getattr(functional, name) for name in _ARGUMENTS}
        try:
            torch.backends.mha.set_fastpath_enabled(False)  # it calls none of these functions
            for name, original in kept.items():
                setattr(functional, name, watch.of(name, original))
            yield
        finally:
            for name, original in kept.items():
                setattr(functional, name, original)
            torch.backends.mha.set_fastpath_enabled(fast)
