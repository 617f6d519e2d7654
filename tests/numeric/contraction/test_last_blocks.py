"""Last blocks alone: two runs may be at opposite ends of the domain where the first of these blocks begins."""

from math import inf

import numpy as np
import pytest
from adversary import another_route
from scipy.stats import norm

import lastiterate as li
from lastiterate.numeric.bound import contracted
from lastiterate.numeric.contraction import fixed_batches, random_batches, uses
from lastiterate.numeric.contraction.chain import Goal, TableCandidate
from lastiterate.numeric.contraction.table import Table

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
    """Tables after every third step, each half of the last: after 4 or 5 steps only 3 count."""
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
