"""Hidden places of shuffled batches against exact laws of chains that share no code with the package.

A chain is a grid on [0, D]; going to the nearest point is post-processing. Each step has a map out of a few
nonexpansive ones, and pushes of the sample of either run relative to the samples that it may replace. The place of
the sample is hidden: a state next to the grid says whether it was met. Coordinate ascent chooses maps and pushes for
one ratio.
"""

from collections.abc import Callable, Iterator
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


def attacked(
    chain: Chain, ratio: float, order: int, rng: np.random.Generator | None = None
) -> tuple[Array, Array]:
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


def no_difference_at_the_pivot(patch: Patch) -> None:
    sound = hidden.hide_places

    def change(g: Array, profiles: tuple[Array, ...], *rest: object) -> Array:
        return sound(g, (profiles[0], profiles[0], profiles[2]), *rest)  # type: ignore[arg-type]

    patch.setattr(hidden, "hide_places", change)


def a_third_run_equal_to_run_2(patch: Patch) -> None:
    sound = hidden.hide_places

    def change(g: Array, profiles: tuple[Array, ...], *rest: object) -> Array:
        return sound(g, (profiles[0], profiles[1], 0 * profiles[2]), *rest)  # type: ignore[arg-type]

    patch.setattr(hidden, "hide_places", change)


WRONG: list[tuple[Callable[[Patch], None], Chain]] = [
    (half_a_move, Chain(8, 4, 1.0, 1.0)),
    (a_clean_step_far_where_the_sample_is, Chain(6, 2, 2.0, 1.0)),
    (the_last_place_alone, Chain(4, 4, 0.5, 1.0)),
    (any_sum, Chain(6, 3, 1.0, 1.0)),
    (no_difference_at_the_pivot, Chain(4, 2, 1.6, 0.5)),
    (a_third_run_equal_to_run_2, Chain(3, 3, 1.8, 0.57)),
]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("plant", "chain"), WRONG)
def test_planted_mistakes_are_refuted(monkeypatch: Patch, plant: Callable[[Patch], None], chain: Chain) -> None:
    assert power(chain, 1e-3) <= 1 + 1e-9
    plant(monkeypatch)
    assert power(chain, 1e-3) > 1.005


def _either(first: Array, second: Array, g: Array) -> Array:
    """E_g of the rows of two arrays of laws, the greater of both orders, shape (rows, nodes)."""
    pairs = ((first, second), (second, first))
    return np.max([np.maximum(p[:, None] - g[:, None] * q[:, None], 0).sum(axis=2) for p, q in pairs], axis=0)


def _worst(variant: Callable[[tuple[Array, Array, Array]], tuple[Array, Array, Array]]) -> float:
    """The greatest quotient, over random laws, of the profile of the means and its bound by three laws."""
    rng, g = np.random.default_rng(4), np.exp(np.linspace(0, 4, 60))

    def laws(count: int) -> Array:
        return rng.dirichlet(np.full(4, 0.4), count)

    def quotients() -> Iterator[float]:
        for _ in range(60):
            count = int(rng.integers(2, 5))
            first, second = laws(count), laws(count)
            if rng.random() < 0.5:  # all but one place are hidden
                first[1:] = second[1:] = laws(1)
            near = rng.random() < 0.5
            third = second[0] if near else laws(1)[0]
            both = np.broadcast_to(third, first.shape)
            profiles = _either(first, second, g), _either(first, both, g), _either(both, second, g)
            # The pivot is another place, at which the third law is that of run 2.
            alone = laws(1)[0]
            pivot = _either(alone[None], third[None], g)[0]
            bound = hidden.hide_places(g, variant(profiles), pivot, (np.ones(count), 1.0))
            means = (np.vstack([first, alone]).mean(axis=0), np.vstack([second, third]).mean(axis=0))
            lost = np.maximum(means[0] - g[:, None] * means[1], 0).sum(axis=1)
            seen = lost > 1e-6
            yield float(np.max(lost[seen] / bound[seen], initial=0.0))

    return max(quotients())


def test_the_bound_by_three_laws_on_random_laws() -> None:
    assert 0.99 < _worst(lambda profiles: profiles) <= 1 + 1e-9
    assert _worst(lambda profiles: (profiles[0], profiles[2], profiles[2])) > 1.01  # h is h'
    assert _worst(lambda profiles: (profiles[0], profiles[1], 0 * profiles[2])) > 1.01
    assert _worst(lambda profiles: (profiles[0], profiles[0], profiles[2])) > 1.01  # h is f
    assert _worst(lambda profiles: (profiles[0] / 2, *profiles[1:])) > 1.01


def test_balls_and_bins_do_not_bound_shuffled_batches_of_fixed_size() -> None:
    """Two batches of one sample, gradients of at most a: the sample that only run 1 counts, and another one at -a."""
    at = np.arange(-12, 16, 0.02)
    cell = 0.02**2

    def law(one: float, other: float) -> Array:
        x, y = (np.exp(-((at - mean) ** 2) / 2) / np.sqrt(2 * np.pi) for mean in (one, other))
        return cell * (x[:, None] * y + y[:, None] * x) / 2

    first, second, alone = law(2.0, 0.0), law(1.0, 0.0), law(0.0, 0.0)  # with the other sample at 0
    at_claim = np.exp(3.6975)
    assert np.maximum(second - at_claim * alone, 0).sum() < 1.01e-5  # balls and bins at sensitivity a
    assert np.maximum(first - at_claim * second, 0).sum() > 2e-5
    assert np.maximum(first - np.exp(4.3734) * second, 0).sum() == pytest.approx(1e-5, rel=0.01)


_FIGURES = [
    (Chain(200, 5, 0.5, 1.0), 0.917),
    (Chain(200, 10, 0.5, 1.0), 0.493),
    (Chain(5000, 50, 0.1, 1.0), 0.0086),
    (Chain(9380, 938, 0.5, 1.0), 0.0027),
    (Chain(200, 5, 0.5, 3.0), 1.8472),
    (Chain(500, 10, 0.2, 2.0), 0.2252),
]


@pytest.mark.parametrize(("chain", "figure"), _FIGURES)
def test_figures_are_reached(chain: Chain, figure: float) -> None:
    assert li.bound(chain.run(), li.Convex(1), delta=1e-5).epsilon <= figure


@pytest.mark.parametrize(("steps", "most"), [(2, 0.3), (10, 0.3), (15, 0.3), (16, 0.3), (30, 0.3)])
def test_epochs_that_are_cut(steps: int, most: float) -> None:
    run = li.NoisySGD(steps, 1.0, 1.0, 1.576, 60, 4, "shuffled", diameter=0.9)
    assert li.bound(run, li.Convex(1), delta=1e-3).epsilon <= most


@pytest.mark.parametrize("batch", [1, 4, 30, 60])
@pytest.mark.parametrize("goal", [{"delta": 1e-3}, {"order": 2.0}])
def test_one_batch_costs_as_much_as_without_replacement(batch: int, goal: dict[str, float]) -> None:
    one, other = (
        li.bound(li.NoisySGD(1, 1.0, 1.0, 1.576, 60, batch, sampling, diameter=0.9), li.Convex(1), **goal)
        for sampling in ("shuffled", "without_replacement")
    )
    assert one.epsilon == other.epsilon


def test_one_batch_an_epoch_costs_as_much_as_full_batches() -> None:
    bounds = {
        li.bound(li.NoisySGD(40, 1.0, 1.0, 2.0, 8, 8, sampling, diameter=1.0), li.Convex(1), delta=1e-5).epsilon
        for sampling in ("full", "cyclic", "shuffled", "without_replacement")
    }
    assert len(bounds) == 1


def test_schedules_cost_no_more_than_their_worst_step() -> None:
    chain = Chain(30, 5, 0.5, 1.0)
    constant = li.bound(chain.run(), li.Convex(1), delta=1e-5).epsilon
    quieter = replace(chain.run(), noise_std=tuple(np.linspace(1.2, 1.0, 30).tolist()))
    same = replace(chain.run(), noise_std=(1.0,) * 30)
    assert li.bound(quieter, li.Convex(1), delta=1e-5).epsilon < constant * 1.01
    assert li.bound(same, li.Convex(1), delta=1e-5).epsilon == pytest.approx(constant, rel=0.01)
