"""Forgetting: its figures, its errors, and attacks by exact chains, which catch planted faults."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from lastiterate.__main__ import main
from lastiterate.numeric.accounting.conversion import gdp_epsilon
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction import uses
from lastiterate.numeric.contraction.table import Table, spread_nodes, unknown
from lastiterate.numeric.contraction.uses import Clean
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.forgetting import Forgetting, _largest, forgetting, steps_to_forget
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Clipped,
    ClippedConvex,
    Convex,
    Smooth,
    StronglyConvex,
)
from lastiterate.numeric.run import NoisySGD

_G = np.exp(spread_nodes(0.01, 20.0, 60))
_CELLS = 161


def _run(diameter: float, steps: int = 1, **more: object) -> NoisySGD:
    given = {"step_size": 0.1, "noise_std": 1.0, "clip_norm": 1.0, "dataset_size": 20} | more
    return NoisySGD(steps=steps, diameter=diameter, **given)  # type: ignore[arg-type]


def _chain(means: Array, diameter: float) -> Array:
    """The kernel of clip(means + N(0, 1)), rounded to cells of the domain: post-processing of the step."""
    edges = np.linspace(-diameter / 2, diameter / 2, _CELLS + 1)[1:-1]
    below = np.pad(ndtr(edges - means[:, None]), ((0, 0), (1, 1)), constant_values=(0.0, 1.0))
    kernel: Array = np.diff(below, axis=1)
    return kernel


def _profile(p: Array, q: Array) -> Array:
    """The worse order of E_g at `_G`."""
    gap = _G[:, None]
    worse: Array = np.maximum(np.maximum(p - gap * q, 0).sum(axis=1), np.maximum(q - gap * p, 0).sum(axis=1))
    return worse


def _places(diameter: float) -> Array:
    edges = np.linspace(-diameter / 2, diameter / 2, _CELLS + 1)
    return (edges[1:] + edges[:-1]) / 2


def _ends(diameter: float, steps: int, slope: float = 1.0) -> tuple[Array, Array]:
    """The laws of the map x -> slope x from both ends of the domain."""
    starts = _chain(slope * np.array([-diameter / 2, diameter / 2]), diameter)
    first, last = starts @ np.linalg.matrix_power(_chain(slope * _places(diameter), diameter), steps - 1)
    return first, last


def _worst(after: Table, diameter: float, steps: int, slope: float = 1.0) -> float:
    """The most by which a profile of exact chains exceeds the table: from the ends and after training, random maps."""
    draw, places, worst = np.random.default_rng(round(10 * diameter) + steps), _places(diameter), -1.0
    allowed = np.interp(_G, after.g, after.ahead)
    for _ in range(12):
        p, q = np.eye(_CELLS)[[0, -1]]
        for _ in range(steps):
            bent = np.cumsum(draw.choice([-slope, 0.0, slope, slope], _CELLS)) * diameter / _CELLS
            means = draw.choice([slope * places, bent - bent[_CELLS // 2]]) + draw.choice([0.0, 0.0, 0.5, -0.5])
            kernel = _chain(means, diameter)
            p, q = p @ kernel, q @ kernel
        worst = max(worst, float((_profile(p, q) - allowed).max()))
    return max(worst, float((_profile(*_ends(diameter, steps, slope)) - allowed).max()))


def _clean(diameter: float, steps: int, assumption: Assumption | None = None) -> Clean:
    return Clean(_run(diameter, steps), assumption or Convex(1.0), 20)


@pytest.mark.parametrize(
    ("diameter", "steps", "figure", "shifts", "least"),
    [(1.0, 3, 0.4807, 2.3414, 0.1434), (2.0, 8, 0.369, 2.9432, 0.0713), (8.0, 128, 0.1, 2.9432, 0.002)],
)
def test_figures(diameter: float, steps: int, figure: float, shifts: float, least: float) -> None:
    found = forgetting(_run(diameter, 2000), Convex(1.0), steps, delta=1e-5)
    assert least <= found.retrained <= figure * 1.01
    assert found.shifts == pytest.approx(shifts, abs=1e-4)
    assert found.epsilon < found.retrained
    p, q = _ends(diameter, steps)
    lost = _profile(p, q)
    assert lost[np.exp(found.retrained) >= _G].min() < 1e-4  # the adversary is near where the number is
    assert float(np.interp(np.exp(found.retrained), _G, lost)) <= 1e-5


@pytest.mark.parametrize(("diameter", "steps"), [(0.5, 1), (1.0, 2), (2.0, 5), (4.0, 6)])
def test_chains_from_anywhere_stay_below(diameter: float, steps: int) -> None:
    worst = _worst(_clean(diameter, steps).after(unknown(_G)), diameter, steps)
    assert worst <= 1e-12


@pytest.mark.parametrize(("assumption", "slope"), [(Smooth(1.0), 1.1), (StronglyConvex(1.0, 1.0), 0.9)])
def test_chains_of_maps_that_expand_or_contract(assumption: Assumption, slope: float) -> None:
    worst = _worst(_clean(1.5, 3, assumption).after(unknown(_G)), 1.5, 3, slope)
    assert worst <= 1e-12


def test_one_step_is_exact() -> None:
    """The bound is attained: D / 2 in its place, or a step too many, is caught."""
    exact = _profile(*_ends(1.5, 1))
    right = _clean(1.5, 1).after(unknown(_G)).ahead
    assert np.all(exact <= right)
    assert np.all(right[:20] <= exact[:20] * 1.01)
    for planted in (_clean(0.75, 1), _clean(1.5, 2)):
        assert (exact - planted.after(unknown(_G)).ahead).max() > 0.1
    assert _worst(_clean(2.0, 5).after(unknown(_G)), 2.0, 4) > 0.005


def test_the_far_price_is_of_the_diameter_and_not_of_a_tracked_distance() -> None:
    """Two laws that are a known distance apart: what is left of them may be as far apart as the domain is wide."""
    diameter, distance = 3.0, 0.3
    p, q = _chain(np.array([-distance / 2, distance / 2]), diameter)
    start = _profile(p, q) * (1 + 1e-9)
    kernel = _chain(_places(diameter), diameter)
    exact = _profile(p @ kernel, q @ kernel)
    assert np.all(exact <= _clean(diameter, 1).after(Table(_G, start, start)).ahead)
    assert (exact - _clean(distance, 1).after(Table(_G, start, start)).ahead).max() > 0.05


@pytest.mark.parametrize(("diameter", "steps"), [(2.0, 12), (6.0, 50)])
def test_reflection_is_the_total_variation_of_the_identity_map(diameter: float, steps: int) -> None:
    p, q = _ends(diameter, steps)
    exact = np.abs(p - q).sum() / 2
    # Cells of the exact chain lose some.
    assert exact * 0.99 <= _clean(diameter, steps).variation[-1] <= exact * 1.08


def test_reflection_of_maps_that_expand_is_above_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps on a wide domain are merged only if distances do not grow: the ends hardly mix here, but do otherwise."""
    monkeypatch.setattr(uses, "_LEVELS", 128)
    run = _run(32.0, 400, clip_norm=20.0)
    grown, kept = (Clean(run, one, 20).variation[-1] for one in (Smooth(1.0), Convex(1.0)))
    p, q = _ends(32.0, 400, 1.1)
    assert 0.9 < np.abs(p - q).sum() / 2 <= grown
    assert kept < 0.5


@pytest.fixture(scope="module")
def renyi() -> Forgetting:
    return forgetting(_run(2.0, 50), Convex(1.0), 8, order=2)


def test_renyi_numbers_are_above_those_of_the_identity_map(renyi: Forgetting) -> None:
    p, q = _ends(2.0, 8)
    exact = np.log(np.maximum((p**2 / q).sum(), (q**2 / p).sum()))
    assert exact <= renyi.retrained <= 10 * exact


def test_training_and_then_clean_steps_against_an_exact_pair() -> None:
    """A sample pulls all the time and is deleted: the laws with it and without, in both orders."""
    run, places = _run(2.0, 60, step_size=0.5, dataset_size=10), _places(2.0)
    pulled, plain = _chain(places + 0.05, 2.0), _chain(places - 0.05, 2.0)
    middle = np.eye(_CELLS)[_CELLS // 2]
    p, q = (middle @ np.linalg.matrix_power(kernel, 60) for kernel in (pulled, plain))
    for steps in (1, 3, 6):
        kernel = np.linalg.matrix_power(plain, steps)
        found = forgetting(run, Convex(1.0), steps, delta=1e-3)
        assert float(np.interp(np.exp(found.epsilon), _G, _profile(p @ kernel, q @ kernel))) <= 1e-3
    assert found.epsilon < found.before


@pytest.mark.parametrize("assumption", [Convex(1.0), Clipped()], ids=str)
def test_least_steps(assumption: Assumption) -> None:
    run = _run(2.0, 500, dataset_size=2)
    for retrained in (False, True):
        found = steps_to_forget(run, assumption, epsilon=0.1, delta=1e-5, retrained=retrained)
        fewer = forgetting(run, assumption, found.clean_steps - 1, delta=1e-5)
        assert (found.retrained if retrained else found.epsilon) <= 0.1
        assert (fewer.retrained if retrained else fewer.epsilon) > 0.1


@pytest.mark.parametrize("retrained", [False, True])
def test_a_target_that_is_just_met_and_one_that_is_just_missed(*, retrained: bool) -> None:
    run = _run(1.0, 50, dataset_size=2)
    found = forgetting(run, Convex(1.0), 2, delta=1e-5)
    met = found.retrained if retrained else found.epsilon
    for target, steps in ((met, 2), (float(np.nextafter(met, 0)), 3)):
        assert (
            steps_to_forget(run, Convex(1.0), epsilon=target, delta=1e-5, retrained=retrained).clean_steps
            == steps
        )


@pytest.mark.parametrize("sampling", ["cyclic", "shuffled", "without_replacement", "poisson"])
def test_every_scheme(sampling: str) -> None:
    run = _run(1.0, 40, batch_size=5, sampling=sampling)
    one, more = (forgetting(run, Convex(1.0), steps, delta=1e-5) for steps in (1, 6))
    assert 0 <= more.epsilon < one.epsilon <= one.before
    assert more.epsilon <= more.retrained < more.shifts


def test_a_converted_bound_at_the_deletion_leaves_the_target_at_its_delta() -> None:
    run = NoisySGD(4, 0.1, 0.05, 1.0, 15, batch_size=5, sampling="shuffled", diameter=30.0)
    found = forgetting(run, Convex(1.0), 1, delta=1e-5)
    assert found.trained.order is not None
    assert (found.order, found.delta) == (None, 1e-5)
    assert "delta = 1e-05" in str(found.table())


def test_poisson_batches_exceed_the_largest_size_with_a_share_of_delta() -> None:
    run = replace(_run(1.0, 40, batch_size=5, sampling="poisson"), steps=6)
    rest = run.dataset_size - 1
    largest, left = _largest(run, 1e-5)
    beyond = 6 * float(binom.sf(largest, rest, 5 / run.dataset_size))
    assert left is not None
    assert largest < rest
    assert 0 < beyond <= 1e-5 - left
    assert _largest(run, None) == (rest, None)


@pytest.mark.nightly
def test_numbers_never_grow_with_the_steps_or_with_the_noise() -> None:
    run = _run(2.0, 100)
    numbers = [forgetting(run, Convex(1.0), steps, delta=1e-5).epsilon for steps in (1, 4, 7, 1000, 10**12)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] == 0
    assert forgetting(run, Convex(1.0), 4, delta=1e-5, noise_std=2.0).epsilon < numbers[1]
    wide = forgetting(replace(run, diameter=1e9), Convex(1.0), 10, delta=1e-5)
    assert wide.epsilon == wide.before


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        ({"diameter": float("inf")}, {"delta": 1e-5}, "finite diameter"),
        ({}, {}, "an order or a delta"),
        ({}, {"order": 2, "delta": 1e-5}, "an order or a delta"),
        ({}, {"delta": 2}, "delta needs"),
        ({}, {"delta": 1e-5, "noise_std": 0}, "noise_std needs"),
        ({}, {"delta": 1e-5, "noise_std": 1e-200}, "noise_std=1e-200"),
    ],
)
def test_bad_input(change: dict[str, float], more: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        forgetting(replace(_run(2.0, 10), **change), Convex(1.0), 3, **more)  # type: ignore[arg-type]


def test_bad_steps_and_targets() -> None:
    with pytest.raises(InputError, match="clean_steps needs"):
        forgetting(_run(2.0, 10), Convex(1.0), 0, delta=1e-5)
    with pytest.raises(InputError, match="no clean step is needed"):
        steps_to_forget(_run(2.0, 10), Convex(1.0), epsilon=50, delta=1e-5)
    with pytest.raises(InputError, match="forgetting needs a NoisySGD"):
        forgetting("run", Convex(1.0), 3, delta=1e-5)  # type: ignore[arg-type]


def test_a_target_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastiterate.numeric.forgetting._MOST_STEPS", 4)
    with pytest.raises(InputError, match="reachable in at most 4 clean steps"):
        steps_to_forget(_run(4.0, 10), Convex(1.0), epsilon=0.01, delta=1e-5)


def _told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str, object]:
    with pytest.raises(SystemExit) as caught:
        main(["forget", *arguments])
    told = capsys.readouterr()
    return told.out, told.err, caught.value.code


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = str(Path(__file__).parents[2] / "examples" / "run.toml")
    out, _, code = _told(capsys, run, "--steps", "3", "--delta", "1e-5")
    assert code == 0
    assert "against the run that never saw the sample" in out
    out, _, _ = _told(capsys, run, "--epsilon", "0.1", "--delta", "1e-5", "--json")
    said = json.loads(out)
    assert said["epsilon"] <= 0.1 < said["before"]
    assert said["clean_steps"] == steps_to_forget(*_loaded(run), epsilon=0.1, delta=1e-5).clean_steps
    _, err, code = _told(capsys, run, "--delta", "1e-5")
    assert code == 2
    assert "exactly one of --steps and --epsilon" in err
    free = tmp_path / "run.toml"
    free.write_text(Path(run).read_text().replace("diameter = 1.0", "# "))
    _, err, code = _told(capsys, str(free), "--steps", "3", "--delta", "1e-5")
    assert code == 2
    assert "finite diameter" in err


def _loaded(path: str) -> tuple[NoisySGD, Assumption]:
    from lastiterate.numeric.run_file import load_run

    return load_run(Path(path))


def test_words(renyi: Forgetting) -> None:
    assert isinstance(renyi, Forgetting)
    assert str(renyi).startswith("(2, ")
    assert "8 steps without the sample" in renyi.assumptions[-1]


@pytest.mark.parametrize(
    ("decay", "losses", "noise"),
    [
        (0.1, Clipped(), 7.58),
        (0.1, ClippedConvex(1.0), 0.851),
        (0.1, Convex(1.0), 0.414),
        (0.5, Clipped(), 4.65),
        (0.5, ClippedConvex(1.0), 0.0453),
        (0.5, Convex(1.0), 0.0138),
    ],
)
def test_a_ball_at_the_start_and_no_domain(decay: float, losses: Assumption, noise: float) -> None:
    """The noise of 100 clean steps that is enough for epsilon = 1 at delta = 1e-5, from models in the unit ball."""
    run = NoisySGD(1, 0.1, noise * 1.01, 1.0, 10, weight_decay=decay)
    found = forgetting(run, losses, 100, delta=1e-5, start=2.0)
    assert found.epsilon <= found.retrained == found.shifts <= 1
    # Linear losses: the laws are Gaussians, from points at the two ends of a diameter.
    kept = 1 - 0.1 * decay
    mu = 2 * kept**100 / (1.01 * noise * sum(kept ** (2 * t) for t in range(100)) ** 0.5)
    exact = gdp_epsilon(mu, 1e-5)
    assert exact <= found.retrained
    if isinstance(losses, Convex):
        assert found.retrained <= exact * 1.0001
    planted = gdp_epsilon(mu / 2, 1e-5)  # the radius for the diameter
    assert planted < exact


def test_clipping_alone_needs_no_more_than_the_formula_and_then_falls_no_further() -> None:
    """Of every number of steps up to T, [2 C_0 k^t + s (1 + ... + k^(t - 1))] over the noise of t steps is a bound."""
    k, s = 0.99, 0.2
    ends = [
        (2 * k**t + s * sum(k**j for j in range(t))) / sum(k ** (2 * j) for j in range(t)) ** 0.5
        for t in range(1, 200)
    ]
    run = NoisySGD(1, 0.1, 4.0, 1.0, 10, weight_decay=0.1)
    found = [forgetting(run, Clipped(), t, delta=1e-5, start=2.0).shifts for t in (5, 50, 199)]
    for epsilon, t in zip(found, (5, 50, 199), strict=True):
        assert epsilon <= gdp_epsilon(min(ends[:t]) / 4.0, 1e-5) * 1.001
    assert found[1] == pytest.approx(found[2])


@pytest.mark.parametrize(("diameter", "start"), [(2.0, 1.0), (float("inf"), None)])
def test_either_a_domain_or_a_start(diameter: float, start: float | None) -> None:
    run = NoisySGD(1, 0.1, 1.0, 1.0, 10, diameter=diameter)
    with pytest.raises(InputError, match="either a domain of finite diameter or a start"):
        forgetting(run, Convex(1.0), 3, delta=1e-5, start=start)
