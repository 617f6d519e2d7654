"""Per-sample gradients at many points at once, in chunks that fit in the memory of a device.

A *point* is the flat vector of all parameters. Gradients are returned leaf by leaf.
"""

import math
from collections.abc import Callable, Hashable, Iterator
from copy import copy
from functools import cached_property, partial
from time import thread_time
from typing import Any, Final
from weakref import proxy

import torch
from torch import Tensor, nn
from torch.func import vmap

from lastiterate.numeric.errors import InputError, count
from lastiterate.runtime.devices import DTYPES, bytes_of_a_pair, device_of, memory_of, peak, refuse_large
from lastiterate.runtime.engine import Differentiation, Plain, Way, unwrapped
from lastiterate.runtime.factors import Factored
from lastiterate.runtime.inner_products import lengths
from lastiterate.runtime.leaves import Leaves, clip_factor, difference, flat, norm
from lastiterate.runtime.replay import Replayed, records
from lastiterate.runtime.workloads.rows import Rows, telling_rows
from lastiterate.runtime.workloads.validation import place_loss, probe, refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

_SPARE: Final = 1.3
"""Safety factor for the measured memory of a gradient on CUDA."""

_TRIED: Final = 2**27
_ROWS: Final = 64
"""Estimated bytes of the gradients that are computed to measure memory, and their largest number of rows."""

_TOGETHER: Final = 3
_PACED: Final = 256
_ENTRIES: Final = 2**18
"""Largest number of rows in a test of the derivatives; of pairs whose time is measured, and of entries of their points.
"""

_LITTLE: Final = 8
"""Work is recorded if it takes at most 1/8 of the memory of a chunk, since a recording retains its memory."""

_AGAIN: Final = 2
"""Factor on CUDA for the weight of work on several gradients or their derivatives; the CPU needs none."""


class Gradients:
    """Per-sample gradients of a workload's loss, batched over points and over samples.

    Args:
        workload: network, loss and data.
        module: module of the workload, whose parameters are the point ``start``. Buffers and parameters that
            require no gradient are frozen at every point.
        dtype: ``float32`` or ``float64``.
        device: a torch device name.
        memory: estimated bytes that one chunk may take; None for the default of `memory_of`. Larger inputs
            are moved to the device in chunks.
        tried: True to test the workload at once (`lastiterate.runtime.workloads.validation`) and, on CUDA, to
            measure the memory of a gradient instead of estimating it; False if both were done before.

    Attributes:
        start: parameters of ``module`` as one point, shape (dimension,).
        dimension: number of trained parameters.
        sizes: number of entries of each parameter.
        layers: indices of the leaves of each layer (a module that directly owns parameters), by module name.
        layer_sizes: number of parameters of each layer.

    Raises:
        InputError: an unknown dtype or device, too little memory for one pair, or a workload without
            per-sample gradients (see `probe`).

    >>> line = Workload("line", lambda: nn.Linear(1, 1, bias=False),
    ...                 lambda z, y: (z - y).square().sum() / 2, torch.tensor([[1.0], [2.0]]), torch.zeros(2, 1))
    >>> gradients = Gradients(line, line.initial(0))
    >>> flat(gradients.at(torch.tensor([[3.0]], dtype=torch.float64))).flatten().tolist()
    [3.0, 12.0]
    """

    def __init__(
        self,
        workload: Workload,
        module: nn.Module,
        *,
        dtype: str = "float64",
        device: str = "cpu",
        memory: int | None = None,
        tried: bool = True,
    ) -> None:
        refuse_mixing(module)
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise InputError(f"The dtype must be one of {', '.join(DTYPES)}, got dtype={dtype}; choose one.")
        self.device, self.dtype = device_of(device), DTYPES[dtype]
        refuse_large(module, self.dtype, self.device)
        self.module = unwrapped(module).to(device=self.device, dtype=self.dtype)
        named = {name: p for name, p in self.module.named_parameters() if p.requires_grad}
        self._loss, self.samples = place_loss(workload.loss, self.device, self.dtype), workload.samples
        self._plain = Plain(self.module, self._loss)
        self.sizes = self._plain.sizes
        self.dimension = sum(self.sizes)
        self.layers: dict[str, list[int]] = {}
        for k, name in enumerate(named):
            self.layers.setdefault(name.rpartition(".")[0] or "(module)", []).append(k)
        self.layer_sizes = {name: sum(self.sizes[k] for k in leaves) for name, leaves in self.layers.items()}
        self.start = torch.cat([p.detach().reshape(-1) for p in named.values()])
        self._room = memory_of(self.device, 0) if memory is None else count("memory", memory)
        self._inputs, self._targets = self._placed(workload.inputs), self._placed(workload.targets)
        self._replayed: dict[Callable[..., Any], Replayed] = {}
        self._pairs_at_once = 0
        if tried:
            probe(workload.name, self.module, self._loss, self._inputs, self._targets)
        needed = bytes_of_a_pair(self.module, self._inputs[:1], self.dimension, self.dtype)
        pairs = (memory_of(self.device, needed) if memory is None else memory) // needed
        self._engines: dict[Hashable, Differentiation] = {}  # shared through `on`
        self.engine = self._engine_for(workload.name, pairs)
        if tried:
            self.engine.way("gradients")
        if self.device.type == "cuda" and tried:
            needed = self._measured(needed)
        needed += sum(rows.bytes_of_a_row for rows in self.rows())
        self.memory = memory_of(self.device, needed) if memory is None else memory
        self._pairs_at_once = self.memory // needed
        if self._pairs_at_once < 1:
            raise InputError(
                f"One gradient needs {needed} bytes of working memory, got memory={self.memory}; raise the budget to "
                f"at least that (--memory {needed}), or halve the requirement with dtype float32."
            )

    def at(self, points: Tensor, samples: slice | Tensor = slice(None)) -> Leaves:
        """Gradients of chosen ``samples`` at ``points``, shape (points, dimension), in one chunk.

        Leaves have shape (points, samples, *parameter), or (points, samples, 1) for a scalar parameter.
        """
        rows, targets = self._inputs[samples], self._targets[samples]
        gradients: Leaves = self.replayed(Gradients.of_rows, len(points) * len(rows))(points, rows, targets)
        return gradients

    def of_rows(self, points: Tensor, rows: Tensor, targets: Tensor, *, own: bool = False) -> Leaves:
        """Gradients of the same rows at every point, as leaves of shape (points, rows, *parameter).

        If each point has its ``own`` rows, these have shape (points, rows, ...).
        """
        over_rows, each = vmap(self._way.gradient, (None, 0, 0)), 0 if own else None
        gradients: Leaves = vmap(over_rows, (0, each, each))(self.parameters(points), rows, targets)
        return gradients

    @cached_property
    def factored(self) -> Factored | None:
        """Gradients as sums of outer products; None if this form is not cheaper, as for small matrices."""
        activations = bytes_of_a_pair(self.module, self._inputs[:1], 0, self.dtype)
        memory = (
            self.memory // 2 - 3 * self.dimension * self.dtype.itemsize
        )  # half for points, less room for sums
        if self._way.looped:
            return None
        found = Factored(self._way.loss, self.parameters(self.start), *self.rows(), activations, memory)
        return found if found.uses else None

    def rows(self) -> tuple[Rows, Rows]:
        """Inputs and targets of the samples."""
        return self._inputs, self._targets

    def on(self, inputs: Tensor | Rows, targets: Tensor | Rows) -> "Gradients":
        """Gradients of the same network for other samples; tests are repeated only for rows of another shape."""
        other = copy(self)
        other._inputs, other._targets, other.samples = self._placed(inputs), self._placed(targets), len(inputs)
        other._replayed = {}
        if not (other._inputs.alike(self._inputs) and other._targets.alike(self._targets)):
            other.engine = other._engine_for(self.engine.name, self.engine.pairs)
            other.__dict__.pop("factored", None)
        elif self.__dict__.get("factored") is not None:
            other.factored = self.__dict__["factored"].on(*other.rows())
        return other

    def _engine_for(self, name: str, pairs: int) -> Differentiation:
        """Differentiation for rows of the present shapes, which a graph depends on."""
        inputs, targets = self.rows()

        def some() -> tuple[Tensor, Tensor]:
            chosen = torch.tensor(telling_rows(inputs, targets)[:_TOGETHER])
            return inputs[chosen], targets[chosen]

        shapes = tuple((one[:1].shape[1:], one.dtype) for one in (inputs, targets))
        if shapes not in self._engines:
            self._engines[shapes] = Differentiation(name, self._plain, self.start, some, pairs)
        return self._engines[shapes]

    def _placed(self, values: Tensor | Rows) -> Rows:
        return values if isinstance(values, Rows) else Rows(values, self.device, self.dtype, self._room)

    @property
    def _way(self) -> Way:
        return self.engine.way("gradients")

    @property
    def rounding(self) -> float:
        """Rounding error of a gradient relative to its length."""
        return self.engine.rounding

    def of_one(self, point: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Gradient of one sample's loss at one point, shape (dimension,)."""
        return self._way.of_one(point, row, target)

    def curved(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Hessian of one sample's loss at one point, times a vector of shape (dimension,)."""
        return self.engine.way("products").product(point, vector, row, target)

    def at_both(self, function: Callable[..., Tensor], ends: Tensor, *given: Tensor) -> Tensor:
        """Results of a function of gradients and products at two points, in a batch if that is right."""
        if self.engine.batches_twice:
            return vmap(function, (0, *(None for _ in given)))(ends, *given)
        return torch.stack([function(end, *given) for end in ends])

    def captured(self, function: Callable[..., Any], *settings: Any, weight: int) -> Callable[..., Any]:
        """Batch of a function of these gradients, settings, two vectors, a row and a target, soon from its graph."""
        key, plain = (function, *settings), partial(function, self, *settings)
        batch = partial(vmap, chunk_size=self.fitting(weight))
        return lambda *columns: batch(self.engine.captured(key, plain, columns, batch))(*columns)

    @cached_property
    def pace(self) -> float:
        """Seconds that a Hessian product of one pair takes, measured."""
        pairs = min(_PACED, self.fitting(2), 1 + _ENTRIES // self.dimension)
        rows = [held[torch.arange(pairs) % self.samples] for held in self.rows()]
        at = self.start.repeat(pairs, 1)
        for _ in range(2):  # the first call is slower
            begun = thread_time()
            float(vmap(self.curved)(at, at, *rows).sum())
        return (thread_time() - begun) / pairs

    def total(self, point: Tensor, clip_norm: float = math.inf, chosen: Tensor | None = None) -> Tensor:
        """Sum of the clipped gradients of ``chosen`` samples (None: all) at one point, shape (dimension,)."""
        total = torch.zeros(self.dimension, dtype=self.dtype, device=self.device)
        count = self.samples if chosen is None else len(chosen)
        factored = self.factored
        way, most = Gradients._clipped_sum, self._pairs_at_once
        if factored is not None:
            way, most = Gradients._factored_sum, factored.at_once
        for chunk in self.sample_chunks(count) if factored is None else factored.chunks(count):
            rows, targets = (held[chunk if chosen is None else chosen[chunk]] for held in self.rows())
            total += self.replayed(way, len(rows), most)(point, rows, targets, clip_norm)
        return total

    def _clipped_sum(self, point: Tensor, rows: Tensor, targets: Tensor, clip_norm: float) -> Tensor:
        leaves = self.of_rows(point[None], rows, targets)
        return flat(leaves)[0].mul_(clip_factor(norm(leaves), clip_norm)[0][:, None]).sum(dim=0)

    def _factored_sum(self, point: Tensor, rows: Tensor, targets: Tensor, clip_norm: float) -> Tensor:
        factored = self.factored
        assert factored is not None  # noqa: S101
        parts = factored.of_rows(self.parameters(point), rows, targets)
        summed = factored.summed(parts, clip_factor(lengths(parts), clip_norm).to(point))
        return torch.cat([one.flatten() for one in factored.in_order(summed)])

    def _clipped_sums(
        self, points: Tensor, rows: Tensor, targets: Tensor, counted: Tensor, clip_norm: float
    ) -> Tensor:
        """Sums of the clipped gradients of the rows marked in ``counted``, shape (points, dimension)."""
        leaves = self.of_rows(points, rows, targets, own=counted.ndim == 2)
        factor = clip_factor(norm(leaves), clip_norm) * counted
        return torch.cat(
            [torch.einsum("psk,ps->pk", leaf.flatten(start_dim=2), factor) for leaf in leaves], dim=1
        )

    def losses(self, points: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Loss of one sample at many points, shape (points,)."""
        found: Tensor = vmap(self._way.loss, (0, None, None))(self.parameters(points), row, target)
        return found

    def totals(self, points: Tensor, clip_norm: float, chosen: Tensor) -> Tensor:
        """Sum of the clipped gradients of chosen samples at each point, shape (points, dimension).

        ``chosen`` has shape (number,), for the same samples at every point, or (points, number), for
        different samples at each point, with -1 for no sample.
        """
        found, chosen = torch.zeros_like(points), chosen.to(self.device)
        for part in self.point_chunks(len(points), chosen.shape[-1]):
            here = points[part]
            for chunk in self.sample_chunks(chosen.shape[-1]):
                indices = chosen[part, chunk] if chosen.ndim == 2 else chosen[chunk]
                rows, targets = (held[indices.clamp(min=0)] for held in self.rows())
                way = self.replayed(Gradients._clipped_sums, len(here) * indices.shape[-1])
                found[part] += way(here, rows, targets, indices >= 0, clip_norm)
        return found

    def parameters(self, points: Tensor) -> Leaves:
        """Parameter tensors at one or many points, each of shape (*points, *parameter)."""
        return self._plain.parameters(points)

    def _measured(self, estimated: int) -> int:
        rows = min(self.samples, _ROWS, max(1, _TRIED // estimated))
        points = max(1, _TRIED // (estimated * rows))

        def work(points: int) -> None:
            leaves = self.of_rows(self.start.repeat(points, 1), self._inputs[:rows], self._targets[:rows])
            ones = torch.ones(points, rows, dtype=self.dtype, device=self.device)
            difference(leaves, leaves, (ones, ones))

        more, less = (peak(lambda: work(2 * points), self.device), peak(lambda: work(points), self.device))
        return max(1, round(_SPARE * (more - less) / (points * rows)))

    def sample_chunks(self, count: int | None = None, *, weight: int = 1) -> Iterator[slice]:
        """Slices of ``count`` samples (None: all) that fit in memory at one point; see `pair_chunks`."""
        return _slices(self.samples if count is None else count, min(self.samples, self.fitting(weight)))

    def point_chunks(self, points: int, samples: int | None = None) -> Iterator[slice]:
        """Slices of ``points`` points that fit in memory with a chunk of ``samples`` samples (None: all)."""
        count = self.samples if samples is None else max(1, samples)
        return _slices(points, self._pairs_at_once // min(count, self._pairs_at_once))

    def pair_chunks(self, pairs: int, *, weight: int = 1) -> Iterator[slice]:
        """Slices of ``pairs`` (point, sample) pairs that fit if each is as large as ``weight`` gradients."""
        return _slices(pairs, self.fitting(weight))

    def vector_chunks(self, vectors: int, *, copies: int) -> Iterator[slice]:
        """Slices of ``vectors`` points that fit in memory in ``copies`` copies."""
        return _slices(vectors, max(1, self.memory // (copies * self.dimension * self.dtype.itemsize)))

    def fitting(self, weight: int) -> int:
        """Number of (point, sample) pairs, at least 1, that fit in memory; ``weight`` as in `pair_chunks`."""
        return max(
            1, self._pairs_at_once // (weight * _AGAIN if weight > 1 and self.device.type == "cuda" else weight)
        )

    def replayed(self, function: Callable[..., Any], pairs: int, most: int | None = None) -> Callable[..., Any]:
        """Function of these gradients and of tensors, recorded on a GPU if there are few pairs.

        The function may depend on samples only through its arguments. ``most`` is the number of pairs that
        fit in memory; None for whole gradients.
        """
        if not self.little(pairs, most):
            return partial(function, self)
        if function not in self._replayed:
            self._replayed[function] = Replayed(partial(function, proxy(self)))  # freed with these gradients
        return self._replayed[function]

    def little(self, pairs: int, most: int | None = None) -> bool:
        """True if work on ``pairs`` (point, sample) pairs is to be recorded."""
        return (
            records(self.device)
            and not self._way.looped
            and pairs * _LITTLE <= (self._pairs_at_once if most is None else most)
        )


def _slices(count: int, step: int) -> Iterator[slice]:
    return (slice(i, min(i + step, count)) for i in range(0, count, step))
