"""Every estimator against known answers: from below, within 2% with its default budget, and never above.

Drawn pairs see only typical directions, so they are held to 2% where the dimension is small; the search and the
curvature in every dimension.
"""

from math import sqrt

import known
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.pairs import ball_points
from lastiterate.runtime.constants.sampling import Draw, Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import norm
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

DRAWN = Sampling(inits=3, points=100, draw=Draw.LOG_UNIFORM)
ROUNDING = 1 + 1e-9


def gradients_of(workload: Workload, seed: int = 0) -> Gradients:
    return Gradients(workload, workload.initial(seed))


def within_two_percent(found: float, true: float) -> bool:
    return 0.98 * true <= found <= true * ROUNDING


def logistic(rows: Tensor, weights: Tensor) -> Workload:
    """Logistic loss of w.x, started at ``weights``; all labels are 1, which changes no constant."""

    class Score(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.Parameter(weights.clone())

        def forward(self, inputs: Tensor) -> Tensor:
            return inputs @ self.weights

    return Workload(
        "logistic", Score, lambda out, _: nn.functional.softplus(-out).sum(), rows, torch.zeros(len(rows))
    )


def logistic_constant(row: np.ndarray, centre: np.ndarray, radius: float, lam: float) -> float:
    """The constant of one sample in a ball, by one dense maximisation.

    The gradient is -s(-w.x) x with s the logistic function, so with scores a, b at a gap u it changes by
    |x| |s(a) - s(b)|, at a distance of at least u / |x|, which is attained along x. For each u the change is largest
    for the two scores that lie most evenly around 0, as far as the scores c.x +- radius |x| of the ball allow.
    """
    length, score = np.linalg.norm(row), row @ centre
    gap = np.linspace(0, 2 * radius * length, 200_001)[1:]
    middle = np.clip(0, score - radius * length + gap / 2, score + radius * length - gap / 2)
    change = 1 / (1 + np.exp(-middle - gap / 2)) - 1 / (1 + np.exp(-middle + gap / 2))
    return float(length * (change / (gap / length) ** lam).max())


@pytest.mark.parametrize("dimension", [1, 4, 16])
@pytest.mark.sweep(1)
def test_the_search_on_odd_powers(dimension: int) -> None:
    gradients = gradients_of(known.odd_power(dimension))
    centre = torch.full_like(gradients.start, 0.05)
    (pair,) = known.search_pairs(gradients, centre, (1 / 3,), diameter=1.0)
    assert within_two_percent(pair.constant, 2 ** (2 / 3) * dimension ** (1 / 3))


@pytest.mark.nightly
def test_the_search_on_a_gradient_with_many_kinks_is_still_below() -> None:
    """In 32 dimensions ascents end where some coordinates have not crossed their kink: 88 to 93%, over eight seeds."""
    gradients = gradients_of(known.odd_power(32))
    (pair,) = known.search_pairs(gradients, torch.full_like(gradients.start, 0.05), (1 / 3,), diameter=1.0)
    assert 0.88 <= pair.constant / (2 ** (2 / 3) * 32 ** (1 / 3)) <= ROUNDING


@pytest.mark.sweep(1)
@pytest.mark.parametrize("dimension", [1, 2])
def test_drawn_pairs_on_odd_powers(dimension: int) -> None:
    workload = known.odd_power(dimension)
    found = estimate_holder(workload, paper_run(workload, steps=60, noise_std=0.1), (1 / 3,), DRAWN)
    assert within_two_percent(found.constant(1 / 3), 2 ** (2 / 3) * dimension ** (1 / 3))


@pytest.mark.nightly
@pytest.mark.parametrize("dimension", [2, 20])
def test_the_search_and_the_curvature_on_quadratics(dimension: int) -> None:
    generator = np.random.default_rng(dimension)
    curvatures = generator.uniform(-1, 1, (5, dimension))
    curvatures[3, dimension // 2] = -2.5
    gradients = gradients_of(known.quadratic(curvatures.tolist()))
    low, half, one = known.search_pairs(gradients, gradients.start, (0.25, 0.5, 1.0), diameter=4.0)
    for pair in (low, half, one):
        assert within_two_percent(pair.constant, 2.5 * 4.0 ** (1 - pair.lam)), pair
        assert pair.sample == 3
    assert known.top_curvature(gradients, gradients.start[None]) == pytest.approx(2.5, rel=1e-6)


def test_drawn_pairs_on_quadratics() -> None:
    workload = known.quadratic([[1.0, 0.5], [3.0, -0.2]])
    found = estimate_holder(workload, paper_run(workload, steps=20, noise_std=0.1), (0.5, 1.0), DRAWN)
    assert within_two_percent(found.constant(1.0), 3.0)
    assert 0.95 * 3 <= found.constant(0.5) <= 3 * ROUNDING, "few log-uniform radii are near the largest one, 1"
    assert found.constant(1.0, Kind.SAMPLE_CLIPPED) <= 3.0 * ROUNDING, "clipping does not raise it"


@pytest.mark.nightly
@pytest.mark.parametrize("offset", [0.0, 0.6])
def test_the_search_on_logistic_losses(offset: float) -> None:
    generator = torch.Generator().manual_seed(3)
    rows = torch.randn(12, 6, generator=generator, dtype=torch.float64)
    centre = torch.full((6,), offset, dtype=torch.float64)
    gradients = gradients_of(logistic(rows, centre))
    for pair in known.search_pairs(gradients, gradients.start, (0.25, 0.5, 1.0), diameter=2.0):
        true = max(logistic_constant(row, centre.numpy(), 1.0, pair.lam) for row in rows.numpy())
        assert within_two_percent(pair.constant, true), pair
        if pair.lam == 1 and not offset:
            assert true == pytest.approx(float(rows.norm(dim=1).max()) ** 2 / 4, rel=1e-6)


def test_drawn_pairs_and_curvature_on_logistic_losses() -> None:
    rows = torch.tensor([[1.0, 0.5], [2.0, -1.5], [0.3, 1.0]], dtype=torch.float64)
    workload = logistic(rows, torch.zeros(2, dtype=torch.float64))
    run = paper_run(workload, steps=20, noise_std=1e-2)
    found = estimate_holder(workload, run, (1.0,), DRAWN)
    assert within_two_percent(found.constant(1.0), 2.5**2 / 4)
    gradients = gradients_of(workload)
    assert known.top_curvature(gradients, torch.zeros(3, 2).double()) == pytest.approx(2.5**2 / 4, rel=1e-9)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
@pytest.mark.parametrize(
    ("name", "slack"),
    [("breast-cancer", 1.02), ("iris-softmax", 5.0), ("iris-mlp-tanh", 8.0), ("iris-mlp-gelu", 8.0)],
)
@pytest.mark.sweep(2)
def test_certified_constants_are_above_every_estimate(name: str, slack: float, seed: int) -> None:
    """And not by more than ``slack``, so that a certified constant that is too small by that factor fails."""
    workload = load_workload(f"builtin:{name}")
    diameter = 2.0
    certified = workload.certified(seed, diameter)
    gradients = gradients_of(workload, seed)
    within = ball_points(4, diameter / 2, Draw.UNIFORM, stream(seed, purpose=1), gradients.start)
    points = torch.cat([gradients.start[None], gradients.start + within])
    curved = known.top_curvature(gradients, points)
    (pair,) = known.search_pairs(
        gradients, gradients.start, (1.0,), diameter=diameter, starts=24, iterations=40, seed=seed
    )
    drawn = gradients.at(points)
    change = (
        norm(tuple(leaf[1:] - leaf[:1] for leaf in drawn)) / torch.linalg.vector_norm(within, dim=1)[:, None]
    )
    estimates = (curved, pair.constant, float(change.max()))
    assert max(estimates) <= certified.smoothness
    assert max(estimates) * slack >= certified.smoothness
    assert float(norm(drawn).max()) <= certified.lipschitz
    assert float(norm(drawn).max()) * slack * sqrt(2) >= certified.lipschitz
