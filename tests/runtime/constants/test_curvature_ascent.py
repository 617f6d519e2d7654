"""Ascent of the curvature: known constants are reached, pairs stay in the ball, and no memory budget changes them."""

from collections.abc import Sequence
from functools import cache

import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants import curvature_ascent
from lastiterate.runtime.constants.curvature_ascent import CurvedPairs, climb_until_agreed, curved_pairs
from lastiterate.runtime.constants.curvature_climb import next_step
from lastiterate.runtime.constants.gradient_difference import Changes
from lastiterate.runtime.constants.search import search_one
from lastiterate.runtime.constants.starts import Samples
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

SIDES = torch.tensor([[1.0, 0.0], [0.0, 1.2], [0.5, 0.5]], dtype=torch.float64)
QUARTIC = Workload(
    "quartic",
    lambda: nn.Linear(2, 1, bias=False),
    lambda out, _: (out**4).sum() / 12,
    SIDES,
    torch.zeros(3, 1),
)


def gradients_of(workload: Workload, **options: str | int) -> Gradients:
    return Gradients(workload, workload.initial(0), **options)


def test_the_end_of_the_ball_is_reached_where_the_curvature_grows() -> None:
    """(w.x)^4/12 has curvature (w.x)^2 |x|^2, on the ball of radius r at most r^2 |x|^4."""
    gradients = gradients_of(QUARTIC)
    center = torch.zeros(2, dtype=torch.float64)
    found = curved_pairs(gradients, center, diameter=1.0, screened=64, starts=8)
    best = int(found.curvature.argmax())
    assert found.chosen.samples[best] == 1
    assert 0.99 * 0.25 * 1.2**4 <= float(found.curvature[best]) <= 0.25 * 1.2**4 * (1 + 1e-12)


def test_the_constant_of_a_logistic_loss_is_reached() -> None:
    workload = load_workload("builtin:breast-cancer")
    gradients = gradients_of(workload)
    certified = workload.certified(0, 1.0).smoothness
    found = curved_pairs(gradients, gradients.start, diameter=1.0, screened=200, starts=8)
    assert 0.98 * certified <= float(found.curvature.max()) <= certified


def test_pairs_are_in_the_ball_and_change_as_much_as_they_say() -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-tanh"))
    found = curved_pairs(gradients, gradients.start, diameter=0.7, screened=100, starts=6, iterations=10)
    for ends in (found.x, found.y):
        assert float(torch.linalg.vector_norm(ends - gradients.start, dim=1).max()) <= 0.35 * (1 + 1e-12)
    change, _ = Changes(gradients, found.chosen.samples, float("inf")).between(found.x, found.y)
    ratio = torch.linalg.vector_norm(change, dim=1) / torch.linalg.vector_norm(found.x - found.y, dim=1)
    assert bool((ratio >= 0.99 * found.curvature).all())


def test_the_memory_changes_nothing() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    small, large = (
        curved_pairs(g, g.start, diameter=1.0, around=g.start[None], screened=60, starts=5, iterations=6)
        for g in (gradients_of(workload, memory=2**21), gradients_of(workload, memory=2**28))
    )
    assert torch.equal(small.chosen.samples, large.chosen.samples)
    torch.testing.assert_close(small.x, large.x, rtol=1e-9, atol=1e-12)


@pytest.mark.nightly  # by day a constant is reached, and the end of the ball
def test_more_steps_find_more() -> None:
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    few, many = (
        float(
            curved_pairs(
                gradients, gradients.start, diameter=1.0, screened=300, starts=12, iterations=k
            ).curvature.max()
        )
        for k in (1, 30)
    )
    assert many >= max(1.1 * few, 7.0), "an independent ascent found 8.56, on the highest of several hills"


@pytest.mark.nightly
def test_a_search_that_begins_there_finds_no_less() -> None:
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    options = {"diameter": 1.0, "starts": 8, "iterations": 8}
    alone = search_one(gradients, gradients.start, 1.0, **options)
    curved = climb_until_agreed(gradients, gradients.start, diameter=1.0, screened=600)
    both = search_one(gradients, gradients.start, 1.0, also=curved, **options)
    reached = [float((found.changes / found.distances).max()) for found in (alone, both)]
    assert reached[1] >= max(reached[0], 0.999 * float(curved.curvature.max()))
    assert reached[1] >= 8.0, "an independent ascent found 8.56"
    assert both.started == alone.started


@pytest.mark.parametrize(
    ("reached", "ascents"),
    [
        ((3.0, 2.98, 9.0), 2),
        ((8.1, 8.56, 8.2, 8.55, 9.0), 4),
        ((8.56, 8.1, 8.56, 9.0), 3),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), 6),
        ((0.0, 0.0, 1.0), 2),
    ],
)
def test_ascents_go_on_until_two_agree(reached: Sequence[float], ascents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[int] = []

    def ascent(_gradients: Gradients, center: torch.Tensor, *, part: int) -> CurvedPairs:
        top = reached[len(parts)]
        parts.append(part)
        curvature = top * torch.tensor([1.0, 0.5])[: 2 if top else 0]
        rows = Samples(SIDES[: len(curvature)], torch.zeros(len(curvature)), torch.arange(len(curvature)))
        return CurvedPairs(center.repeat(len(curvature), 1), center.repeat(len(curvature), 1), rows, curvature)

    monkeypatch.setattr(curvature_ascent, "curved_pairs", ascent)
    gradients = gradients_of(QUARTIC)
    found = climb_until_agreed(gradients, gradients.start, part=1)
    assert parts == list(range(6, 6 + ascents)), "no part has the starts of another"
    assert len(found.x) == (2 if reached[0] else 0)
    assert found.curvature.max().item() == pytest.approx(max(reached[:ascents])) if reached[0] else True
    parts.clear()
    assert len(climb_until_agreed(gradients, gradients.start, rounds=1).x) == len(found.x)
    assert parts == [0]


@pytest.mark.nightly
def test_what_a_network_is_found_to_have_does_not_depend_on_the_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 5% of ten ascents, by whichever of them a search begins; on another processor all of them are others."""
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    ascent, first = cache(lambda part: curved_pairs(gradients, gradients.start, diameter=1.0, part=part)), 0
    most = max(float(ascent(part).curvature.max()) for part in range(10))
    monkeypatch.setattr(curvature_ascent, "curved_pairs", lambda *_, part: ascent((first + part) % 10))
    for first in range(10):
        found = climb_until_agreed(gradients, gradients.start)
        assert float(found.curvature.max()) >= 0.95 * most, first


def test_bad_input_is_refused() -> None:
    gradients = gradients_of(QUARTIC)
    with pytest.raises(InputError, match="screened needs"):
        curved_pairs(gradients, gradients.start, diameter=1.0, screened=0)
    with pytest.raises(InputError, match="diameter needs"):
        curved_pairs(gradients, gradients.start, diameter=float("inf"))


def test_a_step_that_helped_is_followed_by_a_longer_one() -> None:
    assert next_step(torch.tensor([1.0, 1.0, 2.0]), torch.tensor([True, False, False])).tolist() == [1.5, 0.5, 1.0]
