"""One step of value iteration: never above the true minimum, and off by the square of the cell."""

import numpy as np
import pytest
from bracketing import least_step


class _Problem:
    """A value that is nonincreasing and concave after subtracting bend p^2, and a concave image."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.bend, self.weight = rng.uniform(0.2, 3, 2)
        self.heights, self.ends = rng.uniform(0, 1, 4), rng.uniform(0.2, 1.5, 4)
        self.power, self.offset, self.gain = rng.uniform(0.3, 1), rng.uniform(0, 0.3), rng.uniform(0, 0.5)
        self.targets = np.sort(np.concatenate([[0.0], rng.uniform(0, 2, 40)]))

    def value(self, p: np.ndarray) -> np.ndarray:
        rest = np.maximum(self.ends - p[..., None], 0.0)
        return np.asarray((self.heights + self.bend * rest**2).min(axis=-1))

    def image(self, p: np.ndarray) -> np.ndarray:
        return p + self.offset + self.gain * p**self.power

    def least(self, cells: int, kept: np.ndarray | None = None) -> np.ndarray:
        node = self.nodes(cells)
        kept = np.ones(len(node) - 1, dtype=bool) if kept is None else kept
        bend = np.full(cells, self.bend)
        found = least_step(self.value(node), node, self.image(node), self.targets, kept, bend, self.weight)
        assert np.all((found.nearest >= 0) & (found.nearest < len(node)))
        return found.value

    def nodes(self, cells: int) -> np.ndarray:
        """Uneven, on [0, 1.6]."""
        return 1.6 * np.linspace(0, 1, cells + 1) ** 1.5

    def truth(self, low: float = 0.0, high: float = 1.6) -> np.ndarray:
        p = np.linspace(low, high, 200_001)
        value, image = self.value(p), self.image(p)
        return np.array([(value + self.weight * np.maximum(image - y, 0) ** 2).min() for y in self.targets])


def test_never_above_the_minimum_and_second_order_below(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(seed=seed):
            problem = _Problem(seed)
            truth = problem.truth()
            gaps = {cells: truth - problem.least(cells) for cells in (50, 100, 800)}
            for gap in gaps.values():
                assert gap.min() >= -1e-9  # the truth itself is a minimum over a grid
            # no cell edge is decided by e(p) = y
            reached = problem.targets < problem.image(np.array([1e-9]))[0]
            h = 1.6 * 1.5 / 100
            slope = 1 + problem.gain * problem.power * 1e-3 ** (problem.power - 1)
            assert gaps[100][reached].max() <= problem.bend * h**2 + problem.weight * (slope * h) ** 2 + 1e-9
            assert gaps[800].max() <= gaps[50].max() / 4 + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_only_kept_cells_count(seed: int) -> None:
    problem = _Problem(seed)
    node = problem.nodes(40)
    kept = (node[:-1] >= node[10]) & (node[1:] <= node[30])
    truth = problem.truth(node[10], node[30])
    found = problem.least(40, kept)
    assert np.all(found <= truth + 1e-9)
    assert found.sum() > problem.least(40).sum()


def test_no_cell_is_no_path() -> None:
    problem = _Problem(0)
    assert np.all(np.isinf(problem.least(10, np.zeros(10, dtype=bool))))


def test_nodes_that_round_to_one_float() -> None:
    # The cell between p = 1 and itself, over which the value falls from 2 to 1, is its lower right corner.
    line = np.array([2.0, 1.0]), np.array([1.0, 1.0]), np.array([1.5, 1.6])
    found = least_step(*line, np.array([0.5]), np.ones(1, bool), np.ones(1), 1.0)
    assert found.value[0] == pytest.approx(1.0 + 1.0)
