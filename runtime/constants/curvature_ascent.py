"""Ascent of the curvature v' H(w) v of one sample's loss in the point w and the direction v: starts of a search.

Many points are screened with a sample each, by a few Lanczos steps. At the most curved, power iteration turns v and
third derivatives move w, within the ball, along the slope of |v' H(w) v|; a step that lowers it is taken back and the
next one is half as long, else 1.5 times. At first and halfway the most curved points are tried with every sample. What
is found are pairs a little apart along v: nothing rests on the ascent itself.

Source: ours; Pearlmutter 1994 for products with the Hessian.
"""

from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.func import grad_and_value, vmap

from lastiterate.numeric.errors import count, positive
from lastiterate.runtime.constants.curvature import largest_ritz
from lastiterate.runtime.constants.pairs import Draw, ball_points
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import project

_ASCENT: Final = 2**46
"""The purpose of the stream that draws the points and directions."""

_WEIGHT: Final = 6
"""Memory of a third derivative, in gradients."""

_SCREENING: Final = 4
_TURNS: Final = 8
_TRIED: Final = 4
"""Lanczos steps of a screened point, first steps of power iteration, and points that are tried with every sample."""

LONGER: Final = 1.5
SHORTER: Final = 0.5
FIRST_MOVE: Final = 0.3
"""First step of a point, as a share of the radius."""

_APART: Final = 1e-4
"""Distance of a pair that is found, as a share of the diameter."""


class CurvedPairs(NamedTuple):
    """Pairs whose gradients change most where they are close.

    Attributes:
        x: shape (pairs, dimension).
        y: shape (pairs, dimension).
        samples: index of the sample of each, shape (pairs,).
        curvature: |v' H v| that was reached, gradient / length, shape (pairs,).
    """

    x: Tensor
    y: Tensor
    samples: Tensor
    curvature: Tensor


@torch.no_grad()
def curved_pairs(
    gradients: Gradients,
    center: Tensor,
    *,
    diameter: float,
    around: Tensor | None = None,
    screened: int = 2000,
    starts: int = 16,
    iterations: int = 40,
    seed: int = 0,
) -> CurvedPairs:
    """Pairs along the most curved directions that an ascent finds in a ball.

    Args:
        gradients: per-sample gradients of the workload.
        center: shape (dimension,), the centre of the ball.
        diameter: of the ball, a length.
        around: shape (points, dimension), for example iterates: every second screened point is near to one of them.
        screened: points that are looked at with one sample each.
        starts: the number of those that ascend, side by side as far as the memory budget has room.
        iterations: steps of the ascent.
        seed: of everything that is drawn.

    Returns:
        Of every start that has finite derivatives the pair at its end, within the ball.
    """
    positive("diameter", diameter)
    for name, value in (("screened", screened), ("starts", starts), ("iterations", iterations)):
        count(name, value)
    generator = stream(seed, purpose=_ASCENT)
    points, samples = _screened(gradients, center, diameter, around, screened, starts, generator)
    drawn = torch.randn(len(points), len(center), generator=generator, dtype=torch.float64).to(center)
    ends = [
        _ascended(_Climb(gradients, points[part], drawn[part], samples[part]), center, diameter, iterations)
        for part in gradients.pair_chunks(len(points), weight=_WEIGHT)
    ]
    at, along, chosen, found = (torch.cat([getattr(end, name) for end in ends]) for name in _Climb.KEPT)
    good = torch.isfinite(found) & (found > 0)
    step = _APART * diameter / 2 * along[good]
    inside = project(at[good], center, diameter * (1 - _APART))
    return CurvedPairs(inside + step, inside - step, chosen[good], found[good])


def _screened(
    gradients: Gradients,
    center: Tensor,
    diameter: float,
    around: Tensor | None,
    screened: int,
    starts: int,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    """The most curved of many drawn points, each with the sample that was drawn for it."""
    samples = torch.randint(gradients.samples, (screened,), generator=generator)
    chosen = torch.randint(1 if around is None else len(around), (screened,), generator=generator)
    vector = torch.randn(len(center), generator=generator, dtype=torch.float64).to(center)
    kept, curved = [], []
    for part in gradients.pair_chunks(screened, weight=_WEIGHT):
        near = None if around is None else around[chosen[part].to(around.device)]
        points = _drawn(range(screened)[part], center, diameter, near, generator)
        pairs = torch.stack([torch.arange(len(points)), samples[part]], dim=1)
        found = largest_ritz(gradients, points, pairs, vector, min(_SCREENING, len(center))).nan_to_num(0.0)
        best = found.topk(min(starts, len(found))).indices
        kept.append((points[best.to(points.device)], samples[part][best]))
        curved.append(found[best])
    best = torch.cat(curved).topk(min(starts, screened)).indices
    points, chosen = (torch.cat(parts) for parts in zip(*kept, strict=True))
    return points[best.to(points.device)], chosen[best].to(points.device)


def _drawn(numbers: range, center: Tensor, diameter: float, near: Tensor | None, generator: torch.Generator) -> Tensor:
    """Points of the ball, drawn one by one, so that they are the same whatever the memory; odd ones near to others."""
    offsets = [ball_points(1, len(center), diameter / 2, Draw.LOG_UNIFORM, generator) for _ in numbers]
    middle = center.repeat(len(numbers), 1)
    if near is not None:
        odd = torch.tensor([number % 2 == 1 for number in numbers], device=near.device)
        middle = torch.where(odd[:, None], near, center).to(center)
    return project(middle + torch.cat(offsets).to(center), center, diameter)


class _Climb:
    """Points, directions and samples, with the curvature along the direction and its slope."""

    KEPT: Final = ("points", "vectors", "samples", "values")

    def __init__(self, gradients: Gradients, points: Tensor, vectors: Tensor, samples: Tensor) -> None:
        self.gradients, self.points, self.samples = gradients, points, samples
        self.vectors = vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        for _ in range(_TURNS):
            self.vectors = self._turned(points, self.vectors)
        self.values, self.slopes = self._at(points, self.vectors, samples)

    def move(self, points: Tensor, samples: Tensor) -> Tensor:
        """Go to the points and samples where the curvature is larger; shape (points,), whether it is."""
        vectors = self._turned(points, self.vectors)
        values, slopes = self._at(points, vectors, samples)
        better: Tensor = values > self.values
        for name, new in (("points", points), ("vectors", vectors), ("slopes", slopes)):
            setattr(self, name, torch.where(better[:, None], new, getattr(self, name)))
        self.samples, self.values = (
            torch.where(better, new, old) for new, old in ((samples, self.samples), (values, self.values))
        )
        return better

    def with_worst_samples(self) -> Tensor:
        """The samples, at the most curved points those that are most curved along the direction, shape (points,)."""
        inputs, targets = self.gradients.rows()
        over_samples = vmap(self._curve, (None, None, 0, 0))
        samples = self.samples.clone()
        for at in self.values.topk(min(_TRIED, len(self.values))).indices.tolist():
            parts = self.gradients.sample_chunks(weight=_WEIGHT)
            here = self.points[at], self.vectors[at]
            curved = torch.cat([over_samples(*here, inputs[part], targets[part]).abs() for part in parts])
            samples[at] = curved.nan_to_num(0.0, 0.0).argmax()
        return samples

    def _rows(self, samples: Tensor) -> tuple[Tensor, Tensor]:
        inputs, targets = self.gradients.rows()
        return inputs[samples], targets[samples]

    def _turned(self, points: Tensor, vectors: Tensor) -> Tensor:
        """A step of power iteration."""
        pushed = vmap(self.gradients.curved)(points, vectors, *self._rows(self.samples))
        length = torch.linalg.vector_norm(pushed, dim=1, keepdim=True)
        usable = torch.isfinite(length) & (length > 0)
        return torch.where(usable, pushed / length, vectors)

    def _curve(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        return (self.gradients.curved(point, vector, row, target) * vector).sum()

    def _at(self, points: Tensor, vectors: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        slopes, values = vmap(grad_and_value(self._curve))(points, vectors, *self._rows(samples))
        return values.abs().nan_to_num(0.0, 0.0), (slopes * values.sign()[:, None]).nan_to_num(0.0, 0.0, 0.0)


def _ascended(climb: _Climb, center: Tensor, diameter: float, iterations: int) -> _Climb:
    shift = torch.full((len(climb.points),), FIRST_MOVE * diameter / 2).to(center)
    half = -(-iterations // 2)
    for step in range(iterations):
        samples = climb.samples if step % half else climb.with_worst_samples()
        ahead = climb.slopes / torch.linalg.vector_norm(climb.slopes, dim=1, keepdim=True)
        better = climb.move(project(climb.points + shift[:, None] * ahead.nan_to_num(), center, diameter), samples)
        shift = (shift * torch.where(better, LONGER, SHORTER).to(center)).clamp(max=diameter / 2)
    return climb
