"""Per-sample gradients of large layers as sums of outer products, which are never multiplied out.

The slope of the loss in the matrix of a linear map is sum_t d_t a_t', where t ranges over the tokens of a
sample, a_t is the input of the map, and d_t is the slope of the loss in the map's output. A convolution is a
linear map of patches, and an embedding table is a linear map of unit vectors. The d_t are the slopes in zeros
that are added to the outputs of the maps; the a_t are recorded in the forward pass. This applies to matrices
that a function of `torch.nn.functional` uses once; other parameters (biases, norms, tied or reshaped weights,
small layers) are treated as in `lastiterate.runtime.gradients`.

Source: Goodfellow 2015, "Efficient per-example gradient computations".
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from math import prod
from threading import RLock
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.func import grad, vmap
from torch.nn import functional

from lastiterate.runtime.workloads.rows import Rows

_FEWEST: Final = 2**18
"""Minimum total number of parameters in the matrices treated as sums of outer products; below it, computing the
gradients at all points at once is faster."""

_COPIES: Final = 8
"""Number of copies of a_t, d_t and a sample's other gradients held at once, some in double precision."""

_GRAM_COST: Final = 4
"""Cost of token products in double precision, relative to a pass over a gradient."""

_ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "linear": {"bias": None},
    "conv2d": {"bias": None, "stride": 1, "padding": 0, "dilation": 1, "groups": 1},
    "embedding": {
        "padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False,
    },
}  # fmt: skip
"""Supported functions, with their arguments after the input and the parameter."""

_TRIED: Final = 3
"""Number of samples whose gradients are tested before sums of outer products are used."""

_ONE_AT_A_TIME: Final = RLock()


class Outer(NamedTuple):
    """Gradients of some samples for matrices of one shape (out, in), or for tables of one shape (rows, out).

    Attributes:
        inputs: a_t, shape (matrices, samples, tokens, in); for tables, row indices without the last axis.
        slopes: d_t, shape (matrices, samples, tokens, out).
    """

    inputs: Tensor
    slopes: Tensor


@dataclass(frozen=True)
class Use:
    """One use of one parameter: the function, its further arguments, and the shape of its output."""

    leaf: int
    name: str
    rest: tuple[Any, ...]
    shape: tuple[int, ...]

    def tokens(self, parameter: torch.Size) -> int:
        """Number of tokens in a sample."""
        return prod(self.shape) // parameter[1 if self.name == "embedding" else 0]

    def pays(self, parameter: torch.Size) -> bool:
        """True if token products take fewer operations than a gradient."""
        if self.name == "embedding":
            return self.tokens(parameter) < parameter[0]
        out, inside = parameter[0], parameter[1:].numel()
        return _GRAM_COST * self.tokens(parameter) * (inside + out) <= inside * out

    def of_samples(self, inputs: Tensor, slopes: Tensor, parameter: torch.Size) -> Outer:
        """Factors of each sample's gradient, from inputs and slopes of shape (samples, 1, ...)."""
        if self.name == "conv2d":
            pairs = [(one, one) if isinstance(one, int) else (one[0], one[-1]) for one in self.rest[1:4]]
            patches = _patches(inputs[:, 0], parameter[2:], self.shape[2:], *pairs)
            return Outer(patches, slopes.flatten(0, 1).flatten(2).mT)
        wide = slopes.reshape(len(slopes), -1, slopes.shape[-1])
        if self.name == "embedding":
            return Outer(inputs.reshape(len(wide), -1).expand(-1, wide.shape[1]), wide)
        return Outer(inputs.reshape(len(wide), -1, inputs.shape[-1]), wide)


def _patches(
    images: Tensor,
    kernel: Sequence[int],
    places: Sequence[int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
) -> Tensor:
    """Patches of a convolution, shape (images, places, channels * kernel): the transpose of `unfold`."""
    high, wide = padding
    padded = functional.pad(images, (wide, wide, high, high))
    image, channel, row, column = padded.stride()
    windows = padded.as_strided(
        (len(images), *places, padded.shape[1], *kernel),
        (image, stride[0] * row, stride[1] * column, channel, dilation[0] * row, dilation[1] * column),
    )
    return windows.reshape(len(images), prod(places), -1)


class _Watch:
    """Recorder of the inputs to maps with certain parameters, which adds zeros to the maps' outputs."""

    def __init__(self, leaves: Sequence[Tensor], added: dict[int, Tensor] | None) -> None:
        self._leaf = {id(leaf): k for k, leaf in enumerate(leaves) if added is None or k in added}
        self._added = added
        self.uses: list[Use] = []
        self.inputs: dict[int, Tensor] = {}

    def of(self, name: str, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """Wrapper around the named function that reports every call to this watch."""
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
            if name == "embedding" and rest[0] is not None:  # the padding row has no gradient
                zeros = zeros * (input != rest[0] % len(weight))[..., None]
            return out + zeros

        return called


@contextmanager
def _watching(watch: _Watch) -> Iterator[None]:
    """Report to ``watch`` every call of torch's functions with its parameters."""
    fast = torch.backends.mha.get_fastpath_enabled()
    with _ONE_AT_A_TIME:
        kept = {name: getattr(functional, name) for name in _ARGUMENTS}
        try:
            torch.backends.mha.set_fastpath_enabled(False)  # the fast path calls none of these functions
            for name, original in kept.items():
                setattr(functional, name, watch.of(name, original))
            yield
        finally:
            for name, original in kept.items():
                setattr(functional, name, original)
            torch.backends.mha.set_fastpath_enabled(fast)


Part = Tensor | Outer
"""Gradients of samples for a group of parameters: shape (parameters, samples, *parameter), or `Outer`."""


class Factored:
    """Per-sample gradients at one point, as sums of outer products for the large parameters.

    ``loss`` is a function of all parameters and of a sample's row and target. The network is tested at
    ``leaves``. ``activations`` and ``memory`` are the bytes for one sample and for all factors.

    Attributes:
        uses: uses of the large parameters, by parameter index; empty if factors are not cheaper.
        groups: indices of parameters that have the same shape and use and are processed together.
        at_once: number of samples whose factors at two points fit in memory.
    """

    def __init__(
        self,
        loss: Callable[[tuple[Tensor, ...], Tensor, Tensor], Tensor],
        leaves: tuple[Tensor, ...],
        rows: Rows,
        targets: Rows,
        activations: int,
        memory: int,
    ) -> None:
        self._loss, self._rows, self._targets = loss, rows, targets
        self.shapes = [leaf.shape for leaf in leaves]
        tried = tuple(leaf.detach().requires_grad_() for leaf in leaves)
        watch = _Watch(tried, None)
        with torch.enable_grad(), _watching(watch):
            value = loss(tried, rows[0], targets[0])
        elsewhere = (
            torch.autograd.grad(value, tried, allow_unused=True) if value.requires_grad else [None] * len(tried)
        )
        times = Counter(use.leaf for use in watch.uses)
        self.uses = {
            use.leaf: use
            for use in watch.uses
            if times[use.leaf] == 1 and elsewhere[use.leaf] is None and use.pays(self.shapes[use.leaf])
        }
        groups: dict[tuple[Any, ...], list[int]] = {}
        for k, shape in enumerate(self.shapes):
            use = self.uses.get(k)
            groups.setdefault((shape, use and (use.name, use.tokens(shape))), []).append(k)
        self.groups = [tuple(group) for group in groups.values()]
        held, whole = (sum(self.shapes[k].numel() for k in some) for some in (self.uses, range(len(leaves))))
        if held < max(_FEWEST, whole // 2) or not self._right(leaves):
            self.uses = {}
        self.at_once = max(1, memory // (activations + self._numbers() * leaves[0].element_size()))

    def chunks(self, count: int | None = None) -> Iterator[slice]:
        """Slices of ``count`` samples (None: all), with up to ``at_once`` each."""
        stop = len(self._rows) if count is None else count
        return (slice(i, min(i + self.at_once, stop)) for i in range(0, stop, self.at_once))

    def on(self, rows: Rows, targets: Rows) -> "Factored":
        """Copy for other samples, with rows of the same shape."""
        other = copy(self)
        other._rows, other._targets = rows, targets
        return other

    def at(self, leaves: tuple[Tensor, ...], samples: slice | Tensor) -> tuple[Part, ...]:
        """Gradients of some samples at the point with parameters ``leaves``, one part per group."""
        return self.of_rows(leaves, self._rows[samples], self._targets[samples])

    def of_rows(self, leaves: tuple[Tensor, ...], rows: Tensor, targets: Tensor) -> tuple[Part, ...]:
        """Gradients of some rows at one point, in the form of `at`."""
        plain = [k for k in range(len(leaves)) if k not in self.uses]
        zeros = {k: torch.zeros((), dtype=leaves[k].dtype, device=leaves[k].device).expand(use.shape)
                 for k, use in self.uses.items()}  # fmt: skip

        def loss(
            own: tuple[Tensor, ...], added: dict[int, Tensor], row: Tensor, target: Tensor
        ) -> tuple[Tensor, dict[int, Tensor]]:
            given = list(leaves)
            for k, leaf in zip(plain, own, strict=True):
                given[k] = leaf
            watch = _Watch(given, added)
            with _watching(watch):
                value = self._loss(tuple(given), row, target)
            return value, watch.inputs

        each = vmap(grad(loss, argnums=(0, 1), has_aux=True), (None, None, 0, 0))
        (made, slopes), inputs = each(tuple(leaves[k] for k in plain), zeros, rows, targets)
        parts: dict[int, Tensor | Outer] = dict(zip(plain, made, strict=True))
        for k, use in self.uses.items():
            parts[k] = use.of_samples(inputs[k], slopes[k], self.shapes[k])
        return tuple(_together([parts[k] for k in group]) for group in self.groups)

    def summed(self, parts: tuple[Part, ...], factors: Tensor) -> tuple[Tensor, ...]:
        """Sums over samples of gradients times ``factors``, per group of shape (parameters, *parameter)."""
        return tuple(
            self._summed(group[0], part, factors).reshape(len(group), *self.shapes[group[0]])
            for group, part in zip(self.groups, parts, strict=True)
        )

    def _summed(self, k: int, part: Part, factors: Tensor) -> Tensor:
        if isinstance(part, Tensor):
            return factors @ part.flatten(2)
        slopes = part.slopes * factors[:, None, None]
        if self.uses[k].name != "embedding":
            return slopes.flatten(1, 2).mT @ part.inputs.flatten(1, 2)
        table = torch.arange(len(slopes), device=slopes.device)[:, None, None].expand_as(part.inputs)
        zeros = slopes.new_zeros(len(slopes), *self.shapes[k])
        return zeros.index_put_((table, part.inputs), slopes, accumulate=True)

    def in_order(self, grouped: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Tensors of groups split into one tensor per parameter, in the order of the parameters."""
        found: dict[int, Tensor] = {}
        for group, ones in zip(self.groups, grouped, strict=True):
            found |= zip(group, ones, strict=True)
        return tuple(found[k] for k in range(len(found)))

    def _numbers(self) -> int:
        held = 0
        for k, shape in enumerate(self.shapes):
            use = self.uses.get(k)
            if use is None:
                held += shape.numel()
            else:
                held += use.tokens(shape) * (1 if use.name == "embedding" else shape[1:].numel()) + prod(
                    use.shape
                )
        return _COPIES * held

    def _right(self, leaves: tuple[Tensor, ...]) -> bool:
        number = min(_TRIED, len(self._rows))
        parts, ones = self.at(leaves, slice(0, number)), torch.eye(number).to(leaves[0])
        for k in range(number):
            plain = grad(self._loss)(leaves, self._rows[k], self._targets[k])
            pairs = zip(self.in_order(self.summed(parts, ones[k])), plain, strict=True)
            off = torch.stack([torch.linalg.vector_norm(a - b) for a, b in pairs]).norm()
            size = torch.stack([torch.linalg.vector_norm(leaf) for leaf in plain]).norm()
            if not bool(off <= torch.finfo(ones.dtype).eps ** 0.5 * size):
                return False
        return True


def _together(parts: Sequence[Tensor | Outer]) -> Part:
    if isinstance(parts[0], Outer):
        return Outer(*(_stack(ones) for ones in zip(*parts, strict=True)))
    return _stack(parts)


def _stack(ones: Sequence[Any]) -> Tensor:
    one: Tensor = ones[0]
    return one[None] if len(ones) == 1 else torch.stack(list(ones))
