"""Ascent of the curvature v' H(w) v of one sample's loss in the point w and the direction v: starts of a search.

Many points are screened with a sample each, by a few Lanczos steps. At the most curved, power iteration turns v and
third derivatives move w, within the ball, along the slope of |v' H(w) v|, and where inputs are free the input, too,
within its set; a step that lowers it is taken back and the next one is half as long, else 1.5 times. At first and
halfway the most curved points are tried with every sample. What is found are pairs a little apart along v: nothing
rests on the ascent itself.

Source: ours; Pearlmutter 1994 for products with the Hessian.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import grad_and_value, vmap

from lastiterate.numeric.errors import count, positive
from lastiterate.runtime.constants.curvature import largest_ritz
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.pairs import Draw, ball_points
from lastiterate.runtime.constants.starts import Samples, labels_of, most_promising
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream, stream
from lastiterate.runtime.replay import Replayed
from lastiterate.runtime.training.descent import project

_ASCENT: Final = 2**46
"""The purpose of the stream that draws the points and directions."""

_INPUTS: Final = 2**47
"""The purpose of the stream that draws inputs, where they are free."""

_WEIGHT: Final = 6
"""Memory of a third derivative, in gradients."""

_SCREENING: Final = 4
_TURNS: Final = 8
_TRIED: Final = 4
"""Lanczos steps of a screened point, first steps of power iteration, and points that are tried with every sample."""

_LONGER: Final = 1.5
_SHORTER: Final = 0.5
FIRST_MOVE: Final = 0.3
"""First step of a point, as a share of the radius."""

_APART: Final = 1e-4
"""Distance of a pair that is found, as a share of the diameter."""


class CurvedPairs(NamedTuple):
    """Pairs whose gradients change most where they are close.

    Attributes:
        x: shape (pairs, dimension).
        y: shape (pairs, dimension).
        chosen: the sample of each.
        curvature: |v' H v| that was reached, gradient / length, shape (pairs,).
    """

    x: Tensor
    y: Tensor
    chosen: Samples
    curvature: Tensor

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The pairs to be kept; `of_arrays` reads them back."""
        named = {"x": self.x, "y": self.y, "curvature": self.curvature} | self.chosen._asdict()
        return {name: part.cpu().numpy() for name, part in named.items()}

    @staticmethod
    def of_arrays(arrays: Mapping[str, NDArray[Any]], like: Tensor) -> "CurvedPairs":
        """The pairs that were kept, where ``like`` is."""
        x, y, curvature, *chosen = (
            torch.from_numpy(arrays[name]).to(like.device) for name in ("x", "y", "curvature", *Samples._fields)
        )
        return CurvedPairs(x, y, Samples(*chosen), curvature)


def next_step(step: Tensor, better: Tensor) -> Tensor:
    """The length of the next step after those that made it better, and after others; shape (k,)."""
    return step * (_SHORTER + (_LONGER - _SHORTER) * better.to(step))


@torch.no_grad()
def curved_pairs(
    gradients: Gradients,
    center: Tensor,
    *,
    diameter: float,
    around: Tensor | None = None,
    free: InputSet | None = None,
    screened: int = 2000,
    starts: int = 48,
    iterations: int = 40,
    seed: int = 0,
    part: int = 0,
) -> CurvedPairs:
    """Pairs along the most curved directions that an ascent finds in a ball.

    Args:
        gradients: per-sample gradients of the workload.
        center: shape (dimension,), the centre of the ball.
        diameter: of the ball, a length.
        around: shape (points, dimension), for example iterates: every second screened point is near to one of them.
        free: set of the inputs that ascend, too; None for the samples of the data.
        screened: points that are looked at with one sample each.
        starts: the number of those that ascend, side by side as far as the memory budget has room.
        iterations: steps of the ascent; the best quarter takes twice as many more.
        seed: of everything that is drawn.
        part: others are drawn for another part.

    Returns:
        Of every start that has finite derivatives the pair at its end, within the ball.
    """
    positive("diameter", diameter)
    for name, value in (("screened", screened), ("starts", starts), ("iterations", iterations)):
        count(name, value)
    generator = stream(seed, purpose=_ASCENT + part)
    screen = _Screen(gradients, center, diameter, around, free)
    points, chosen = screen.most_curved(screened, starts, generator, stream(seed, purpose=_INPUTS + part))
    drawn = generator.normals(len(points), len(center), center)
    ascent = _Ascent(gradients, center, diameter, free)
    every = ascent.ends(points, drawn, chosen, iterations)
    best = most_promising(every.values, every.chosen.samples, -(-starts // 4))
    longer = ascent.ends(every.points[best], every.vectors[best], every.chosen.taken(best), 2 * iterations)
    at, along, found = (torch.cat([getattr(e, n) for e in (every, longer)]) for n in ("points", "vectors", "values"))
    rows = Samples.joined([every.chosen, longer.chosen])
    good = torch.isfinite(found) & (found > 0)
    step = _APART * diameter / 2 * along[good]
    inside = project(at[good], center, diameter * (1 - _APART))
    return CurvedPairs(inside + step, inside - step, rows.taken(good), found[good])


class _Screen(NamedTuple):
    """Region in which points are screened, and the data of the screening."""

    gradients: Gradients
    center: Tensor
    diameter: float
    around: Tensor | None
    free: InputSet | None

    def most_curved(self, screened: int, starts: int, generator: Stream, of_inputs: Stream) -> tuple[Tensor, Samples]:
        """The most curved of many drawn points, each with the sample that was drawn for it."""
        gradients, center, around = self.gradients, self.center, self.around
        samples = generator.integers(gradients.samples, screened, center.device)
        chosen = None if around is None else generator.integers(len(around), screened, around.device)
        (vector,) = generator.normals(1, len(center), center)
        curved, again = [], (generator.done, of_inputs.done)

        def drawn(part: slice) -> tuple[Tensor, Samples]:
            near = None if around is None or chosen is None else around[chosen[part]]
            points = _drawn(range(screened)[part], center, self.diameter, near, generator)
            return points, Samples.drawn(gradients, samples[part], self.free, of_inputs, part.start)

        for part in gradients.pair_chunks(screened, weight=_WEIGHT):
            points, rows = drawn(part)
            pairs = torch.arange(len(points))[:, None].expand(-1, 2)
            own = gradients.on(rows.inputs, rows.targets)
            curved.append(largest_ritz(own, points, pairs, vector, min(_SCREENING, len(center))).nan_to_num(0.0))
        best = most_promising(torch.cat(curved).to(center.device), samples, starts).sort().values.cpu()
        generator.done, of_inputs.done = again
        kept = []  # drawn again: all of them together may be many times the budget
        for part in gradients.pair_chunks(screened, weight=_WEIGHT):
            points, rows = drawn(part)
            here = (best[(best >= part.start) & (best < part.stop)] - part.start).to(center.device)
            kept.append((points[here], rows.taken(here)))
        return torch.cat([at for at, _ in kept]), Samples.joined([rows for _, rows in kept])


def _drawn(numbers: range, center: Tensor, diameter: float, near: Tensor | None, generator: Stream) -> Tensor:
    """Points of the ball, odd ones near to others."""
    offsets = ball_points(len(numbers), diameter / 2, Draw.LOG_UNIFORM, generator, center)
    middle = center.repeat(len(numbers), 1)
    if near is not None:
        odd = torch.arange(numbers.start, numbers.stop, device=near.device) % 2 == 1
        middle = torch.where(odd[:, None], near, center).to(center)
    return project(middle + offsets, center, diameter)


class _Now(NamedTuple):
    """Points, directions and samples, with the curvature along the direction and its slopes, one row each."""

    points: Tensor
    vectors: Tensor
    chosen: Samples
    values: Tensor
    slopes: Tensor
    input_slopes: Tensor


class _Climb:
    """Points that ascend side by side."""

    def __init__(
        self, gradients: Gradients, points: Tensor, vectors: Tensor, chosen: Samples, free: InputSet | None
    ) -> None:
        self.gradients, self.free = gradients, free
        vectors = vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        for _ in range(_TURNS):
            vectors = self._turned(points, vectors, chosen)
        self.now = _Now(points, vectors, chosen, *self._at(points, vectors, chosen))
        little = gradients.little(_WEIGHT * len(points))
        self._better: Callable[..., tuple[_Now, Tensor]] = Replayed(self._moved) if little else self._moved

    def move(self, points: Tensor, chosen: Samples) -> Tensor:
        """Go to the points and samples where the curvature is larger; shape (points,), whether it is."""
        self.now, better = self._better(self.now, points, chosen)
        return better

    def _moved(self, now: _Now, points: Tensor, chosen: Samples) -> tuple[_Now, Tensor]:
        vectors = self._turned(points, now.vectors, chosen)
        values, slopes, input_slopes = self._at(points, vectors, chosen)
        better = values > now.values

        def either(new: Tensor, old: Tensor) -> Tensor:
            return torch.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        samples = Samples(*(either(new, old) for new, old in zip(chosen, now.chosen, strict=True)))
        moved = either(points, now.points), either(vectors, now.vectors), samples, either(values, now.values)
        return _Now(*moved, either(slopes, now.slopes), either(input_slopes, now.input_slopes)), better

    def with_worst_samples(self) -> Samples:
        """The samples, at the most curved points those, or the labels, that are most curved along the direction."""
        inputs, targets = self.gradients.rows()
        labels = labels_of(self.gradients, self.free)
        over_samples = vmap(self._curve, (None, None, 0, 0))
        now, chosen = self.now, Samples(*(part.clone() for part in self.now.chosen))
        for at in now.values.topk(min(_TRIED, len(now.values))).indices.cpu().tolist():
            here = now.points[at], now.vectors[at]
            own = chosen.inputs[at]
            most, worst = float(now.values[at]), None
            for part in self.gradients.sample_chunks(weight=_WEIGHT):
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

    def _turned(self, points: Tensor, vectors: Tensor, chosen: Samples) -> Tensor:
        """A step of power iteration."""
        pushed = vmap(self.gradients.curved)(points, vectors, chosen.inputs, chosen.targets)
        length = torch.linalg.vector_norm(pushed, dim=1, keepdim=True)
        usable = torch.isfinite(length) & (length > 0)
        return torch.where(usable, pushed / length, vectors)

    def _curve(self, point: Tensor, vector: Tensor, row: Tensor, target: Tensor) -> Tensor:
        return (self.gradients.curved(point, vector, row, target) * vector).sum()

    def _at(self, points: Tensor, vectors: Tensor, chosen: Samples) -> tuple[Tensor, Tensor, Tensor]:
        """|curvature|, its slope in the point, and in the input where that is free."""
        argnums = (0,) if self.free is None else (0, 2)
        over_points = vmap(grad_and_value(self._curve, argnums=argnums))
        slopes, values = over_points(points, vectors, chosen.inputs, chosen.targets)
        up = values.sign()
        found = [(slope * up.reshape(-1, *[1] * (slope.ndim - 1))).nan_to_num(0.0, 0.0, 0.0) for slope in slopes]
        return values.abs().nan_to_num(0.0, 0.0), found[0], found[-1]


class _Ends(NamedTuple):
    """Ends of ascents: points, directions, samples, and the curvature there, one row each."""

    points: Tensor
    vectors: Tensor
    chosen: Samples
    values: Tensor


class _Ascent(NamedTuple):
    """Settings that the points of an ascent have in common."""

    gradients: Gradients
    center: Tensor
    diameter: float
    free: InputSet | None

    def ends(self, points: Tensor, vectors: Tensor, chosen: Samples, iterations: int) -> _Ends:
        """Ascend for so many steps."""
        parts = list(self.gradients.pair_chunks(len(points), weight=_WEIGHT))
        climbs = [_Climb(self.gradients, points[p], vectors[p], chosen.taken(p), self.free) for p in parts]
        for climb in climbs:
            self._ascend(climb, iterations)
        ends = [climb.now for climb in climbs]
        at, along, found = (torch.cat([getattr(end, name) for end in ends]) for name in ("points", "vectors", "values"))
        return _Ends(at, along, Samples.joined([end.chosen for end in ends]), found)

    def _ascend(self, climb: _Climb, iterations: int) -> None:
        shift = self.center.new_full((len(climb.now.points),), FIRST_MOVE * self.diameter / 2)
        push = torch.full_like(shift, FIRST_MOVE)
        half = -(-iterations // 2)
        for step in range(iterations):
            now = climb.now
            chosen = now.chosen if step % half else climb.with_worst_samples()
            ahead = now.slopes / torch.linalg.vector_norm(now.slopes, dim=1, keepdim=True)
            points = project(now.points + shift[:, None] * ahead.nan_to_num(), self.center, self.diameter)
            shift = next_step(shift, climb.move(points, chosen)).clamp(max=self.diameter / 2)
            if self.free is not None:
                push = next_step(push, climb.move(climb.now.points, climb.moved_inputs(push))).clamp(max=2.0)
