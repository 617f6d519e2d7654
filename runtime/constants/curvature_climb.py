"""Steps of the ascent of a curvature, see `lastiterate.runtime.constants.curvature_ascent`."""

from collections.abc import Callable
from typing import Final, NamedTuple

import torch
from torch import Tensor
from torch.func import grad_and_value, vmap

from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.starts import Samples, labels_of
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.replay import Replayed

WEIGHT: Final = 6
"""Memory of a third derivative, in gradients."""

_TURNS: Final = 8
_TRIED: Final = 4
"""First steps of power iteration, and points that are tried with every sample."""

_LONGER: Final = 1.5
_SHORTER: Final = 0.5
FIRST_MOVE: Final = 0.3
"""First step of a point, as a share of the radius."""


def next_step(step: Tensor, better: Tensor) -> Tensor:
    """The length of the next step after those that made it better, and after others; shape (k,)."""
    return step * (_SHORTER + (_LONGER - _SHORTER) * better.to(step))


class Now(NamedTuple):
    """Points, directions and samples, with the curvature along the direction and its slopes, one row each."""

    points: Tensor
    vectors: Tensor
    chosen: Samples
    values: Tensor
    slopes: Tensor
    input_slopes: Tensor


class _Steps(NamedTuple):
    """Steps of points that ascend side by side.

    Attributes:
        gradients: per-sample gradients of the workload.
        free: set of the inputs that ascend, too; None for the samples of the data.
    """

    gradients: Gradients
    free: InputSet | None

    def moved(self, now: Now, points: Tensor, chosen: Samples) -> tuple[Now, Tensor]:
        """The points where the curvature is larger of those that are and of others, and whether it is."""
        vectors = self.turned(points, now.vectors, chosen)
        values, slopes, input_slopes = self.at(points, vectors, chosen)
        better = values > now.values

        def either(new: Tensor, old: Tensor) -> Tensor:
            return torch.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        samples = Samples(*(either(new, old) for new, old in zip(chosen, now.chosen, strict=True)))
        moved = either(points, now.points), either(vectors, now.vectors), samples, either(values, now.values)
        return Now(*moved, either(slopes, now.slopes), either(input_slopes, now.input_slopes)), better

    def turned(self, points: Tensor, vectors: Tensor, chosen: Samples) -> Tensor:
        """A step of power iteration."""
        pushed = vmap(self.gradients.curved)(points, vectors, chosen.inputs, chosen.targets)
        length = torch.linalg.vector_norm(pushed, dim=1, keepdim=True)
        usable = torch.isfinite(length) & (length > 0)
        return torch.where(usable, pushed / length, vectors)

    def curve(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """The curvature along a vector at one point, for one sample."""
        return (self.gradients.curved(point, vector, row, target) * vector).sum()

    def at(self, points: Tensor, vectors: Tensor, chosen: Samples) -> tuple[Tensor, Tensor, Tensor]:
        """|curvature|, its slope in the point, and in the input where that is free."""
        argnums = (0,) if self.free is None else (0, 2)
        over_points = vmap(grad_and_value(self.curve, argnums=argnums))
        slopes, values = over_points(points, vectors, chosen.inputs, chosen.targets)
        up = values.sign()
        found = [(slope * up.reshape(-1, *[1] * (slope.ndim - 1))).nan_to_num(0.0, 0.0, 0.0) for slope in slopes]
        return values.abs().nan_to_num(0.0, 0.0), found[0], found[-1]


class Climb:
    """Points that ascend side by side."""

    def __init__(
        self, gradients: Gradients, points: Tensor, vectors: Tensor, chosen: Samples, free: InputSet | None
    ) -> None:
        self.gradients, self.free = gradients, free
        steps = _Steps(gradients, free)
        vectors = vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        for _ in range(_TURNS):
            vectors = steps.turned(points, vectors, chosen)
        self.now = Now(points, vectors, chosen, *steps.at(points, vectors, chosen))
        little = gradients.little(WEIGHT * len(points))
        self._better: Callable[..., tuple[Now, Tensor]] = Replayed(steps.moved) if little else steps.moved

    def move(self, points: Tensor, chosen: Samples) -> Tensor:
        """Go to the points and samples where the curvature is larger; shape (points,), whether it is."""
        self.now, better = self._better(self.now, points, chosen)
        return better

    def with_worst_samples(self) -> Samples:
        """The samples, at the most curved points those, or the labels, that are most curved along the direction."""
        inputs, targets = self.gradients.rows()
        labels = labels_of(self.gradients, self.free)
        over_samples = vmap(_Steps(self.gradients, self.free).curve, (None, None, 0, 0))
        now, chosen = self.now, Samples(*(part.clone() for part in self.now.chosen))
        for at in now.values.topk(min(_TRIED, len(now.values))).indices.cpu().tolist():
            here = now.points[at], now.vectors[at]
            own = chosen.inputs[at]
            most, worst = float(now.values[at]), None
            for part in self.gradients.sample_chunks(weight=WEIGHT):
                rows = inputs[part] if self.free is None else self.free.projected(inputs[part])
                curved = over_samples(*here, rows, targets[part]).abs().nan_to_num(0.0, 0.0)
                if float(curved.max()) > most:
                    k = int(curved.argmax())
                    most, worst = float(curved[k]), (rows[k], targets[part][k], part.start + k)
            if len(labels):
                curved = over_samples(*here, own.expand(len(labels), *own.shape), labels).abs().nan_to_num(0.0, 0.0)
                if float(curved.max()) > most:
                    worst = (own, labels[curved.argmax()], int(chosen.samples[at]))
            if worst is not None:
                chosen.inputs[at], chosen.targets[at], chosen.samples[at] = worst
        return chosen

    def moved_inputs(self, steps: Tensor) -> Samples:
        """The samples, moved along the slopes in the input by so much of the set, shape (points,)."""
        assert self.free is not None  # noqa: S101
        inputs = self.now.chosen.inputs
        flat = self.now.input_slopes.flatten(start_dim=1)
        ahead = (flat / torch.linalg.vector_norm(flat, dim=1, keepdim=True)).nan_to_num()
        length = steps * self.free.around(inputs[0].numel())[1]
        moved = self.free.projected(inputs + (length[:, None] * ahead).reshape(inputs.shape))
        return self.now.chosen._replace(inputs=moved)
