"""A loss as a graph of tensor operators: values, derivatives and adjoints of its nodes at one point.

Every number is a box, a middle in float64 and a radius that includes all rounding errors. Derivatives in the
parameters are computed by the same rules as values, so that their errors are included as well. Entrywise
functions and their derivatives are evaluated in ball arithmetic.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, prod
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.activations import FUNCTIONS, Activation
from lastiterate.numeric.networks.matrices import round_up
from lastiterate.numeric.rounding import upper

_U: Final = 2.0**-53
_SLACK: Final = 4096
"""Units u by which an entry of a linear map may be off that is not 0, 1 or -1."""

_LARGEST: Final = 2**27
"""Largest number of derivatives of all nodes, 2 GiB with their radii."""

Shape = tuple[int, ...]


class NoRuleError(Exception):
    """A part of the graph has no constants; the message gives the reason."""


@dataclass(frozen=True)
class Box:
    """All arrays within ``rad`` of ``mid``, entry by entry."""

    mid: Array
    rad: Array

    @property
    def above(self) -> Array:
        """Upper bounds on the absolute values."""
        return round_up(np.abs(self.mid) + self.rad, 1)

    def plus(self, other: "Box", factor: float) -> "Box":
        """This box plus ``factor`` (1 or -1) times another."""
        mid = self.mid + factor * other.mid
        return Box(mid, round_up(self.rad + other.rad + _U * np.abs(mid), 3))

    def times(self, other: "Box") -> "Box":
        """Products, entry by entry."""
        mid = self.mid * other.mid
        off = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad) + _U * np.abs(mid)
        return Box(mid, round_up(off, 5))

    def matmul(self, other: "Box") -> "Box":
        """Products of matrices, which are the last two axes."""
        terms = self.mid.shape[-1]
        size = np.abs(other.mid)
        off = np.abs(self.mid) @ (other.rad + (terms + 1) * _U * size) + self.rad @ (size + other.rad)
        return Box(self.mid @ other.mid, round_up(off, 2 * terms + 6))

    def reshape(self, *shape: int) -> "Box":
        """The same numbers in another shape."""
        return Box(self.mid.reshape(shape), self.rad.reshape(shape))

    def swap(self) -> "Box":
        """The last two axes exchanged."""
        return Box(self.mid.swapaxes(-1, -2), self.rad.swapaxes(-1, -2))


def of(values: Array) -> Box:
    """The box of these values and no others."""
    return Box(values, np.zeros_like(values))


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear map of flattened tensors; entries that are not 0, 1 or -1 may be off by `_SLACK` units."""

    matrix: csr_array

    @cached_property
    def sizes(self) -> csr_array:
        """Upper bounds on the absolute values of the entries."""
        found = abs(self.matrix)
        found.data = np.where(found.data == 1, 1.0, found.data * (1 + 2 * _SLACK * _U))
        return found

    @cached_property
    def turned(self) -> "Linear":
        """The transposed map."""
        return Linear(csr_array(self.matrix.T))

    def of(self, box: Box) -> Box:
        """The image of a box, shape (entries, ...)."""
        terms = int(np.diff(self.matrix.indptr).max(initial=0)) + _SLACK + 2
        off = self.sizes @ (box.rad + terms * _U * np.abs(box.mid))
        return Box(self.matrix @ box.mid, round_up(off, terms + 4))

    def between(self, outs: int, ins: int) -> tuple[csr_array, Array]:
        """Norms of the blocks between groups of inputs and groups of outputs, and how many groups an output reads.

        The norm of a matrix is at most the root of its largest row sum times its largest column sum.
        """
        rows, columns = self.matrix.shape
        entries = self.sizes.tocoo()
        out, inside = entries.coords[0], entries.coords[1]
        group_out, group_in = out // max(1, rows // outs), inside // max(1, columns // ins)
        pair = group_out * ins + group_in
        keys, places = np.unique(pair, return_inverse=True)
        found = np.zeros((2, len(keys)))
        meets = np.zeros(rows)
        for axis, one in enumerate((out * ins + group_in, inside * outs + group_out)):
            lines, line_of = np.unique(one, return_inverse=True)
            sums = np.bincount(line_of, weights=entries.data, minlength=len(lines))
            np.maximum.at(found[axis], places, sums[line_of])
            if axis == 0:
                meets = np.bincount(lines // ins, minlength=rows)
        norms = 1e-50 + np.sqrt(round_up(found[0] * found[1], 2 * int(max(rows, columns))))
        shape = (keys // ins, keys % ins)
        return csr_array((norms, shape), shape=(outs, ins)), meets.reshape(outs, -1).max(axis=1)


def derivative_boxes(function: Activation, box: Box, first: int, number: int) -> list[Box]:
    """Derivatives of order ``first``, ``first + 1``, ... on a box; infinite radii where none are known."""
    mids, rads = np.zeros((number, box.mid.size)), np.full((number, box.mid.size), inf)
    for i, (at, off) in enumerate(zip(box.mid.tolist(), box.rad.tolist(), strict=True)):
        for k, value in enumerate(function.derivatives(arb(at, off), first + number)[first:]):
            middle = float(value.mid())
            if value.is_finite() and isfinite(middle):
                mids[k, i], rads[k, i] = middle, upper(abs(value - arb(middle)))
    return [Box(m, r) for m, r in zip(mids, rads, strict=True)]


@dataclass(eq=False)
class Node:
    """A tensor of the graph.

    Attributes:
        rule: kind of the operator; "inner" for steps of an operator whose bounds have a rule of their own.
        inputs: indices of the nodes that it is computed from.
        value: flattened value.
        tangent: derivative in all parameters, shape (entries, parameters); None for a constant.
        how: what the rule needs besides.
    """

    rule: str
    inputs: tuple[int, ...]
    shape: Shape
    value: Box
    tangent: Box | None
    how: Any = None
    where: str = ""
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def full(self) -> Shape:
        """The shape with at least two axes."""
        return (1,) * (2 - len(self.shape)) + self.shape

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Numbers of entries, of rows, of matrices, and 1."""
        shape = self.full
        return prod(shape), prod(shape[:-1]), prod(shape[:-2]), 1


class Graph:
    """Nodes in an order in which each comes after its inputs; methods append a node and return its index.

    Args:
        sizes: numbers of entries of the blocks of parameters.
        inputs: number of entries of an input that moves as well, as a last block; 0 for none.
    """

    def __init__(self, sizes: Sequence[int], inputs: int = 0) -> None:
        self.parameters = len(sizes)
        self.sizes = [*sizes, inputs] if inputs else list(sizes)
        self.starts = np.cumsum([0, *self.sizes])
        self.nodes: list[Node] = []
        self.entries = 0
        self.where = ""
        self.adjoints: dict[int, int] = {}

    def _add(
        self, rule: str, inputs: Sequence[int], shape: Shape, value: Box, tangent: Box | None, how: Any = None
    ) -> int:
        if not np.isfinite(value.mid).all() or not np.isfinite(value.rad).all():
            raise NoRuleError(f"{self.where or rule} has no finite value")
        self.entries += value.mid.size
        if tangent is not None and self.entries * tangent.mid.shape[1] > _LARGEST:
            raise NoRuleError(f"{self.where or rule} makes the graph too large for a proof")
        self.nodes.append(Node(rule, tuple(inputs), shape, value, tangent, how, self.where))
        return len(self.nodes) - 1

    def constant(self, values: Array) -> int:
        """A tensor that does not depend on the parameters."""
        flat = np.array(values, dtype=np.float64)
        return self._add("constant", (), flat.shape, of(flat.reshape(-1)), None)

    def variable(self, block: int, values: Array) -> int:
        """A block of parameters."""
        tangent = np.zeros((values.size, int(self.starts[-1])))
        tangent[np.arange(values.size), self.starts[block] + np.arange(values.size)] = 1
        flat = np.array(values, dtype=np.float64).reshape(-1)
        return self._add("variable", (), values.shape, of(flat), of(tangent), block)

    def _of(self, *several: int) -> list[Node]:
        return [self.nodes[k] for k in several]

    def linear(self, x: int, how: Linear, shape: Shape) -> int:
        """A linear map of the flattened tensor."""
        node = self.nodes[x]
        tangent = None if node.tangent is None else how.of(node.tangent)
        return self._add("linear", (x,), shape, how.of(node.value), tangent, how)

    def add(self, x: int, y: int, factor: float = 1.0) -> int:
        """x + y or, with the factor -1, x - y, of one shape."""
        a, b = self._of(x, y)
        tangent = a.tangent
        if b.tangent is not None:
            none = of(np.zeros_like(b.tangent.mid))
            tangent = (none if a.tangent is None else a.tangent).plus(b.tangent, factor)
        return self._add("add", (x, y), a.shape, a.value.plus(b.value, factor), tangent, factor)

    def multiply(self, x: int, y: int) -> int:
        """The entrywise product of tensors of one shape."""
        a, b = self._of(x, y)
        pairs = ((a.tangent, b.value), (b.tangent, a.value))
        parts = [tangent.times(other.reshape(-1, 1)) for tangent, other in pairs if tangent is not None]
        return self._add("multiply", (x, y), a.shape, a.value.times(b.value), _total(parts))

    def matmul(self, x: int, y: int) -> int:
        """The product of matrices, shapes (batch, n, k) and (batch, k, m)."""
        a, b = self._of(x, y)
        (batch, n, k), m = a.shape, b.shape[-1]
        one, other = a.value.reshape(*a.shape), b.value.reshape(*b.shape)
        parts = []
        if b.tangent is not None:
            parts.append(one.matmul(b.tangent.reshape(batch, k, -1)).reshape(batch * n * m, -1))
        if a.tangent is not None:
            moved = a.tangent.reshape(batch * n, k, -1).swap().reshape(batch, -1, k).matmul(other)
            parts.append(moved.reshape(batch * n, -1, m).swap().reshape(batch * n * m, -1))
        return self._add("matmul", (x, y), (batch, n, m), one.matmul(other).reshape(-1), _total(parts))

    def entrywise(self, x: int, function: Activation, order: int = 0) -> int:
        """A derivative of a function, entry by entry."""
        node = self.nodes[x]
        value, slope, *more = derivative_boxes(function, node.value, order, 4)
        if not np.isfinite(value.rad).all() or not np.isfinite(slope.rad).all():
            raise NoRuleError(f"{self.where or function.name} has a kink, or no value, at the centre")
        tangent = None if node.tangent is None else node.tangent.times(slope.reshape(-1, 1))
        index = self._add("entrywise", (x,), node.shape, value, tangent, (function, order))
        self.nodes[index].cache["slopes"] = [slope, *more]
        return index

    def rows(self, x: int, kind: str, how: Any = None) -> int:
        """A function of the rows (the last axis): "softmax", "log_softmax" or "normalise" (how is eps)."""
        if kind == "log_softmax":
            how = self.rows(x, "softmax")
        maps: dict[str, Callable[[int, Any], int]] = {
            "softmax": self._softmax, "log_softmax": self._log_softmax, "normalise": self._normalise
        }  # fmt: skip
        start = len(self.nodes)
        result = maps[kind](x, how)
        self._hide(start)
        node = self.nodes[result]
        node.rule, node.how = kind, {"x": x, "of": node.inputs, "given": how}
        node.inputs = (x,)
        return result

    def _hide(self, start: int) -> None:
        """Mark the nodes from this one on as steps of one operator."""
        for node in self.nodes[start:]:
            node.rule = "constant" if node.rule == "constant" else "inner"

    def _row_maps(self, shape: Shape) -> tuple[Linear, Linear]:
        rows, width = prod(shape[:-1]), shape[-1]
        at = np.arange(rows * width)
        sums = Linear(csr_array((np.ones(at.size), (at // width, at)), shape=(rows, rows * width)))
        return sums, sums.turned

    def _spread(self, x: int, like: int) -> int:
        shape = self.nodes[like].shape
        return self.linear(x, self._row_maps(shape)[1], shape)

    def _summed(self, x: int) -> int:
        shape = self.nodes[x].shape
        return self.linear(x, self._row_maps(shape)[0], (*shape[:-1], 1))

    def _scaled(self, x: int, factor: float) -> int:
        node = self.nodes[x]
        at = np.arange(node.value.mid.size)
        return self.linear(x, Linear(csr_array((np.full(at.size, factor), (at, at)))), node.shape)

    def _exponentials(self, x: int) -> tuple[int, int, int]:
        node = self.nodes[x]
        largest = node.value.mid.reshape(node.shape).max(axis=-1, keepdims=True) + np.zeros(node.shape)
        shifted = self.entrywise(self.add(x, self.constant(largest), -1.0), FUNCTIONS["exp"])
        return shifted, self._summed(shifted), self.constant(largest[..., :1])

    def _softmax(self, x: int, _how: None) -> int:
        shifted, total, _ = self._exponentials(x)
        return self.multiply(shifted, self._spread(self.entrywise(total, FUNCTIONS["reciprocal"]), x))

    def _log_softmax(self, x: int, _how: int) -> int:
        _, total, largest = self._exponentials(x)
        return self.add(x, self._spread(self.add(self.entrywise(total, FUNCTIONS["log"]), largest), x), -1.0)

    def _centred(self, x: int) -> int:
        width = self.nodes[x].shape[-1]
        return self.add(x, self._spread(self._scaled(self._summed(x), 1 / width), x), -1.0)

    def _normalise(self, x: int, eps: float) -> int:
        z = self._centred(x)
        width = self.nodes[x].shape[-1]
        variance = self._scaled(self._summed(self.multiply(z, z)), 1 / width)
        shift = self.constant(np.full(self.nodes[variance].shape, eps))
        inverse = self._spread(self.entrywise(self.add(variance, shift), FUNCTIONS["rsqrt"]), x)
        result = self.multiply(z, inverse)
        self.nodes[result].cache["parts"] = (z, inverse)
        return result

    def pull_back(self, loss: int) -> None:
        """Append the derivatives of the loss in all moving nodes; ``adjoints`` maps nodes to them."""
        self.adjoints = {loss: self.constant(np.ones(self.nodes[loss].shape))}
        for index in range(loss, -1, -1):
            node = self.nodes[index]
            if index not in self.adjoints or node.tangent is None or node.rule in ("variable", "inner"):
                continue
            self.where = node.where
            for target, contribution in self._pulled(index, node, self.adjoints[index]):
                known = self.adjoints.get(target)
                self.adjoints[target] = contribution if known is None else self.add(known, contribution)

    def _pulled(self, index: int, node: Node, g: int) -> list[tuple[int, int]]:
        moving = [k for k in node.inputs if self.nodes[k].tangent is not None]
        x = node.inputs[0]
        if node.rule == "linear":
            return [(x, self.linear(g, node.how.turned, self.nodes[x].shape))]
        if node.rule == "add":
            signs = dict.fromkeys(node.inputs, 0.0)
            signs[x] += 1.0
            signs[node.inputs[1]] += node.how
            used = [k for k in dict.fromkeys(moving) if signs[k]]
            return [(k, g if signs[k] == 1 else self._scaled(g, signs[k])) for k in used]
        if node.rule == "multiply":
            a, b = node.inputs
            return [(k, self.multiply(g, other)) for k, other in ((a, b), (b, a)) if k in moving]
        if node.rule == "matmul":
            a, b = node.inputs
            found = [(a, self.matmul(g, self.transposed(b)))] if a in moving else []
            return found + ([(b, self.matmul(self.transposed(a), g))] if b in moving else [])
        if node.rule == "entrywise":
            function, order = node.how
            return [(x, self.multiply(g, self.entrywise(x, function, order + 1)))]
        if node.rule == "log_softmax":
            shares = self.multiply(node.how["given"], self._spread(self._summed(g), x))
            result = self.add(g, shares, -1.0)
            self.nodes[result].rule = "pulled log_softmax"
            return [(x, result)]
        start = len(self.nodes)
        if node.rule == "softmax":
            weighed = self.multiply(index, g)
            result = self.add(weighed, self.multiply(index, self._spread(self._summed(weighed), x)), -1.0)
        else:
            width = node.shape[-1]
            _, inverse = node.cache["parts"]
            along = self._spread(self._scaled(self._summed(self.multiply(index, g)), 1 / width), x)
            rest = self.add(self._centred(g), self.multiply(index, along), -1.0)
            result = self.multiply(inverse, rest)
        self._hide(start)
        pulled = self.nodes[result]
        pulled.rule, pulled.how, pulled.inputs = f"pulled {node.rule}", node.how | {"node": index}, (x, g)
        return [(x, result)]

    def transposed(self, x: int) -> int:
        """Matrices with their axes exchanged, shape (batch, n, k)."""
        node = self.nodes[x]
        order = np.arange(node.value.mid.size).reshape(node.shape).swapaxes(-1, -2)
        batch, n, k = node.shape
        return self.linear(x, picked(order.reshape(-1).astype(np.int64), order.size), (batch, k, n))


def picked(places: NDArray[np.int64], entries: int) -> Linear:
    """The map whose output i is the input ``places[i]``, or 0 if this is -1."""
    kept = np.flatnonzero(places >= 0)
    return Linear(csr_array((np.ones(kept.size), (kept, places[kept])), shape=(places.size, entries)))


def _total(parts: list[Box]) -> Box | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else parts[0].plus(parts[1], 1.0)
