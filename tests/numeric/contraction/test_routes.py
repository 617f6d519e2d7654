"""Contraction behind `bound`: known figures, no cliffs in the number of steps, and what it needs."""

import sys
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest

import lastiterate as li
from lastiterate.numeric.bound import bound_by_shifts

_CONVEX = li.Convex(0.001)


def _full(steps: int, moved: float, diameter: float, **more: object) -> li.NoisySGD:
    """A run with noise 1 whose sample moves an iterate by so much."""
    given = {"dataset_size": 1} | more
    return li.NoisySGD(steps=steps, step_size=moved / 2, noise_std=1, clip_norm=1, diameter=diameter, **given)  # type: ignore[arg-type]


def _sampled(steps: int, rate: float, moved: float, diameter: float, sampling: str) -> li.NoisySGD:
    unit = (1 if sampling == "poisson" else 2) / (1000 * rate * moved)
    return li.NoisySGD(
        steps,
        1.0,
        unit,
        1.0,
        dataset_size=1000,
        batch_size=round(1000 * rate),
        sampling=sampling,
        diameter=diameter * unit,
    )


_CYCLIC = {"batch_size": 1, "sampling": "cyclic"}
FIGURES = [
    # a run, epsilon at delta = 1e-5 of an independent program in floats, and what an adversary reaches
    pytest.param(_full(2000, 0.16, 1), 0.8460, 0.8423, id="D=1, s=.16"),
    pytest.param(_full(2000, 0.1, 2), 0.7305, 0.707, id="D=2, s=.1"),
    pytest.param(_full(10**6, 0.01, 1), 0.0411, 0.0407, id="D=1, s=.01"),
    pytest.param(_full(10**9, 1, 1), 6.540, 5.869, id="D=1, s=1"),
    pytest.param(_full(2000, 0.25, 4), 3.9796, 2.934, id="D=4, s=.25"),
    pytest.param(_full(10**6, 0.02, 8), 0.5402, 0.378, id="D=8, s=.02"),
    pytest.param(_full(1000, 0.5, 1, dataset_size=5, **_CYCLIC), 1.9977, 1.9931, id="cyclic, 5 batches"),
    pytest.param(_full(5000, 0.2, 2, dataset_size=10, **_CYCLIC), 0.7296, 0.7255, id="cyclic, 10 batches"),
    pytest.param(_sampled(400, 0.1, 0.5, 1, "poisson"), 0.4424, 0.4296, id="Poisson, q=.1"),
    pytest.param(_sampled(1000, 0.05, 1, 2, "poisson"), 1.1189, 0.877, id="Poisson, q=.05"),
    pytest.param(_sampled(400, 0.1, 0.5, 1, "without_replacement"), 0.4433, 0.244, id="without replacement"),
]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("run", "figure", "reached"), FIGURES)
def test_known_figures(run: li.NoisySGD, figure: float, reached: float) -> None:
    found = li.bound(run, _CONVEX, delta=1e-5)
    assert found.route == "contraction"
    assert reached <= found.epsilon <= 1.01 * figure


def _forget_all() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("lastiterate.numeric"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("sampling", ["cyclic", "without_replacement", "poisson"])
def test_a_number_does_not_depend_on_what_was_bounded_before(sampling: str) -> None:
    """In both orders, each from empty caches; two runs and two targets that differ in one number each."""
    run = li.NoisySGD(16, 0.5, 1.0, 1.0, dataset_size=12, batch_size=3, sampling=sampling, diameter=1.0)
    asked = list(product((run, replace(run, noise_std=0.98)), (2.0, 4.0)))

    def numbers(cases: list[tuple[li.NoisySGD, float]]) -> list[float]:
        _forget_all()
        found = [li.bound(one, li.Clipped(), order=order) for one, order in cases]
        assert {one.route for one in found} == {"contraction"}
        return [one.epsilon for one in found]

    forward, backward = numbers(asked), numbers(asked[::-1])[::-1]
    assert forward == pytest.approx(backward, rel=1e-12)
    assert len(set(forward)) == len(forward)


def test_the_run_of_the_readme() -> None:
    run = li.NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    assert li.bound(run, li.Smooth(1.0), delta=1e-5).epsilon <= 0.41
    assert li.bound(run, li.Smooth(1.0), order=2).epsilon <= 0.0143
    assert li.bound(run, li.Smooth(1.0), delta=1e-8).epsilon <= 0.5898


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement", "poisson"])
@pytest.mark.sweep(2)
def test_a_longer_run_costs_no_more(sampling: str) -> None:
    batches = {} if sampling == "full" else {"batch_size": 10, "sampling": sampling}
    run = li.NoisySGD(600, 1.0, 0.1, 1.0, dataset_size=40 if batches else 20, diameter=0.2, **batches)
    first, *others = [
        li.bound(replace(run, steps=steps), _CONVEX, delta=1e-5).epsilon for steps in (600, 6 * 10**6, 10**15)
    ]
    assert others == pytest.approx([first, first], rel=1e-4)


def test_the_shortest_runs_are_compositions() -> None:
    for steps in (1, 2):
        run = _full(steps, 0.5, 1)
        composed = li.bound(replace(run, diameter=inf), _CONVEX, delta=1e-5).epsilon
        found = li.bound(run, _CONVEX, delta=1e-5).epsilon
        assert found <= composed
        assert found >= li.lower_bound(run, _CONVEX, delta=1e-5).value


def test_a_domain_is_needed() -> None:
    run = _full(100, 0.16, 1)
    assert li.bound(replace(run, diameter=inf), _CONVEX, delta=1e-5).route != "contraction"
    assert li.bound(run, _CONVEX).route != "contraction"  # a table is no Gaussian
    found = li.bound(run, _CONVEX, delta=1e-5)
    assert found.mu == li.bound(run, _CONVEX).mu


@pytest.mark.parametrize(
    "assumption",
    [
        li.Clipped(),
        li.Smooth(1.0),
        li.Holder(1.0, 0.5),
        li.StronglyConvex(1.0, 0.5),
        li.Tabulated((0.1, 1.0), (0.2, 0.8)),
    ],
)
@pytest.mark.parametrize("schedule", [False, True])
def test_no_adversary_loses_more(assumption: li.Assumption, schedule: bool) -> None:
    steps = 12
    sizes = tuple(0.3 - 0.01 * t for t in range(steps)) if schedule else 0.3
    run = li.NoisySGD(steps, sizes, 0.5, 1.0, dataset_size=4, diameter=0.8)
    found = li.bound(run, assumption, delta=1e-4)
    assert found.epsilon >= li.lower_bound(run, assumption, delta=1e-4).value
    assert found.epsilon <= found.candidate.pair.dp(1e-4)


@pytest.mark.nightly
def test_full_batches_on_narrow_domains_cost_half_of_the_best_shifts() -> None:
    """In the median, at D <= 4 sigma and s <= .3 sigma; and never more."""
    rng, gains = np.random.default_rng(1), []
    for _ in range(10):
        diameter, s, steps = np.exp(rng.uniform(np.log([0.2, 0.02, 10]), np.log([4, 0.3, 5000])))
        run = li.NoisySGD(round(steps), 1.0, 1 / s, 1.0, dataset_size=2, diameter=float(diameter / s))
        losses = (_CONVEX, li.StronglyConvex(0.25, 0.05), li.Smooth(0.1), li.Clipped())[rng.integers(4)]
        goal = (
            {"delta": 10 ** rng.uniform(-8, -2)}
            if rng.random() < 0.5
            else {"order": float(rng.uniform(1.5, 16))}
        )
        ours, shifts = li.bound(run, losses, **goal).epsilon, bound_by_shifts(run, losses, **goal).epsilon
        assert ours <= shifts * (1 + 1e-12)
        gains.append(shifts / ours)
    assert np.median(gains) >= 2


@pytest.mark.nightly
def test_random_batches_have_no_hump_in_the_number_of_steps() -> None:
    """From above a hundred blocks and more come down slowly: 2,000 steps once cost two and a half times as much."""
    run = li.NoisySGD(500, 0.1, 1.0, 2.0, 500, batch_size=50, sampling="poisson", diameter=8.0)
    found = [li.bound(replace(run, steps=T), li.Smooth(1.0), delta=1e-5).epsilon for T in (500, 2000, 10**6)]
    assert found == sorted(found)
    assert found[-1] <= 1.1 * found[-2]


@pytest.mark.nightly
@pytest.mark.parametrize(("rate", "diameter", "moved"), [(0.001, 1.0, 0.02), (0.01, 8.0, 2.0), (0.1, 4.0, 2.0)])
@pytest.mark.sweep(1)
def test_longer_runs_of_random_batches_cost_no_more(rate: float, diameter: float, moved: float) -> None:
    """Followed from the beginning or from above, on nodes a millionth apart and out to e^200."""
    window = max(round((diameter / 2.8) ** 2), 1)
    whole = li.NoisySGD(
        window, 1.0, 1.0, 10 * moved, round(10 / rate), batch_size=10, sampling="poisson", diameter=diameter
    )
    runs = [replace(whole, steps=blocks * window) for blocks in (600, 601, 100_000)]
    found = [li.bound(run, li.Convex(0.1), delta=1e-5) for run in runs]
    assert {one.route for one in found} == {"contraction"}
    assert all(one.epsilon == pytest.approx(found[0].epsilon, rel=1e-3) for one in found)


@pytest.mark.nightly
def test_slow_chains_settle_on_nodes_made_for_their_number() -> None:
    """From above a first grid says ten times as much as one that is made for what is found; more steps cost no more."""
    run = li.NoisySGD(1202, 1.0, 1.0, 0.2263, 525, batch_size=21, sampling="poisson", diameter=4.365)
    for steps in (1202, 10**9):
        assert 0.0119 <= li.bound(replace(run, steps=steps), li.Clipped(), delta=2.75e-9).epsilon <= 0.0121
