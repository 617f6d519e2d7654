"""Adversarial search for the pair of points where a gradient changes most.

|G(x) - G(y)| / |x - y|^lambda is raised from many starts at once (`lastiterate.runtime.constants.pair_ascent`), inside
the ball of the domain: in the ball and around the iterates, and from pairs a shorter and a longer way apart along the
directions that `lastiterate.runtime.constants.curvature_ascent` finds most curved, where ascents go on from other
starts until two agree. All take a few steps, the best quarter of them twice as many, and the best quarter of those
three times; in between the best pairs are tried with every sample. What is found is a pair that exists, less the
rounding assumed of it: a lower estimate of the constant on the domain, and never below its own start. It reaches the
constants of quadratics, of powers and of logistic losses within 2% (tests/runtime/constants/test_acceptance.py), and
95% of what ten times the effort finds by other means on small networks (tests/runtime/constants/test_search_peer.py).

Source: ours.
"""

from dataclasses import dataclass, fields
from functools import reduce
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.errors import count, positive
from lastiterate.runtime.constants.curvature_ascent import CurvedPairs
from lastiterate.runtime.constants.fit import TRUSTED_ERROR
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.pair_ascent import PairAscent, State, best_rows, joined_with, promising_rows
from lastiterate.runtime.constants.pairs import Draw, ball_points
from lastiterate.runtime.constants.starts import Samples
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream, stream
from lastiterate.runtime.training.descent import project

_SEARCH: Final = 2**42
"""The purpose of the stream that draws the starts."""

_FREE: Final = 2**48
"""The purpose of the stream that draws inputs, where they are free."""

APART: Final = (1.0, 100.0, 1000.0)
"""How many times as far apart as they come the pairs along curved directions begin, too."""

_QUARTERS: Final = 3
_HELD: Final = 2**18
"""Levels of an ascent; numbers that the ends of one that are kept have together at most, where they are several."""


@dataclass(frozen=True)
class Pair:
    """The worst pair found for one order. Direction: a lower estimate.

    Attributes:
        lam: the Hölder order.
        constant: |G(x) - G(y)| / |x - y|^lambda there, gradient / length^lambda, less the rounding assumed of the
            difference; 0 where no pair could be trusted.
        distance: |x - y|, a length.
        sample: index of the sample; None for the mean over all of them, and where inputs are free.
        float_error: assumed relative rounding error of the difference.
        start: the constant of the best drawn pair that the ascent began with.
    """

    lam: float
    constant: float
    distance: float
    sample: int | None
    float_error: float
    start: float


class Witness(NamedTuple):
    """Place of a pair.

    Attributes:
        x: shape (dimension,).
        y: shape (dimension,).
        input: of the sample, shape of a row; of no entry for the mean over all samples.
        target: of the sample.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    input: NDArray[Any]
    target: NDArray[Any]


@dataclass(frozen=True)
class Found:
    """End points of the ascents for one order, one row a pair.

    Attributes:
        changes: |G(x) - G(y)|, a gradient, shape (pairs,).
        floors: its assumed rounding error, a gradient, shape (pairs,).
        distances: |x - y|, a length, shape (pairs,).
        samples: index of the sample, shape (pairs,); -1 for the mean, and where inputs are free.
        started: ratio of the best drawn pair at the start, in a row of its own, shape (1,).
        x: shape (pairs, dimension).
        y: shape (pairs, dimension).
        inputs: of the samples, shape (pairs, ...); of no entry for the mean.
        targets: of the samples, shape (pairs, ...); of no entry for the mean.
    """

    changes: NDArray[np.float64]
    floors: NDArray[np.float64]
    distances: NDArray[np.float64]
    samples: NDArray[np.float64]
    started: NDArray[np.float64]
    x: NDArray[Any]
    y: NDArray[Any]
    inputs: NDArray[Any]
    targets: NDArray[Any]

    @staticmethod
    def joined(found: list["Found"]) -> "Found":
        """The ends of several ascents."""
        return Found(**{f.name: np.concatenate([getattr(one, f.name) for one in found]) for f in fields(Found)})

    def best(self, lam: float) -> tuple[int, float]:
        """The pair with the largest constant for an order, and that constant; 0 where no pair can be trusted."""
        with np.errstate(divide="ignore", invalid="ignore"):
            trusted = self.floors <= TRUSTED_ERROR * self.changes
            kept = np.where(trusted, (self.changes - self.floors) / self.distances**lam, 0.0)
        place = int(np.nanargmax(kept))
        return place, float(kept[place])

    def witness(self, place: int) -> Witness:
        """Place of one of the pairs."""
        return Witness(self.x[place], self.y[place], self.inputs[place], self.targets[place])


def best_pairs(lambdas: tuple[float, ...], found: list[Found]) -> tuple[Pair, ...]:
    """For each order the best of what the ascents of *all* orders found: they cost no more gradients."""
    together, pairs = Found.joined(found), []
    for lam, own in zip(lambdas, found, strict=True):
        best, constant = together.best(lam)
        sample = None if together.samples[best] < 0 else int(together.samples[best])
        error = float(together.floors[best] / together.changes[best]) if constant else 0.0
        distance = float(together.distances[best])
        pairs.append(Pair(lam, constant, distance, sample, error, float(own.started.max())))
    return tuple(pairs)


def witnesses(lambdas: tuple[float, ...], found: list[Found]) -> tuple[Witness, ...]:
    """For each order where the pair of `best_pairs` is."""
    together = Found.joined(found)
    return tuple(together.witness(together.best(lam)[0]) for lam in lambdas)


@torch.no_grad()
def search_one(
    gradients: Gradients,
    center: Tensor,
    lam: float,
    *,
    diameter: float,
    clip_norm: float = inf,
    batch: bool = False,
    around: Tensor | None = None,
    also: CurvedPairs | None = None,
    free: InputSet | None = None,
    exact: Gradients | None = None,
    starts: int = 256,
    iterations: int = 60,
    seed: int = 0,
    part: int = 0,
) -> Found:
    """Let pairs climb towards the worst one for an order, in the ball of a finite diameter around a point.

    Args:
        gradients: per-sample gradients of the workload.
        center: shape (dimension,), the centre of the domain.
        lam: order in (0, 1].
        diameter: of the ball, a length.
        clip_norm: of the gradients that are compared; inf for unclipped ones.
        batch: compare the mean over all samples and not the gradient of one.
        around: shape (points, dimension), for example iterates: every second start is at one of them.
        also: pairs of single samples that ascend, too.
        free: set of the inputs that are searched, with every label of the data; None for the samples themselves.
        exact: the same in float64, for the last ascent and all that is said, where ``gradients`` are of bfloat16.
        starts: drawn pairs that ascend, side by side as far as the memory budget has room.
        iterations: steps of the last and longest ascent.
        seed: of the starts.
        part: others are drawn for another part.

    Raises:
        InputError: the diameter is not finite, or a gradient is not finite.
    """
    diameter = positive("diameter", diameter)
    starts = count("starts", starts)
    iterations = count("iterations", iterations)
    generator = stream(seed, purpose=_SEARCH + part)
    samples = generator.integers(gradients.samples, starts, center.device)
    at = None if around is None else around[generator.integers(len(around), starts // 2, around.device)]
    ascent = PairAscent(gradients, lam, center, diameter, clip_norm, None if batch else free)
    rows = None if batch else Samples.drawn(gradients, samples, free, stream(seed, purpose=_FREE + part))
    state = ascent.begun(*_drawn(starts, center, diameter, at, generator), rows)
    first = best_rows(state, 1) | {"ratio": state["ratio"].amax()[None]}
    also = also if also is not None and len(also.x) else None
    if also is not None and exact is None:
        state = joined_with(state, _stretched(ascent, also))
    for level in range(1, _QUARTERS + 1):
        if level == _QUARTERS and exact is not None:
            ascent, last = ascent._replace(gradients=exact, center=exact.start), state
            state, first = (_again(ascent, some) for some in (last, first))
            if also is not None:
                state = joined_with(state, promising_rows(_stretched(ascent, also), len(state["ratio"])))
            state = joined_with(state, first)
        state = ascent.climbed(state, -(-iterations * level // _QUARTERS))
        if level < _QUARTERS:
            state = promising_rows(ascent.with_worst_samples(state), -(-len(state["ratio"]) // 4))
    return _found(best_rows(state, max(1, _HELD // gradients.dimension)), float(first["ratio"].max()), free)


def _stretched(ascent: PairAscent, also: CurvedPairs) -> State:
    """Pairs along curved directions, as far apart as they come and farther."""
    found = []
    for apart in APART:
        middle, away = (also.x + also.y) / 2, apart * (also.x - also.y) / 2
        x, y = (project((middle + sign * away).to(ascent.center), ascent.center, ascent.diameter) for sign in (1, -1))
        found.append(ascent.begun(x, y, also.chosen.of(ascent.gradients, ascent.free)))
    return reduce(joined_with, found)


def _again(ascent: PairAscent, state: State) -> State:
    """The same pairs, computed anew by other gradients."""
    x, y = (project(state[name].to(ascent.center), ascent.center, ascent.diameter) for name in "xy")
    if "samples" not in state:
        return ascent.begun(x, y, None)
    chosen = Samples(*(state[name] for name in Samples._fields))
    return ascent.begun(x, y, chosen.of(ascent.gradients, ascent.free))


def _found(state: State, started: float, free: InputSet | None) -> Found:
    none = torch.empty(len(state["ratio"]), 0)
    index = _array(state["samples"]) if free is None and "samples" in state else np.full(len(none), -1.0)
    x, y, inputs, targets = (state.get(name, none).cpu().numpy() for name in ("x", "y", "inputs", "targets"))
    moved, floor, distance = (_array(state[name]) for name in ("moved", "floor", "distance"))
    return Found(moved, floor, distance, index, np.array([started]), x, y, inputs, targets)


def _drawn(starts: int, center: Tensor, diameter: float, at: Tensor | None, generator: Stream) -> tuple[Tensor, Tensor]:
    """Drawn pairs; every second one begins at a point."""
    offsets = ball_points(2 * starts, diameter / 2, Draw.LOG_UNIFORM, generator, center)
    first = center + offsets[::2]
    if at is not None:
        first[1::2] = at.to(center)
    first = project(first, center, diameter)
    return first, project(first + offsets[1::2], center, diameter)


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.cpu().double().numpy()
