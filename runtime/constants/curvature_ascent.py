"""Ascent of the curvature v' H(w) v of one sample's loss in the point w and the direction v: starts of a search.

Many points are screened with a sample each, by a few Lanczos steps. At the most curved, power iteration turns v and
third derivatives move w, within the ball, along the slope of |v' H(w) v|, and where inputs are free the input, too,
within its set; a step that lowers it is taken back and the next one is half as long, else 1.5 times. At first and
halfway the most curved points are tried with every sample. What is found are pairs a little apart along v: nothing
rests on the ascent itself.

Source: ours; Pearlmutter 1994 for products with the Hessian.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.errors import count, positive
from lastiterate.runtime.constants.curvature import largest_ritz
from lastiterate.runtime.constants.curvature_climb import FIRST_MOVE, WEIGHT, Climb, next_step
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.pairs import Draw, ball_points
from lastiterate.runtime.constants.starts import Samples, most_promising
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream, stream
from lastiterate.runtime.training.descent import project

_ASCENT: Final = 2**46
"""The purpose of the stream that draws the points and directions."""

_INPUTS: Final = 2**47
"""The purpose of the stream that draws inputs, where they are free."""

_SCREENING: Final = 4
"""Lanczos steps of a screened point."""

_APART: Final = 1e-4
"""Distance of a pair that is found, as a share of the diameter."""

_AGREED: Final = 0.99
_ROUNDS: Final = 6
"""Share of the largest curvature that a second ascent has to reach, and ascents at most until one does."""


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
    diameter = positive("diameter", diameter)
    screened = count("screened", screened)
    starts = count("starts", starts)
    iterations = count("iterations", iterations)
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


def climb_until_agreed(
    gradients: Gradients, center: Tensor, *, part: int = 0, rounds: int = _ROUNDS, **settings: Any
) -> CurvedPairs:
    """Pairs of ascents from other starts, one after another until two of them reach the same curvature.

    Which hills a single ascent climbs is a matter of luck, and of the last bits that a processor rounds.

    Args:
        gradients: per-sample gradients of the workload.
        center: shape (dimension,), the centre of the ball.
        part: others are drawn for another part.
        rounds: ascents at most.
        **settings: as of `curved_pairs`.

    Returns:
        Of all of them the most promising, as many as the first ascent has.
    """
    found: list[CurvedPairs] = []
    reached: list[float] = []
    for again in range(count("rounds", rounds)):
        found.append(one := curved_pairs(gradients, center, part=_ROUNDS * part + again, **settings))
        reached.append(float(one.curvature.max()) if len(one.x) else 0.0)
        *_, second, most = (0.0, *sorted(reached))
        if again and second >= _AGREED * most:
            break
    x, y, curvature = (torch.cat([getattr(one, name) for one in found]) for name in ("x", "y", "curvature"))
    rows = Samples.joined([one.chosen for one in found])
    best = most_promising(curvature, rows.samples, len(found[0].x))
    return CurvedPairs(x[best], y[best], rows.taken(best), curvature[best])


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

        for part in gradients.pair_chunks(screened, weight=WEIGHT):
            points, rows = drawn(part)
            pairs = torch.arange(len(points))[:, None].expand(-1, 2)
            own = gradients.on(rows.inputs, rows.targets)
            curved.append(largest_ritz(own, points, pairs, vector, min(_SCREENING, len(center))).nan_to_num(0.0))
        best = most_promising(torch.cat(curved).to(center.device), samples, starts).sort().values.cpu()
        generator.done, of_inputs.done = again
        kept = []  # drawn again: all of them together may be many times the budget
        for part in gradients.pair_chunks(screened, weight=WEIGHT):
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
        parts = list(self.gradients.pair_chunks(len(points), weight=WEIGHT))
        climbs = [Climb(self.gradients, points[p], vectors[p], chosen.taken(p), self.free) for p in parts]
        for climb in climbs:
            self._ascend(climb, iterations)
        ends = [climb.now for climb in climbs]
        at, along, found = (torch.cat([getattr(end, name) for end in ends]) for name in ("points", "vectors", "values"))
        return _Ends(at, along, Samples.joined([end.chosen for end in ends]), found)

    def _ascend(self, climb: Climb, iterations: int) -> None:
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
