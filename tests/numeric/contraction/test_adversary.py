"""Random runs of every scheme under the adversary: exact laws are within the tables, in both orders, at all ratios."""

from dataclasses import dataclass
from math import exp

import numpy as np
import pytest
from adversary import Adversary, another_route, least_epsilon, profile

import lastiterate as li
from lastiterate.numeric.accounting.conversion import gdp_delta
from lastiterate.numeric.bound import contracted
from lastiterate.numeric.contraction.chain import TableCandidate
from lastiterate.numeric.contraction.table import Table

_SCHEMES = ("full", "cyclic", "shuffled", "poisson", "without_replacement")
_NIGHTS = [pytest.param(seed, 40, marks=pytest.mark.nightly) for seed in range(500)]
"""Seeds and numbers of runs. Wrong prices are noticed by `test_wrong_prices`, with runs of its own."""


@dataclass(frozen=True)
class Attack:
    """A run, what is assumed of it, a delta, and the batch of a cyclic epoch that holds the sample."""

    run: li.NoisySGD
    assumption: li.Assumption
    delta: float
    position: int = 0

    @property
    def table(self) -> Table | None:
        """The table that `bound` makes; other routes are not looked at."""
        other = another_route(self.run, self.assumption)
        for found in contracted(self.run, self.assumption, None, self.delta, [other]):
            assert isinstance(found, TableCandidate)
            return found.table
        return None


def drawn(rng: np.random.Generator) -> Attack:
    """A random attack: D / sigma in .1 to 8, s in .02 to 2, T to 60, at most three kinds of steps."""

    def spread(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    scheme, batches = str(rng.choice(_SCHEMES)), int(rng.integers(2, 9))
    batch = int(rng.integers(1, 4))
    steps, s, diameter = round(spread(0.6, 60) + 0.5), spread(0.02, 2), spread(0.1, 8)
    if scheme == "full":
        batch, batches = int(rng.integers(2, 12)), 1
    most = spread(0.1, 2)
    least = most / s * (1 if scheme == "poisson" else 2) / (batch * batches if scheme == "full" else batch)
    eta: float | tuple[float, ...] = most
    noise: float | tuple[float, ...] = least
    if rng.random() < 0.3:
        kinds = np.arange(steps) * 3 // steps if rng.random() < 0.5 else rng.integers(0, 3, steps)
        eta = tuple((most * rng.uniform(0.3, 1, 3))[kinds].tolist())
        noise = tuple((least * rng.uniform(0.6, 1.5, 3))[kinds].tolist())
    run = li.NoisySGD(
        steps, eta, noise, 1.0, batch * batches, batch_size=batch, sampling=scheme, diameter=diameter * least
    )
    L = float(rng.uniform(0.05, 1.9)) / most
    assumptions: tuple[li.Assumption, ...] = (
        *(li.Convex(L), li.StronglyConvex(L, L * float(rng.uniform(0.05, 1)))),
        *(li.Smooth(spread(0.02, 0.5) / most), li.Clipped()),
    )
    return Attack(
        run,
        assumptions[rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])],
        10 ** float(rng.uniform(-6, -1)),
        int(rng.integers(batches)) if scheme == "cyclic" else 0,
    )


def excess(attack: Attack, table: Table, rng: np.random.Generator, rounds: int = 1) -> tuple[float, float]:
    """The greatest excess of an exact profile over a table at its nodes and between; and bound over adversary."""
    ratios = np.sqrt(table.g[1:] * np.append(table.g[:-2], table.g[-1]))  # not at nodes
    worst, ratio, epsilon = -np.inf, np.inf, table.epsilon(attack.delta)
    one = Adversary(attack.run, attack.assumption, position=attack.position)
    for ahead in (True, False):
        one.choices[:] = 0
        side = table if ahead else table.reversed
        for k in range(2 * rounds):
            if k >= rounds:
                one.choices = rng.integers(one.kinds, size=attack.run.steps)
            about = epsilon * rng.uniform(0.3, 1.0)
            one.ascend(exp(min(about, 50.0)), ahead=ahead)
            first, second = one.laws if ahead else one.laws[::-1]
            found = profile(first, second, ratios)
            known = side(ratios)
            worst = max(worst, float(np.max((found - 1e-12) / known)) - 1)
            below = profile(first, second, 1 / ratios)
            worst = max(worst, float(np.max((below - 1e-12) / side(1 / ratios))) - 1)
            lost = least_epsilon(first, second, attack.delta)
            ratio = min(ratio, epsilon / lost if lost else np.inf)
    return worst, ratio


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("seed", "runs"), [(0, 10), *_NIGHTS])
def test_no_law_is_above_its_table(seed: int, runs: int) -> None:
    rng = np.random.default_rng((15, seed))
    for _ in range(runs):
        attack = drawn(rng)
        table = attack.table
        if table is not None:
            above, ratio = excess(attack, table, rng)
            assert above <= 0, attack
            assert ratio >= 1, attack


@pytest.mark.usefixtures("few")
def test_full_batches_leave_little_open() -> None:
    """With update maps that change over time and D <= 3 sigma."""
    rng, ratios = np.random.default_rng(3), []
    for _ in range(7):
        diameter, s, steps = np.exp(rng.uniform(np.log([0.3, 0.05, 2]), np.log([3, 1, 30])))
        run = li.NoisySGD(round(steps), 1.0, 1 / s, 1.0, dataset_size=2, diameter=float(diameter / s))
        attack = Attack(run, li.Convex(1.0), 1e-3)
        table = attack.table
        assert table is not None
        ratios.append(excess(attack, table, rng, rounds=2)[1])
    assert 1 <= np.median(ratios) <= 1.1


@pytest.mark.usefixtures("few")
def test_profiles_of_positions_cross() -> None:
    """The last step alone costs a Gaussian, at every ratio, though another position is the worst at some."""
    steps = (5.0, *(0.001,) * 4, 0.3)
    run = li.NoisySGD(6, steps, 1.0, 1.0, dataset_size=6, batch_size=1, sampling="cyclic", diameter=2.0)
    profile_of_all = li.bound(run, li.Convex(0.01), delta=0.25).profile()
    for epsilon in (1.0, 2.0):
        assert profile_of_all(epsilon) >= gdp_delta(0.6, epsilon)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("batches", "great"), [(14, (7,)), (20, (8, 10, 12))])
def test_places_of_an_epoch_have_steps_of_their_own(batches: int, great: tuple[int, ...]) -> None:
    """A few great steps in the middle, each after a small one."""
    steps = tuple(1.0 if t in great else 0.02 for t in range(batches))
    run = li.NoisySGD(batches, steps, 1.0, 1.0, batches, batch_size=1, sampling="shuffled", diameter=20.0)
    adversary = Adversary(run, li.Convex(0.01), points=120)
    adversary.ascend(1.0, ahead=True)
    lost = profile(*adversary.laws, np.ones(1))[0]
    assert 0.01 < lost <= li.bound(run, li.Convex(0.01), delta=1e-2).profile()(0.0)
