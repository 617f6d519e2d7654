"""Graph of the operators that a function of tensors runs, each of them once.

A graph costs several times less than the function's own Python and its derivatives, which compute the same values
more than once. A function that reads values, draws random numbers, or reads a tensor after a write to another
tensor with the same memory has no graph.
"""

import operator
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, fx
from torch.func import vmap
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from lastiterate.runtime.leaves import key_of_memory
from lastiterate.runtime.replay import READS

_BATCHED: Final = {torch.ops.aten.view.default: torch.ops.aten.reshape.default}
"""Operators for tensors of any strides, which those of a batch may have."""


_READING: Final = (Tensor.numpy, Tensor.tolist, Tensor.__array__)


class _Refusing(TorchFunctionMode):
    """Refusal of methods that read values without an operator."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _READING:
            raise RuntimeError(f"{func} cannot be recorded")
        return func(*args, **(kwargs or {}))


class _Watching(TorchDispatchMode):
    """Graph of the operators on given tensors and on what is computed from them; other tensors are constants."""

    def __init__(self, given: Sequence[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph, self.constants = fx.Graph(), torch.nn.Module()
        self._made: dict[Hashable, fx.Node] = {}
        self._written: dict[int, set[int]] = {}
        self._constant: set[int] = set()
        """Tensors that may be read, for each memory to which an operator wrote; memory of constants."""
        # Tensors are kept, since freed memory would be taken for a given tensor's.
        self._nodes = {id(one): (self.graph.placeholder(f"given_{k}"), one) for k, one in enumerate(given)}

    def node(self, one: Any, copied: bool = False) -> Any:
        """Node of a tensor, which is a constant if it is new; anything else is returned as it is."""
        if isinstance(one, Tensor) and id(one) not in self._written.get(key_of_memory(one), {id(one)}):
            raise RuntimeError("a write through another tensor cannot be recorded")
        if isinstance(one, Tensor) and id(one) not in self._nodes:
            name = f"constant_{len(self._nodes)}"
            self.constants.register_buffer(name, one.clone() if copied else one)
            self._constant |= set() if copied else {key_of_memory(one)}
            self._nodes[id(one)] = self.graph.get_attr(name), one
        return self._nodes[id(one)][0] if isinstance(one, Tensor) else one

    def _once(self, function: Callable[..., Any], *given: Any) -> fx.Node:
        key = (function, repr(given))
        if key not in self._made:
            self._made[key] = self.graph.call_function(function, *given)
        return self._made[key]

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        called: Any = func
        if called is torch.ops.aten._efficientzerotensor.default:
            called = func = torch.ops.aten.zeros.default  # tensors without memory crash in a dispatch mode
        kwargs, name, writes = kwargs or {}, called.overloadpacket.__name__, called._schema.is_mutable
        if not any(id(one) in self._nodes for one in tree_leaves((args, kwargs))):
            return func(*args, **kwargs)
        if name in READS or torch.Tag.nondeterministic_seeded in called.tags:
            raise RuntimeError(f"{called} cannot be recorded")
        given = tree_map(partial(self.node, copied=writes), (tuple(args), kwargs))
        made = func(*args, **kwargs)
        if writes:  # the graph computes a new tensor in its place
            called = getattr(getattr(torch.ops.aten, name.removesuffix("_")), called._overloadname)
            if called._schema.is_mutable or key_of_memory(args[0]) in self._constant:
                raise RuntimeError(f"{func} cannot be recorded")
            self._written[key_of_memory(args[0])] = {id(args[0])}
        called = _BATCHED.get(called, called)
        alias = called in (torch.ops.aten.detach.default, torch.ops.aten.alias.default)
        node = given[0][0] if alias else self._once(called, *given)
        for k, one in enumerate(made if isinstance(made, tuple | list) else (made,)):
            if isinstance(one, Tensor):
                own = node if one is made else self._once(operator.getitem, (node, k))
                self._nodes[id(one)] = own, one
                self._written.get(key_of_memory(one), set()).add(id(one))
        return made


def graph_of(
    function: Callable[..., Any], columns: Sequence[Tensor], tolerance: float, batch: Callable[..., Any] = vmap
) -> Callable[..., Any] | None:
    """Graph of a function of one row of each column; None if its results for these rows are others."""
    try:
        first = [one[0].clone() for one in columns]
        with _Refusing(), _Watching(first) as watching:
            made = function(*first)
        watching.graph.output(tree_map(watching.node, made))
        watching.graph.eliminate_dead_code()
        graph: Callable[..., Any] = fx.GraphModule(watching.constants, watching.graph)
        each = zip(*(tree_leaves(batch(one)(*columns)) for one in (graph, function)), strict=True)
    except Exception:  # operators that cannot be recorded
        return None
    for found, right in each:
        most = float(right.abs().nan_to_num(0.0, 0.0, 0.0).max())
        if not torch.allclose(found, right, tolerance, tolerance * most, equal_nan=True):
            return None
    return graph
