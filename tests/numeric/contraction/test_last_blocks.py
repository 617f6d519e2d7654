"""Last blocks alone: two runs may be at opposite ends of the domain where the first of these blocks begins."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from adversary import another_route
from scipy.stats import norm

import lastiterate as li
from lastiterate.numeric.accounting.conversion import gdp_delta
from lastiterate.numeric.bound import contracted
from lastiterate.numeric.contraction import fixed_batches, random_batches, uses
from lastiterate.numeric.contraction.chain import Goal, Repeated, TableCandidate
from lastiterate.numeric.contraction.table import Table, gaussian_table

_CONVEX, _STEPS = li.Convex(0.01), 8
_CELLS = 201


def _from_the_ends(steps: int) -> float:
    """Total variation after steps x -> clip(x + N(0, 1)) from both ends of [-1/2, 1/2], cells taken together."""
    edges = np.linspace(-0.5, 0.5, _CELLS + 1)
    places = (edges[1:] + edges[:-1]) / 2
    below = np.pad(norm.cdf(edges[1:-1] - places[:, None]), ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    first, last = np.diff(norm.cdf(edges[1:-1] - np.array([[-0.5], [0.5]])), prepend=0.0, append=1.0)
    for _ in range(steps - 1):
        first, last = first @ np.diff(below), last @ np.diff(below)
    return float(np.abs(first - last).sum() / 2)


@pytest.mark.parametrize(
    ("sampling", "module", "name", "steps"),
    [
        ("full", fixed_batches, "_LAST", 1),
        ("cyclic", fixed_batches, "_LAST", 1),
        ("shuffled", fixed_batches, "_LAST_EPOCHS", 2),
        ("without_replacement", random_batches, "_LAST", 1),
        ("poisson", random_batches, "_LAST", 1),
    ],
)
@pytest.mark.usefixtures("few")
def test_schedules(
    sampling: str, module: object, name: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample moves an iterate by a hundredth of the noise; so nearly all that is lost is from the ends."""
    monkeypatch.setattr(module, name, 1)
    sizes = tuple(0.01 + 0.001 * t for t in range(_STEPS))
    run = li.NoisySGD(
        _STEPS, sizes, 1.0, 1.0, 4, None if sampling == "full" else 2, sampling=sampling, diameter=1.0
    )
    [found] = contracted(run, _CONVEX, None, 1e-3, [another_route(run, _CONVEX)])
    assert isinstance(found, TableCandidate)
    assert found.window == (_STEPS - steps, _STEPS)
    assert 0.1 < _from_the_ends(steps) <= found.table.ahead[0] < _from_the_ends(steps) + 0.1


@pytest.mark.usefixtures("few")
def test_uses_of_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 0.4, of laws whose delta at epsilon = 0.4 is that of N(0, 1) and N(1, 1) at their half lines."""
    monkeypatch.setattr(uses, "_WINDOWS", 1)
    run = li.NoisySGD(_STEPS, 0.01, 1.0, 1.0, 4, batch_size=1, sampling="cyclic", diameter=1.0)
    delta = norm.cdf(0.5 - 0.4) - np.exp(0.4) * norm.cdf(-0.5 - 0.4)
    goal = Goal(None, float(delta), inf, lambda _: inf)
    [found] = uses.Used(run, _CONVEX, (0, 3, 7)).numbers([0], [goal])
    assert 0.4 <= found < 0.6


def test_a_number_of_clean_steps_between_two_tables_has_that_of_fewer() -> None:
    """Tables after every third step, each half the previous one: after 4 or 5 steps, the table after 3 counts."""
    g = np.array([1.0, 2.0, 4.0])
    before = Table(g, one := np.array([0.4, 0.2, 0.1]), one)

    class Halves:
        unit = 3

        def course(self, known: Table) -> list[np.ndarray]:
            return [known.ahead * 0.5**k for k in range(4)]

    goal = Goal(None, 0.05, 1.0, lambda _: inf)
    found = dict(uses._after(before, Halves(), [0, 2, 3, 4, 5, 6, 99], goal))  # type: ignore[arg-type]
    shares = [float(found[k].ahead[0]) / 0.4 for k in range(7)]
    assert shares == pytest.approx([1, 1, 0.5, 0.5, 0.5, 0.25, 0.125], rel=1e-6)


@pytest.mark.parametrize("periods", [3, 10**6])
@pytest.mark.usefixtures("few")
def test_steps_after_the_last_whole_period_are_charged(periods: int) -> None:
    """Two runs that are equal before the rest differ after it by what the rest alone releases."""
    rest = gaussian_table(1.0), gaussian_table(1.5)
    goal = Goal(None, 1e-3, 3.0, lambda _: inf)
    table, _ = Repeated([(gaussian_table(0.01), gaussian_table(1.0))], periods, goal, [rest]).settled()
    for epsilon in (0.0, 0.5, 2.0):
        assert table.delta(epsilon) >= gdp_delta(1.0, epsilon)


@pytest.mark.parametrize("length", [1, 3, 4])
def test_a_cut_epoch_has_every_place_of_a_sample(length: int) -> None:
    """Four batches, of which ``length`` come: the pivot is the first place, or stands for those that do not come."""
    run = li.NoisySGD(4 + length, 0.1, 1.0, 1.0, 4, batch_size=1, sampling="shuffled", diameter=1.0)
    for one in (run, replace(run, noise_std=(1.0,) * run.steps)):
        epoch = fixed_batches._epoch(replace(one, sampling="cyclic"), _CONVEX, 4, length)
        assert (epoch.first is None) == (length < 4)
        assert sum(place.count for place in epoch.places) == min(length, 3)
        assert sorted(place.before for place in epoch.places) == list(range(min(length, 3)))
        assert all(place.before + place.after == min(length, 3) - 1 for place in epoch.places)


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
@pytest.mark.usefixtures("few")
def test_windows_that_share_a_cost_have_the_largest(sampling: str) -> None:
    """Of four windows of two steps, the second moves iterates furthest in one step, the third in both together."""
    sizes, ratios = (0.1, 0.1, 0.4, 0.1, 0.3, 0.3, 0.1, 0.1), np.geomspace(1.0, 20.0, 30)
    run = li.NoisySGD(8, sizes, 0.2, 1.0, 8, batch_size=2, sampling=sampling, diameter=0.5)
    windows, goal = [(0, 2), (2, 2), (4, 2), (6, 2)], Goal(None, 1e-5, 1.0, lambda _: inf)

    def prices(some: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        near, far = random_batches._prices(run, _CONVEX, some, goal) or (None, None)
        assert near is not None
        assert far is not None
        return near(ratios), far(ratios)

    together = prices(windows)
    for one in windows:
        for shared, alone in zip(together, prices([one]), strict=True):
            assert np.all(shared >= alone * (1 - 1e-3))
