from math import inf

import known
import pytest
import torch

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.gradient_difference import Changes
from lastiterate.runtime.constants.search import search_one
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload


def gradients_of(workload: Workload, **options: str | int) -> Gradients:
    return Gradients(workload, workload.initial(0), **options)


@pytest.mark.parametrize("clip_norm", [inf, 0.07])
@pytest.mark.parametrize("batch", [False, True])
def test_changes_and_their_slopes_are_those_of_autograd(clip_norm: float, batch: bool) -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-tanh"), memory=4 * 2**20)
    generator = torch.Generator().manual_seed(0)
    x, y = (gradients.start + torch.randn(3, gradients.dimension, generator=generator) * 0.1 for _ in range(2))
    chosen = torch.tensor([0, 70, 149])
    changes = Changes(gradients, None if batch else chosen, clip_norm)

    def plain(at: torch.Tensor, sample: int) -> torch.Tensor:
        rows, targets = (part[slice(None) if batch else slice(sample, sample + 1)] for part in gradients.rows())
        each = torch.func.vmap(gradients.of_one, (None, 0, 0))(at, rows, targets)
        if clip_norm == inf:
            return each.mean(dim=0)
        lengths = each.norm(dim=1, keepdim=True)
        assert not batch or bool((lengths > clip_norm).any()), "clipping acts"
        return (each * (clip_norm / lengths).clamp(max=1)).mean(dim=0)

    change, scale = changes.between(x, y)
    vectors = torch.randn(3, gradients.dimension, generator=generator, dtype=torch.float64)
    pulled = changes.pulled(x, vectors)
    for k, sample in enumerate(chosen.tolist()):
        torch.testing.assert_close(change[k], plain(x[k], sample) - plain(y[k], sample))
        at = x[k].clone().requires_grad_()
        (slope,) = torch.autograd.grad((plain(at, sample) * vectors[k]).sum(), at)
        torch.testing.assert_close(pulled[k], slope, rtol=1e-7, atol=1e-10)
        assert scale[k] >= change[k].norm() * (1 - 1e-12)


@pytest.mark.parametrize("batch", [False, True])
def test_more_steps_never_find_less_and_the_ball_is_kept(batch: bool) -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-gelu"))
    before = 0.0
    for iterations in (1, 4, 12):
        found = search_one(gradients, gradients.start, 0.5, diameter=0.7, batch=batch, starts=6, iterations=iterations)
        ratios = found.changes / found.distances**0.5
        assert ratios.max() >= max(before, found.started[0])
        assert found.distances.max() <= 0.7 * (1 + 1e-12)
        before = ratios.max() if batch else 0.0  # the samples change halfway, wherever that is


def test_starts_at_iterates_reach_a_place_that_the_ball_misses() -> None:
    """The gradient is flat but for a narrow bend, where no drawn point falls."""
    rows = torch.zeros(1, 6)
    place = torch.full((6,), 0.15, dtype=torch.float64)

    def loss(out: torch.Tensor, _row: torch.Tensor) -> torch.Tensor:
        return 1e-3 * torch.exp(-((out[0] - place) / 0.01).square().sum())

    workload = Workload("bend", lambda: known.Vector(6, 0.0), loss, rows, rows)
    gradients = gradients_of(workload)
    options = {"diameter": 1.0, "starts": 8, "iterations": 20}
    (blind,) = known.search_pairs(gradients, gradients.start, (1.0,), **options)
    (told,) = known.search_pairs(gradients, gradients.start, (1.0,), around=place[None] + 0.002, **options)
    assert blind.constant < 1e-6
    assert 0.9 * 20 <= told.constant <= 20 * (1 + 1e-9), "the curvature at the top is 2 * 1e-3 / 0.01^2"


def test_the_mean_over_samples_is_searched_too() -> None:
    gradients = gradients_of(known.quadratic([[1.0, 0.5], [3.0, 0.1]]))
    (pair,) = known.search_pairs(gradients, gradients.start, (1.0,), diameter=2.0, batch=True, starts=8)
    assert 2 * 0.9999 <= pair.constant <= 2.0
    assert pair.sample is None


def test_a_linear_loss_has_no_pair_to_trust() -> None:
    gradients = gradients_of(known.linear())
    (pair,) = known.search_pairs(gradients, gradients.start, (1.0,), diameter=1.0, starts=4, iterations=4)
    assert (pair.constant, pair.float_error) == (0.0, 0.0)


def test_a_gradient_that_is_not_finite_is_refused() -> None:
    rows = torch.zeros(1, 1)

    def loss(out: torch.Tensor, _row: torch.Tensor) -> torch.Tensor:
        return (out + 1e-6).sqrt().mean()

    workload = Workload("root", lambda: known.Vector(1, 0.0), loss, rows, rows)
    gradients = gradients_of(workload)
    with pytest.raises(InputError, match="finite gradients"):
        known.search_pairs(gradients, gradients.start, (1.0,), diameter=1.0, starts=4)
