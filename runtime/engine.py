"""Ways to differentiate the loss of one sample for any module, each tested before it is used.

A way is a function of parameters, row and target that `torch.func` transforms. In this order, the ways are

1. the module as it is;
2. the module with kernels that torch can batch and differentiate again: attention by its formula, recurrent
   layers without cuDNN and oneDNN, layers without their fast paths, checkpointed parts without recomputation,
   and compiled parts uncompiled;
3. the graph of the operators that the second way runs for one row, with fused operators decomposed;
4. a loop over pairs of a point and a sample, by torch's own backward pass, twice for Hessians;
5. the same loop with Hessian products as central differences of gradients, which are approximate.

The first way that passes a test is used, separately for gradients, for products with the Hessian, and for
slopes of these products. Gradients are compared with the backward pass of the module itself at two points and
three samples, in all shapes in which they are used; products with their transposes and with central
differences of gradients; slopes with central differences of the curvature. A graph is recorded from tensors
without values, so that no branch on values is missed, and without functions or hooks that define their own
backward pass.
"""

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor, nn
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd import Function
from torch.func import grad, jvp, vjp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.leaves import Leaves, called_at, flat, key_of_memory, places_of
from lastiterate.runtime.operators import graph_of
from lastiterate.runtime.replay import records
from lastiterate.runtime.trials import describe_error

Loss = Callable[[Any, Tensor], Tensor]

ULPS: Final = 32.0
"""Rounding error of a gradient relative to its length, in units in the last place of the narrowest dtype."""

_OFF: Final = 1e-4
"""Largest relative difference of gradients that pass; in half precision it is larger."""

_MOVED: Final = 0.01
"""Relative distance between the two points of a test."""

_CLOSE: Final = 1e-3
_STEPS: Final = (1.0, 1e-2, 1e-4)
"""Relative error of a central difference up to which a product passes; its steps relative to the first, of
which one must pass, since the others may cross a kink or be rounded."""

_FINER: Final = tuple(10.0**-k for k in range(7))
"""Steps of differences of the loss, of which the last two must agree."""

_TWIN: Final = 2**24
"""Largest number of parameters of a float32 network that is tested in float64, too."""

_SEVERAL: Final = 3
_CALLS: Final = 4
"""Number of given rows for which a graph is compared with its function, and of calls after which there is a graph."""

_LETTERS: Final = 100
"""Largest number of characters quoted from the error of a way."""


_USES: Final = {"gradients": "gradients", "products": "Hessian products", "slopes": "third derivatives"}


def unwrapped(module: nn.Module) -> nn.Module:
    """The module inside wrappers for parallel training or compilation, which do not change its values."""
    while isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        module = module.module
    own = getattr(module, "_orig_mod", None)
    for part in module.modules():
        if isinstance(part, nn.Embedding | nn.EmbeddingBag):
            part.sparse = False  # sparse gradients cannot be batched
    return unwrapped(own) if isinstance(own, nn.Module) else module


@contextmanager
def without_recomputation() -> Iterator[None]:
    """Run checkpointed and compiled parts directly, since `torch.autograd.grad` and `torch.func` may refuse them."""

    def directly(*_given: Any, **_options: Any) -> Iterator[None]:
        yield

    generator = "_checkpoint_without_reentrant_generator"
    reentrant: Any = checkpoint.CheckpointFunction
    kept, recomputed = reentrant.apply, getattr(checkpoint, generator, directly)
    with ExitStack() as stack:
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        try:
            reentrant.apply = lambda function, _preserve, *given: function(*given)
            setattr(checkpoint, generator, directly)
            yield
        finally:
            reentrant.apply = kept
            setattr(checkpoint, generator, recomputed)


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Compute attention, recurrent layers and convolutions by operators that can be batched."""
    fast, backends = torch.backends.mha.get_fastpath_enabled(), torch.backends
    one_dnn = torch._C._get_mkldnn_enabled()  # flags() of torch.backends.mkldnn warns of Intel's GPUs
    with (
        without_recomputation(),
        sdpa_kernel(SDPBackend.MATH),
        backends.cudnn.flags(enabled=False, allow_tf32=False),
    ):
        try:
            backends.mha.set_fastpath_enabled(False)
            torch._C._set_mkldnn_enabled(False)
            yield
        finally:
            torch._C._set_mkldnn_enabled(one_dnn)
            backends.mha.set_fastpath_enabled(fast)


def _loop_in_torch(allowed: bool) -> None:
    """Let torch run operators that it cannot batch in a loop, or not, without a warning each time."""
    functorch: Any = torch._C._functorch
    functorch._set_vmap_fallback_enabled(allowed)
    functorch._set_vmap_fallback_warning_enabled(False)


class Plain:
    """Loss of one row of a module and its derivatives by torch's own backward pass, one pair at a time."""

    def __init__(self, module: nn.Module, loss: Loss) -> None:
        named = {name: p for name, p in module.named_parameters() if p.requires_grad}
        self.module, self.loss, self._held = module, loss, tuple(named.values())
        self.names, self.eps, self._places = tuple(named), 0.0, places_of(module)
        self.shapes = tuple(p.shape or torch.Size((1,)) for p in named.values())
        self.sizes = [p.numel() for p in named.values()]
        self._scalars = [not p.ndim for p in named.values()]
        self.scripted = any(isinstance(part, torch.jit.ScriptModule) for part in module.modules())

    def parameters(self, points: Tensor) -> Leaves:
        """Parameter tensors at one or many points, each of shape (*points, *parameter)."""
        parts = torch.split(points, self.sizes, dim=-1)
        return tuple(
            part.reshape(*points.shape[:-1], *shape) for part, shape in zip(parts, self.shapes, strict=True)
        )

    def of_row(self, leaves: Leaves, row: Tensor, target: Tensor) -> Tensor:
        """Loss of one row at given parameters."""
        given = {
            name: leaf.reshape(()) if scalar else leaf
            for name, leaf, scalar in zip(self.names, leaves, self._scalars, strict=True)
        }
        return self.loss(called_at(self.module, given, row[None], self._places), target[None])

    def slopes(
        self, point: Tensor, row: Tensor, target: Tensor, again: bool = False
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Loss, and its slopes in the point and the row (0 for integers), differentiable if ``again``."""
        with torch.enable_grad(), without_recomputation():
            moving = [point.detach().requires_grad_()]
            moving += [row.detach().requires_grad_()] if row.is_floating_point() else []
            own = moving[1] if len(moving) > 1 else row
            if self.scripted:
                return self._of_script(point, own, moving[1:], target)
            value = self.of_row(self.parameters(moving[0]), own, target)
            made = torch.autograd.grad(
                value, moving, create_graph=again, allow_unused=True, materialize_grads=True
            )
        return value, torch.cat([one.flatten() for one in made]), tuple(moving)

    def _of_script(
        self, point: Tensor, row: Tensor, moving: list[Tensor], target: Tensor
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Slopes with the parameters of the module itself, as a script does not take others."""
        kept = [one.detach().clone() for one in self._held]
        try:
            self._put(self.parameters(point))
            value = self.loss(self.module(row[None]), target[None])
            inside = (*self._held, *moving)
            made = torch.autograd.grad(value, inside, allow_unused=True, materialize_grads=True)
        finally:
            self._put(kept)
        return value, torch.cat([one.flatten() for one in made]), ()

    @torch.no_grad()
    def _put(self, leaves: Sequence[Tensor]) -> None:
        for own, leaf in zip(self._held, leaves, strict=True):
            own.copy_(leaf.reshape(own.shape))

    def product(self, along: Tensor, point: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Hessian in point and row, times a vector, by a second backward pass."""
        with torch.enable_grad(), plain_kernels():
            _, slopes, moving = self.slopes(point, row, target, again=True)
            made = torch.autograd.grad(slopes, moving, along, allow_unused=True, materialize_grads=True)
        return torch.cat([one.flatten() for one in made])

    def difference(self, along: Tensor, point: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """The same product as a central difference of gradients."""
        function = lambda at, inside: self.slopes(at, inside, target)[1].detach()  # noqa: E731
        return central(function, along, point, row, self.eps)


def central(
    function: Callable[[Tensor, Tensor], Tensor],
    along: Tensor,
    point: Tensor,
    row: Tensor,
    eps: float = 0.0,
    times: float = 1.0,
) -> Tensor:
    """Central difference of a function of point and row along a vector of both, or of the point only.

    ``eps`` is the precision of the function if it is less than that of the point; ``times`` scales the step.
    """
    width, length = max(torch.finfo(point.dtype).eps, eps) ** (1 / 3), torch.linalg.vector_norm(along)
    if not bool(length > 0):
        return torch.zeros_like(function(point, row))
    scale = torch.linalg.vector_norm(point)
    step = float(width * times * torch.where(scale > 0, scale, 1.0) / length)
    moves = [step * part for part in torch.split(along, [point.numel(), len(along) - point.numel()])]
    ends = [
        function(point + sign * moves[0], row + sign * moves[1].reshape(row.shape) if len(moves[1]) else row)
        for sign in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * step)


class _Derivative(Function):
    """Derivative of an order up to 3 of the loss in point and row, times one vector for each order above the first.

    `torch.func` batches it by a loop over pairs of a point and a row.
    """

    @staticmethod
    def forward(way: "_Loop", order: int, *given: Tensor) -> Tensor:
        return way.derivative(order, *given).detach().clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], _output: Tensor) -> None:
        ctx.way, ctx.order, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, along: Tensor) -> Any:
        *vectors, point, row, target = ctx.saved_tensors
        if ctx.order == 0:
            joint = along * _Derivative.of(ctx.way, 1, point, row, target)
        else:
            joint = _Derivative.of(ctx.way, ctx.order + 1, along, *vectors, point, row, target)
        own: list[Tensor | None] = [None for _ in vectors]
        if ctx.order == 2 and ctx.needs_input_grad[2]:
            own = [_Derivative.of(ctx.way, 2, along, point, row, target)]  # Hessians are symmetric
        inside = joint[point.numel() :].reshape(row.shape) if row.is_floating_point() else None
        return None, None, *own, joint[: point.numel()], inside, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], way: "_Loop", order: int, *given: Tensor
    ) -> tuple[Tensor, int]:
        columns = [
            [one] * info.batch_size if dim is None else one.unbind(dim)
            for one, dim in zip(given, in_dims[2:], strict=True)
        ]
        return torch.stack([_Derivative.of(way, order, *pair) for pair in zip(*columns, strict=True)]), 0

    @staticmethod
    def of(way: "_Loop", order: int, *given: Tensor) -> Tensor:
        """The derivative at given vectors, a point, a row and its target."""
        made: Tensor = _Derivative.apply(way, order, *given)  # type: ignore[no-untyped-call]
        return made


class Way:
    """A way to differentiate; ``loss`` and ``gradient`` are functions of leaves, a row and a target."""

    looped = False

    def __init__(self, plain: Plain, forward: bool = True, loss: Callable[..., Tensor] | None = None) -> None:
        self.plain, self.forward = plain, forward
        self.loss = plain.of_row if loss is None else loss
        self.gradient: Callable[..., Leaves] = grad(self.loss)

    def of_one(self, point: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Gradient at one point for one row, shape (dimension,)."""
        return torch.cat(
            [leaf.reshape(-1) for leaf in self.gradient(self.plain.parameters(point), row, target)]
        )

    def product(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Hessian at one point for one row, times a vector of shape (dimension,)."""
        gradient = lambda at: self.of_one(at, row, target)  # noqa: E731
        if self.forward:
            pushed: Tensor = jvp(gradient, (point,), (vector,))[1]
            return pushed
        pulled: Tensor = vjp(gradient, point)[1](vector)[0]  # Hessians are symmetric
        return pulled

    def bend(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Curvature v' H v of the loss of one row at one point along a vector v."""
        return (self.product(point, vector, row, target) * vector).sum()

    def along(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """Slope of the loss along a vector."""
        if not self.forward:
            return (self.of_one(point, row, target) * vector).sum()
        pushed: Tensor = jvp(lambda at: self.loss(self.plain.parameters(at), row, target), (point,), (vector,))[
            1
        ]
        return pushed


class _Loop(Way):
    looped = True

    def __init__(self, plain: Plain, times: Callable[..., Tensor]) -> None:
        def of(order: int) -> Callable[[Leaves, Tensor, Tensor], Tensor]:
            def derivative(leaves: Leaves, row: Tensor, target: Tensor) -> Tensor:
                return _Derivative.of(
                    self, order, torch.cat([leaf.reshape(-1) for leaf in leaves]), row, target
                )

            return derivative

        super().__init__(plain, False, of(0))
        self.times = times
        self.gradient = lambda *at: plain.parameters(of(1)(*at)[: sum(plain.sizes)])

    def derivative(self, order: int, *given: Tensor) -> Tensor:
        """Derivative of this order in point and row, along the vectors, at a point, a row and its target."""
        *vectors, point, row, target = given
        if order < 2:
            return self.plain.slopes(point, row, target)[:2][order]
        if order == 2:
            return self.times(*given)
        if order > 3:
            raise RuntimeError("no derivatives of the fourth order")
        products = lambda *at: self.times(vectors[1], *at, target).detach()  # noqa: E731
        return central(products, vectors[0], point, row, self.plain.eps)


def _with_plain_kernels(plain: Plain, leaves: Leaves, row: Tensor, target: Tensor) -> Tensor:
    with plain_kernels():
        return plain.of_row(leaves, row, target)


def _bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    _scale: bool = False,
    mode: int = 0,
    _sparse: bool = False,
    per_sample: Tensor | None = None,
    last: bool = False,
    padding: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sum, mean or maximum of the rows of a table for each bag, by a mask of the bags' members."""
    starts = offsets[:-1] if last else offsets
    bag = (torch.arange(len(indices), device=indices.device)[:, None] >= starts).sum(1) - 1
    mask = (bag[:, None] == torch.arange(len(starts), device=bag.device)) & (indices != padding)[:, None]
    values = weight[indices] if per_sample is None else weight[indices] * per_sample[:, None]
    sizes = mask.sum(0)
    if mode == 2:  # maximum; empty bags are 0
        found = torch.where(mask[..., None], values[:, None], -torch.inf).amax(0)
        found = torch.where(sizes[:, None] > 0, found, 0.0)
    else:
        found = mask.to(values).mT @ values
        found = found / sizes.clamp(min=1)[:, None] if mode == 1 else found
    return found, bag, sizes, torch.zeros_like(offsets)


def _embedding(
    weight: Tensor, indices: Tensor, padding: int = -1, _scale: bool = False, _sparse: bool = False
) -> Tensor:
    """Rows of a table, of which that of the padding has no gradient."""
    rows = weight[indices]
    return rows if padding < 0 else torch.where((indices == padding)[..., None], rows.detach(), rows)


def _decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions of operators that torch cannot batch, or cannot differentiate twice."""
    from torch._decomp import core_aten_decompositions, get_decompositions

    aten = torch.ops.aten
    further = get_decompositions([aten._native_batch_norm_legit_no_training, aten.native_layer_norm])
    own = {
        aten.embedding.default: _embedding,
        aten.view_as_complex.default: lambda x: torch.complex(x[..., 0], x[..., 1]),
        aten._embedding_bag.default: _bag,
        aten._embedding_bag_forward_only.default: _bag,
    }
    return {**core_aten_decompositions(), **further, **own}


def _recorded(plain: Plain, leaves: Leaves, row: Tensor, target: Tensor) -> Callable[..., Tensor]:
    """Loss of one row as a graph of operators."""
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import make_fx

    with torch.enable_grad():
        tried = tuple(leaf.detach().requires_grad_() for leaf in leaves)
        _refuse_own_backward(_with_plain_kernels(plain, tried, row, target))
    options = {"tracing_mode": "fake", "_allow_non_fake_inputs": True}
    with enable_python_dispatcher(), torch.no_grad():
        made = make_fx(partial(_with_plain_kernels, plain), _decompositions(), **options)
        graph: Callable[..., Tensor] = made(leaves, row, target)
    return graph


def _refuse_own_backward(value: Tensor) -> None:
    """Refuse functions and hooks that define their own backward pass, which a recorded graph does not contain."""
    seen, waiting = set(), [value.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            raise RuntimeError(f"{type(node).__name__} defines its own backward pass")
        waiting += [following for following, _ in node.next_functions]


_WAYS: Final[tuple[tuple[str, str, Callable[..., Way]], ...]] = (
    ("as it is", "", lambda plain, forward, *_: Way(plain, forward)),
    (
        "with plain kernels",
        "are computed without fused kernels for attention and recurrent layers, which is slower",
        lambda plain, forward, *_: Way(plain, forward, partial(_with_plain_kernels, plain)),
    ),
    (
        "as a recorded graph",
        "are computed from a graph of decomposed operators, recorded once",
        lambda plain, forward, *at: Way(plain, forward, _recorded(plain, *at)),
    ),
    (
        "in a loop",
        "are computed in a loop over pairs of a point and a sample, which is several times slower",
        lambda plain, _forward, *_: _Loop(plain, plain.product),
    ),
    (
        "by differences",
        "are approximated by central differences in a loop over pairs of a point and a sample, which is slow",
        lambda plain, _forward, *_: _Loop(plain, plain.difference),
    ),
)
"""Names of the ways, descriptions of their use, and functions that make them."""


class _Narrowest(TorchDispatchMode):
    """Record of the narrowest floating-point dtype that is computed from given tensors, and of the operator."""

    def __init__(self, given: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._kept = list(given)  # freed memory would be taken for a given tensor's
        self._moving = {key_of_memory(one) for one in given}
        self.eps, self.dtype, self.by = 0.0, given[0].dtype, ""

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        given, found = (
            [one for one in tree_leaves(tree) if isinstance(one, Tensor) and one.layout is torch.strided]
            for tree in ((args, kwargs), made)
        )
        if any(key_of_memory(one) in self._moving for one in given):
            for one in found:
                self._kept.append(one)
                self._moving.add(key_of_memory(one))
                if one.is_floating_point() and torch.finfo(one.dtype).eps > self.eps:
                    self.eps, self.dtype, self.by = torch.finfo(one.dtype).eps, one.dtype, str(func)
        return made


class Example(NamedTuple):
    """Points, rows and targets of a test; vectors u and v for each of the pairs."""

    points: Tensor
    rows: Tensor
    targets: Tensor

    def pairs(self) -> tuple[Tensor, Tensor, Tensor]:
        """Every pair of a point and a row, as columns of points, rows and targets."""
        p, r = torch.cartesian_prod(torch.arange(len(self.points)), torch.arange(len(self.rows))).T
        return self.points[p], self.rows[r], self.targets[r]


class Differentiation:
    """Choice of the ways to differentiate a module's loss; see the module's description.

    Args:
        name: name of the workload, for messages.
        plain: the loss of one row.
        start: parameters of the module as one point.
        rows: function that gives a few different rows and their targets.
        pairs: number of pairs that may be held at once.
    """

    def __init__(
        self, name: str, plain: Plain, start: Tensor, rows: Callable[[], Sequence[Tensor]], pairs: int
    ) -> None:
        self.name, self.plain, self.pairs, self._start, self._rows = name, plain, pairs, start, rows
        self._ways: dict[str, Way] = {}
        self._said: dict[str, tuple[str, str]] = {}
        self._calls: Counter[Hashable] = Counter()
        self._graphs: dict[Hashable, Callable[..., Any] | None] = {}

    @cached_property
    def _example(self) -> Example:
        start, (rows, targets) = self._start, self._rows()
        number = max(1, min(len(rows), self.pairs // 2))
        noise = torch.randn(start.shape, generator=torch.Generator().manual_seed(0), dtype=start.dtype)
        scale = torch.linalg.vector_norm(start) / start.numel() ** 0.5
        other = start + _MOVED * noise.to(start.device) * torch.where(scale > 0, scale, 1.0)
        return Example(
            torch.stack([start, other][: max(1, min(2, self.pairs))]), rows[:number], targets[:number]
        )

    @cached_property
    def narrowest(self) -> tuple[torch.dtype, float, str]:
        """Narrowest dtype of the module's own computation, its precision, and the operator that made it."""
        point, row, target = (column[0] for column in self._example.pairs())
        leaves = tuple(leaf.detach().requires_grad_() for leaf in self.plain.parameters(point))
        own = torch.finfo(point.dtype).eps
        if self.plain.scripted:
            return point.dtype, own, ""
        with torch.enable_grad(), without_recomputation(), _Narrowest(leaves) as seen:
            value = self.plain.of_row(leaves, row, target)
            torch.autograd.grad(value, leaves, allow_unused=True)
        self.plain.eps = max(own, seen.eps)
        return seen.dtype, self.plain.eps, seen.by

    @cached_property
    def rounding(self) -> float:
        """Rounding error of a gradient relative to its length.

        Raises:
            InputError: the module computes in half precision, in which changes of gradients are lost.
        """
        dtype, eps, by = self.narrowest
        if eps > torch.finfo(torch.float32).eps:
            own, name = (str(one).removeprefix("torch.") for one in (self._example.points.dtype, dtype))
            raise InputError(
                f"A constant needs gradients in float32 or float64, got dtype={own} and a module that computes in "
                f"{name} (in {by}) in workload={self.name}; remove autocast and casts from its forward pass."
            )
        return max(ULPS * eps, 2 * self._measured())

    def _measured(self) -> float:
        """Largest relative difference between float32 gradients and those of a float64 copy; 0 if unknown."""
        twin = self._twin
        if twin is None:
            return 0.0
        found, wide = (one.plain_gradients for one in (self, twin))
        length = torch.linalg.vector_norm(wide, dim=1)
        off = torch.linalg.vector_norm(found - wide, dim=1) / length.clamp(min=_CLOSE * float(length.max()))
        return float(off.nan_to_num(nan=0.0).max())

    @cached_property
    def _twin(self) -> "Differentiation | None":
        """Ways for a float64 copy of a float32 network; None without such a copy."""
        held, double = self._example, torch.float64
        if held.points.dtype is double or held.points.shape[1] > _TWIN:
            return None
        try:
            loss: Any = self.plain.loss
            loss = deepcopy(loss).to(double) if isinstance(loss, nn.Module) else loss
            plain = Plain(deepcopy(self.plain.module).to(double), loss)
            rows, targets = (
                one.to(double) if one.is_floating_point() else one for one in (held.rows, held.targets)
            )
            twin = Differentiation(
                self.name, plain, held.points[0].double(), lambda: (rows, targets), len(rows) * 2
            )
            twin._example = Example(held.points.double(), rows, targets)
            bool(twin.plain_gradients.isfinite().all())
        except Exception:  # tensors of the user's in float32
            return None
        return twin

    @cached_property
    def plain_gradients(self) -> Tensor:
        """Gradients of all pairs of the test by plain backward passes, shape (pairs, dimension)."""
        size = self._example.points.shape[1]
        pairs = zip(*self._example.pairs(), strict=True)
        return torch.stack([self.plain.slopes(*pair)[1].detach()[:size] for pair in pairs])

    def way(self, use: str) -> Way:
        """First way that passes the test of a ``use``: gradients, products, slopes, or slopes with inputs."""
        if use not in self._ways:
            with torch.random.fork_rng(devices=[]), temporarily_clear_interpreter_stack():
                self._choose(use)
        return self._ways[use]

    def _choose(self, use: str) -> None:
        _loop_in_torch(allowed=True)
        why: list[str] = []
        slow: tuple[Way, str] | None = None
        for name, words, make in _WAYS[3:] if self.plain.scripted else _WAYS:
            said, found = "", None
            looped = name in ("in a loop", "by differences")
            if looped and slow is not None:
                break
            for forward in (True,) if use == "gradients" or looped else (True, False):
                try:
                    said = self._tested(use, lambda plain, *at: make(plain, forward, *at))  # noqa: B023
                    if not said:
                        found = make(self.plain, forward, *self._first())
                        break
                except InputError:
                    raise
                except Exception as error:
                    said = _shortened(describe_error(error))
            if found is not None:
                if looped or self._batched(use, found):
                    self._ways[use], self._said[use] = found, (words, why[0] if words and why else "")
                    return
                said, slow = "torch cannot batch an operator", slow or (found, words)
            why.append(f"{name}: {said}")
        if slow is None:
            raise InputError(
                f"A network needs gradients that are the same when they are computed again, got {'; '.join(why)} in "
                f"workload={self.name}; write the forward pass as a pure function of parameters and input."
            )
        self._ways[use], self._said[use] = slow[0], (slow[1], why[0] if slow[1] else "")

    def _batched(self, use: str, way: Way) -> bool:
        """Test whether torch batches every operator of a way that passed its test."""
        points, rows, targets = self._example.pairs()
        try:
            _loop_in_torch(allowed=False)
            if use == "gradients":
                vmap(way.of_one)(points, rows, targets)
            else:
                vmap(way.product)(points, torch.ones_like(points), rows, targets)
        except RuntimeError:
            return False
        finally:
            _loop_in_torch(allowed=True)
        return True

    @cached_property
    def batches_twice(self) -> bool:
        """True if gradients and products at several points are right in a batch over rows, too."""
        points, rows, targets = self._example
        ends, vector = points.expand(len(rows), *points.shape), torch.ones_like(points[0])
        gradients, products = self.way("gradients"), self.way("products")
        if gradients.looped or products.looped:
            return True
        with torch.random.fork_rng(devices=[]), temporarily_clear_interpreter_stack():
            for function in (gradients.of_one, lambda at, *row: products.product(at, vector, *row)):
                right = vmap(function)(*self._example.pairs())
                most = float(right.abs().nan_to_num(0.0, 0.0, 0.0).max())
                try:
                    found = vmap(vmap(function, (0, None, None)))(ends, rows, targets)
                except RuntimeError:
                    return False
                found = found.transpose(0, 1).flatten(0, 1)
                if not torch.allclose(found, right, self._tolerance, self._tolerance * most, equal_nan=True):
                    return False
        return True

    def captured(
        self,
        key: Hashable,
        function: Callable[..., Any],
        columns: Sequence[Tensor],
        batch: Callable[..., Callable[..., Any]],
    ) -> Callable[..., Any]:
        """``function`` of two vectors, a row and a target; after some calls, its graph without repeated operators.

        The graph is used only if it gives the results of the function at the points of the tests, and for the
        first rows of these columns.
        """
        self._calls[key] += 1
        after = 1 if records(columns[0].device) else _CALLS  # nothing is traced within a recording
        if self._calls[key] == after and not any(way.looped for way in self._ways.values()):
            points, *rows = self._example.pairs()
            tests = points, points.flip(0) + _MOVED, *rows
            both = [torch.cat(pair) for pair in zip(tests, (one[:_SEVERAL] for one in columns), strict=True)]
            self._graphs[key] = graph_of(function, both, self._tolerance, batch)
        return self._graphs.get(key) or function

    def _first(self) -> tuple[Leaves, Tensor, Tensor]:
        return self.plain.parameters(self._example.points[0]), self._example.rows[0], self._example.targets[0]

    def _tested(self, use: str, make: Callable[..., Way]) -> str:
        """Fault of a way; empty if there is none."""
        if use == "gradients":
            return self._test_gradients(make(self.plain, *self._first()))
        engine = self if self._twin is None else self._twin
        return engine._test_curvature(use, make(engine.plain, *engine._first()))

    @property
    def _eps(self) -> float:
        return max(self.narrowest[1], torch.finfo(self._example.points.dtype).eps)

    @property
    def _tolerance(self) -> float:
        return float(max(min(torch.finfo(self._example.points.dtype).eps ** 0.5, _OFF), ULPS * self._eps))

    def _test_gradients(self, way: Way) -> str:
        points, rows, targets = self._example
        wanted = self.plain_gradients.reshape(len(points), len(rows), -1)
        over_rows, parameters = vmap(way.gradient, (None, 0, 0)), way.plain.parameters
        both, own = vmap(over_rows, (0, None, None)), vmap(over_rows, (0, 0, 0))
        square = min(len(points), len(rows))  # batches of one size may be confused
        each = [
            (flat(both(parameters(points), rows, targets)), wanted),
            (
                flat(both(parameters(points[:square]), rows[:square], targets[:square])),
                wanted[:square, :square],
            ),
            (
                flat(
                    own(parameters(points), *(one.expand(len(points), *one.shape) for one in (rows, targets)))
                ),
                wanted,
            ),
            (vmap(way.of_one)(*self._example.pairs()), wanted.flatten(0, 1)),
        ]
        vmap(way.loss, (0, None, None))(parameters(points), rows[0], targets[0])
        most = torch.linalg.vector_norm(wanted, dim=-1).nan_to_num(0.0, 0.0, 0.0).max()
        for found, right in each:
            off = torch.linalg.vector_norm(found - right, dim=-1)[right.isfinite().all(dim=-1)]
            if not bool((off <= self._tolerance * most).all()):
                return f"gradients differ from a plain backward pass by {float(off.max()):.3g}"
        return ""

    def _test_curvature(self, use: str, way: Way) -> str:
        points, rows, targets = self._example.pairs()
        number, size = points.shape
        generator = torch.Generator().manual_seed(1)
        vectors = torch.randn(2 * number, size, generator=generator, dtype=torch.float64).to(points)
        # A parameter without a gradient, such as a padding row, may still move the gradients of the others.
        vectors[:number] *= self.plain_gradients != 0
        vectors /= torch.linalg.vector_norm(vectors, dim=1, keepdim=True).clamp(min=1e-30)
        u, v = vectors[:number], vectors[number:]
        at, *rest = (torch.cat([one, one]) for one in (points, rows, targets))
        made = vmap(way.product)(at, vectors, *rest)
        hu, hv = made[:number], made[number:]
        off = ((v * hu).sum(dim=1) - (u * hv).sum(dim=1)).abs()
        sizes = torch.linalg.vector_norm(hu, dim=1) + torch.linalg.vector_norm(hv, dim=1)
        floors = self._tolerance * torch.linalg.vector_norm(self.plain_gradients, dim=1)
        if isinstance(way, _Loop):
            if way.times == way.plain.difference:
                return ""  # the last way is a difference itself
        elif bool((off > _CLOSE * sizes + floors).any()):
            return "products with the Hessian are not symmetric"
        return self._test_differences(u, hu) or ("" if use == "products" else self._test_slopes(use, way, u))

    def _test_slopes(self, use: str, way: Way, vectors: Tensor) -> str:
        """Compare slopes of the curvature along vectors with differences; those of slopes of the loss in rows, too."""
        points, rows, targets = self._example.pairs()
        own, inside = self._example, use == "inputs" and rows.is_floating_point()
        bent = vmap(way.bend)(points, vectors, rows, targets)
        shared = vmap(way.bend, (None, None, 0, 0))(own.points[0], vectors[0], own.rows, own.targets)
        if not bool((shared[0] - bent[0]).abs() <= _CLOSE * bent.abs().max()):
            return "the curvature depends on the shape of the batch"
        generator = torch.Generator().manual_seed(2)
        moves = [_of_length(one, generator) for one in (points, rows)[: 1 + inside]]
        moves[0] = moves[0] * (self.plain_gradients != 0)
        each: list[tuple[Callable[..., Tensor], tuple[int, ...]]] = [(way.bend, (0, 2) if inside else (0,))]
        for function, places in [*each, (way.along, (2,))][: 1 + inside]:
            slopes = vmap(grad(function, argnums=places))(points, vectors, rows, targets)
            chosen = [moves[place // 2] for place in places]
            along, sizes = _inner(slopes, chosen)
            if not bool(along.isfinite().all()):
                return "third derivatives are not finite"
            missed = torch.ones_like(along, dtype=torch.bool)
            for times in _STEPS:
                step = self._eps ** (1 / 3) * times
                ends = []
                for sign in (step, -step):
                    there = [points, rows]
                    for place, move in zip(places, chosen, strict=True):
                        there[place // 2] = there[place // 2] + sign * move
                    ends.append(vmap(function)(there[0], vectors, there[1], targets))
                off = (along - (ends[0] - ends[1]) / (2 * step)).abs()
                scale = ends[0].abs() + torch.linalg.vector_norm(self.plain_gradients, dim=1)
                missed &= ~(off <= _CLOSE * sizes + 2 * ULPS * self._eps * scale / step)
            if bool(missed.any()):
                return "third derivatives differ from differences of the curvature"
        return ""

    def _test_differences(self, vectors: Tensor, products: Tensor) -> str:
        """Compare products with central differences of plain gradients, for at most three pairs."""
        points, rows, targets = self._example.pairs()
        size, eps = points.shape[1], self._eps
        scales = torch.linalg.vector_norm(self.plain_gradients, dim=1)
        for k in range(0, len(points), 2):
            offs = []
            for times in _STEPS:
                step = eps ** (1 / 3) * times
                gradient = lambda point, row: self.plain.slopes(point, row, targets[k])[1].detach()[:size]  # noqa: B023, E731
                found = central(gradient, vectors[k], points[k], rows[k], eps, times)
                reach = torch.linalg.vector_norm(points[k]).clamp(min=1e-300) * step
                off = torch.linalg.vector_norm(found - products[k])
                room = _CLOSE * torch.linalg.vector_norm(products[k]) + 2 * ULPS * eps * scales[k] / reach
                offs.append(float(off))
                if bool(off <= room) or not bool(found.isfinite().all()):
                    break
            else:
                return f"products with the Hessian differ from differences of gradients by {min(offs):.3g}"
        return ""

    def words(self) -> str:
        """One sentence about the ways used and why; empty if the module is used as it is."""
        uses: dict[tuple[str, str], list[str]] = {}
        for use, said in self._said.items():
            if said[0] and use in _USES:
                uses.setdefault(said, []).append(_USES[use])
        parts = [
            f"{' and '.join(names)} {words}{f' ({why})' * bool(why)}" for (words, why), names in uses.items()
        ]
        ways = f"{'; '.join(parts)[:1].upper()}{'; '.join(parts)[1:]}." if parts else ""
        return f"{ways} {self.own_backward}".strip()

    @cached_property
    def own_backward(self) -> str:
        """Sentence about gradients that are not slopes of the loss, or about hooks; empty if there are none."""
        hooked = [
            name for name, one in self.plain.module.named_parameters() if getattr(one, "_backward_hooks", None)
        ]
        said = f"Hooks on parameters are not applied: {', '.join(hooked)}. " if hooked else ""
        engine = self if self._twin is None else self._twin
        points, rows, targets = engine._example.pairs()
        generator = torch.Generator().manual_seed(3)
        for k in range(0, len(points), 2):
            slopes = engine.plain_gradients[k]
            length = torch.linalg.vector_norm(slopes)
            if not bool(length > 0) or not bool(length.isfinite()):
                continue
            along = slopes / length + _of_length(slopes[None] / length, generator)[0] * (slopes != 0)
            loss: Callable[..., Tensor] = lambda x, r: engine.plain.slopes(x, r, targets[k])[0].detach()  # noqa: B023, E731
            wanted, found = float((slopes * along).sum()), []
            for times in _FINER:
                reach = engine._eps ** (1 / 3) * times * torch.linalg.vector_norm(points[k]).clamp(min=1e-300)
                room = float(ULPS * engine._eps * loss(points[k], rows[k]).abs() / reach)
                if room > length / 10:
                    break
                found.append(float(central(loss, along, points[k], rows[k], engine._eps, times)))
                if not abs(found[-1] - wanted) > _CLOSE * length + room:
                    found.clear()
                    break
            if len(found) > 1 and abs(found[-1] - found[-2]) < abs(found[-1] - wanted) / 10:
                return (
                    f"{said}The backward pass gives a slope of {wanted:.3g} where the loss has slope {found[-1]:.3g}, "
                    "as with straight-through estimators, stopped gradients or hooks: the constants describe the steps "
                    "of training, not the gradient of the loss."
                )
        return said.strip()


def _of_length(like: Tensor, generator: torch.Generator) -> Tensor:
    """Random vectors with the lengths of given ones, or with length 1 for 0."""
    noise = torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like)
    lengths, own = (torch.linalg.vector_norm(one.reshape(len(one), -1), dim=1) for one in (like, noise))
    factor: Tensor = torch.where(lengths > 0, lengths, 1.0) / own
    return noise * factor.reshape(-1, *[1] * (like.ndim - 1))


def _inner(slopes: Sequence[Tensor], moves: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Inner products of slopes and moves of each pair, and products of their lengths."""
    first, second = (torch.cat([one.reshape(len(one), -1) for one in some], dim=1) for some in (slopes, moves))
    norms = torch.linalg.vector_norm(first, dim=1) * torch.linalg.vector_norm(second, dim=1)
    return (first * second).sum(dim=1), norms


def _shortened(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} ..."
