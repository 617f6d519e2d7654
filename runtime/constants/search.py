"""Adversarial search for the pair of points where a gradient changes most.

|G(x) - G(y)| / |x - y|^lambda is raised from many starts at once, inside the ball of the domain: in the ball and around
the iterates. What is found is a pair that exists, less the rounding assumed of it: a lower estimate of the constant on
the domain, and never below its own start. With m = (x + y) / 2 and d = x - y, steps along the slope of the log ratio in
d and in m take turns; the step in d is |d|^2 times the slope, for a quadratic loss and lambda = 1 power iteration with
H^2. A step that lowers the ratio is taken back and the next one of its kind is half as long, else 1.5 times. Halfway
the best pairs are tried with every sample. Pairs that `lastiterate.runtime.constants.curvature_ascent` finds may begin
the ascent, too. 64 starts and 60 steps reach the constants of quadratics, of powers and of
logistic losses within 2%; of a gradient with 32 kinks, 88% or more (tests/runtime/constants/test_acceptance.py).

Source: ours.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.runtime.constants.curvature_ascent import FIRST_MOVE, LONGER, SHORTER, CurvedPairs
from lastiterate.runtime.constants.fit import TRUSTED_ERROR
from lastiterate.runtime.constants.gradient_difference import Changes
from lastiterate.runtime.constants.pairs import FLOOR_ULPS, Draw, ball_points
from lastiterate.runtime.gradients import Gradients, clip_factor, difference, norm
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import project

_SEARCH: Final = 2**42
"""The purpose of the stream that draws the starts."""

_COPIES: Final = 48
"""Twice the tensors of the shape of the points that live together in an ascent, so that they take half the budget."""

_PER_START: Final = ("changes", "floors", "distances", "samples")

_TRIED: Final = 4
"""Number of the best pairs that are tried with every sample."""


@dataclass(frozen=True)
class Pair:
    """The worst pair found for one order. Direction: a lower estimate.

    Attributes:
        lam: the Hölder order.
        constant: |G(x) - G(y)| / |x - y|^lambda there, gradient / length^lambda, less the rounding assumed of the
            difference; 0 where no pair could be trusted.
        distance: |x - y|, a length.
        sample: index of the sample; None for the mean over all of them.
        float_error: assumed relative rounding error of the difference.
        start: the constant of the best drawn pair that the ascent began with.
    """

    lam: float
    constant: float
    distance: float
    sample: int | None
    float_error: float
    start: float


@dataclass(frozen=True)
class Found:
    """End points of the ascents for one order, one row a start; shapes (starts,).

    Attributes:
        changes: |G(x) - G(y)|, a gradient.
        floors: its assumed rounding error, a gradient.
        distances: |x - y|, a length.
        samples: index of the sample; -1 for the mean.
        started: ratio of the best pair at the start, in a row of its own, shape (1,).
    """

    changes: NDArray[np.float64]
    floors: NDArray[np.float64]
    distances: NDArray[np.float64]
    samples: NDArray[np.float64]
    started: NDArray[np.float64]


def best_pairs(lambdas: tuple[float, ...], found: list[Found]) -> tuple[Pair, ...]:
    """For each order the best of what the ascents of *all* orders found: they cost no more gradients."""
    changes, floors, distances, samples = (np.concatenate([getattr(one, name) for one in found]) for name in _PER_START)
    pairs = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for lam, own in zip(lambdas, found, strict=True):
            kept = np.where(floors <= TRUSTED_ERROR * changes, (changes - floors) / distances**lam, 0.0)
            best = int(np.nanargmax(kept))
            sample = None if samples[best] < 0 else int(samples[best])
            error = float(floors[best] / changes[best]) if kept[best] else 0.0
            pairs.append(Pair(lam, float(kept[best]), float(distances[best]), sample, error, float(own.started[0])))
    return tuple(pairs)


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
    starts: int = 64,
    iterations: int = 60,
    seed: int = 0,
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
        starts: pairs that ascend, side by side as far as the memory budget has room.
        iterations: steps of the ascent.
        seed: of the starts.

    Raises:
        InputError: the diameter is not finite, or a gradient is not finite.
    """
    positive("diameter", diameter)
    for name, value in (("starts", starts), ("iterations", iterations)):
        count(name, value)
    generator = stream(seed, purpose=_SEARCH)
    samples = None if batch else torch.randint(gradients.samples, (starts,), generator=generator).to(center.device)
    chosen = torch.randint(1 if around is None else len(around), (starts // 2,), generator=generator)
    ends = []
    for part in gradients.vector_chunks(starts, copies=_COPIES):
        at = None if around is None else around[chosen[part.start // 2 : part.stop // 2].to(around.device)]
        pairs = _drawn(part, center, diameter, at, generator)
        changes = Changes(gradients, None if samples is None else samples[part], clip_norm)
        ends.append(_climbed(changes, lam, pairs, center, diameter, iterations))
    started = max(float(end.started[0]) for end in ends)
    if also is not None:
        for part in gradients.vector_chunks(len(also.x), copies=_COPIES):
            changes = Changes(gradients, also.samples[part], clip_norm)
            ends.append(_climbed(changes, lam, (also.x[part], also.y[part]), center, diameter, iterations))
    moved, floors, distances, taken = (np.concatenate([getattr(end, name) for end in ends]) for name in _PER_START)
    return Found(moved, floors, distances, taken, started=np.array([started]))


def _drawn(
    part: slice, center: Tensor, diameter: float, at: Tensor | None, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Drawn pairs, one by one, so that they are the same whatever the memory; every second one begins at a point."""
    offsets = [
        [ball_points(1, len(center), diameter / 2, Draw.LOG_UNIFORM, generator) for _ in range(2)]
        for _ in range(part.start, part.stop)
    ]
    from_center, from_first = (torch.cat(drawn).to(center) for drawn in zip(*offsets, strict=True))
    first = center + from_center
    if at is not None:
        first[1 - part.start % 2 :: 2] = at.to(center)
    first = project(first, center, diameter)
    return first, project(first + from_first, center, diameter)


def _climbed(
    changes: Changes, lam: float, pairs: tuple[Tensor, Tensor], center: Tensor, diameter: float, iterations: int
) -> Found:
    """End points of pairs that climb side by side."""
    samples, starts, radius = changes.samples, len(pairs[0]), diameter / 2
    climb = _Climb(changes, lam, *pairs)
    if not bool(torch.isfinite(climb.moved).all()):
        raise InputError(f"The search needs finite gradients in the ball, got nan or inf with diameter={diameter:g}.")
    started = float(climb.ratio.max())
    stretch, shift = torch.ones(starts).to(center), torch.full((starts,), FIRST_MOVE * radius).to(center)
    for step in range(iterations):
        if step == iterations // 2 and samples is not None:
            climb = _with_worst_samples(changes.gradients, climb, changes.clip_norm)
        middle, apart = (climb.x + climb.y) / 2, climb.x - climb.y
        if step % 2:
            slope = climb.slope_x + climb.slope_y
            ahead = slope / torch.linalg.vector_norm(slope, dim=1, keepdim=True)
            middle = middle + shift[:, None] * ahead.nan_to_num()
        else:
            apart = apart + stretch[:, None] * climb.distance[:, None] ** 2 * (climb.slope_x - climb.slope_y)
        x, y = (project(middle + sign * apart / 2, center, diameter) for sign in (1, -1))
        better = climb.move(x, y)
        factor = torch.where(better, LONGER, SHORTER).to(center)
        if step % 2:
            shift = (shift * factor).clamp(max=radius)
        else:
            stretch = stretch * factor
    moved, floor, distance = (_array(values) for values in (climb.moved, climb.floor, climb.distance))
    kept = climb.changes.samples
    index = np.full(starts, -1.0) if kept is None else _array(kept)
    return Found(moved, floor, distance, index, np.array([started]))


class _Climb:
    """Pairs, their ratios, and the slopes of the logarithms of these."""

    def __init__(self, changes: Changes, lam: float, x: Tensor, y: Tensor) -> None:
        self.changes = changes
        self.lam = lam
        self.x, self.y = x, y
        self.moved, self.floor, self.distance, self.ratio, self.slope_x, self.slope_y = self._at(x, y)

    def move(self, x: Tensor, y: Tensor) -> Tensor:
        """Go to the pairs where they are better; shape (pairs,), whether they are."""
        new = (x, y, *self._at(x, y))
        old = (self.x, self.y, self.moved, self.floor, self.distance, self.ratio, self.slope_x, self.slope_y)
        better: Tensor = new[5] > self.ratio
        kept = [torch.where(better[:, None] if a.ndim == 2 else better, a, b) for a, b in zip(new, old, strict=True)]
        self.x, self.y, self.moved, self.floor, self.distance, self.ratio, self.slope_x, self.slope_y = kept
        return better

    def _at(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        change, scale = self.changes.between(x, y)
        moved, distance = (torch.linalg.vector_norm(part, dim=1) for part in (change, x - y))
        ratio = _certain(moved, scale) / distance**self.lam
        along = (change / moved[:, None] ** 2).nan_to_num(0.0, 0.0, 0.0)
        apart = (self.lam * (x - y) / distance[:, None] ** 2).nan_to_num(0.0, 0.0, 0.0)
        slope_x = self.changes.pulled(x, along) - apart
        slope_y = apart - self.changes.pulled(y, along)
        slopes = (slope.nan_to_num(0.0, 0.0, 0.0) for slope in (slope_x, slope_y))
        return (moved, _floor(scale), distance, ratio.nan_to_num(0.0, 0.0, 0.0), *slopes)


def _with_worst_samples(gradients: Gradients, climb: _Climb, clip_norm: float) -> _Climb:
    """The best pairs with the sample whose gradient changes most there; no ratio gets smaller."""
    samples = climb.changes.samples
    if samples is None:
        return climb
    samples = samples.clone()
    for pair in climb.ratio.topk(min(_TRIED, len(climb.ratio))).indices.tolist():
        both = torch.stack([climb.x[pair], climb.y[pair]])
        certain = []
        for chunk in gradients.sample_chunks(weight=2):  # the points that climb take half of the budget
            here, there = (gradients.at(point[None], chunk) for point in both)
            lengths = torch.cat([norm(here), norm(there)])
            factor = clip_factor(lengths, clip_norm)
            moved = norm(difference(here, there, (factor[:1], factor[1:])))[0]
            certain.append(_certain(moved, lengths.sum(dim=0)))
        samples[pair] = int(torch.cat(certain).argmax()) if bool(torch.cat(certain).any()) else samples[pair]
    return _Climb(Changes(gradients, samples, clip_norm), climb.lam, climb.x, climb.y)


def _floor(scale: Tensor) -> Tensor:
    """Rounding error assumed of the difference of two gradients whose lengths sum to ``scale``."""
    return FLOOR_ULPS * torch.finfo(scale.dtype).eps * scale


def _certain(moved: Tensor, scale: Tensor) -> Tensor:
    """Change of a gradient less its rounding error; 0 where rounding may dominate it."""
    floor = _floor(scale)
    return torch.where(floor <= TRUSTED_ERROR * moved, moved - floor, 0.0)


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.cpu().double().numpy()
