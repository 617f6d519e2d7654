"""Hidden places of shuffled batches against exact laws of chains that share no code with the package.

A chain is a grid on [0, D]; going to the nearest point is post-processing. Each step has a map out of a few
nonexpansive ones, and pushes of the sample of either run relative to the samples that it may replace. The place of the
sample is hidden: whether it was met is a state beside the grid. Coordinate ascent chooses maps and pushes for one ratio.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

import lastiterate as li
from lastiterate.numeric.bound import candidates
from lastiterate.numeric.contraction import fixed_batches, hidden
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import Table

Array = NDArray[np.float64]
Patch = pytest.MonkeyPatch
_PUSHES = ((1, 0), (0, 1), (0.5, -0.5), (-0.5, 0.5), (1, 0.5), (-1, 0), (0, -1), (-1, -0.5))
_DRIFTS, _POINTS, _ENDS = (0.0, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5), 40, 120


@dataclass(frozen=True)
class Chain:
    """T steps of noise 1 in epochs of E batches, on [0, D], whose sample moves an iterate by s."""

    steps: int
    batches: int
    s: float
    diameter: float

    def run(self, sampling: str = "shuffled") -> li.NoisySGD:
        eta = 0.01
        return li.NoisySGD(
            self.steps,
            eta,
            1.0,
            self.s * 2 / eta,
            4 * self.batches,
            4,
            sampling,
            diameter=self.diameter,
        )

    def table(self, delta: float) -> Table:
        """The table of the package."""
        found = candidates(self.run(), li.Convex(1), None, delta)
        return next(one.table for one in found if isinstance(one, TableCandidate))

    def kernels(self, *, last: bool) -> tuple[Array, Array]:
        """For every choice of a step: the kernel without the sample, and those with that of run 1 and of run 2."""
        grid = np.linspace(0, self.diameter, _POINTS)
        edges = (grid[1:] + grid[:-1]) / 2
        if last:
            edges = np.linspace(-6, self.diameter + 6, _ENDS)
        middle = self.diameter / 2
        maps = [a * (grid - middle) + middle + d * self.diameter for a in (1, -1) for d in _DRIFTS]
        maps.append(0 * grid + middle)
        means = np.array([[at, at + p * self.s, at + q * self.s] for at in maps for p, q in _PUSHES])
        ends = np.concatenate([[-np.inf], edges, [np.inf]]) - means[..., None]
        laws = np.where(ends[..., :-1] > 0, -np.diff(ndtr(-ends)), np.diff(ndtr(ends)))
        return laws[:, 0], laws[:, 1:]


def _laws(chain: Chain, kernels: list[tuple[Array, Array]], choices: list[int]) -> list[Array]:
    """The laws at the start of every step and at the end, shape (run, not met / met, points)."""
    law = np.zeros((2, 2, _POINTS))
    law[:, 0, _POINTS // 2] = 1
    found = []
    for t, one in enumerate(choices):
        clean, met = (part[one] for part in kernels[t == chain.steps - 1])
        if t % chain.batches == 0:
            law = np.stack([law.sum(axis=1), 0 * law[:, 0]], axis=1)
        found.append(law)
        meets = 1 / (chain.batches - t % chain.batches)
        moved = np.stack([law[run, 0] @ met[run] for run in (0, 1)])
        law = np.stack([(1 - meets) * law[:, 0] @ clean, law[:, 1] @ clean + meets * moved], axis=1)
    return [*found, law]


def attacked(chain: Chain, ratio: float, order: int, rng: np.random.Generator | None = None) -> tuple[Array, Array]:
    """The laws of the last iterate after an ascent of P(S) - ratio Q(S); order 1 exchanges the runs."""
    kernels = [chain.kernels(last=False), chain.kernels(last=True)]
    weights = np.array([(1, -ratio), (-ratio, 1)][order])
    count = len(kernels[0][0])
    choices = [0] * chain.steps if rng is None else rng.integers(0, count, chain.steps).tolist()
    for _ in range(3):
        laws = _laws(chain, kernels, choices)
        final = np.einsum("r,rmi->i", weights, laws[-1])
        after = np.broadcast_to((final > 0).astype(float), (2, 2, len(final)))
        for t in range(chain.steps - 1, -1, -1):
            clean, met = kernels[t == chain.steps - 1]
            meets = 1 / (chain.batches - t % chain.batches)
            if (t + 1) % chain.batches == 0:
                after = np.stack([after[:, 0]] * 2, axis=1)
            free, unmet = (np.einsum("oij,rj->ori", clean, after[:, m]) for m in (1, 0))
            hit = np.einsum("orij,rj->ori", met, after[:, 1])
            values = np.stack([(1 - meets) * unmet + meets * hit, free], axis=2)
            choices[t] = int(np.argmax((values * (weights[:, None, None] * laws[t])).sum(axis=(1, 2, 3))))
            after = values[choices[t]]
    first, second = _laws(chain, kernels, choices)[-1].sum(axis=1)
    return (second, first) if order else (first, second)


def power(chain: Chain, delta: float, rng: np.random.Generator | None = None) -> float:
    """The greatest quotient of an exact profile and the table, both less the profile of equal laws."""
    table = chain.table(delta)
    between = np.sqrt(table.g[1:] * table.g[:-1])
    ratios = between[between < 1e5]
    ratios = np.concatenate([1 / ratios, ratios])
    trivial, worst = np.maximum(1 - ratios, 0.0), 0.0
    known = table(ratios) - trivial
    for order in (0, 1):
        for share in (0.2, 0.7):
            about = float(np.exp(min(table.epsilon(delta), 10) * share)) * 1.02
            first, second = attacked(chain, about, order, rng)
            lost = np.maximum(first - ratios[:, None] * second, 0).sum(axis=1) - trivial
            seen = lost > 1e-9
            worst = max(worst, float(np.max(lost[seen] / known[seen], initial=0.0)))
    return worst


def _drawn(rng: np.random.Generator) -> tuple[Chain, float]:
    batches = int(rng.integers(2, 7))
    steps = int(rng.integers(2, 3 * batches + 2))
    s, diameter = np.exp(rng.uniform(np.log([0.05, 0.3]), np.log([4.0, 3.0])))
    return Chain(steps, batches, float(s), float(diameter)), float(rng.choice([0.1, 0.01, 1e-4]))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("seed", "count"), [(0, 12), *(pytest.param(seed, 100, marks=pytest.mark.nightly) for seed in range(1, 21))]
)
def test_no_exact_law_is_above_the_table(seed: int, count: int) -> None:
    rng = np.random.default_rng((44, seed))
    for _ in range(count):
        chain, delta = _drawn(rng)
        assert power(chain, delta, rng if rng.random() < 0.3 else None) <= 1 + 1e-9, chain


def half_a_move(patch: Patch) -> None:
    sound = fixed_batches.window_prices

    def change(run: li.NoisySGD, *rest: object) -> object:
        return sound(replace(run, clip_norm=run.clip_norm / 2), *rest)  # type: ignore[arg-type]

    patch.setattr(fixed_batches, "window_prices", change)


def a_clean_step_far_where_the_sample_is(patch: Patch) -> None:
    sound = fixed_batches.window_prices

    def change(run: li.NoisySGD, assumption: li.Assumption, position: int, start: int, length: int) -> object:
        near, _ = sound(run, assumption, position, start, length)
        return near, sound(run, assumption, start + length, start, length)[1]

    patch.setattr(fixed_batches, "window_prices", change)


def the_last_place_alone(patch: Patch) -> None:
    def change(g: Array, profiles: tuple[Array, ...], pivot: Array, counts: tuple[Array, float]) -> Array:
        del g, pivot
        late = np.asarray(profiles[0][0])  # the places are listed from the last one on
        return np.minimum(late / (counts[0].sum() + counts[1]), 1.0)

    patch.setattr(hidden, "hide_places", change)


def any_sum(patch: Patch) -> None:
    sound = hidden._at_place

    def change(*given: Array) -> tuple[Array, Array, Array]:
        value, up, down = sound(*given)
        return value, 0 * up, down

    patch.setattr(hidden, "_at_place", change)


def _other_ends(patch: Patch, which: int, instead: Callable[[hidden.HiddenBlocks], Array]) -> None:
    sound = hidden.HiddenBlocks._ends

    def change(blocks: hidden.HiddenBlocks, before: Table, number: int) -> Array:
        found = sound(blocks, before, number)
        if number == 0:
            blocks.kept = found  # type: ignore[attr-defined]
        return instead(blocks) if number == which else found

    patch.setattr(hidden.HiddenBlocks, "_ends", change)


def equal_before_the_third_run(patch: Patch) -> None:
    _other_ends(patch, 1, lambda blocks: blocks._back)


def no_difference_at_the_pivot(patch: Patch) -> None:
    _other_ends(patch, 1, lambda blocks: blocks.kept)  # type: ignore[attr-defined]


def a_third_run_equal_to_run_2(patch: Patch) -> None:
    _other_ends(patch, 2, lambda blocks: np.zeros((len(blocks.epoch.places), len(blocks.g))))


WRONG: list[tuple[Callable[[Patch], None], Chain]] = [
    (half_a_move, Chain(8, 4, 1.0, 1.0)),
    (a_clean_step_far_where_the_sample_is, Chain(6, 2, 2.0, 1.0)),
    (the_last_place_alone, Chain(4, 4, 0.5, 1.0)),
    (any_sum, Chain(6, 3, 1.0, 1.0)),
    (equal_before_the_third_run, Chain(8, 2, 1.0, 2.0)),
    (no_difference_at_the_pivot, Chain(6, 3, 2.0, 2.0)),
    (a_third_run_equal_to_run_2, Chain(6, 3, 1.0, 1.0)),
]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("plant", "chain"), WRONG)
def test_planted_mistakes_are_refuted(monkeypatch: Patch, plant: Callable[[Patch], None], chain: Chain) -> None:
    assert power(chain, 1e-3) <= 1 + 1e-9
    plant(monkeypatch)
    assert power(chain, 1e-3) > 1.005
