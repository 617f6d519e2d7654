"""Losses of torch modules, captured as graphs of tensor operators, and their proved constants.

Attention, transformer blocks, residual and recurrent networks, layer and group norm, adapters of low rank, mixtures of
experts, and squared, logistic and Huber losses have constants on a ball of parameters; otherwise the reason names the
operator and its layer.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

import operator
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import deepcopy
from functools import partial
from math import inf, prod
from typing import Any, Final

import numpy as np
import torch
from flint import arb
from scipy.sparse import csr_array, vstack
from torch import Tensor, fx, nn
from torch.func import functionalize
from torch.overrides import TorchFunctionMode

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.activations import FUNCTIONS, Activation, hardtanh, leaky_relu
from lastiterate.numeric.networks.centres import (
    Detail,
    Graph,
    Linear,
    NoRuleError,
    Shape,
    TooLargeError,
    picked,
)
from lastiterate.numeric.networks.jets import Bounds, Centre, bounds
from lastiterate.runtime.clock import clock
from lastiterate.runtime.engine import plain_kernels
from lastiterate.runtime.leaves import called_at, places_of
from lastiterate.runtime.trials import describe_error, user_code

_HIDDEN: Final = -1e30
"""Stands for minus infinity; such entries are constant, and their probabilities are below every radius."""

_WORK: Final = {Detail.EXACT: 2**25, Detail.PRODUCTS: 2**26, Detail.NONE: 2**29}
"""Largest number of derivatives of all entries of all nodes for all samples; 2^22 take a second or two."""

_PICKING: Final = frozenset((
    "view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "squeeze", "unsqueeze", "slice",
    "select", "unbind", "split", "split_with_sizes", "chunk", "cat", "stack", "constant_pad_nd", "index_select",
    "gather", "embedding", "index", "clone", "alias", "contiguous", "repeat", "flip", "roll", "im2col", "unfold",
    "diagonal", "tril", "triu", "movedim", "where", "pixel_shuffle", "zeros_like",
))  # fmt: skip
_AVERAGING: Final = frozenset((
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "cumsum",
    "upsample_nearest2d", "nll_loss_forward", "nll_loss2d_forward",
))  # fmt: skip
"""Operators that move entries, and other linear operators of their first argument."""

_SORTING: Final = ("max", "min", "amax", "amin", "adaptive_max_pool", "topk", "sort", "median")


def capture(
    module: nn.Module, loss: Callable[[Tensor, Tensor], Tensor], row: Tensor, target: Tensor
) -> fx.GraphModule:
    """Graph of the loss of one sample, a function of the trained parameters, the row and the target."""
    from torch._decomp import get_decompositions
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx

    names = [name for name, one in module.named_parameters() if one.requires_grad]
    inside, places = ["the loss"], places_of(module)

    def label() -> None:
        mode = get_proxy_mode()
        for node in reversed(mode.tracer.graph.nodes) if mode is not None else ():
            if "layer" in node.meta:
                break
            node.meta["layer"] = inside[-1]

    def move(name: str | None, *_: Any) -> None:
        label()
        inside[:] = [*inside, name] if name else inside[:-1]

    def of_sample(leaves: tuple[Tensor, ...], one: Tensor, wanted: Tensor) -> Tensor:
        outputs = called_at(module, dict(zip(names, leaves, strict=True)), one[None], places)
        value = loss(outputs, wanted[None])
        label()
        return value

    aten = torch.ops.aten
    table = get_decompositions([
        aten.mse_loss, aten.binary_cross_entropy, aten.glu, aten.addcmul,
        aten.addcdiv, aten.embedding_bag, aten.lerp, aten.addmm, aten.baddbmm, aten.dot, aten.mv, aten.rsub,
        aten.square, aten.native_batch_norm, aten._native_batch_norm_legit_no_training, aten._weight_norm_interface,
        aten.linalg_vector_norm,
    ])  # fmt: skip
    with ExitStack() as stack, plain_kernels(), torch.no_grad(), enable_python_dispatcher(), _Logistic():
        for name, part in module.named_modules():
            stack.callback(part.register_forward_pre_hook(partial(move, name or "the module")).remove)
            stack.callback(part.register_forward_hook(partial(move, None)).remove)
        leaves = tuple(module.get_parameter(name).detach() for name in names)
        graph: fx.GraphModule = make_fx(
            functionalize(of_sample, remove="mutations"), decomposition_table=table
        )(leaves, row, target)
        return graph


class _Logistic(TorchFunctionMode):
    """The logistic loss as softplus(x) - y x, because the kinks in torch's formula cancel."""

    def __torch_function__(self, function: Any, _: Any, args: Any = (), options: Any = None) -> Any:
        if function is not nn.functional.binary_cross_entropy_with_logits:
            return function(*args, **(options or {}))
        (x, y), given = args, {name: one for name, one in (options or {}).items() if one is not None}
        reduction = given.pop("reduction", "mean")
        if given:
            raise NoRuleError(f"the logistic loss has no rule for {', '.join(given)}")
        found = nn.functional.softplus(x) - y * x
        return found if reduction == "none" else getattr(found, reduction)()


def constants_of_graph(
    module: nn.Module,
    loss: Callable[[Any, Tensor], Tensor],
    inputs: Tensor,
    targets: Tensor,
    radii: Sequence[float],
    near: float = 0.0,
) -> list[Bounds]:
    """Upper bounds on the constants of the losses of these samples, on a ball of each radius around the parameters.

    They hold for every input within ``near`` of one of the samples, with the same target.

    Raises:
        InputError: the loss cannot be captured.
        NoRuleError: an operator has no rule; the message names it and its layer.
    """
    with user_code("Certified constants need a copy of the module", "in deepcopy; make it copyable."):
        module = deepcopy(module).double()
    leaves = [one.detach() for one in module.parameters() if one.requires_grad]
    total = sum(one.numel() for one in leaves)
    if not total:
        raise NoRuleError("nothing is trained")
    rows = inputs.detach().cpu()
    rows, targets = (one.double() if one.is_floating_point() else one for one in (rows, targets.detach().cpu()))
    try:
        captured = capture(module.cpu(), loss, rows[0], targets[0])
    except Exception as error:  # of user code, or of an operator that torch cannot capture
        raise InputError(
            f"A loss needs torch operators that can be captured, got {describe_error(error)}; change them."
        ) from error

    detail, found = Detail.EXACT, list[Bounds]()
    for k, (row, target) in enumerate(zip(rows, targets, strict=True)):
        clock().tell(k / len(rows))
        graph = None
        while graph is None:
            limits: dict[str, Any] = {"near": near, "detail": detail, "largest": _WORK[detail] / len(rows)}
            limits["go_on"] = clock().go_on
            try:
                graph = Translation(captured, leaves, row, target, **limits).graph
            except TooLargeError as error:
                if detail == Detail.NONE:
                    raise NoRuleError(f"{error} of {len(rows)} samples and {total} parameters") from error
                detail = Detail(detail - 1)
            except (IndexError, KeyError, TypeError, ValueError, RuntimeError) as error:
                raise NoRuleError(f"the loss cannot be read: {describe_error(error)}") from error
        _refuse_other_gradient(graph, module, loss, row, target)
        centres = dict[int, Centre]()
        here = [bounds(graph, centres, radius, near) for radius in radii]
        found = [a.joined(b) for a, b in zip(found or here, here, strict=True)]
    return found


def _refuse_other_gradient(graph: Graph, module: nn.Module, loss: Any, row: Tensor, target: Tensor) -> None:
    """Refuse a graph whose gradient is not torch's, as that of a part with detach or with its own backward."""
    moving = [one for one in module.parameters() if one.requires_grad]
    with plain_kernels(), torch.enable_grad():
        value = loss(module(row[None]), target[None])
        wanted = torch.autograd.grad(value, moving, allow_unused=True, materialize_grads=True)
    for block, one in enumerate(wanted if not graph.kinked else ()):
        leaf = graph.adjoints.get(block)
        known = graph.nodes[leaf].value.mid if leaf is not None else np.zeros(one.numel())
        slack = 1e-8 * (1 + float(one.abs().max()))
        if not np.allclose(known, _numbers(one).reshape(-1), rtol=1e-6, atol=slack):
            raise NoRuleError("the gradient is not that of the loss: a part stops it, or has its own backward")


class _Moving(int):
    """Index of a node that depends on the parameters."""


class Translation:
    """Translation of a captured graph for one sample.

    Attributes:
        graph: the graph, with the adjoints of the loss.
    """

    def __init__(
        self,
        captured: fx.GraphModule,
        leaves: Sequence[Tensor],
        row: Tensor,
        target: Tensor,
        *,
        near: float = 0.0,
        **limits: Any,
    ) -> None:
        self.graph = Graph([leaf.numel() for leaf in leaves], row.numel() if near else 0, **limits)
        variables = [*leaves, row] if near else leaves
        moving = [_Moving(self.graph.variable(k, _numbers(one))) for k, one in enumerate(variables)]
        self._known: dict[fx.Node, Any] = {}
        given = iter((*moving, target) if near else (*moving, row, target))
        with torch.no_grad():
            for node in captured.graph.nodes:
                if node.op == "placeholder":
                    self._known[node] = next(given)
                elif node.op == "get_attr":
                    self._known[node] = getattr(captured, node.target)
                elif node.op == "call_function":
                    self.graph.where = f"{_name(node.target)} of {node.meta.get('layer', 'the loss')}"
                    self._known[node] = self._called(node)
                else:
                    (result,) = torch.utils._pytree.tree_leaves(
                        fx.node.map_arg(node.args[0], lambda one: self._known[one])
                    )
        if not isinstance(result, _Moving) or self.graph.nodes[result].value.mid.size != 1:
            raise NoRuleError("the loss is not one number that depends on the parameters")
        self.graph.pull_back(result)

    def _called(self, node: fx.Node) -> Any:
        args = fx.node.map_arg(node.args, lambda one: self._known[one])
        options = fx.node.map_arg(dict(node.kwargs), lambda one: self._known[one])
        if node.target is operator.getitem:
            return args[0][args[1]] if args[1] < len(args[0]) else None
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise NoRuleError(f"{self.graph.where} is random")
        if not any(isinstance(one, _Moving) for one in torch.utils._pytree.tree_leaves((args, options))):
            return node.target(*args, **options)
        name = _name(node.target)
        way = getattr(self, f"_on_{name}", None)
        if way is not None:
            return way(*args, **options)
        if name in _PICKING:
            return self._picked(node.target, args, options)
        if name in _AVERAGING:
            return self._averaged(node.target, args, options)
        if name in FUNCTIONS:
            return self._entries(args[0], FUNCTIONS[name])
        kink = " and may have kinks, where entries are equal" if name.startswith(_SORTING) else ""
        raise NoRuleError(f"{self.graph.where} has no rule{kink}")

    def _entries(self, x: Any, function: Activation) -> Any:
        return _Moving(self.graph.entrywise(x, function))

    def _on_relu(self, x: Any) -> Any:
        return self._entries(x, leaky_relu())

    def _on_leaky_relu(self, x: Any, slope: float = 0.01) -> Any:
        return self._entries(x, leaky_relu(slope, name="leaky_relu"))

    def _on_hardtanh(self, x: Any, low: float = -1, high: float = 1) -> Any:
        return self._entries(x, hardtanh(low, high))

    # Nodes from nodes, numbers and tensors.

    def _node(self, value: Any) -> int:
        if isinstance(value, _Moving):
            return int(value)
        return self.graph.constant(_numbers(value))

    def _shape(self, x: int) -> Shape:
        return self.graph.nodes[x].shape

    def _picked(self, target: Any, args: Any, options: Any) -> Any:
        """An operator that only moves entries, found by applying it to their numbers."""
        if _name(target) == "constant_pad_nd" and (args[2:] or [0])[0]:
            raise NoRuleError(f"{self.graph.where} has a rule for padding with 0 only")
        values = {"where": args[1:], "cat": args[:1], "stack": args[:1]}.get(_name(target), ())
        for one in torch.utils._pytree.tree_leaves(values[:2]):
            if not isinstance(one, _Moving | Tensor) or (
                isinstance(one, Tensor) and not one.is_floating_point()
            ):
                raise NoRuleError(f"{self.graph.where} has a rule for floating-point tensors only")
        found: list[tuple[int, int, int]] = []
        total = 1

        def numbered(one: Any) -> Any:
            nonlocal total
            if not isinstance(one, _Moving) and not (isinstance(one, Tensor) and one.is_floating_point()):
                return one
            index = self._node(one)
            size = self.graph.nodes[index].value.mid.size
            found.append((index, total, size))
            total += size
            return torch.arange(total - size, total, dtype=torch.float64).reshape(self._shape(index))

        places = target(
            *torch.utils._pytree.tree_map(numbered, args), **torch.utils._pytree.tree_map(numbered, options)
        )
        if isinstance(places, tuple | list):
            return tuple(self._from(one, found) for one in places)
        return self._from(places, found)

    def _from(self, places: Tensor, found: list[tuple[int, int, int]]) -> Any:
        at, shape = places.reshape(-1).to(torch.int64).numpy(), tuple(places.shape)
        result = None
        for index, start, size in found:
            mine = np.where((at >= start) & (at < start + size), at - start, -1)
            if (mine >= 0).any():
                part = (
                    index
                    if mine.size == size and shape == self._shape(index) and (mine == np.arange(size)).all()
                    else self.graph.linear(index, picked(mine, size), shape)
                )
                result = part if result is None else self.graph.add(result, part)
        return torch.zeros(shape, dtype=torch.float64) if result is None else _Moving(result)

    def _view(self, x: int, *shape: int) -> int:
        return int(self._picked(torch.reshape, (_Moving(x), shape), {}))

    def _permuted(self, x: int, order: Sequence[int]) -> int:
        return int(self._picked(torch.permute, (_Moving(x), tuple(order)), {}))

    def _expanded(self, x: int, shape: Sequence[int]) -> int:
        same = self._shape(x) == tuple(shape)
        return x if same else int(self._picked(torch.broadcast_to, (_Moving(x), tuple(shape)), {}))

    def _averaged(self, target: Any, args: Any, options: Any) -> Any:
        """A linear operator of its first argument, found by applying it to unit vectors."""
        x, rest = args[0], args[1:]
        if any(isinstance(one, _Moving) for one in rest):
            raise NoRuleError(f"{self.graph.where} has no rule")
        size, shape = self.graph.nodes[x].value.mid.size, self._shape(x)
        columns = []
        for k in range(size):
            self.graph.go_on()
            unit = torch.arange(size).eq(k).double().reshape(shape)
            made = target(unit, *rest, **options)
            first = made[0] if isinstance(made, tuple | list) else made
            columns.append(csr_array(first.reshape(1, -1).numpy()))
        result = _Moving(self.graph.linear(x, Linear(csr_array(vstack(columns).T)), tuple(first.shape)))
        return (result,) if isinstance(made, tuple | list) else result

    def _scaled(self, x: int, factors: Any) -> Any:
        """A tensor times constants, to which it is broadcast."""
        factor = _numbers(factors)
        shape = np.broadcast_shapes(self._shape(x), factor.shape)
        x, factor = self._expanded(x, shape), np.broadcast_to(factor, shape).reshape(-1)
        if not np.isfinite(factor).all():
            raise NoRuleError(f"{self.graph.where} multiplies by a number that is not finite")
        at = np.flatnonzero(factor)
        matrix = csr_array((factor[at], (at, at)), shape=(factor.size, factor.size))
        return _Moving(x if (factor == 1).all() else self.graph.linear(x, Linear(matrix), shape))

    def _pair(self, x: Any, y: Any) -> tuple[int, int]:
        one, other = self._node(x), self._node(y)
        shape = np.broadcast_shapes(self._shape(one), self._shape(other))
        return self._expanded(one, shape), self._expanded(other, shape)

    def _on_add(self, x: Any, y: Any, alpha: float = 1) -> Any:
        x, y = (y, x) if not isinstance(x, _Moving) and alpha == 1 else (x, y)
        if isinstance(y, _Moving):
            return _Moving(self.graph.add(*self._pair(x, y if alpha == 1 else self._scaled(y, alpha))))
        number = torch.as_tensor(y, dtype=torch.float64) * alpha
        hidden = torch.isneginf(number)
        if hidden.any():  # the probability of such an entry is 0
            x = self._scaled(x, (~hidden).double())
            number = number.masked_fill(hidden, _HIDDEN)
        return _Moving(self.graph.add(*self._pair(x, number)))

    def _on_sub(self, x: Any, y: Any, alpha: float = 1) -> Any:
        return _Moving(self.graph.add(*self._pair(x, self._on_mul(y, alpha) if alpha != 1 else y), -1.0))

    def _on_neg(self, x: Any) -> Any:
        return self._scaled(x, -1.0)

    def _on_mul(self, x: Any, y: Any) -> Any:
        x, y = (x, y) if isinstance(x, _Moving) else (y, x)
        return _Moving(self.graph.multiply(*self._pair(x, y))) if isinstance(y, _Moving) else self._scaled(x, y)

    def _on_div(self, x: Any, y: Any) -> Any:
        if isinstance(y, _Moving):
            return self._on_mul(self._entries(y, FUNCTIONS["reciprocal"]), x)
        return self._scaled(x, 1 / torch.as_tensor(y, dtype=torch.float64))

    def _on_pow(self, x: Any, power: Any) -> Any:
        if not isinstance(x, _Moving) or not isinstance(power, int | float):
            raise NoRuleError(f"{self.graph.where} has no rule")
        if power in (1, 2):
            return x if power == 1 else _Moving(self.graph.multiply(x, x))
        whole = power == int(power) and power > 0
        way = (lambda s: s ** int(power)) if whole else (lambda s: (s.log() * arb(float(power))).exp())
        return self._entries(x, Activation("pow", (way,), positive=not whole))

    def _on_gelu(self, x: Any, approximate: str = "none") -> Any:
        return self._entries(x, FUNCTIONS["gelu" if approximate == "none" else "gelu_tanh"])

    def _on_softplus(self, x: Any, beta: float = 1, threshold: float = 20) -> Any:
        if beta != 1 or threshold < 20:
            raise NoRuleError(f"{self.graph.where} has a rule for beta=1 and threshold=20 only")
        return self._entries(x, FUNCTIONS["softplus"])

    def _on_log_sigmoid_forward(self, x: Any) -> Any:
        return (self._entries(x, FUNCTIONS["log_sigmoid"]),)

    def _reduced(self, x: int, reduction: int) -> Any:
        return _Moving(x) if not reduction else (self._on_sum if reduction == 2 else self._on_mean)(_Moving(x))

    def _on_huber_loss(self, x: Any, y: Any, reduction: int = 1, delta: float = 1.0) -> Any:
        outer = (lambda s: -delta * s - delta**2 / 2, lambda s: s * s / 2, lambda s: delta * s - delta**2 / 2)
        huber = Activation("huber_loss", outer, (-delta, delta), most=(inf, delta, 1.0))
        return self._reduced(self.graph.entrywise(self._on_sub(x, y), huber), reduction)

    # Sums, products, norms.

    def _on_sum(
        self, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None, mean: bool = False
    ) -> Any:
        shape = self._shape(self._on__to_copy(x, dtype))
        axes = range(len(shape)) if dim is None or dim == [] else [dim] if isinstance(dim, int) else dim
        gone = {axis % len(shape) for axis in axes} if shape else set()
        kept = tuple(1 if k in gone else size for k, size in enumerate(shape))
        at = np.broadcast_to(np.arange(prod(kept)).reshape(kept), shape).reshape(-1)
        matrix = csr_array(
            (np.full(at.size, prod(kept) / at.size if mean else 1.0), (at, np.arange(at.size))),
            shape=(prod(kept), at.size),
        )
        out = kept if keepdim else tuple(size for k, size in enumerate(shape) if k not in gone)
        return _Moving(self.graph.linear(x, Linear(matrix), out))

    def _on_mean(self, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        return self._on_sum(x, dim, keepdim, dtype, mean=True)

    def _on_bmm(self, x: Any, y: Any) -> Any:
        return _Moving(self.graph.matmul(self._node(x), self._node(y)))

    def _on_mm(self, x: Any, y: Any) -> Any:
        one, other = self._node(x), self._node(y)
        (n, _), m = self._shape(one), self._shape(other)[-1]
        product = self.graph.matmul(
            self._view(one, 1, *self._shape(one)), self._view(other, 1, *self._shape(other))
        )
        return _Moving(self._view(product, n, m))

    def _on_convolution(self, x: Any, weight: Any, bias: Any, *options: Any) -> Any:
        """Matrices of weights times windows, which are picked by kernels with one entry."""
        transposed, groups, weight = options[3], options[5], self._node(weight)
        channels, each, *sizes = self._shape(weight)
        inside = channels // groups if transposed else each
        terms = inside * prod(sizes)
        kernels = torch.eye(terms, dtype=torch.float64).reshape(terms, inside, *sizes)
        if transposed:
            kernels = kernels.reshape(inside, *sizes, terms).movedim(-1, 1)
            weight = self._permuted(self._view(weight, groups, inside, each, -1), (0, 2, 1, 3))
        kernels = kernels.repeat(groups, 1, *[1] * len(sizes))
        windows = self._picked(
            lambda image: torch.convolution(image, kernels, None, *options), (_Moving(self._node(x)),), {}
        )
        n, _, *after = self._shape(windows)
        columns = self._permuted(self._view(windows, n, groups, terms, -1), (1, 2, 0, 3))
        product = self.graph.matmul(
            self._view(weight, groups, -1, terms), self._view(columns, groups, terms, -1)
        )
        axes = 2 + len(after)
        result = _Moving(self._permuted(self._view(product, -1, n, *after), (1, 0, *range(2, axes))))
        return result if bias is None else self._on_add(result, self._channels(bias, axes))

    def _channels(self, factors: Any, axes: int) -> Any:
        shape = (1, -1, *[1] * (axes - 2))
        return _Moving(self._view(factors, *shape)) if isinstance(factors, _Moving) else factors.reshape(shape)

    def _rows(self, x: int, dim: int, kind: str) -> int:
        rank = len(self._shape(x))
        order = [axis for axis in range(rank) if axis != dim % rank] + [dim % rank]
        back = [order.index(axis) for axis in range(rank)]
        return self._permuted(self.graph.rows(self._permuted(x, order), kind), back)

    def _on__softmax(self, x: Any, dim: int, *_: Any) -> Any:
        return _Moving(self._rows(x, dim, "softmax"))

    _on__safe_softmax = _on_softmax = _on__softmax

    def _on__log_softmax(self, x: Any, dim: int, *_: Any) -> Any:
        return _Moving(self._rows(x, dim, "log_softmax"))

    def _normalised(self, x: Any, rows: Sequence[int], eps: float) -> Any:
        """Rows of the tensor viewed in this shape, normalised."""
        viewed = self._view(self._node(x), *rows)
        return _Moving(self._view(self.graph.rows(viewed, "normalise", eps), *self._shape(self._node(x))))

    def _affine(self, x: Any, weight: Any, bias: Any) -> Any:
        scaled = x if weight is None else self._on_mul(x, weight)
        return (scaled if bias is None else self._on_add(scaled, bias), None, None)

    def _on_native_layer_norm(self, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        return self._affine(self._normalised(x, (-1, prod(shape)), eps), weight, bias)

    def _on_native_group_norm(self, x: Any, weight: Any, bias: Any, *options: Any) -> Any:
        n, c, each, groups, eps = options
        rank = len(self._shape(self._node(x)))
        factors = [None if one is None else self._channels(one, rank) for one in (weight, bias)]
        return self._affine(self._normalised(x, (n * groups, c // groups * each), eps), *factors)

    def _on_masked_fill(self, x: Any, mask: Tensor, value: float) -> Any:
        kept = self._scaled(x, (~mask).double())
        return self._on_add(kept, torch.zeros(self._shape(kept), dtype=torch.float64).masked_fill(mask, value))

    def _on__to_copy(self, x: Any, dtype: Any = None, **_: Any) -> Any:
        if dtype not in (None, torch.float64):
            raise NoRuleError(f"{self.graph.where} rounds to {dtype}, so the gradient jumps")
        return x


def _name(target: Any) -> str:
    packet = getattr(target, "overloadpacket", target)
    return getattr(packet, "__name__", str(packet)).rpartition(".")[2].removesuffix("_")


def _numbers(values: Any) -> Any:
    """Numbers in float64; Python's own are not rounded to torch's default dtype."""
    return torch.as_tensor(values, dtype=torch.float64).detach().cpu().numpy()
