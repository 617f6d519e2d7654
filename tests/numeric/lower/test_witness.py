"""Witnesses: losses that meet their assumption and no others, numbers that hold again, and the iterate that is seen."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.lower import Witness, replay
from lastiterate.numeric.lower.gradients import Gradient, admits_gradient, affine_gradient
from lastiterate.numeric.lower.walk import Update, Walk, WalkStep, last_masses
from lastiterate.numeric.lower.witness import _law, evaluated
from lastiterate.numeric.run import NoisySGD

_RUN = NoisySGD(50, 0.1, 1.0, 2.0, dataset_size=5, diameter=1.0)
_HALF = 0.499
_GOOD = Witness(
    _RUN,
    Smooth(1.0),
    (((-_HALF, 0.1), (0.0, 0.3), (_HALF, -0.19)),),
    affine_gradient(_HALF, 0.0, 1.9),
    affine_gradient(_HALF, 0.0, -1.9),
    order=2.0,
)


def test_a_witness_holds_again() -> None:
    value = replay(_GOOD)
    assert 0.005 < value <= bound(_RUN, Smooth(1.0), order=2.0).epsilon
    assert replay(replace(_GOOD, value=value)) == value


def test_the_value_is_that_of_the_cells_whatever_was_asked_before() -> None:
    few, many = evaluated(_GOOD, 2), evaluated(_GOOD)
    assert few is not None
    assert many is not None
    assert few < many
    assert evaluated(replace(_GOOD, assumption=Clipped(), value=0.001)) == many
    assert evaluated(replace(_GOOD, order=3.0)) != many


def _steep() -> Gradient:
    return ((-_HALF, 0.0), (0.0, 0.0), (_HALF, 0.51))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": 0.5}, "value=0.5; lower it"),
        ({"shared": (_steep(),)}, "does not meet"),
        ({"first": _steep()}, "does not meet"),
        ({"assumption": Convex(1.0)}, "does not meet"),
        (
            {"assumption": StronglyConvex(1.0, 0.1), "shared": (affine_gradient(_HALF, 0.0, 0.0),)},
            "does not meet",
        ),
        ({"shared": (((-_HALF, 0.1), (0.0, 0.1), (0.0, 0.11), (_HALF, 0.11)),)}, "does not meet"),
        ({"second": affine_gradient(_HALF, 0.0, -2.1)}, "longer than clip_norm=2"),
        ({"shared": (affine_gradient(_HALF, 0.0, 2.1),)}, "longer than clip_norm=2"),
        ({"run": replace(_RUN, diameter=0.99)}, "in a domain of diameter 0.99"),
        ({"run": replace(_RUN, diameter=inf)}, "in a domain of diameter inf"),
        ({"shared": (affine_gradient(0.4, 0.0, 0.0),)}, "do not increase from -0.499"),
        ({"shared": _GOOD.shared * 2}, "2 gradients of shared samples"),
        ({"second": None}, "second=None under replace"),
        ({"start": 0.6}, "start=0.6"),
        ({"delta": 1e-5}, "exactly one of which is needed"),
    ],
)
def test_planted_faults_are_refused(changes: dict, words: str) -> None:
    with pytest.raises(InputError) as caught:
        replay(replace(_GOOD, **changes))
    assert words in str(caught.value)


_OMEGAS: list[Assumption] = [
    *(
        Smooth(1.5),
        Holder(1.0, 0.5),
        Tabulated((0.2, 0.5, 0.9), (0.3, 0.4, 0.8)),
        Sum(Smooth(0.5), Holder(0.3, 0.3)),
    ),
    *(
        Minimum(Smooth(2.0), Holder(0.8, 0.4)),
        Blocks(Smooth(1.5), Smooth(0.1)),
        Convex(2.0),
        StronglyConvex(3.0, 0.5),
    ),
]


@given(st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_what_an_assumption_admits(seed: int) -> None:
    """Against the definition on pairs of a fine grid, for gradients near the limit and with jumps."""
    rng = np.random.default_rng(seed)
    assumption = _OMEGAS[int(rng.integers(len(_OMEGAS)))]
    places = np.sort(rng.uniform(-0.5, 0.5, 4))
    if rng.random() < 0.3:
        places[1] = places[2]
    slopes = rng.uniform(-1, 3, 5) * rng.choice([0.2, 1.0])
    xs = np.array([-0.5, *places, 0.5])
    gs = np.concatenate([[0.0], np.cumsum(slopes * np.maximum(np.diff(xs), 0.02 * rng.random()))])
    gradient = tuple(zip(xs.tolist(), gs.tolist(), strict=True))
    x = np.unique(np.concatenate([np.linspace(-0.5, 0.5, 121), xs, xs + 1e-9, xs - 1e-9]).clip(-0.5, 0.5))
    g = np.interp(x, xs, gs)
    change, distance = (np.abs(one[:, None] - one[None, :]) for one in (g, x))
    kept = distance > 0
    if isinstance(assumption, Convex | StronglyConvex):
        least = assumption.m if isinstance(assumption, StronglyConvex) else 0.0
        slope = (g[:, None] - g[None, :])[kept] / (x[:, None] - x[None, :])[kept]
        inside = bool(np.all((slope >= least - 1e-6) & (slope <= assumption.L + 1e-6)))
        well_inside = bool(np.all((slope >= least + 1e-6) & (slope <= assumption.L - 1e-6)))
    else:
        parts = assumption.parts if isinstance(assumption, Minimum) else (assumption,)
        omega = np.min([part.value(distance[kept]) for part in parts], axis=0)  # type: ignore[attr-defined]
        if isinstance(assumption, Blocks):
            omega = assumption.parts[0].value(distance[kept])
        inside = bool(np.all(change[kept] <= omega + 1e-6))
        well_inside = bool(np.all(change[kept] <= omega * (1 - 2e-2)))
    said = admits_gradient(assumption, gradient)
    assert inside or not said
    jump = abs(gs[3] - gs[2]) if xs[2] == xs[3] else 1.0
    assert said or not well_inside or jump < 1e-2  # pairs of the grid do not see it


def test_the_place_before_the_last_projection_is_seen() -> None:
    """Two steps on a thin capsule in 401 dimensions: segment and direction together tell the place."""
    rng, d, runs, eps, half = np.random.default_rng(0), 400, 20_000, 1e-4, 0.5
    x, y = np.zeros(runs), np.zeros((runs, d))
    for _ in range(2):
        x, y = x + 0.4 + rng.standard_normal(runs), y + rng.standard_normal((runs, d))
        c = np.clip(x, -half, half)
        length = np.sqrt((x - c) ** 2 + (y**2).sum(axis=1))
        scale = np.where(length > eps, eps / length, 1.0)
        x, y = c + (x - c) * scale, y * scale[:, None]
    told = np.clip(x, -half, half) + np.sqrt(d) * (x - np.clip(x, -half, half)) / eps
    walk = Walk(2, 2 * half, (WalkStep.known(Update.affine(1.0, 0.4, half), 1.0),))
    edges = np.linspace(-4.0, 5.0, 200)
    masses = last_masses(walk, edges=edges)
    assert masses is not None
    expected = np.cumsum(np.exp(masses.high))[:-1]
    found = np.searchsorted(np.sort(told), edges) / runs
    assert np.abs(found - expected).max() < 0.02
    clamped = last_masses(walk)
    assert clamped is not None
    assert np.exp(clamped.high[-1]) > 0.4  # the fault that the test would notice: most of it is in one atom


def test_one_step_is_exact() -> None:
    """One step from a known point is a Gaussian, wherever the point is."""
    witness = replace(_GOOD, run=replace(_RUN, steps=1), start=0.25)
    edges = np.linspace(-3.0, 3.0, 61)
    law = _law(witness, witness.first, edges)
    assert law is not None
    shared = np.interp(0.25, *np.array(witness.shared[0]).T)
    expected = ndtr(edges - (0.25 - 0.1 / 5 * (4 * shared + 1.9)))
    np.testing.assert_allclose(np.cumsum(np.exp(law.high))[:-1], expected, atol=1e-9)


def test_poisson_batches_mix_over_their_sizes() -> None:
    """Two samples next to the one that differs: the law is the mixture over the four batches of them."""
    run = NoisySGD(1, 0.5, 1.0, 1.0, dataset_size=3, batch_size=1, sampling="poisson", diameter=1.0)
    witness = Witness(
        run, Clipped(), (affine_gradient(0.4, 0.0, 0.8),), affine_gradient(0.4, 0.0, -1.0), None, order=2.0
    )
    edges = np.linspace(-4.0, 4.0, 81)
    sizes = [(4 / 9, 0), (4 / 9, 1), (1 / 9, 2)]
    without = sum(p * ndtr(edges + 0.5 * 0.8 * k) for p, k in sizes)
    with_it = sum(p * (2 / 3 * ndtr(edges + 0.4 * k) + 1 / 3 * ndtr(edges + 0.4 * k - 0.5)) for p, k in sizes)
    for own, expected in ((witness.first, with_it), (None, without)):
        law = _law(witness, own, edges)
        assert law is not None
        np.testing.assert_allclose(np.cumsum(np.exp(law.high))[:-1], expected, atol=1e-9)


def test_schedules_are_followed() -> None:
    """Constant numbers written as a schedule change nothing, and a last step of no size hides what was before."""
    varied = replace(_RUN, step_size=(*(0.1,) * 49, 0.1 * (1 + 1e-12)))
    assert replay(replace(_GOOD, run=varied)) == pytest.approx(replay(_GOOD), rel=1e-6)
    still = replace(_RUN, step_size=(*(0.1,) * 49, 1e-9))
    assert evaluated(replace(_GOOD, run=still)) < replay(_GOOD) / 2
