"""A loss as a graph of tensor operators: values, derivatives and adjoints of its nodes at one point.

Every number is a box, a middle in float64 and a radius that includes all rounding errors. Derivatives in the
parameters are computed by the same rules as values, so that their errors are included as well. Entrywise
functions and their derivatives are evaluated in ball arithmetic.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, partial, reduce
from math import inf, isfinite, prod
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.activations import FUNCTIONS, Activation
from lastiterate.numeric.networks.matrices import round_up, spectral_norms
from lastiterate.numeric.rounding import upper

_U: Final = 2.0**-53
_SLACK: Final = 4096
"""Units u by which an entry of a linear map may be off that is not 0, 1 or -1."""

_LARGEST: Final = 2**27
"""Largest number of derivatives of all nodes, 2 GiB with their radii and bounds."""

Shape = tuple[int, ...]


class NoRuleError(Exception):
    """A part of the graph has no constants; the message gives the reason."""


class TooLargeError(NoRuleError):
    """The graph has too many derivatives."""


class LateError(NoRuleError):
    """The time for a proof is over."""


class Detail(IntEnum):
    """Kinds of derivatives at the centre that a graph holds.

    ``EXACT``: of all nodes, in the entries of all blocks. ``PRODUCTS``: of all nodes but adjoints, where those in a
    large matrix are derivatives in its products with other matrices. ``NONE``: bounds follow from the rules alone.
    """

    NONE = 0
    PRODUCTS = 1
    EXACT = 2


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

    def wider(self, columns: int) -> "Box":
        """The box with columns of zeros appended, up to this number."""
        more = ((0, 0), (0, columns - self.mid.shape[1]))
        return Box(np.pad(self.mid, more), np.pad(self.rad, more))

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

    @cached_property
    def order(self) -> NDArray[np.int64] | None:
        """The input of each output, if the map is a permutation."""
        rows, columns = self.matrix.shape
        once = rows == columns == self.matrix.nnz and (self.matrix.data == 1).all()
        found = self.matrix.indices.astype(np.int64)
        return found if once and (np.diff(self.matrix.indptr) == 1).all() and _is_order(found) else None

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


def _is_order(places: NDArray[np.int64]) -> bool:
    return bool((np.sort(places) == np.arange(places.size)).all())


def derivative_boxes(function: Activation, box: Box, first: int, number: int) -> list[Box]:
    """Derivatives of order ``first``, ``first + 1``, ... on a box; infinite radii where none are known."""
    mids, rads = np.zeros((number, box.mid.size)), np.full((number, box.mid.size), inf)
    for i, (at, off) in enumerate(zip(box.mid.tolist(), box.rad.tolist(), strict=True)):
        for k, value in enumerate(function.derivatives(arb(at, off), first + number)[first:]):
            middle = float(value.mid())
            if value.is_finite() and isfinite(middle):
                mids[k, i], rads[k, i] = middle, upper(abs(value - arb(middle)))
    return [Box(m, r) for m, r in zip(mids, rads, strict=True)]


@dataclass(frozen=True)
class Still:
    """The derivative of a tensor whose entry i is the entry ``places[i]`` of a block, each used once."""

    block: int
    places: NDArray[np.int64]


@dataclass(frozen=True)
class UsedBlock:
    """Columns of derivatives that stand for a block, at one place where it is used.

    Attributes:
        block: the block.
        columns: the entries of the block or, if these are more, of its product with another matrix.
        most: at least the length of those entries per length of a direction in the block.
    """

    block: int
    columns: slice
    most: float


@dataclass(eq=False)
class Node:
    """A tensor of the graph.

    Attributes:
        rule: kind of the operator; "inner" for steps of an operator whose bounds have a rule of their own.
        inputs: indices of the nodes that it is computed from.
        value: flattened value.
        tangent: derivative in the columns of `Graph.uses`, shape (entries, columns), of which later ones may be
            left out; None if it is 0 or not known.
        moving: whether the value depends on the parameters or the input.
        how: what the rule needs besides.
    """

    rule: str
    inputs: tuple[int, ...]
    shape: Shape
    value: Box
    tangent: Box | Still | None
    moving: bool
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
        detail: derivatives that are computed.
        largest: largest number of derivatives.
        go_on: function that is called before each node, and raises a `LateError` if the time is over.

    Attributes:
        work: number of derivatives, in the columns and in pairs of blocks.
        adjoints: for each node, that of the derivative of the loss in it.
        kinked: names of the nodes with a kink at this point; there are no adjoints then.
    """

    def __init__(
        self, sizes: Sequence[int], inputs: int = 0, *, detail: Detail = Detail.EXACT, largest: float = _LARGEST,
        go_on: Callable[[], object] = bool,
    ) -> None:  # fmt: skip
        self.parameters = len(sizes)
        self.sizes = [*sizes, inputs] if inputs else list(sizes)
        self.detail, self._largest = detail, min(largest, _LARGEST)
        self.uses: list[UsedBlock] = []
        self._whole: dict[int, UsedBlock] = {}
        self._columns = 0
        self.nodes: list[Node] = []
        self.work = 0
        self.where = ""
        self.adjoints: dict[int, int] = {}
        self.kinked: list[str] = []
        self._still, self.go_on = detail == Detail.NONE, go_on

    def _add(
        self,
        rule: str,
        inputs: Sequence[int],
        shape: Shape,
        value: Box,
        tangent: Box | Still | None,
        how: Any = None,
    ) -> int:
        self.go_on()
        if not np.isfinite(value.mid).all() or not np.isfinite(value.rad).all():
            raise NoRuleError(f"{self.where or rule} has no finite value")
        self.work += value.mid.size * len(self.sizes) ** 2
        if isinstance(tangent, Box):
            self.work += tangent.mid.size
        if self.work > self._largest:
            raise TooLargeError(f"{self.where or rule} makes the graph too large for a proof")
        moving = rule == "variable" or any(self.nodes[k].moving for k in inputs)
        self.nodes.append(Node(rule, tuple(inputs), shape, value, tangent, moving, how, self.where))
        return len(self.nodes) - 1

    def constant(self, values: Array) -> int:
        """A tensor that does not depend on the parameters."""
        flat = np.array(values, dtype=np.float64)
        return self._add("constant", (), flat.shape, of(flat.reshape(-1)), None)

    def variable(self, block: int, values: Array) -> int:
        """A block of parameters."""
        flat = np.array(values, dtype=np.float64).reshape(-1)
        index = self._add("variable", (), values.shape, of(flat), Still(block, np.arange(flat.size)), block)
        if self.detail == Detail.EXACT or block >= self.parameters:
            self._tangent(self.nodes[index])
        return index

    def _used(self, block: int, entries: int, most: float) -> UsedBlock:
        self.uses.append(UsedBlock(block, slice(self._columns, self._columns + entries), most))
        self._columns += entries
        return self.uses[-1]

    def _tangent(self, node: Node) -> Box | None:
        """The derivative as a matrix."""
        if self._still:
            return None
        if isinstance(node.tangent, Still):
            block, places = node.tangent.block, node.tangent.places
            if block not in self._whole:
                self._whole[block] = self._used(block, self.sizes[block], 1.0)
            node.tangent = self._unit(self._whole[block], places)
        return node.tangent

    def _unit(self, use: UsedBlock, places: NDArray[np.int64]) -> Box:
        if self.work + places.size * use.columns.stop > self._largest:
            raise TooLargeError(f"{self.where or 'a variable'} makes the graph too large for a proof")
        found = np.zeros((places.size, use.columns.stop))
        found[np.arange(places.size), use.columns.start + places] = 1
        return of(found)

    def _of(self, *several: int) -> list[Node]:
        return [self.nodes[k] for k in several]

    def linear(self, x: int, how: Linear, shape: Shape) -> int:
        """A linear map of the flattened tensor."""
        node = self.nodes[x]
        if isinstance(node.tangent, Still) and (order := how.order) is not None:
            still = Still(node.tangent.block, node.tangent.places[order])
            return self._add("linear", (x,), shape, how.of(node.value), still, how)
        moved = self._tangent(node)
        return self._add(
            "linear", (x,), shape, how.of(node.value), None if moved is None else how.of(moved), how
        )

    def add(self, x: int, y: int, factor: float = 1.0) -> int:
        """x + y or, with the factor -1, x - y, of one shape."""
        a, b = self._of(x, y)
        tangent, other = self._tangent(a), self._tangent(b)
        if other is not None:
            tangent = _total([of(np.zeros((len(other.mid), 0))) if tangent is None else tangent, other], factor)
        return self._add("add", (x, y), a.shape, a.value.plus(b.value, factor), tangent, factor)

    def multiply(self, x: int, y: int) -> int:
        """The entrywise product of tensors of one shape."""
        a, b = self._of(x, y)
        pairs = ((self._tangent(a), b.value), (self._tangent(b), a.value))
        parts = [tangent.times(other.reshape(-1, 1)) for tangent, other in pairs if tangent is not None]
        return self._add("multiply", (x, y), a.shape, a.value.times(b.value), _total(parts))

    def matmul(self, x: int, y: int) -> int:
        """The product of matrices, shapes (batch, n, k) and (batch, k, m)."""
        a, b = self._of(x, y)
        (batch, n, _), m = a.shape, b.shape[-1]
        one, other = a.value.reshape(*a.shape), b.value.reshape(*b.shape)
        parts = [self._met(node, by, batch * n * m) for node, by in ((a, other), (b, one))]
        for at, met in ((1, parts[1]), (0, parts[0])):
            moved = self._tangent((a, b)[at]) if met is None else None
            parts.append(None if moved is None else _multiplied(a, b, at, moved))
        return self._add("matmul", (x, y), (batch, n, m), one.matmul(other).reshape(-1), _total(parts))

    def after(self, node: Node, at: int, columns: Box) -> Box:
        """Columns in the place of one input of a product or a linear map, mapped to the node."""
        if node.rule == "linear":
            found: Box = node.how.of(columns)
            return found
        a, b = self._of(*node.inputs)
        return _multiplied(a, b, at, columns)

    def _met(self, node: Node, by: Box, entries: int) -> Box | None:
        """Derivative of a product in a block that has more entries than the product, at this place."""
        if self._still or not isinstance(node.tangent, Still) or node.tangent.block in self._whole:
            return None
        if self.sizes[node.tangent.block] <= entries:
            return None
        most = float(spectral_norms(by.mid).max()) + float(np.sqrt((by.rad * by.rad).sum())) + 1e-100
        return self._unit(self._used(node.tangent.block, entries, most * (1 + 1e-9)), np.arange(entries))

    def entrywise(self, x: int, function: Activation, order: int = 0) -> int:
        """A derivative of a function, entry by entry."""
        node = self.nodes[x]
        value, slope, *more = derivative_boxes(function, node.value, order, 4)
        if not np.isfinite(value.rad).all() or not np.isfinite(slope.rad).all():
            raise NoRuleError(f"{self.where or function.name} has no value, or no slope, at the centre")
        if function.kinks and len(function.most) < 3 and not np.isfinite(more[0].rad).all():
            self.kinked.append(self.where or function.name)
        moved = self._tangent(node)
        tangent = None if moved is None else moved.times(slope.reshape(-1, 1))
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
        self._still = self.detail < Detail.EXACT
        for index in range(loss, -1, -1) if not self.kinked else ():
            node = self.nodes[index]
            if index not in self.adjoints or not node.moving or node.rule in ("variable", "inner"):
                continue
            self.where = node.where
            for target, way in self._pulled(index, node, self.adjoints[index]):
                start, known = len(self.nodes), self.adjoints.get(target)
                contribution = way()
                self.adjoints[target] = contribution if known is None else self.add(known, contribution)
                of = self.nodes[target]
                if self._still and (of.rule == "variable" or isinstance(of.tangent, Still)):
                    self._hide(start)  # only its value is needed

    def _pulled(self, index: int, node: Node, g: int) -> list[tuple[int, Callable[[], int]]]:
        moving = [k for k in node.inputs if self.nodes[k].moving]
        x = node.inputs[0]
        if node.rule == "linear":
            return [(x, lambda: self.linear(g, node.how.turned, self.nodes[x].shape))]
        if node.rule == "add":
            signs = dict.fromkeys(node.inputs, 0.0)
            signs[x] += 1.0
            signs[node.inputs[1]] += node.how
            used = [k for k in dict.fromkeys(moving) if signs[k]]
            return [(k, partial(self._signed, g, signs[k])) for k in used]
        if node.rule == "multiply":
            a, b = node.inputs
            return [(k, partial(self.multiply, g, other)) for k, other in ((a, b), (b, a)) if k in moving]
        if node.rule == "matmul":
            a, b = node.inputs
            ways = (
                (a, lambda: self.matmul(g, self.transposed(b))),
                (b, lambda: self.matmul(self.transposed(a), g)),
            )
            return [(k, way) for k, way in ways if k in moving]
        return [(x, partial(self._bent_back, index, node, g))]

    def _signed(self, g: int, sign: float) -> int:
        return g if sign == 1 else self._scaled(g, sign)

    def _bent_back(self, index: int, node: Node, g: int) -> int:
        """The adjoint of the input of a function of entries or rows."""
        x = node.inputs[0]
        if node.rule == "entrywise":
            function, order = node.how
            return self.multiply(g, self.entrywise(x, function, order + 1))
        if node.rule == "log_softmax":
            shares = self.multiply(node.how["given"], self._spread(self._summed(g), x))
            result = self.add(g, shares, -1.0)
            self.nodes[result].rule = "pulled log_softmax"
            return result
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
        return result

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


def _multiplied(a: Node, b: Node, at: int, columns: Box) -> Box:
    """The product of matrices a b with the columns in the place of a (at = 0) or b (at = 1)."""
    (batch, n, k), m = a.shape, b.shape[-1]
    if at:
        return a.value.reshape(*a.shape).matmul(columns.reshape(batch, k, -1)).reshape(batch * n * m, -1)
    moved = columns.reshape(batch * n, k, -1).swap().reshape(batch, -1, k).matmul(b.value.reshape(*b.shape))
    return moved.reshape(batch * n, -1, m).swap().reshape(batch * n * m, -1)


def _total(parts: Sequence[Box | None], factor: float = 1.0) -> Box | None:
    """The sum of the derivatives, the second times a factor, where later columns that are left out are 0."""
    known = [one for one in parts if one is not None]
    columns = max((one.mid.shape[1] for one in known), default=0)
    wide = [one if one.mid.shape[1] == columns else one.wider(columns) for one in known]
    return reduce(lambda a, b: a.plus(b, factor), wide) if wide else None
