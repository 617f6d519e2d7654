"""Groups of samples: figures, exact laws by code that shares nothing with the package, and what is refused."""

from itertools import product
from math import comb, inf

import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr
from scipy.stats import binom, norm

import lastiterate as li
from lastiterate.numeric.accounting import batches
from lastiterate.numeric.contraction import random_batches
from lastiterate.numeric.divergences.sampled import group_step

_FULL = {2: 0.8477, 5: 2.3220, 10: 5.0736}


@pytest.mark.parametrize("k", _FULL)
def test_the_figures_of_full_batches(k):
    run = li.NoisySGD(2000, 0.4, 1.0, 1.0, 10, diameter=1.0, group=k)
    found, below = (
        li.bound(run, li.Convex(1.0), delta=1e-5).epsilon,
        li.lower_bound(run, li.Convex(1.0), delta=1e-5),
    )
    assert _FULL[k] / 1.01 < found < _FULL[k] * 1.01
    assert below.value <= found < 1.2 * below.value
    one = li.bound(li.NoisySGD(2000, 0.4, 1.0, 1.0, 10, diameter=1.0), li.Convex(1.0), delta=1e-5).epsilon
    assert one < found / k  # so a planted k times epsilon of one sample is no bound


def test_clip_norm_times_k_is_a_group_of_k_in_full_batches():
    group = li.NoisySGD(1000, 0.1, 0.05, 1.0, 200, diameter=1.0, group=4)
    scaled = li.NoisySGD(1000, 0.1, 0.05, 4.0, 200, diameter=1.0)
    assert li.bound(group, li.Convex(1.0), delta=1e-5).epsilon == pytest.approx(6.62459, rel=1e-5)
    assert li.bound(group, li.Convex(1.0)).mu == pytest.approx(li.bound(scaled, li.Convex(1.0)).mu, rel=1e-12)


def _profile(weights, means, noise, epsilon):
    """Delta of a mixture of Gaussians from N(0, noise^2) and back, at epsilon, by a fine Riemann sum."""
    x = np.linspace(-12 * noise, max(means) + 12 * noise, 20_001)
    p = sum(w * norm.pdf(x, m, noise) for w, m in zip(weights, means, strict=True) if w > 1e-15)
    q, width = norm.pdf(x, 0, noise), x[1] - x[0]
    return [np.maximum(a - np.exp(epsilon) * b, 0).sum() * width for a, b in ((p, q), (q, p))]


@pytest.mark.parametrize(
    ("k", "steps", "rate", "multiplier"),
    [(2, 1, 0.1, 1.0), (5, 1, 0.02, 2.0), (3, 40, 0.05, 1.5), (8, 20, 0.01, 3.0)],
)
def test_poisson_batches_against_the_exact_law(k, steps, rate, multiplier):
    """Linear losses without a domain: the sum of the moves of the group is a multiple of a binomial number."""
    n = 1000
    b = round(rate * n)
    run = li.NoisySGD(steps, 1.0, multiplier / b, 1.0, n, b, "poisson", group=k)
    found = li.bound(run, li.Convex(1.0), delta=1e-5).epsilon
    used = np.arange(k * steps + 1)
    exact = _profile(binom.pmf(used, k * steps, b / n), used, multiplier * steps**0.5, found)
    assert max(exact) <= 1e-5
    if steps == 1:
        assert max(exact) >= 0.999e-5
        # Planted: one sample that is in a batch at k times the rate.
        often = li.NoisySGD(1, 1.0, multiplier / (b * k), 1.0, n, b * k, "poisson")
        planted = li.bound(often, li.Convex(1.0), delta=1e-5).epsilon
        assert max(_profile(binom.pmf(used, k, b / n), used, multiplier, planted)) > 1e-5


@pytest.mark.parametrize(("k", "rate", "shift"), [(2, 0.1, 0.7), (4, 0.01, 0.3), (6, 0.3, 1.5)])
@pytest.mark.parametrize("order", [1.3, 2.0, 7.5, 40.0])
def test_renyi_bounds_of_a_step_in_both_directions(k, rate, shift, order):
    x = np.linspace(-14, 14 + k * shift * order, 400_001)
    weights = [comb(k, j) * rate**j * (1 - rate) ** (k - j) for j in range(k + 1)]
    logs = np.logaddexp.reduce(
        [np.log(w) + j * shift * x - (j * shift) ** 2 / 2 for j, w in enumerate(weights)]
    )
    base, width = -x * x / 2 - np.log(2 * np.pi) / 2, x[1] - x[0]
    ways = [
        (np.logaddexp.reduce(base + power * logs) + np.log(width)) / (order - 1) for power in (order, 1 - order)
    ]
    found = float(group_step(rate, arb(shift), k, order).upper())
    assert max(ways) * (1 - 1e-9) <= found
    if order == int(order):
        assert found <= max(ways) * (1 + 1e-6)


class _Chain:
    """Exact laws of projected runs on a grid of [0, D] with linear losses, whose signs change over time."""

    def __init__(self, diameter, noise, points=61):
        self.grid = np.linspace(0, diameter, points)
        self.edges = np.concatenate([[-inf], (self.grid[1:] + self.grid[:-1]) / 2, [inf]])
        self.noise = noise

    def step(self, law, pushes):
        """The law after a step that moves the mean by each of the ``pushes``, (probability, length)."""
        total = sum(
            w * np.diff(ndtr((self.edges - self.grid[:, None] - m) / self.noise), axis=1) for w, m in pushes
        )
        return law @ total

    def apart(self, runs, epsilon):
        """Delta of both orders for two lists of pushes."""
        laws = []
        for run in runs:
            law = np.zeros(len(self.grid))
            law[len(law) // 2] = 1
            for pushes in run:
                law = self.step(law, pushes)
            laws.append(law)
        return [np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in (laws, laws[::-1])]


@pytest.mark.parametrize(
    ("sampling", "seed"), list(product(("full", "cyclic", "shuffled", "poisson"), range(4)))
)
def test_no_exact_law_of_a_projected_run_exceeds_a_bound(sampling, seed):
    """The pushes of others and of the group change their signs together, at random or never; members are anywhere."""
    draws = np.random.default_rng(seed)
    n, b = (6, 6) if sampling == "full" else (12, 4)
    k, noise, D = int(draws.integers(2, 5)), 1.0, float(draws.uniform(0.5, 3))
    steps, eta = int(draws.choice([3, 6, 12, 30])), float(draws.uniform(0.2, 2))
    run = li.NoisySGD(steps, eta, noise, 1.0, n, b, sampling, D, group=k)
    losses = (
        [li.Convex(1e-6), li.Smooth(1e-6), li.Clipped()][seed % 3]
        if sampling != "shuffled"
        else li.Convex(1e-6)
    )
    delta = [1e-2, 1e-4][seed % 2]
    found = li.bound(run, losses, delta=delta).epsilon
    move, chain, worst = eta / b, _Chain(D, noise), 0.0
    for _ in range(4):
        signs = draws.choice([1, -1], steps) if draws.random() < 0.5 else np.ones(steps)
        members = (
            draws.permutation(np.repeat(np.arange(n // b), b))[:k]
            if draws.random() < 0.7
            else np.full(k, n // b - 1)
        )
        runs = ([], [])
        for t in range(steps):
            if sampling == "poisson":
                law = binom.pmf(np.arange(k + 1), k, b / n)
                runs[0].append([(w, signs[t] * move * j) for j, w in enumerate(law)])
                runs[1].append([(1.0, 0.0)])
                continue
            if sampling == "shuffled" and t % (n // b) == 0:
                members = draws.permutation(np.repeat(np.arange(n // b), b))[:k]
            met = int(np.sum(members == t % (n // b)))
            for one, sign in zip(runs, (1, -1), strict=True):
                one.append([(1.0, sign * signs[t] * move * met)])
        worst = max(worst, *chain.apart(runs, found))
    assert worst <= delta * (1 + 1e-9)


_RUN = li.NoisySGD(10, 0.1, 1.0, 1.0, 12, 4, "cyclic", 1.0, group=3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: li.NoisySGD(10, 0.1, 1.0, 1.0, 12, 4, "cyclic", group=5), "at most batch_size=4, got group=5"),
        (lambda: li.NoisySGD(10, 0.1, 1.0, 1.0, 12, group_size=2), "it is called group here"),
        (
            lambda: li.bound(
                li.NoisySGD(10, 0.1, 1.0, 1.0, 12, 4, "without_replacement", group=2), li.Convex(1.0), delta=0.1
            ),
            "need group=1, got group=2",
        ),
        (
            lambda: li.participation(_RUN, li.Convex(1.0), position=0, delta=0.1),
            "differ in one sample, got group=3",
        ),
        (lambda: li.forgetting(_RUN, li.Convex(1.0), 5, delta=0.1), "differ in one sample, got group=3"),
        (lambda: li.bound(_RUN, li.Convex(1.0), delta=0.1).certificate(), "differ in one sample, got group=3"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(li.InputError, match=words):
        call()


def test_a_class_that_expands_distances_gets_k_times_the_mu_of_one_sample():
    one = li.NoisySGD(24, 0.1, 1.0, 1.0, 12, 4, "cyclic", 1.0)
    three = li.NoisySGD(24, 0.1, 1.0, 1.0, 12, 4, "cyclic", 1.0, group=3)
    assert li.bound(three, li.Smooth(1.0)).mu == pytest.approx(3 * li.bound(one, li.Smooth(1.0)).mu, rel=1e-12)
    assert "replacing 3 samples" in " ".join(li.bound(three, li.Smooth(1.0)).assumptions)
    assert {row.name for row in li.compare(three, li.Convex(1.0), order=2)} >= {"lower", "bound", "composition"}


@pytest.mark.parametrize("sampling", ["cyclic", "shuffled"])
@pytest.mark.parametrize("assumption", [li.Convex(1.0), li.Smooth(1.0)])
def test_compare_has_a_row_for_every_route_of_a_group(sampling, assumption):
    run = li.NoisySGD(10, 0.1, 0.05, 1.0, 20, 5, sampling, diameter=1.0, group=5)
    rows = {row.name: row for row in li.compare(run, assumption, order=2)}
    assert {"lower", "bound", "last_step", "composition"} <= set(rows)
    assert ("worst" in rows) == (sampling == "shuffled")
    assert "mean" not in rows
    assert all(row.ratio >= 1 for row in rows.values())


@pytest.mark.parametrize(
    ("sampling", "word"), [("cyclic", "values of mu"), ("poisson", "multiply epsilon by group")]
)
def test_a_group_larger_than_a_batch_is_refused_with_a_way_out(sampling, word):
    with pytest.raises(li.InputError, match=f"got group=6; .*{word}"):
        li.NoisySGD(10, 0.1, 0.05, 1.0, 20, 5, sampling, group=6)


def test_compare_names_itself_when_it_refuses_momentum():
    with pytest.raises(li.InputError, match="compare needs a run without momentum"):
        li.compare(li.NoisySGD(10, 0.1, 0.05, 1.0, 20, momentum=0.5), li.Convex(1.0), order=2)


def test_shifts_of_k_times_the_mu_of_one_sample_are_refused():
    with pytest.raises(li.InputError, match=r"Shifts need .*group=3; bound a cyclic run of one sample"):
        _ = li.bound(_RUN, li.Smooth(1.0)).shifts


@pytest.mark.filterwarnings("error")
def test_a_group_of_which_some_sample_is_almost_surely_in_a_batch():
    """The probability of a batch without the group is below the precision of one minus that of the others."""
    run, always = (
        li.NoisySGD(19, 0.1, 0.5, 1.0, 32, 29, "poisson", group=23),
        li.NoisySGD(19, 0.1, 0.5, 0.5, 29, group=23),
    )
    for asked in ({"delta": 1e-3}, {"order": 2.0}, {"order": 8.0}):
        found, most = (li.bound(one, li.Convex(1.0), **asked).epsilon for one in (run, always))
        assert 0.8 * most < found < 0.999 * most


_MET = li.NoisySGD(40, 0.1, 0.05, 1.0, 12, 4, "poisson", diameter=0.3, adjacency="add_remove", group=3)


def test_every_sample_of_a_group_that_a_batch_holds_moves_the_far_points() -> None:
    """In one step, k samples add k eta K / b to the distance that shifts hide; so do the first k of two steps."""
    sizes, met = (9, 9), [0, 1, 2, 3]
    one = random_batches._shifts(_MET, li.Convex(1.0), 0, 1, sizes, met)
    assert one == pytest.approx([(0.3 + k * 0.1 / 4) / 0.05 for k in met], rel=1e-9)
    two = random_batches._shifts(_MET, li.Convex(1.0), 0, 2, sizes, [0, 3, 4, 6])
    assert list(np.diff(two) > 0) == [True, True, True]


def test_a_window_meets_a_group_as_often_as_each_of_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def outcomes(count: int, rate: float, bins: int) -> list[tuple[int, float]]:
        counts.append(count)
        return found(count, rate, bins)

    found = random_batches.outcomes
    monkeypatch.setattr(random_batches, "outcomes", outcomes)
    li.bound(_MET, li.Convex(1.0), delta=1e-5)
    assert counts
    assert all(count % 3 == 0 for count in counts)


def test_batches_without_a_group_have_at_most_the_other_samples() -> None:
    run = li.NoisySGD(5, 0.1, 0.05, 1.0, 10, 9, "poisson", diameter=0.3, adjacency="add_remove", group=7)
    low, high, _ = batches.size_ranges(run, -20.0, both=True)
    assert isinstance(low, int)
    assert isinstance(high, int)
    assert 0 <= low <= high <= 3
