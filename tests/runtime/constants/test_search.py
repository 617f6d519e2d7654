from collections.abc import Sequence
from functools import cache
from math import inf

import known
import numpy as np
import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.search import Changes, Search, _Bend
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


@pytest.mark.parametrize("clip_norm", [inf, 0.07])
def test_changes_and_their_slopes_are_those_of_autograd(clip_norm: float) -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-tanh"), memory=4 * 2**20)
    generator = torch.Generator().manual_seed(0)
    x, y = (gradients.start + torch.randn(3, gradients.dimension, generator=generator) * 0.1 for _ in range(2))
    chosen = torch.tensor([0, 70, 149])
    rows, targets = (part[chosen] for part in gradients.rows())
    changes = Changes(gradients, rows, targets, clip_norm)

    def plain(at: torch.Tensor, k: int) -> torch.Tensor:
        gradient = gradients.of_one(at, rows[k], targets[k])
        return gradient if clip_norm == inf else gradient * (clip_norm / gradient.norm()).clamp(max=1)

    change, scale = changes.between(x, y)
    vectors = torch.randn(3, gradients.dimension, generator=generator, dtype=torch.float64)
    pulled = changes.pulled(x, vectors)
    clipped = 0
    for k in range(3):
        torch.testing.assert_close(change[k], plain(x[k], k) - plain(y[k], k))
        at = x[k].clone().requires_grad_()
        (slope,) = torch.autograd.grad((plain(at, k) * vectors[k]).sum(), at)
        torch.testing.assert_close(pulled[k], slope, rtol=1e-7, atol=1e-10)
        assert scale[k] >= change[k].norm() * (1 - 1e-12)
        clipped += int(gradients.of_one(x[k], rows[k], targets[k]).norm() > clip_norm)
    assert (clipped > 0) == (clip_norm < inf)


def test_more_steps_never_find_less_and_the_ball_is_kept() -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-gelu"))
    for iterations in (1, 4, 12):
        found = Search(gradients, gradients.start, 0.7, (0.5,)).climb(starts=6, iterations=iterations)
        ratios = found["changes"] / found["distances"] ** 0.5
        assert ratios.max() >= found["started"][0]
        assert found["distances"].max() <= 0.7 * (1 + 1e-12)


@pytest.mark.nightly
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


def test_the_end_of_the_ball_is_reached_where_the_curvature_grows() -> None:
    """(w.x)^4/12 has curvature (w.x)^2 |x|^2, on the ball of radius r at most r^2 |x|^4."""
    search = Search(gradients_of(QUARTIC), torch.zeros(2, dtype=torch.float64), 1.0)
    found = search.curved(screened=64, starts=8, rounds=1)
    best = int(found["ratio"].argmax())
    assert found["samples"][best] == 1
    assert 0.99 * 0.25 * 1.2**4 <= float(found["ratio"][best]) <= 0.25 * 1.2**4 * (1 + 1e-12)


def test_the_constant_of_a_logistic_loss_is_reached() -> None:
    workload = load_workload("builtin:breast-cancer")
    gradients = gradients_of(workload)
    certified = workload.certified(0, 1.0).smoothness
    found = Search(gradients, gradients.start, 1.0).curved(screened=200, starts=8, rounds=1)
    assert 0.98 * certified <= float(found["ratio"].max()) <= certified


def test_pairs_are_in_the_ball_and_change_as_much_as_they_say() -> None:
    gradients = gradients_of(load_workload("builtin:iris-mlp-tanh"))
    found = Search(gradients, gradients.start, 0.7).curved(screened=100, starts=6, iterations=10, rounds=1)
    x, y, samples, curvature = (torch.from_numpy(found[name]) for name in ("x", "y", "samples", "ratio"))
    for ends in (x, y):
        assert float(torch.linalg.vector_norm(ends - gradients.start, dim=1).max()) <= 0.35 * (1 + 1e-12)
    rows, targets = (part[samples.long()] for part in gradients.rows())
    change, _ = Changes(gradients, rows, targets).between(x, y)
    ratio = torch.linalg.vector_norm(change, dim=1) / torch.linalg.vector_norm(x - y, dim=1)
    assert bool((ratio >= 0.99 * curvature).all())


@pytest.mark.nightly
def test_the_memory_changes_nothing() -> None:
    workload = load_workload("builtin:iris-mlp-tanh")
    small, large = (
        Search(g, g.start, 1.0, around=g.start[None]).curved(screened=60, starts=5, iterations=6, rounds=1)
        for g in (gradients_of(workload, memory=2**21), gradients_of(workload, memory=2**28))
    )
    assert (small["samples"] == large["samples"]).all()
    np.testing.assert_allclose(small["x"], large["x"], rtol=1e-9, atol=1e-12)


@pytest.mark.nightly  # by day a constant is reached, and the end of the ball
def test_more_steps_find_more() -> None:
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    search = Search(gradients, gradients.start, 1.0)
    few, many = (search.curved(screened=300, starts=12, iterations=k, rounds=1)["ratio"].max() for k in (1, 30))
    assert many >= max(1.1 * few, 7.0), "an independent ascent found 8.56, on the highest of several hills"


@pytest.mark.nightly
def test_a_search_that_begins_there_finds_no_less() -> None:
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    search = Search(gradients, gradients.start, 1.0)
    curved = search.curved(screened=600)
    alone, both = (search.climb(starts=8, iterations=8, also=also) for also in (None, curved))
    reached = [float((found["changes"] / found["distances"]).max()) for found in (alone, both)]
    assert reached[1] >= max(reached[0], 0.999 * float(curved["ratio"].max()))
    assert reached[1] >= 8.0, "an independent ascent found 8.56"
    assert both["started"] == alone["started"]


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
def test_ascents_go_on_until_two_agree(
    reached: Sequence[float], ascents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[int] = []

    def ascent(bend: _Bend, _screened: int, _starts: int, _iterations: int) -> dict[str, torch.Tensor]:
        ratio = reached[len(parts)] * torch.tensor([1.0, 0.5])
        parts.append(bend.part)
        points, along = bend.center.repeat(2, 1), torch.eye(2, dtype=torch.float64)
        rows = {"inputs": SIDES[:2], "targets": torch.zeros(2), "samples": torch.arange(2)}
        return {"x": points, "vectors": along, "ratio": ratio} | rows

    monkeypatch.setattr(_Bend, "one_ascent", ascent)
    gradients = gradients_of(QUARTIC)
    search = Search(gradients, gradients.start, 1.0, part=1)
    found = search.curved(starts=2)
    assert parts == list(range(6, 6 + ascents)), "no part has the starts of another"
    assert len(found["x"]) == (2 if reached[0] else 0)
    assert found["ratio"].max() == pytest.approx(max(reached[:ascents])) if reached[0] else True
    parts.clear()
    assert len(search._replace(part=0).curved(starts=2, rounds=1)["x"]) == len(found["x"])
    assert parts == [0]


@pytest.mark.nightly
def test_what_a_network_is_found_to_have_does_not_depend_on_the_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 5% of ten ascents, by whichever of them a search begins; on another processor all of them are others."""
    gradients = gradients_of(load_workload("builtin:digits-cnn"))
    search, real, first = Search(gradients, gradients.start, 1.0), _Bend.one_ascent, 0
    ascent = cache(lambda part: real(_Bend(*search._replace(part=part)), 2000, 48, 40))
    most = max(float(ascent(part)["ratio"].max()) for part in range(10))
    monkeypatch.setattr(_Bend, "one_ascent", lambda bend, *_: ascent((first + bend.part) % 10))
    for first in range(10):
        assert float(search.curved()["ratio"].max()) >= 0.95 * most, first


def test_bad_input_is_refused() -> None:
    gradients = gradients_of(QUARTIC)
    with pytest.raises(InputError, match="screened needs"):
        Search(gradients, gradients.start, 1.0).curved(screened=0)
    with pytest.raises(InputError, match="diameter needs"):
        Search(gradients, gradients.start, inf).curved()


def test_a_step_that_helped_is_followed_by_a_longer_one() -> None:
    gradients = gradients_of(QUARTIC)
    search = Search(gradients, gradients.start, 9.0)
    rows = {"inputs": SIDES, "targets": torch.zeros(3, 1), "samples": torch.arange(3)}
    state = search.pairs(gradients.start.repeat(3, 1), gradients.start.repeat(3, 1) + 0.1, rows)
    where = {"y": state["y"] * torch.tensor([[3.0], [1.0], [1.0]])}
    after = search._better(state, "shift", where)
    assert (after["ratio"] > state["ratio"]).tolist() == [True, False, False]
    assert (after["shift"] / state["shift"]).tolist() == [1.5, 0.5, 0.5]
