"""An adversary on a line: exact laws of both runs under update maps that change over time, chosen to tell them apart.

The iterates are the points of a grid on [0, D], those after the last step points of a wider one; going to the nearest
point is post-processing, so that the contraction of profiles applies to every law here. Each step has a map out of a
few, no more expansive than the clean steps of the run, and a sign of the sample. Whether the sample is met is a chain
beside the iterate (met in this epoch or not), so that every scheme is exact. Coordinate ascent: for the best event at
the end, the map of each step in turn that tells the runs apart most, from the last step to the first.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf

import numpy as np
from scipy.special import ndtr

from lastiterate.numeric.accounting.batches import outcome_distance
from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.positions import fixed_routes
from lastiterate.numeric.subsampling.windows import composition_route

_TAIL, _ENDS = 6.0, 120
_SLOPES, _DRIFTS = (1.0, -1.0, 0.5, 0.0), (-0.5, -0.3, -0.1, 0.1, 0.3, 0.5)


@dataclass(eq=False)
class Adversary:
    """The choices of a run on a grid.

    Attributes:
        run: of steps with few kinds of step sizes and noises.
        assumption: of its losses.
        points: of the grid.
        position: the batch of an epoch that holds the sample, where batches are cyclic.
    """

    run: NoisySGD
    assumption: Assumption
    points: int = 48
    position: int = 0

    def __post_init__(self) -> None:
        self.choices = np.zeros(self.run.steps, dtype=int)
        self._known: dict[tuple[float, float, bool], tuple[Array, Array]] = {}

    @property
    def kinds(self) -> int:
        """The number of choices of a step."""
        return len(self._kernels(0)[0])

    def _kernels(self, t: int) -> tuple[Array, Array]:
        """Kernels without the sample, and with it in the first and the second run, of every choice of a step."""
        key = self.run.step_size_at(t), self.run.noise_std_at(t), t == self.run.steps - 1
        if key not in self._known:
            grid = np.linspace(0, self.run.diameter, self.points)
            edges = (grid[1:] + grid[:-1]) / 2
            if key[2]:  # what is said of the last iterate holds before it is projected
                edges = np.linspace(-_TAIL * key[1], self.run.diameter + _TAIL * key[1], _ENDS)
            away, push = grid - self.run.diameter / 2, key[0] * outcome_distance(self.run)
            two_sided = self.run.adjacency == "replace"
            means = []
            clean = self._maps(t, away, differs=self.run.period == 1)
            # Of a batch with a sample that is replaced the others are one fewer; an added one comes on top.
            met = self._maps(t, away, differs=True) if two_sided else clean
            for without, others in zip(clean, met, strict=False):
                means += [
                    [without, others + sign * push, others - sign * push if two_sided else others]
                    for sign in ((0.5, -0.5) if two_sided else (1.0, -1.0))
                ]
            at = (np.array(means) + self.run.diameter / 2)[..., None]
            ends = (np.concatenate([[-inf], edges, [inf]]) - at) / key[1]
            right = ends[..., :-1] > 0  # no digit cancels in a tail
            laws = np.where(right, -np.diff(ndtr(-ends)), np.diff(ndtr(ends)))
            self._known[key] = laws[:, 0], laws[:, 1:]
        return self._known[key]

    def _maps(self, t: int, away: Array, *, differs: bool) -> list[Array]:
        """Maps of the distance from the middle, without the push of the sample, as expansive as such a step may be."""
        with precision():
            clean = self.assumption.expansion(self.run, t, differs=differs)
        line, reach = clean.affine_on(self.run.diameter), self.run.diameter
        if line is not None:
            maps = [slope * float(line[0]) * away for slope in _SLOPES]
            return maps + [map_ + share * reach for map_ in maps[:2] for share in _DRIFTS]
        jump = (float(clean.value(np.array(1e-12))) - float(clean.sensitivity)) / 2
        return [
            away,
            -away,
            0 * away,
            away + jump * np.where(away >= 0, 1, -1),
            away + min(jump, reach) * np.sign(away),
        ]

    @cached_property
    def meets(self) -> list[tuple[float, float]]:
        """The chance that a step meets the sample, if it was not yet met in this epoch, and if it was."""
        run, every = self.run, self.run.batches
        found = []
        for t in range(run.steps):
            match run.sampling:
                case "full":
                    found.append((1.0, 1.0))
                case "cyclic":
                    found.append((float(t % every == self.position),) * 2)
                case "shuffled":
                    found.append((1 / (every - t % every), 0.0))
                case _:
                    found.append((run.batch / run.dataset_size,) * 2)
        return found

    def _forward(self) -> list[Array]:
        """The laws before every step and at the end, shape (2 runs, not met / met, points)."""
        law = np.zeros((2, 2, self.points))
        law[:, 0, self.points // 2] = 1
        found = [law]
        for t, one in enumerate(self.choices):
            clean, met = (kernels[one] for kernels in self._kernels(t))
            if self.run.sampling == "shuffled" and t % self.run.batches == 0:
                law = np.stack([law.sum(axis=1), np.zeros((2, self.points))], axis=1)
            chance = np.array(self.meets[t])[:, None]
            stays, moves = law * (1 - chance), (law * chance).sum(axis=1)
            law = stays @ clean
            law[:, 1] += (moves[:, None] @ met)[:, 0]
            found.append(law)
        return found

    @property
    def laws(self) -> tuple[Array, Array]:
        """The laws of the last iterates."""
        first, second = self._forward()[-1].sum(axis=1)
        return first, second

    def ascend(self, ratio: float, *, ahead: bool, sweeps: int = 3) -> None:
        """Choose maps for the advantage P(S) - ratio Q(S), P the first run where ``ahead``."""
        weights = np.array([1.0, -ratio] if ahead else [-ratio, 1.0])
        best = -inf
        for _ in range(sweeps):
            laws = self._forward()
            final = np.einsum("r,rmi->i", weights, laws[-1])
            value = float(np.maximum(final, 0.0).sum())
            if value <= best * (1 + 1e-6):
                return
            best = value
            after = np.broadcast_to((final > 0).astype(float), (2, 2, len(final)))
            for t in range(self.run.steps - 1, -1, -1):
                clean, met = self._kernels(t)
                chance = np.array(self.meets[t])[:, None]
                if self.run.sampling == "shuffled" and (t + 1) % self.run.batches == 0:
                    after = np.stack([after[:, 0], after[:, 0]], axis=1)
                law = laws[t]
                if self.run.sampling == "shuffled" and t % self.run.batches == 0:
                    law = np.stack([law.sum(axis=1), np.zeros((2, self.points))], axis=1)
                free = np.moveaxis(np.tensordot(clean, after, (2, 2)), 1, 3)  # option, run, met, point
                told = np.swapaxes(met @ after[:, 1, :, None], 2, 3)
                values = (1 - chance) * free + chance * told
                one = int(np.argmax((values * (weights[:, None, None] * law)).sum(axis=(1, 2, 3))))
                self.choices[t], after = one, values[one]


def profile(first: Array, second: Array, ratios: Array) -> Array:
    """E_g of the first law from the second at some ratios."""
    return np.asarray(np.maximum(first - ratios[:, None] * second, 0.0).sum(axis=1))


def least_epsilon(first: Array, second: Array, delta: float) -> float:
    """Epsilon of one order at delta, from below; 0 where there is none."""
    low, high = 0.0, 200.0
    if profile(first, second, np.ones(1))[0] <= delta:
        return 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if profile(first, second, np.array([exp(middle)]))[0] > delta else (low, middle)
        )
    return low


def another_route(run: NoisySGD, assumption: Assumption) -> Candidate:
    """A bound that stands beside the table of contraction, by shifts or by composition."""
    if run.scheme.fixed:
        return fixed_routes(run, assumption, None, None, every=False)[0]
    return composition_route(run)
