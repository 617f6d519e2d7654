"""The projection holds exactly: what comes back lies in the ball, as real numbers."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.runtime.training import descent
from lastiterate.runtime.training.descent import project_onto_ball

DTYPES = [torch.float32, torch.float64]


def drawn(seed: int, dtype: torch.dtype, dimension: int = 6, points: int = 10_000) -> tuple[torch.Tensor, ...]:
    """Points far out, near the sphere, within a few units in the last place of it, and inside; center and diameter."""
    generator = torch.Generator().manual_seed(seed)
    center = torch.randn(dimension, generator=generator, dtype=torch.float64) * 10.0 ** (seed % 5 - 2)
    diameter = 2 * 10.0 ** (seed % 7 - 3)
    away = torch.randn(points, dimension, generator=generator, dtype=torch.float64)
    away /= away.norm(dim=1, keepdim=True)
    near = torch.rand(points, 1, generator=generator, dtype=torch.float64)
    lengths = torch.cat([1e3 * near[::4], 1 + 0.1 * near[1::4], 1 + 1e-15 * (near[2::4] - 0.5), near[3::4]])
    return (center + diameter / 2 * lengths * away).to(dtype), center.to(dtype), torch.tensor(diameter)


def exceeds(points: torch.Tensor, center: torch.Tensor, diameter: float) -> np.ndarray:
    """Which points are outside the ball, with 64 bits of mantissa, whose own error is far below a float's."""
    away = points.numpy().astype(np.longdouble) - center.numpy().astype(np.longdouble)
    return np.asarray(np.sqrt((away**2).sum(axis=1)) > np.longdouble(diameter) / 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(8))
def test_ten_thousand_points_come_back_into_the_ball_and_stay_where_they_are(
    seed: int, dtype: torch.dtype
) -> None:
    points, center, width = drawn(seed, dtype)
    diameter = float(width)
    back = project_onto_ball(points, center, diameter)
    assert not exceeds(back, center, diameter).any()
    assert torch.equal(project_onto_ball(back, center, diameter), back)
    inside = (points.double() - center.double()).norm(dim=1) < diameter / 2 * (1 - 1e-12)
    assert torch.equal(back[inside], points[inside])


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_all_is_inside_nothing_is_moved_and_a_device_that_is_not_looked_at_says_the_same(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    points, center, width = drawn(3, dtype)
    some = list(points[::97])
    looked = [project_onto_ball(one, center, float(width)) for one in some]
    assert 10 < sum(found is one for found, one in zip(looked, some, strict=True)) < len(some) - 10
    monkeypatch.setattr(descent, "_looks", lambda _: False)
    assert all(
        torch.equal(found, project_onto_ball(one, center, float(width)))
        for found, one in zip(looked, some, strict=True)
    )


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**31), st.integers(1, 60), st.sampled_from(DTYPES), st.integers(-6, 6), st.integers(-6, 6)
)
def test_in_exact_arithmetic_too(seed: int, dimension: int, dtype: torch.dtype, far: int, wide: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    center = (torch.randn(dimension, generator=generator) * 10.0**far).to(dtype)
    diameter = 10.0**wide
    point = center + (torch.randn(dimension, generator=generator) * 10.0**wide).to(dtype)
    back = project_onto_ball(point, center, diameter)
    pairs = zip(back.tolist(), center.tolist(), strict=True)
    assert sum((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs) <= (Fraction(diameter) / 2) ** 2
    assert torch.equal(project_onto_ball(back, center, diameter), back)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_textbook_formula_leaves_the_ball(dtype: torch.dtype) -> None:
    """So that the tests above can fail."""
    points, center, width = drawn(5, dtype)
    away = points - center
    lengths = away.norm(dim=1, keepdim=True)
    naive = torch.where(lengths <= width / 2, points, center + away * (float(width) / 2 / lengths))
    assert exceeds(naive, center, float(width)).sum() > 100


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_nearest_point_and_brings_no_pair_further_apart_up_to_the_slack(
    seed: int, dtype: torch.dtype
) -> None:
    points, center, width = drawn(seed, dtype)
    diameter = float(width)
    back = project_onto_ball(points, center, diameter).double()
    away = points.double() - center.double()
    nearest = center.double() + away * (diameter / 2 / away.norm(dim=1, keepdim=True)).clamp(max=1.0)
    reach = float(center.double().norm()) + diameter
    slack = (4 * 6 + 40) * 2.0**-53 * diameter + 3 * torch.finfo(dtype).eps * reach
    assert float((back - nearest).norm(dim=1).max()) <= slack
    order = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))
    apart, before = (back - back[order]).norm(dim=1), (points.double() - points.double()[order]).norm(dim=1)
    assert bool((apart <= before + 2 * slack).all())


def test_a_ball_too_small_for_the_floats_is_its_center_and_no_ball_is_no_projection() -> None:
    center = torch.full((3,), 1e6)
    assert torch.equal(project_onto_ball(center + 5, center, 1e-6), center)
    assert project_onto_ball(center + 5, center, inf).tolist() == (center + 5).tolist()


def test_many_points_are_projected_as_each_alone() -> None:
    points, center, width = drawn(3, torch.float64, points=8)
    cloud = project_onto_ball(points.reshape(2, 4, 6), center, float(width))
    assert torch.equal(
        cloud.reshape(8, 6), torch.stack([project_onto_ball(point, center, float(width)) for point in points])
    )
