"""Bounds on the second derivative of a loss on a ball, from bounds on every node of its graph.

A jet of a node bounds its first derivative in every block of variables and its second derivative in every pair
of blocks, for single entries, rows, matrices and the whole tensor. Each operator has a rule that takes jets of
its inputs to its own; adjoints are nodes as well. All rules are sums and products of nonnegative numbers, which are
rounded up.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf, sqrt
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.activations import Activation
from lastiterate.numeric.networks.centres import (
    Box,
    Detail,
    Graph,
    Node,
    NoRuleError,
    Still,
    UsedBlock,
    derivative_boxes,
)
from lastiterate.numeric.networks.matrices import as_float, round_up, spectral_norm, spectral_norms

_LEVELS: Final = range(4)
_ENTRY, _ROW, _MATRIX, _ALL = _LEVELS
_FLOOR: Final = 1e-50
"""Smallest positive bound; products of up to six of them do not underflow."""
_UP: Final = 1 + 1e-9
"""Exceeds the rounding of a rule, which makes up to 2^20 additions and a few other operations on nonnegative floats."""

_LINEAR: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = MappingProxyType({
    "linear": ((0,),), "add": ((0, 1),), "multiply": ((0,), (1,)), "matmul": ((0,), (1,)),
    "pulled log_softmax": ((0, 1),), "pulled softmax": ((1,),), "pulled normalise": ((1,),),
})  # fmt: skip
"""For each operator, sets of inputs in which it is linear together."""

Bounded = tuple[list[Array], list[Array]]
"""Bounds on first and on second derivatives, at each level."""


def _times(a: Array, b: Array | float | tuple[float, ...]) -> Array:
    """Products; 0 times infinity is 0, since infinity stands for any finite number."""
    found: Array = np.asarray(a * np.asarray(b))
    return np.where(np.isnan(found), 0.0, found)


def _outer(a: Array, b: Array) -> Array:
    return _times(a[..., :, None], b[..., None, :])


def _both(a: Array, b: Array) -> Array:
    one = _outer(a, b)
    both: Array = one + one.swapaxes(-1, -2)
    return both


def _by(factor: Array, bounds: Array) -> Array:
    """Bounds, shape (groups, ...), each times the factor of its group."""
    return _times(factor.reshape(-1, *[1] * (bounds.ndim - 1)), bounds)


def _peak(entries: Array, groups: int) -> Array:
    """Largest values within groups of consecutive entries, shape (groups, ...)."""
    found: Array = entries.reshape(groups, -1, *entries.shape[1:]).max(axis=1)
    return found


def _joined(entries: Array, groups: int) -> Array:
    """Roots of sums of squares within groups of consecutive entries."""
    parts = entries.reshape(groups, -1, *entries.shape[1:])
    found: Array = np.sqrt((parts * parts).sum(axis=1))
    return found


@dataclass
class Jet:
    """Bounds on a node on the ball, at each level.

    Attributes:
        first: shape (groups, blocks).
        second: shape (groups, blocks, blocks).
        moved: largest distances from the value at the centre.
        size: largest lengths.
        norms: largest spectral norms of the matrices.
    """

    first: list[Array]
    second: list[Array]
    moved: list[Array]
    size: list[Array]
    norms: Array


@dataclass
class Centre:
    """Norms of a node at the centre, at each level.

    Attributes:
        size: lengths of the value.
        norms: spectral norms of the matrices.
        first: norms of the derivatives in each block, shape (groups, blocks).
        joint: norms of the derivative in all parameters and in the input, shape (groups, 2).
    """

    size: list[Array]
    norms: Array
    first: list[Array]
    joint: list[Array]


def centre(graph: Graph, node: Node) -> Centre:
    """Norms of a node at the centre."""
    above, counts = node.value.above, node.counts
    size = [np.sqrt(round_up((above * above).reshape(n, -1).sum(axis=1), above.size + 2)) * _UP for n in counts]
    norms = size[_MATRIX]
    if node.full[-1] > 1 and node.full[-2] > 1:
        box = node.value.reshape(counts[_MATRIX], *node.full[-2:])
        norms = np.minimum(norms, spectral_norms(box.mid) + _joined(box.rad.reshape(-1), counts[_MATRIX]) * _UP)
    blocks = len(graph.sizes)
    first = [np.zeros((n, blocks)) for n in counts]
    if isinstance(node.tangent, Still):
        for one in first:
            one[:, node.tangent.block] = 1.0
    elif node.tangent is None:
        for one in first:
            one[:] = inf if node.moving else 0.0
    else:
        for level, n in enumerate(counts):
            for use in graph.uses:
                first[level][:, use.block] += _norms_of(node.tangent, n, [use])
    return Centre(size, norms, first, [_joint(graph, node, one) for one in first])


def _joint(graph: Graph, node: Node, first: Array) -> Array:
    """Norms of the derivative in all parameters and in the input, shape (groups, 2)."""
    found = np.stack(
        [np.sqrt((one * one).sum(axis=1)) for one in np.split(first, [graph.parameters], axis=1)], 1
    )
    if isinstance(node.tangent, Box):
        width = node.tangent.mid.shape[1]
        parts = [one for one in graph.uses if one.block < graph.parameters and one.columns.start < width]
        if parts and len({use.block for use in parts}) == len(parts):
            found[:, 0] = np.minimum(found[:, 0], _norms_of(node.tangent, len(first), parts))
    return found * _UP


def _norms_of(tangent: Box, groups: int, uses: list[UsedBlock]) -> Array:
    """Norms of the derivatives in the blocks of these uses, if the other blocks are still."""
    weights = np.concatenate([np.full(one.columns.stop - one.columns.start, one.most) for one in uses])
    part = np.concatenate([np.arange(one.columns.start, one.columns.stop) for one in uses])
    known = part < tangent.mid.shape[1]
    mids, rads = (one[:, part[known]] * weights[known] for one in (tangent.mid, tangent.rad))
    mid, rad = (one.reshape(groups, len(one) // groups, one.shape[1]) for one in (mids, rads))
    used = np.flatnonzero((mid != 0).any(axis=(1, 2)))
    found = np.zeros(groups)
    if used.size:
        found[used] = spectral_norms(mid[used])
    return round_up(found + np.sqrt((rad * rad).sum(axis=(1, 2))) * _UP + 1e-100, 4) * _UP


class Jets:
    """Jets of all nodes of a graph on a ball.

    Args:
        graph: graph with the adjoints of its last node.
        radius: Euclidean length in the space of all parameters.
        near: Euclidean length in the space of the input, which is the last block if it moves.
    """

    def __init__(self, graph: Graph, centres: dict[int, Centre], radius: float, near: float = 0.0) -> None:
        self._graph = graph
        self._radius, self._near = (max(one, _FLOOR) if one else 0.0 for one in (radius, near))
        self.of: dict[int, Jet] = {}
        self.bends: dict[int, Any] = {}
        self.kinked = list(graph.kinked)
        loss = next(iter(graph.adjoints))
        with np.errstate(all="ignore"):
            for k, node in enumerate(graph.nodes):
                if node.rule != "inner" and (k <= loss or not self.kinked):
                    if k not in centres:
                        centres[k] = centre(graph, node)
                    inputs = [self.of[one] for one in node.inputs]
                    jets = self._rule(k, node, inputs)
                    self.of[k] = self._tidied(node, centres[k], self._lengths(k, node, inputs), *jets)

    def _reach(self, first: Array) -> Array:
        """Largest changes along the ball, from first derivatives, shape (groups, ..., blocks)."""
        moving = self._graph.parameters
        away = _times(np.sqrt((first[..., :moving] ** 2).sum(axis=-1)), self._radius)
        return (away + _times(first[..., moving:].sum(axis=-1), self._near)) * _UP

    def _bent(self, second: Array) -> Array:
        """Half the largest second derivatives along the ball."""
        return self._reach(self._reach(second)) / 2

    def _tidied(
        self, node: Node, at: Centre, most: list[Array], first: list[Array], second: list[Array]
    ) -> Jet:
        second = [_up(np.minimum(C, C.swapaxes(1, 2))) for C in second]
        second = _levelled(second, node.counts)
        first = [_up(b) for b in first]
        first = [
            _up(np.minimum(b, t + self._reach(C))) for b, t, C in zip(first, at.first, second, strict=True)
        ]
        first = _levelled(first, node.counts)
        moved = [
            np.minimum(self._reach(b), _times(t, (self._radius, self._near)).sum(axis=1) + self._bent(C))
            for b, t, C in zip(first, at.joint, second, strict=True)
        ]
        moved = [_up(one) for one in _levelled(moved, node.counts)]
        size = [_up(n + d) for n, d in zip(at.size, moved, strict=True)]
        size = _levelled([np.minimum(one, other) for one, other in zip(size, most, strict=True)], node.counts)
        return Jet(first, second, moved, size, np.minimum(size[_MATRIX], _up(at.norms + moved[_MATRIX])))

    def _rule(self, index: int, node: Node, inputs: list[Jet]) -> Bounded:
        blocks, counts = len(self._graph.sizes), node.counts
        if not node.moving or node.rule == "variable":
            first = [np.zeros((n, blocks)) for n in counts]
            for one in first if node.rule == "variable" else ():
                one[:, node.how] = 1
            return first, [np.zeros((n, blocks, blocks)) for n in counts]
        rule: Callable[..., Bounded] = getattr(self, "_" + node.rule.replace(" ", "_"))
        return rule(node, index, *inputs)

    def _lengths(self, index: int, node: Node, inputs: list[Jet]) -> list[Array]:
        """Upper bounds on lengths from those of the inputs, by the rules for derivatives applied to lengths."""
        if not node.moving or node.rule not in _LINEAR:
            return _largest(node)
        moving = [
            replace(x, first=[n[:, None] for n in x.size], second=[n[:, None, None] * 0 for n in x.size])
            for x in inputs
        ]
        still = [replace(x, first=[0 * one for one in x.first]) for x in moving]
        found = [
            self._rule(index, node, [moving[k] if k in chosen else still[k] for k in range(len(inputs))])[0]
            for chosen in _LINEAR[node.rule]
        ]
        most = [_up(np.minimum(one, other)[:, 0]) for one, other in zip(found[0], found[-1], strict=True)]
        if node.rule == "pulled log_softmax":  # a share of the differences between e_i and the probabilities
            total = inputs[0].size[_ENTRY].reshape(node.counts[_ROW], -1).sum(axis=1)
            most[_ROW] = np.minimum(most[_ROW], sqrt(2) * _UP * total)
        return most

    def _linear(self, node: Node, _: int, x: Jet) -> Bounded:
        if "between" not in node.cache:
            ins = self._graph.nodes[node.inputs[0]].counts
            node.cache["between"] = [node.how.between(n, m) for n, m in zip(node.counts, ins, strict=True)]
        found: list[list[Array]] = [[], []]
        for level, (norms, meets) in enumerate(node.cache["between"]):
            for result, bounds in zip(found, (x.first[level], x.second[level]), strict=True):
                flat = bounds.reshape(len(bounds), -1)
                squares = np.sqrt((norms * norms) @ (flat * flat)) * np.sqrt(meets)[:, None]
                result.append(np.minimum(norms @ flat, squares).reshape(-1, *bounds.shape[1:]))
        return found[0], found[1]

    def _add(self, _node: Node, _: int, x: Jet, y: Jet) -> Bounded:
        return [a + b for a, b in zip(x.first, y.first, strict=True)], [
            a + b for a, b in zip(x.second, y.second, strict=True)
        ]

    def _multiply(self, node: Node, _: int, x: Jet, y: Jet) -> Bounded:
        first, second = [], []
        for level, n in enumerate(node.counts):
            b, C = np.zeros_like(x.first[level]), np.zeros_like(x.second[level])
            for p, q in ((x, y), (y, x)):
                high = _peak(p.size[_ENTRY], n)
                b = b + np.minimum(_by(high, q.first[level]), _by(p.size[level], _peak(q.first[_ENTRY], n)))
                C = C + np.minimum(_by(high, q.second[level]), _by(p.size[level], _peak(q.second[_ENTRY], n)))
            cross = np.minimum(
                _outer(_peak(x.first[_ENTRY], n), y.first[level]),
                _outer(x.first[level], _peak(y.first[_ENTRY], n)),
            )
            first.append(b)
            second.append(C + cross + cross.swapaxes(1, 2))
        return first, second

    def _matmul(self, node: Node, _: int, x: Jet, y: Jet) -> Bounded:
        (batch, n, k), m = self._graph.nodes[node.inputs[0]].shape, node.shape[-1]
        blocks = x.first[0].shape[1]

        def columns(values: list[Array]) -> Array:
            entries = values[_ENTRY].reshape(batch, k, m, *values[_ENTRY].shape[1:])
            found: Array = np.minimum(np.sqrt((entries * entries).sum(axis=1)), values[_MATRIX][:, None]) * _UP
            return found

        def rows(values: Array) -> Array:
            return values.reshape(batch, n, *values.shape[1:])

        def met(a: Array, b: Array) -> Array:
            """a, shape (batch, n, ...), by numbers b of columns, shape (batch, m)."""
            return _times(a[:, :, None], b[:, None, :].reshape(batch, 1, m, *[1] * (a.ndim - 2)))

        def met_too(a: Array, b: Array) -> Array:
            return _times(a[:, :, None].reshape(batch, n, 1, *[1] * (b.ndim - 2)), b[:, None])

        first: list[Array] = []
        second: list[Array] = []
        for result, one, other in ((first, x.first, y.first), (second, x.second, y.second)):
            result.append(met(rows(one[_ROW]), columns(y.size)) + met_too(rows(x.size[_ROW]), columns(other)))
            result.append(
                _by(np.repeat(y.norms, n), one[_ROW]) + _by(x.size[_ROW], np.repeat(other[_MATRIX], n, axis=0))
            )
            result.append(_by(y.norms, one[_MATRIX]) + _by(x.norms, other[_MATRIX]))
            result.append(_times(y.norms.max(), one[_ALL]) + _times(x.norms.max(), other[_ALL]))
        result = second
        result[_ENTRY] += _both(rows(x.first[_ROW])[:, :, None], columns(y.first)[:, None])
        first[_ENTRY] = first[_ENTRY].reshape(-1, blocks)
        result[_ENTRY] = result[_ENTRY].reshape(-1, blocks, blocks)
        result[_ROW] += _both(x.first[_ROW], np.repeat(y.first[_MATRIX], n, axis=0))
        result[_MATRIX] += _both(x.first[_MATRIX], y.first[_MATRIX])
        high = [one.first[_MATRIX].max(axis=0)[None] for one in (x, y)]
        cross = np.minimum(_outer(high[0], y.first[_ALL]), _outer(x.first[_ALL], high[1]))
        result[_ALL] += cross + cross.swapaxes(1, 2)
        return first, second

    def _entrywise(self, node: Node, index: int, x: Jet) -> Bounded:
        function, order = node.how
        slopes = self._slopes(function, order, node, x)
        self.bends[index] = slopes
        return self._bent_rows(node.counts, _ENTRY, slopes, x)

    def _slopes(self, function: Activation, order: int, node: Node, x: Jet) -> list[Array]:
        """Upper bounds on the next derivatives: of order 1, 2 (3 for functions themselves)."""
        box = self._graph.nodes[node.inputs[0]].value
        wide = derivative_boxes(function, Box(box.mid, round_up(box.rad + x.moved[_ENTRY], 2)), order + 1, 4)
        found = []
        for k in range(3):
            sup = wide[k].above
            near = node.cache["slopes"][k].above + _times(x.moved[_ENTRY], wide[k + 1].above)
            sup = np.fmin(
                np.fmin(sup, near), function.most[order + 1 + k] if order + 1 + k < len(function.most) else inf
            )
            found.append(_up(sup))
        if not np.isfinite(found[0]).all():
            raise NoRuleError(
                f"a point without a finite slope of {node.where or function.name} may lie in the ball"
            )
        if function.kinks and not np.isfinite(found[1]).all():
            self.kinked.append(node.where or function.name)
        return found

    def _bent_rows(self, counts: Any, base: int, slopes: list[Array], x: Jet) -> Bounded:
        """Jets of a function of entries or rows with derivatives of at most ``slopes``."""
        K1, K2 = slopes[:2]
        first, second = [], []
        steep = _by(K2, x.first[base])
        for level, n in enumerate(counts):
            if level < base:
                first.append(np.full((n, x.first[0].shape[1]), inf))
                second.append(np.full((n, *x.second[0].shape[1:]), inf))
            else:
                first.append(_by(_peak(K1, n), x.first[level]))
                cross = _outer(_peak(steep, n), x.first[level])
                second.append(_by(_peak(K1, n), x.second[level]) + np.minimum(cross, cross.swapaxes(1, 2)))
        return first, second

    def _softmax(self, node: Node, index: int, x: Jet) -> Bounded:
        self.bends[index] = self._row_slopes(node, x)
        return self._bent_rows(node.counts, _ROW, self.bends[index], x)

    _normalise = _softmax
    _pulled_log_softmax = _add

    def _log_softmax(self, node: Node, index: int, x: Jet) -> Bounded:
        """Each entry is a function of its row."""
        slopes, K2, K3 = self._row_slopes(node, x)
        self.bends[index] = [slopes, K2, K3]
        width = slopes.shape[1]
        K1, (b, C) = slopes.reshape(-1), (np.repeat(one[_ROW], width, axis=0) for one in (x.first, x.second))
        first, second = _by(K1, b), _by(K1, C) + _by(np.repeat(K2, width), _outer(b, b))
        unknown = [[np.full((n, *one.shape[1:]), inf) for n in node.counts[1:]] for one in (b, C)]
        return [first, *unknown[0]], [second, *unknown[1]]

    def _row_slopes(self, node: Node, x: Jet) -> list[Array]:
        """Upper bounds on the derivatives of order 1, 2, 3 of a function of rows."""
        shape, rows = self._graph.nodes[node.inputs[0]].full, node.counts[_ROW]
        width = shape[-1]
        if node.rule == "normalise":
            eps = node.how["given"]
            z = self._graph.nodes[node.how["of"][0]].value
            square = np.maximum(np.abs(z.mid) - z.rad, 0) ** 2
            least = np.sqrt(square.reshape(rows, -1).sum(axis=1)) * (1 - 1e-12) - x.moved[_ROW]
            variance = (np.maximum(least, 0) ** 2 / width + eps) * (1 - 1e-12)
            if not variance.min() > 0:
                raise NoRuleError(f"{node.where or node.rule} may divide by 0 in the ball")
            K2 = np.minimum(2 / (sqrt(3 * width) * variance), 48 / (25 * sqrt(5 * width) * eps) if eps else inf)
            return [_up(K) for K in (1 / np.sqrt(variance), K2, 3 / (width * variance**1.5))]
        softmax = node if node.rule == "softmax" else self._graph.nodes[node.how["given"]]
        shares = softmax.value.reshape(rows, width)
        low, high = np.maximum(shares.mid - shares.rad, 0), shares.above
        swings = 2 * _peak(x.moved[_ENTRY], rows)
        grown = np.array([as_float(arb(swing).exp()) for swing in swings.tolist()])[:, None]
        most, rest = np.minimum(high * grown, 1.0), np.minimum((1 - low) * grown * _UP, 1.0)
        K1 = _up(np.minimum(0.5, np.minimum(most, 2 * most * rest).max(axis=1)))
        K2 = np.minimum(sqrt(2) * K1, sqrt(2) / (3 * sqrt(3)))
        if node.rule == "log_softmax":
            return [_up(sqrt(2) * rest), K1, _up(K2)]
        return [K1, _up(K2), np.minimum(0.5, _up(2 * K1))]

    def _pulled(self, node: Node, _: int, x: Jet, g: Jet) -> Bounded:
        K1, K2, K3 = self.bends[node.how["node"]]
        bend, twist = _times(K2, g.size[_ROW]), _times(K3, g.size[_ROW])
        steep, curved = _by(K2, x.first[_ROW]), _by(K2, x.second[_ROW])
        first, second = [], []
        for level, n in enumerate(node.counts):
            if level == _ENTRY:
                first.append(np.full((n, *x.first[0].shape[1:]), inf))
                second.append(np.full((n, *x.second[0].shape[1:]), inf))
                continue
            K, b, N = _peak(K1, n), x.first[level], g.size[level]
            first.append(_by(K, g.first[level]) + np.minimum(_by(_peak(bend, n), b), _by(N, _peak(steep, n))))
            cross = np.minimum(
                _outer(_peak(steep, n), g.first[level]), _outer(b, _peak(_by(K2, g.first[_ROW]), n))
            )
            third = _outer(_peak(_by(twist, x.first[_ROW]), n), b)
            second.append(
                _by(K, g.second[level])
                + np.minimum(_by(_peak(bend, n), x.second[level]), _by(N, _peak(curved, n)))
                + (cross + cross.swapaxes(1, 2))
                + np.minimum(third, third.swapaxes(1, 2))
            )
        return first, second

    _pulled_softmax = _pulled_normalise = _pulled

    # Bounds on the Hessian.

    def forms(self) -> Iterator[tuple[Array, Array]]:
        """For each node, a form in the lengths of the blocks of two directions, and one in those of three."""
        for index, adjoint in self._graph.adjoints.items():
            node = self._graph.nodes[index]
            if node.rule not in ("matmul", "multiply") and index not in self.bends:
                continue
            g, inputs = self.of[adjoint], [self.of[k] for k in node.inputs]
            x, y = inputs[0], inputs[-1]
            if node.rule == "matmul":
                high = g.norms.max(keepdims=True)
                form = np.minimum(
                    _by(g.norms, _both(x.first[_MATRIX], y.first[_MATRIX])).sum(axis=0),
                    _times(high, _both(x.first[_ALL], y.first[_ALL])[0]),
                )
                yield form, _cycled(_mixed(g.norms, x, y, _MATRIX) + _mixed(g.norms, y, x, _MATRIX))
            elif node.rule == "multiply":
                N = g.size[_ENTRY]
                whole = _times(N.max(), _both(x.first[_ALL], y.first[_ALL])[0])
                cross = np.minimum(_by(N, _both(x.first[_ENTRY], y.first[_ENTRY])).sum(axis=0), whole)
                yield cross, _cycled(_mixed(N, x, y, _ENTRY) + _mixed(N, y, x, _ENTRY))
            else:
                base = _ENTRY if node.rule == "entrywise" else _ROW
                _, K2, K3 = self.bends[index]
                N = g.size[base]
                if node.rule == "log_softmax":  # all entries of a row bend by the same amount
                    N = g.size[_ENTRY].reshape(len(N), -1).sum(axis=1) * _UP
                b = x.first[base]
                two, three = _times(K2, N), _times(K3, N)
                form = np.minimum(
                    _by(two, _outer(b, b)).sum(axis=0),
                    _times(two.max(), _outer(x.first[_ALL], x.first[_ALL])[0]),
                )
                steep = _peak(_by(three, b), 1)
                thrice = np.minimum(
                    _by(three, _outer3(b, _outer(b, b))).sum(axis=0),
                    _outer3(steep, _outer(x.first[_ALL], x.first[_ALL]))[0],
                )
                yield form, _cycled(_mixed(two, x, x, base)) + thrice


def _mixed(N: Array, x: Jet, y: Jet, level: int) -> Array:
    """Sum over the groups of N times first derivatives of x and second ones of y; or the largest N for all."""
    each = _by(N, _outer3(x.first[level], y.second[level])).sum(axis=0)
    found: Array = np.minimum(each, _times(N.max(), _outer3(x.first[_ALL], y.second[_ALL])[0]))
    return found


def _outer3(b: Array, C: Array) -> Array:
    return _times(b[..., :, None, None], C[..., None, :, :])


def _cycled(form: Array) -> Array:
    """Sum over the three choices of the direction of the first factor."""
    return form + form.transpose(1, 0, 2) + form.transpose(1, 2, 0)


def _up(values: Array) -> Array:
    found = values * _UP
    return np.where(found > 0, np.maximum(found, _FLOOR), 0.0)


def _levelled(bounds: list[Array], counts: tuple[int, ...]) -> list[Array]:
    """The least bounds that follow: a group is no longer than all of its parts, and a part than its group."""
    found = list(bounds)
    for level in (_ROW, _MATRIX, _ALL):
        found[level] = np.minimum(found[level], _joined(found[level - 1], counts[level]) * _UP)
    for level in (_MATRIX, _ROW, _ENTRY):
        parts = counts[level] // counts[level + 1]
        found[level] = np.minimum(found[level], np.repeat(found[level + 1], parts, axis=0))
    return found


def _largest(node: Node) -> list[Array]:
    """Bounds on the lengths of the values, wherever the variables are."""
    found = [np.full(n, inf) for n in node.counts]
    if node.rule == "entrywise":
        function, order = node.how
        found[_ENTRY][:] = function.most[order] if order < len(function.most) else inf
    elif node.rule in ("softmax", "normalise"):
        found[_ROW][:] = 1.0 if node.rule == "softmax" else sqrt(node.full[-1]) * _UP
    return found


class Bounds(NamedTuple):
    """Upper bounds on the ball, on the gradient and on the Hessian, and the nodes that may have a kink in it."""

    lipschitz: float
    smoothness: float
    kinks: str = ""

    def joined(self, other: "Bounds") -> "Bounds":
        """Bounds that hold for both losses."""
        lipschitz, smoothness = max(self.lipschitz, other.lipschitz), max(self.smoothness, other.smoothness)
        return Bounds(lipschitz, smoothness, self.kinks or other.kinks)


def _norm(matrix: Array) -> float:
    return as_float(spectral_norm(np.ascontiguousarray(matrix))) if np.isfinite(matrix).all() else inf


def bounds(graph: Graph, centres: dict[int, Centre], radius: float, near: float = 0.0) -> Bounds:
    """Constants of the last node of the graph on a ball, with the input in a ball of radius ``near``."""
    jets = Jets(graph, centres, radius, near)
    loss = next(iter(graph.adjoints))
    leaves = [graph.adjoints.get(k) for k in range(len(graph.sizes))]  # variables are the first nodes
    n, P = len(leaves), graph.parameters
    forward = float(np.sqrt((jets.of[loss].first[_ALL][0][:P] ** 2).sum())) * _UP
    if jets.kinked:
        return Bounds(forward, inf, ", ".join(dict.fromkeys(jets.kinked)))
    with np.errstate(all="ignore"):
        forms: tuple[list[Array], list[Array]] = [np.zeros((n, n))], [np.zeros((n, n, n))]
        for parts in jets.forms():
            for form, part in zip(forms, parts, strict=True):
                form.append(part)
        two, three = (_up(np.sum(one, axis=0)) for one in forms)
        ways = [_norm(jets.of[loss].second[_ALL][0][:P, :P]), _norm(two[:P, :P])]
        if graph.detail < Detail.EXACT:
            return Bounds(forward, min(ways))
        M, tau = np.zeros((n, n)), np.zeros((n, n, n))
        for k, leaf in enumerate(leaves):
            if leaf is not None:
                M[k], tau[k] = jets.of[leaf].first[_ALL][0], jets.of[leaf].second[_ALL][0]
        ways.append(_norm(np.minimum(M, M.T)[:P, :P]))
        for axes in permutations(range(3)):
            three = np.minimum(three, tau.transpose(axes))
        each = np.array([_norm(one[:P, :P]) for one in three])
        third = min(sqrt((each[:P] ** 2).sum()), _norm(three[:P, :P, :P].reshape(P, -1)))
        moved = sum(one * far for one, far in ((third, radius), (each[P:].sum(), near)) if far)
        ways.append((_hessian(graph, leaves[:P]) + moved) * _UP)
        slope = sqrt(sum(float(jets.of[leaf].size[_ALL][0]) ** 2 for leaf in leaves[:P] if leaf is not None))
    return Bounds(min(slope * _UP, forward), min(ways))


def _hessian(graph: Graph, leaves: list[int | None]) -> float:
    """Upper bound on the norm of the Hessian at the centre."""
    nodes, last = (
        [graph.nodes[leaf].tangent for leaf in leaves if leaf is not None],
        sum(graph.sizes[: len(leaves)]),
    )
    rows = [Box(one.mid[:, :last], one.rad[:, :last]).wider(last) for one in nodes if isinstance(one, Box)]
    off = sqrt(sum(float((one.rad * one.rad).sum()) for one in rows))
    return ((_norm(np.concatenate([one.mid for one in rows])) if rows else 0.0) + off * _UP) * _UP
