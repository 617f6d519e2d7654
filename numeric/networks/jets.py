"""Bounds on the second derivative of a loss on a ball, from bounds on every node of its graph.

A jet of a node bounds its first derivative in every block of variables and its second derivative in every pair
of blocks, for single entries, rows, matrices and the whole tensor. Each operator has a rule that takes jets of
its inputs to its own; adjoints are nodes as well. All rules are sums and products of nonnegative numbers, which are
rounded up.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf, isfinite, sqrt
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
    LateError,
    Node,
    NoRuleError,
    Still,
    UsedBlock,
    derivative_boxes,
    of,
)
from lastiterate.numeric.networks.matrices import as_float, round_up, spectral_norm, spectral_norms

_LEVELS: Final = range(4)
_ENTRY, _ROW, _MATRIX, _ALL = _LEVELS
_FLOOR: Final = 1e-50
"""Smallest positive bound; products of up to six of them do not underflow."""
_UP: Final = 1 + 1e-9
"""Exceeds the rounding of a rule, which makes up to 2^20 additions and a few other operations on nonnegative floats."""

_NEAR: Final = 1.02
_RUNGS: Final = 4
"""Number of balls, where bounds on one ball exceed the norm of the Hessian at its centre by more than this factor."""
_DENSE: Final = 2**21
"""Largest number of entries of a matrix of several linear maps together."""
_STEPS: Final = 150
"""Number of steps that look for the lengths of the blocks of a direction."""

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
        speed: largest derivatives along segments from the centre to the boundary.
    """

    first: list[Array]
    second: list[Array]
    moved: list[Array]
    size: list[Array]
    norms: Array
    speed: list[Array]


@dataclass
class _Chain:
    """A node as the image of another one, the base, under linear maps and products with other tensors.

    Attributes:
        path: for each of the nodes from the base on, the input that leads to the base.
        rest: bounds on the second derivative without the image of that of the base, at each level.
        most: largest norm of the map from the base.
        off: largest distance of the map from that at the centre.
        maps: number of maps that are not permutations.
    """

    base: int
    path: tuple[int, ...]
    rest: list[Array]
    most: float
    off: float
    maps: int


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
    return _box_norms(mids, rads, groups)


def _box_norms(mids: Array, rads: Array, groups: int) -> Array:
    """Largest norms of matrices that are groups of rows."""
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
        rungs: number of balls, each of them larger, of which the last is the ball. Bounds on the next ball start from
            those on the one before, and not from the centre.

    Attributes:
        changes: upper bounds on the changes of the blocks of the Hessian from those at the centre.
    """

    def __init__(
        self, graph: Graph, centres: dict[int, Centre], radius: float, near: float = 0.0, rungs: int = 1
    ) -> None:
        self._graph, self._step = graph, 1 / rungs
        self._radius, self._near = (max(one, _FLOOR) if one else 0.0 for one in (radius, near))
        self.of: dict[int, Jet] = {}
        self.bends: dict[int, Any] = {}
        self._chains: dict[int, _Chain] = {}
        self.kinked = list(graph.kinked)
        self.changes = np.zeros((len(graph.sizes),) * 2)
        with np.errstate(all="ignore"):
            for _ in range(rungs):
                self._climb(centres)
                if graph.detail == Detail.EXACT and not self.kinked:
                    self._turn()

    def _climb(self, centres: dict[int, Centre]) -> None:
        """Find the jets on the next ball."""
        loss = next(iter(self._graph.adjoints))
        for k, node in enumerate(self._graph.nodes):
            self._graph.go_on()
            if node.rule != "inner" and (k <= loss or not self.kinked):
                if k not in centres:
                    centres[k] = centre(self._graph, node)
                inputs = [self.of[one] for one in node.inputs]
                jets = self._rule(k, node, inputs)
                if node.rule in ("linear", "matmul"):
                    jets = jets[0], self._chained(k, node, inputs, jets[1])
                self.of[k] = self._tidied(k, node, centres[k], self._lengths(k, node, inputs), *jets)

    def _chained(self, index: int, node: Node, inputs: list[Jet], second: list[Array]) -> list[Array]:
        """Second derivatives of a product or a linear map, as the last of several linear maps of one tensor."""
        self._chains.pop(index, None)
        others = [x.norms.max() for x in inputs[::-1]] if len(inputs) > 1 else [1.0]
        sizes = [float(x.second[_ALL].max() * most) for x, most in zip(inputs, others, strict=True)]
        at = int(np.argmax(sizes))
        if not 0 < sizes[at] < inf:
            return second
        x, start = inputs[at], node.inputs[at]
        before = self._chains.get(start) or _Chain(start, (), [0 * C for C in x.second], 1.0, 0.0, 0)
        rest = [replace(one, second=before.rest) if k == at else one for k, one in enumerate(inputs)]
        if len(inputs) > 1:
            most, off = float(others[at]), float(inputs[1 - at].moved[_MATRIX].max())
        else:
            most, off = float(node.cache["between"][_ALL][0].max()), 0.0
        off = (most * before.off + off * before.most) * _UP
        turned = node.rule == "linear" and node.how.order is not None
        chain = _Chain(
            before.base, (*before.path, at), self._rule(index, node, rest)[1], most * before.most * _UP, off,
            before.maps + (not turned),
        )  # fmt: skip
        self._chains[index] = chain
        if chain.maps < 2 or (norms := self._map_norms(node, chain.path)) is None:
            return second
        chain.most = min(chain.most, float(norms[_ALL][0]) + off)
        C = self.of[chain.base].second[_ALL]
        joined = [r + _times((t + off)[:, None, None], C) for r, t in zip(chain.rest, norms, strict=True)]
        return [np.fmin(one, other) for one, other in zip(second, joined, strict=True)]

    def _map_norms(self, node: Node, path: tuple[int, ...]) -> list[Array] | None:
        """Norms at the centre, at each level, of the map that leads to a node on this path, if it is not too large."""
        if ("norms", path) not in node.cache:
            found = self._map(node, path)
            node.cache["norms", path] = found and [_box_norms(found.mid, found.rad, n) for n in node.counts]
        known: list[Array] | None = node.cache["norms", path]
        return known

    def _map(self, node: Node, path: tuple[int, ...]) -> Box | None:
        if not path:
            return of(np.eye(node.value.mid.size))
        before = self._map(self._graph.nodes[node.inputs[path[-1]]], path[:-1])
        if before is None or node.value.mid.size * before.mid.shape[1] > _DENSE:
            return None
        return self._graph.after(node, path[-1], before)

    def _turn(self) -> None:
        """Add the largest changes of the Hessian from the ball before to this one."""
        (_, three), (_, tau) = self.form, self.leaves
        for axes in permutations(range(3)):
            three = np.minimum(three, tau.transpose(axes))
        self.changes = _up(self.changes + self._step * self._reach(three))

    def _reach(self, first: Array) -> Array:
        """Largest changes along the ball, from first derivatives, shape (groups, ..., blocks)."""
        moving = self._graph.parameters
        away = _times(np.sqrt((first[..., :moving] ** 2).sum(axis=-1)), self._radius)
        return (away + _times(first[..., moving:].sum(axis=-1), self._near)) * _UP

    def _tidied(
        self, index: int, node: Node, at: Centre, most: list[Array], first: list[Array], second: list[Array]
    ) -> Jet:
        step, before = self._step, self.of.get(index)
        if before is None:
            speed = [_times(t, (self._radius, self._near)).sum(axis=1) for t in at.joint]
            before = Jet(at.first, second, [0 * n for n in at.size], at.size, at.norms, speed)
        second = [_up(np.minimum(C, C.swapaxes(1, 2))) for C in second]
        second = _levelled(second, node.counts)
        grown = [t + step * self._reach(C) for t, C in zip(before.first, second, strict=True)]
        first = _levelled([_up(np.minimum(_up(b), t)) for b, t in zip(first, grown, strict=True)], node.counts)
        moved, speed = list(before.moved), []
        for level, (b, C, slow) in enumerate(zip(first, second, before.speed, strict=True)):
            fast, bent = self._reach(b), step * self._reach(self._reach(C))
            moved[level] = _up(moved[level] + step * np.minimum(fast, slow + bent / 2))
            speed.append(_up(np.minimum(fast, slow + bent)))
        moved = [_up(one) for one in _levelled(moved, node.counts)]
        size = [_up(n + d) for n, d in zip(at.size, moved, strict=True)]
        size = _levelled([np.minimum(one, other) for one, other in zip(size, most, strict=True)], node.counts)
        norms = np.minimum(size[_MATRIX], _up(at.norms + moved[_MATRIX]))
        return Jet(first, second, moved, size, norms, speed)

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

    @property
    def form(self) -> tuple[Array, Array]:
        """Bounds on the blocks of the second and of the third derivative of the loss."""
        n = len(self._graph.sizes)
        forms: tuple[list[Array], list[Array]] = [np.zeros((n, n))], [np.zeros((n, n, n))]
        for parts in self.forms():
            for form, part in zip(forms, parts, strict=True):
                form.append(part)
        two, three = (_up(np.sum(one, axis=0)) for one in forms)
        return two, three

    @property
    def leaves(self) -> tuple[Array, Array]:
        """Bounds on the first and second derivatives of the gradient in each block, in this order of the blocks."""
        n = len(self._graph.sizes)
        M, tau = np.zeros((n, n)), np.zeros((n, n, n))
        for k in range(n):  # variables are the first nodes
            leaf = self._graph.adjoints.get(k)
            if leaf is not None:
                M[k], tau[k] = self.of[leaf].first[_ALL][0], self.of[leaf].second[_ALL][0]
        return M, tau


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
    known, centre = _bounds(graph, Jets(graph, centres, radius, near))
    if known.kinks or near or graph.detail < Detail.EXACT or known.smoothness <= _NEAR * centre:
        return known
    try:
        other, _ = _bounds(graph, Jets(graph, centres, radius, near, _RUNGS))
    except LateError:
        return known
    return Bounds(min(known.lipschitz, other.lipschitz), min(known.smoothness, other.smoothness))


def _bounds(graph: Graph, jets: Jets) -> tuple[Bounds, float]:
    """Constants from these jets, and an upper bound on the norm of the Hessian at the centre, if it is known."""
    loss, P = jets.of[next(iter(graph.adjoints))], graph.parameters
    lipschitz = sqrt((loss.first[_ALL][0][:P] ** 2).sum()) * _UP
    if jets.kinked:
        return Bounds(lipschitz, inf, ", ".join(dict.fromkeys(jets.kinked))), 0.0
    with np.errstate(all="ignore"):
        least = np.fmin(loss.second[_ALL][0], jets.form[0])[:P, :P]
        if graph.detail < Detail.EXACT:
            return Bounds(lipschitz, _norm(least)), 0.0
        M = jets.leaves[0][:P, :P]
        least, (H, off) = np.fmin(least, np.fmin(M, M.T)), _hessian(graph)
        centre = (_norm(H) + off) * _UP
        near = _near(H, jets.changes[:P, :P], least, graph.sizes[:P])
        smoothness = min(_norm(least), (near + off) * _UP)
        leaves = [jets.of[graph.adjoints[k]] for k in range(P) if k in graph.adjoints]
        slope = sqrt(sum(float(leaf.size[_ALL][0]) ** 2 for leaf in leaves)) * _UP
    return Bounds(min(slope, lipschitz), smoothness), centre


def _hessian(graph: Graph) -> tuple[Array, float]:
    """The Hessian at the centre, made symmetric, and an upper bound on the Frobenius norm of its error."""
    starts = np.cumsum([0, *graph.sizes[: graph.parameters]])
    H, off = np.zeros((starts[-1], starts[-1])), 0.0
    for k, start in enumerate(starts[:-1].tolist()):
        tangent = graph.nodes[graph.adjoints[k]].tangent if k in graph.adjoints else None
        if isinstance(tangent, Box):
            width = min(tangent.mid.shape[1], len(H))
            H[start : start + len(tangent.mid), :width] = tangent.mid[:, :width]
            off += float((tangent.rad[:, :width] ** 2).sum())
    return (H + H.T) / 2, (sqrt(off) + 1e-15 * float(np.sqrt((H * H).sum()))) * _UP


def _near(H: Array, changes: Array, least: Array, sizes: Sequence[int]) -> float:
    """Upper bound on |v.A v| for unit v and all A whose blocks are at most ``least``, and near those of H.

    A block of A - H is at most that of ``changes``. If lengths of blocks of v are v_i, then for all s_i > 0 the sum of
    c_ij v_i v_j is at most that of d_i v_i^2, where d_i is the sum of c_ij s_j / s_i.
    """
    block = np.repeat(np.arange(len(sizes)), sizes)
    changes, least = (np.maximum(one, one.T) for one in (changes, least))
    kept, c = changes < least, np.minimum(changes, least)
    if not np.isfinite(c).all():
        return inf
    A = H * kept[block][:, block]
    shift, found = _norm(A) + _norm(c), 0.0
    for sign in (1.0, -1.0):
        v = np.random.default_rng(0).normal(size=len(A))
        for _ in range(_STEPS):
            v = v / (np.sqrt((v * v).sum()) + _FLOOR)
            s = np.maximum(np.sqrt(np.bincount(block, v * v, len(sizes))), 1e-6)
            d = (c @ s / s)[block] * _UP
            v = sign * (A @ v) + (shift + d) * v
        far = float(d.max(initial=0.0)) + shift
        most = _norm(sign * A + np.diag(d + far)) * _UP - far * (1 - 1e-9)
        found = max(found, most) if isfinite(most) else inf
    return found
