"""What every bound must satisfy, 600 random runs a property, nightly 10,000: directions, units, both sides."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import nextafter

import numpy as np
import pytest
from random_runs import Case, drawn
from scipy.special import ndtr

from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.accounting.dominating import DominatingPair
from lastiterate.numeric.bound import bound, bound_by_shifts
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.run import NoisySGD

_SLACK = 1 + 1e-9
"""Of the float search for a path; its cost is certified all the same."""


many = pytest.mark.parametrize(
    "count", [600, pytest.param(10_000, marks=pytest.mark.nightly)], ids=["ci", "nightly"]
)


@lru_cache(maxsize=1)
def _known(count: int) -> list[tuple[Case, float]]:
    """Runs that several properties start from, with their costs."""
    return [(case, case.cost) for case in drawn(1, count)]


def _factor(rng: np.random.Generator) -> float:
    return float(rng.choice([rng.uniform(1, 1.01), rng.uniform(1, 2)]))


_MORE: dict[str, tuple[int, Callable[[Case, np.random.Generator], Case]]] = {
    "noise": (-1, lambda case, rng: replace(case, sigma=case.sigma * _factor(rng))),
    "steps": (1, lambda case, rng: replace(case, T=case.T + int(rng.integers(1, 10)))),
    "clip norm": (1, lambda case, rng: replace(case, K=case.K * _factor(rng))),
    "diameter": (1, lambda case, rng: replace(case, D=case.D * _factor(rng))),
    "smoothness": (1, lambda case, rng: replace(case, L=case.L * _factor(rng))),
    "strong convexity": (-1, lambda case, rng: replace(case, m=case.m * _factor(rng))),
    "step size": (1, lambda case, rng: replace(case, eta=case.eta * _factor(rng))),
    "samples in a batch": (-1, lambda case, _: replace(case, b=case.b + 1)),
}
"""Parameter -> the direction of the cost (+1: more costs no less), and more of it."""


@pytest.mark.sweep(3)
@many
@pytest.mark.parametrize("name", _MORE)
def test_monotone(name: str, count: int) -> None:
    direction, more = _MORE[name]
    rng = np.random.default_rng(len(name))
    wrong = []
    for case, cost in _known(count):
        if name == "step size" and case.kind == "strongly convex":
            continue  # longer steps contract more, so neither direction holds
        after = more(case, rng)
        less, greater = (cost, after.cost)[::direction]
        if not less <= greater * _SLACK:
            wrong.append((case, after, less, greater))
    assert not wrong, f"{len(wrong)} of {count}, the first {wrong[0]}"


@many
def test_monotone_in_the_order(count: int) -> None:
    rng = np.random.default_rng(2)
    for cost, order, up in np.exp(rng.uniform((-12, 0.01, 0), (5, 5, 0.7), (count, 3))).tolist():
        assert DominatingPair(cost).rdp(order) <= DominatingPair(cost).rdp(order * up)


@pytest.mark.parametrize("size", [25, pytest.param(100, marks=pytest.mark.nightly)])
def test_monotone_in_mu_and_in_delta(size: int) -> None:
    """All neighbours in a grid; a value takes milliseconds."""
    mus, deltas = np.geomspace(1e-3, 20, size).tolist(), np.geomspace(1e-14, 0.9, size).tolist()
    epsilon = np.array([[gdp_epsilon(mu, delta) for delta in deltas] for mu in mus])
    assert (np.diff(epsilon, axis=0) >= 0).all()
    assert (np.diff(epsilon, axis=1) <= 0).all()


@many
def test_units_do_not_matter(count: int) -> None:
    """A length may be measured in other units, a gradient too: eta is a length over a gradient."""
    rng = np.random.default_rng(3)
    for case, cost in _known(count):
        length, gradient = np.exp(rng.uniform(-5, 5, 2)).tolist()
        power = case.lam if case.kind == "holder" else 1.0
        same = replace(
            case,
            eta=case.eta * length / gradient,
            sigma=case.sigma * length,
            K=case.K * gradient,
            D=case.D * length,
            L=case.L * gradient / length**power,
            m=case.m * gradient / length,
        )
        assert same.cost == pytest.approx(cost, rel=1e-8), case


@many
def test_a_whole_batch_by_any_name(count: int) -> None:
    for case in drawn(4, count, cyclic=0.0):
        case = replace(case, T=min(case.T, 8))
        run, assumption, cost = case.run, case.assumption, case.cost
        cyclic = replace(run, batch_size=case.b, sampling="cyclic")
        # the others go through value iteration, slowly
        if case.kind in (
            "convex",
            "strongly convex",
            "smooth",
        ):
            assert bound(cyclic, assumption).cost == pytest.approx(cost, rel=1e-9), case
        for sampling in ("without_replacement", "shuffled"):
            assert bound_by_shifts(replace(cyclic, sampling=sampling), assumption, order=2).epsilon == cost, (
                case
            )


@many
def test_poisson_batches_of_everything_change_by_half_as_much(count: int) -> None:
    """Adding a sample moves a full batch by eta K / b, replacing one by twice that."""
    for case in drawn(12, count // 30, cyclic=0.0):
        case = replace(case, kind="convex", L=1 / case.eta)
        run = replace(case.run, batch_size=case.b, sampling="poisson", adjacency="")
        halved = replace(case, b=2 * case.b)
        assert bound_by_shifts(run, case.assumption, order=2).epsilon == pytest.approx(halved.cost, rel=1e-9), (
            case
        )


@many
def test_a_constant_schedule_is_a_scalar(count: int) -> None:
    """Equal entries are one number; one entry a last digit away takes the other route to the same value."""
    rng = np.random.default_rng(5)
    for case in drawn(5, count):
        case = replace(
            case, T=min(case.T, 4) + 1, kind="smooth" if case.kind in ("holder", "capped") else case.kind
        )
        if case.kind == "clipped":  # value iteration, for which other tests are there
            case = replace(case, kind="convex", L=1 / case.eta)
        run, cost = case.run, case.cost
        written = replace(run, step_size=(case.eta,) * case.T, noise_std=(case.sigma,) * case.T)
        assert written == run
        odd = int(rng.integers(case.T))
        noises = tuple(nextafter(case.sigma, 0) if t == odd else case.sigma for t in range(case.T))
        assert bound(replace(run, noise_std=noises), case.assumption).cost == pytest.approx(cost, rel=1e-7), (
            case
        )


def _trivial(case: Case) -> float:
    """The least of composition and one last step from the whole domain, written out."""
    own = 2 * case.eta * case.K / case.b
    participations = 1 + (case.T - 1) // case.batches
    z = case.D
    match case.kind:
        case "convex":
            far = z + own
        case "strongly convex":
            far = max(1 - case.eta * case.m, case.eta * case.L - 1) * z + own
        case "clipped":
            far = z + 2 * case.eta * case.K
        case _:
            slope = case.L * z ** (case.lam if case.kind == "holder" else 1.0)
            far = z + case.eta * (case.b - 1) / case.b * min(slope, 2 * case.K) + own
    return min(participations * own**2, far**2) / case.sigma**2


@many
def test_never_above_composition_or_one_last_step(count: int) -> None:
    for case, cost in _known(count):
        assert cost <= _trivial(case) * (1 + 1e-12), case


@many
def test_never_below_linear_losses_or_quadratics(count: int) -> None:
    """Without projection: gradients -+K of the sample that differs, all others zero, or all of curvature m."""
    for case in drawn(7, count, bounded=False):
        c = 1 - case.eta * case.m if case.kind == "strongly convex" else 1.0
        left = c ** np.arange(case.T - 1, -1, -1.0)
        met = np.arange(case.T) % case.batches == (case.T - 1) % case.batches
        own = 2 * case.eta * case.K / case.b
        exactly = (own * left[met].sum()) ** 2 / (case.sigma**2 * (left**2).sum())
        assert case.cost >= exactly * (1 - 1e-12), case


@pytest.mark.parametrize("count", [60, pytest.param(2500, marks=pytest.mark.nightly)], ids=["ci", "nightly"])
def test_never_below_one_clamped_step(count: int) -> None:
    """One step of linear losses from the middle of [-D/2, D/2]; binning can only lose divergence."""
    order, bins = 1.5, 64
    found, width, half, sigma = [], [], [], []
    for case in drawn(8, count, cyclic=0.0):
        one = replace(case, T=1)
        found.append(bound(one.run, one.assumption, order=order).epsilon)
        width.append(2 * one.eta * one.K / one.b)
        half.append(one.D / 2)
        sigma.append(one.sigma)
    s, h, noise = (np.array(x)[:, None] for x in (width, half, sigma))
    edges = np.linspace(-1, 1, bins + 1)[None, 1:-1] * h
    below = [ndtr((edges - sign * s / 2) / noise) for sign in (1, -1)]
    p, q = (np.diff(np.pad(cdf, ((0, 0), (1, 1)), constant_values=(0, 1)), axis=1) for cdf in below)
    with np.errstate(all="ignore"):
        terms = np.where((p > 1e-280) & (q > 1e-280), p**order * q ** (1 - order), 0.0)
    lower = np.log(terms.sum(axis=1)) / (order - 1)
    assert (lower > 0.1 * np.array(found)).mean() > 0.2  # the witness has something to say
    assert (np.array(found) >= lower * (1 - 1e-9) - 1e-12).all()


@many
def test_never_below_any_witness_without_projection(count: int) -> None:
    for case in drawn(9, count, bounded=False):
        assert case.cost >= lower_bound(case.run, case.assumption, order=2.0).value, case


@pytest.mark.parametrize("count", [75, pytest.param(10_000, marks=pytest.mark.nightly)], ids=["ci", "nightly"])
def test_never_below_any_witness_with_projection(count: int) -> None:
    """Densities on an interval, propagated step by step: milliseconds each."""
    close = 0
    for case in drawn(10, count, cyclic=0.0):
        case = replace(case, T=min(case.T, 10))
        lower, found = lower_bound(case.run, case.assumption, order=2.0).value, case.cost
        assert found >= lower, case
        close += lower > 0.1 * found
    assert close > 0.3 * count  # the witnesses have something to say


@many
def test_random_batches_over_a_grid(count: int) -> None:
    """All neighbours in a grid of runs drawn without replacement; no projection."""
    sizes, noises, orders = (6, 12, 40, 400), (0.5, 1.0, 2.0, 4.0), (1.5, 2.0, 4.0, 16.0)
    steps = tuple(sorted({round(10 ** (k / 30)) for k in range(180)}))[: 158 : 10_000 // count]
    base = NoisySGD(1, 1.0, 1.0, 1.0, 12, batch_size=2, sampling="without_replacement")
    epsilon = np.array(
        [
            [
                [
                    [
                        bound(replace(base, dataset_size=n, noise_std=s, steps=T), Convex(1.0), order=a).epsilon
                        for T in steps
                    ]
                    for a in orders
                ]
                for s in noises
            ]
            for n in sizes
        ]
    )
    assert epsilon.size >= count
    assert (np.diff(epsilon, axis=0) <= 1e-12 * epsilon[1:]).all()  # more samples
    assert (np.diff(epsilon, axis=1) <= 1e-12 * epsilon[:, 1:]).all()  # more noise
    assert (np.diff(epsilon, axis=2) >= -1e-12 * epsilon[:, :, 1:]).all()  # a greater order
    assert (np.diff(epsilon, axis=3) >= -1e-12 * epsilon[..., 1:]).all()  # more steps
    q, s = 2 / np.array(sizes)[:, None, None], np.array(noises)[None, :, None]
    whole = np.array(orders) * (1 / s) ** 2 / 2  # one step with the sample in the batch for certain, shift 1
    assert (epsilon <= np.array(steps) * whole[..., None] * (1 + 1e-12)).all()
    rough = np.array(steps) * (whole * q**2)[..., None]
    assert (epsilon >= 0.5 * rough).all()  # amplification does not promise more than q^2 for little
