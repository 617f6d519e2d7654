"""Weight decay outside of the clip: what it brings, that it is attained, and what refuses it."""

import itertools
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from flint import arb

from lastiterate.numeric.bound import bound, bound_by_shifts
from lastiterate.numeric.compare import compare
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
)
from lastiterate.numeric.losses.expansion import Affine
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram, invariant_distance
from lastiterate.numeric.subsampling.windows import composition_route
from lastiterate.proofs_checks.stated import theorem

FULL = NoisySGD(steps=300, step_size=0.1, noise_std=0.1, clip_norm=1.0, dataset_size=100, weight_decay=0.5)
SCHEMES = ("full", "cyclic", "shuffled", "without_replacement", "poisson")
LOSSES = (
    Clipped(),
    Smooth(0.25),
    Holder(1.0, 0.5),
    Blocks(Smooth(0.2), Holder(0.1, 0.75)),
    Convex(1.0),
    StronglyConvex(1.0, 0.1),
    Minimum(Convex(2.0), Smooth(0.1)),
)


def batches(run: NoisySGD, scheme: str) -> NoisySGD:
    size = None if scheme == "full" else 10
    return replace(run, sampling=scheme, batch_size=size, adjacency="")


@pytest.mark.parametrize("scheme", SCHEMES[:-1])
def test_convex_losses_are_as_the_strongly_convex_ones_that_have_the_decay_inside(scheme: str) -> None:
    run = batches(FULL, scheme)
    inside = bound(replace(run, weight_decay=0.0), StronglyConvex(1.5, 0.5), delta=1e-5)
    assert bound(run, Convex(1.0), delta=1e-5).epsilon == pytest.approx(inside.epsilon, rel=1e-9)


def test_poisson_batches_contract_whatever_their_size() -> None:
    run = batches(FULL, "poisson")
    inside = bound(replace(run, weight_decay=0.0), StronglyConvex(1.5, 0.5), delta=1e-5)
    assert bound(run, Convex(1.0), delta=1e-5).epsilon < 0.99 * inside.epsilon


def test_linear_losses_attain_it_without_a_domain() -> None:
    sizes = tuple(np.linspace(0.05, 0.2, FULL.steps).tolist())
    for one in (FULL, replace(FULL, step_size=sizes, noise_std=tuple(2 * eta for eta in sizes))):
        found, least = bound(one, Convex(1.0), order=4), lower_bound(one, Convex(1.0), order=4)
        assert least.value <= found.epsilon <= 1.0001 * least.value
        # Two per cent off: the attack is above.
        less = bound(replace(one, weight_decay=0.51), Convex(1.0), order=4)
        assert less.epsilon < least.value


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("diameter", [inf, 2.0])
@pytest.mark.parametrize(
    "decays", [(0.0, 0.5, 2.0), pytest.param((0.0, 0.1, 0.2, 0.5, 1.0, 2.0), marks=pytest.mark.nightly)]
)
@pytest.mark.sweep(4)
def test_more_decay_never_costs_more_and_no_attack_is_above(
    scheme: str, diameter: float, decays: tuple[float, ...]
) -> None:
    for losses in LOSSES:
        run = replace(batches(FULL, scheme), diameter=diameter, steps=30)
        found = [bound(replace(run, weight_decay=decay), losses, order=3).epsilon for decay in decays]
        assert all(less <= more * (1 + 1e-6) for more, less in itertools.pairwise(found)), (losses, found)
        assert lower_bound(replace(run, weight_decay=0.5), losses, order=3).value <= found[decays.index(0.5)]


@pytest.mark.parametrize("runs", [8, pytest.param(1000, marks=pytest.mark.nightly)])
def test_random_runs_are_above_their_attacks(runs: int) -> None:
    rng = np.random.default_rng(5)
    spoken = 0
    for _ in range(runs):
        eta = float(rng.uniform(0.01, 1.0))
        scheme = str(rng.choice(SCHEMES))
        run = NoisySGD(
            steps=int(rng.integers(1, 40)),
            step_size=eta,
            noise_std=float(eta * rng.uniform(0.1, 2)),
            clip_norm=1.0,
            dataset_size=20,
            batch_size=None if scheme == "full" else int(rng.choice([1, 2, 5])),
            sampling=scheme,
            diameter=float(rng.choice([inf, 1.0, 5.0])),
            weight_decay=float(rng.uniform(0, 1) ** 2 / eta),
        )
        losses: Assumption = Convex(float((2 / eta - run.weight_decay) * rng.uniform(0, 0.99)))
        losses = losses if rng.uniform() < 0.5 else Smooth(float(rng.uniform(0, 3)))
        least = lower_bound(run, losses, order=3).value
        spoken += least > 0
        assert least <= bound(run, losses, order=3).epsilon, (run, losses)
    assert spoken > 0.6 * runs


def test_clipping_and_decay_keep_runs_together() -> None:
    """No two updates take runs farther apart than 2 K / lambda; random ones come near to it and stay below."""
    run = replace(FULL, weight_decay=0.5, steps=2000)
    program = ShiftProgram(run, Clipped())
    assert program.diameter == pytest.approx(2 * run.clip_norm / run.weight_decay, rel=1e-6)
    assert 0.99 * program.diameter < program.tracked.max() <= program.diameter
    smooth = ShiftProgram(run, Smooth(0.25)).diameter  # 2 K / (b (lambda - L (b - 1) / b))
    assert smooth == pytest.approx(2 / (100 * (0.5 - 0.25 * 0.99)), rel=1e-6)
    assert ShiftProgram(run, Smooth(0.25), initial=1.0).diameter == 1.0
    assert ShiftProgram(replace(run, diameter=0.01), Smooth(0.25)).diameter == 0.01
    assert ShiftProgram(replace(run, weight_decay=1e-9), Smooth(0.25)).diameter > 1e6


def test_an_invariant_distance_is_one() -> None:
    assert invariant_distance([Affine(exact(1.0), exact(0.1))], 0.0) == inf
    assert invariant_distance(
        [Affine(exact(0.5), exact(1.0)), Affine(exact(0.9), exact(0.3))], 0.0
    ) == pytest.approx(3.0)
    assert invariant_distance([Affine(exact(0.5), exact(1.0))], 7.0) == 7.0
    # A factor in [-0.1, 1.1] is not certainly below 1, whatever the others are.
    some = Affine(exact(0.5), exact(1.0)), Affine(arb(0.5, 0.6), exact(1.0))
    assert invariant_distance(some, 0.0) == invariant_distance(some[::-1], 0.0) == inf


@pytest.mark.parametrize("losses", [Smooth(0.25), Convex(0.5)])
def test_runs_longer_than_their_memory_cost_no_more(losses: Assumption) -> None:
    found = [bound(replace(FULL, steps=steps), losses, order=2).epsilon for steps in (3000, 30_000, 10**7)]
    assert found[2] <= found[1] * (1 + 1e-9)
    assert found[1] <= found[0] * (1 + 1e-6)


@pytest.mark.parametrize("m", [0.5, 0.9])
def test_a_domain_never_costs_more_with_random_batches(m: float) -> None:
    """What contraction knows is no reason to look for windows at another order: they cost 25% less here."""
    run = replace(batches(FULL, "without_replacement"), steps=3000, weight_decay=0.0)
    free, bounded = (bound(replace(run, diameter=D), StronglyConvex(1.0, m), delta=1e-5) for D in (inf, 2.0))
    assert bounded.epsilon <= free.epsilon * (1 + 1e-9)


@pytest.mark.nightly
def test_a_training_of_sixty_thousand_samples() -> None:
    n, b, eta = 60_000, 256, 4.0
    for epochs, composed, most in ((20, 1.5687, 1.0), (100, 3.745, 1.0)):
        run = NoisySGD(
            steps=round(epochs * n / b),
            step_size=eta,
            noise_std=eta / b,
            clip_norm=1.0,
            dataset_size=n,
            batch_size=b,
            sampling="poisson",
            weight_decay=1e-3,
        )
        assert bound(run, Convex(0.25), delta=1e-5).epsilon < most
        assert composition_route(run).dp(1e-5) == pytest.approx(composed, rel=1e-4)


@pytest.mark.parametrize(
    ("decay", "said"),
    [(-0.1, "weight_decay=-0.1"), (10.1, "1 / step_size = 10"), (inf, "weight_decay=inf"), ("a", "'a'")],
)
def test_a_decay_that_is_none_is_refused(decay: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(FULL, weight_decay=decay)


def test_what_knows_no_weight_decay_says_so() -> None:
    run = replace(FULL, diameter=1.0)
    with pytest.raises(InputError, match="without weight decay"):
        bound(run, Smooth(0.25), order=2).certificate()
    asked = theorem("chien_li_3_1_smooth", run, Smooth(0.25), order=2)
    assert (asked.epsilon, asked.refusal) == (None, "a run without weight decay")
    names = [row.name for row in compare(run, Smooth(0.25), order=2)]
    assert "composition" in names
    assert not [name for name in names if name.startswith(("chien", "liang", "altschuler", "output"))]
    assert bound(run, Convex(19.8), order=2).epsilon <= bound(run, Smooth(19.8), order=2).epsilon
    assert "weight decay 0.5, which is not clipped" in bound_by_shifts(run, Smooth(0.25), order=2).assumptions


def test_the_search_for_a_path_knows_what_weight_decay_leaves() -> None:
    run = NoisySGD(
        120,
        (0.1,) * 119 + (0.05,),
        0.3,
        1.0,
        20,
        batch_size=5,
        sampling="cyclic",
        diameter=3.0,
        weight_decay=3.0,
    )
    found = bound(run, Holder(1.0, 0.5))
    assert found.route == "value iteration"
    assert found.cost is not None
    assert found.cost < 0.08  # without what decay takes off, 0.117
