"""Steps of convex losses that are long, or clipped: no pair of points leaves its expansion, and some reach it.

The pairs are computed in floats from gradients of explicit losses; nothing of the package is used but the expansions.
"""

from collections.abc import Callable
from dataclasses import replace
from math import cos, inf, pi, sin, sqrt

import numpy as np
import pytest
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import bound
from lastiterate.numeric.certificates.description import write_loss, write_run
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, ClippedConvex, Convex, Smooth, StronglyConvex
from lastiterate.numeric.lower.bounds import lower_bound
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.run_file import load_run
from lastiterate.proofs_checks.certificates.checker import Updates, _Loss, _Run, accepted

_ULP = 1 + 1e-12
_RUN = NoisySGD(1, 1.0, 1.0, 1.0, 10**6, diameter=100.0)


def reached(assumption: Assumption, z: float, h: float, K: float = 1.0, decay: float = 0.0) -> float:
    """e(z) of a step of size h on the same data."""
    run = replace(_RUN, step_size=h, clip_norm=K, weight_decay=decay)
    return float(assumption.expansion(run, 0, differs=False).ball(z).upper())


def clip(g: Array, K: float) -> Array:
    return g * min(1.0, K / max(float(np.linalg.norm(g)), 1e-300))


def scores(rng: np.random.Generator, L: float, steepest: float, kinks: bool) -> Callable[[Array], Array]:
    """The gradient of a convex loss of a few linear scores; L-smooth without kinks, gradients up to ``steepest``."""
    count = int(rng.integers(1, 4))
    rows = rng.normal(size=(count, 2))
    rows /= np.linalg.norm(rows, ord=2)  # the sum of row row^T is at most 1
    offsets, slopes = rng.normal(size=count), rng.uniform(0.05, 1, count) * steepest / count
    starts = rng.uniform(-1, 1, count) * slopes

    def gradient(x: Array) -> Array:
        at = rows @ x - offsets
        ramp = slopes * np.sign(at) if kinks else np.clip(starts + L * at, -slopes, slopes)
        return rows.T @ ramp

    return gradient


@pytest.mark.parametrize("kind", ["convex", "not smooth", "clipped", "clipped, not smooth"])
def test_no_pair_of_points_leaves_the_expansion(kind: str) -> None:
    rng = np.random.default_rng(3)
    closest = 0.0
    for _ in range(600):
        h, L, K, z = np.exp(rng.uniform(-2, 2, 4)).tolist()
        decay = float(rng.choice([0.0, 0.5 / h]))
        kinks = "not smooth" in kind
        acts = kind.startswith("clipped")
        assumption = (ClippedConvex if acts else Convex)(inf if kinks else L)
        turn = rng.uniform(0, 2 * pi)
        x = rng.normal(size=2)
        y = x - z * np.array([cos(turn), sin(turn)])
        losses = [scores(rng, L, K * (5 if acts else 1), kinks) for _ in range(int(rng.integers(1, 4)))]
        change = np.mean([clip(g(x), K) - clip(g(y), K) for g in losses], axis=0)
        moved = float(np.linalg.norm((1 - h * decay) * (x - y) - h * change))
        limit = reached(assumption, z, h, K, decay)
        assert moved <= limit * _ULP, (h, L, K, z, decay)
        closest = max(closest, moved / limit)
    assert closest > 0.9


@pytest.mark.parametrize(("a", "factor"), [(0.1, 1.01274), (0.5, 1.06904), (1.0, 1.15470), (2.0, 1.41421)])
def test_a_quadratic_reaches_what_clipping_expands(a: float, factor: float) -> None:
    """f = <v, .>^2 a / 2 + <b, .> near a gradient of length K orthogonal to the step of the clipped gradient."""
    tiny, best = 1e-7, 0.0
    for turn in np.linspace(0, pi, 241):
        v, far = np.array([cos(turn), sin(turn)]), np.array([1.0, 0.0])  # a gradient just above K = 1
        for way in np.linspace(0, pi, 41):
            d = tiny * np.array([cos(way), sin(way)])
            change = clip(far * (1 + 1e-12) + a * v * float(v @ d), 1.0) - clip(far * (1 + 1e-12), 1.0)
            best = max(best, float(np.linalg.norm(d - change)) / tiny)
    expanded = float(reached(ClippedConvex(a), 1e-3, 1.0)) / 1e-3
    assert expanded == pytest.approx(factor, abs=2e-5)
    assert expanded * 0.995 < best <= expanded * (1 + 1e-6)


def test_two_clipped_gradients_reach_the_bound_that_knows_no_smoothness() -> None:
    """A long gradient across d = (1, 0), and one of length K: <g - g', d> >= 0, so a convex loss has both."""
    h, d, far = 0.5, np.array([1.0, 0.0]), np.array([10.0, -1e6])
    limit, found = reached(ClippedConvex(inf), 1.0, h), 0.0
    for t in np.linspace(-pi, pi, 4001):
        near = np.array([cos(t), sin(t)])
        assert float((far - near) @ d) >= 0
        found = max(found, float(np.linalg.norm(d - h * (clip(far, 1.0) - near))))
    assert limit == pytest.approx((1 + sqrt(5)) / 2)
    assert 0.9999 * limit < found <= limit * _ULP


def test_a_long_step_is_reached_by_two_points_of_a_smooth_convex_loss() -> None:
    """Any two gradients with |g|^2 = L <g, d> belong to a convex, L-smooth loss, and |g| may be 2 K."""
    h, L, K, z = 1.5, 3.0, 0.5, 2.0
    along = 2 * K / (L * z)
    g = 2 * K * np.array([along, sqrt(1 - along**2)])
    moved = float(np.linalg.norm(np.array([z, 0.0]) - h * g))
    assert reached(Convex(L), z, h, K) == pytest.approx(moved, rel=1e-12)
    assert reached(Convex(L), 0.1, h, K) == pytest.approx((h * L - 1) * 0.1, rel=1e-12)
    assert reached(Convex(inf), z, h, K) == pytest.approx(sqrt(z**2 + (2 * h * K) ** 2), rel=1e-12)


# eta, K, n, sigma, L and D, and epsilon at delta = 1e-5 of the classes, computed once by another program.
_FIGURES = (
    ((0.5, 1, 20, 1, 1, 1), (0.2955, 0.2744, 0.2448)),
    ((0.5, 1, 20, 1, 1, 2), (0.4213, 0.3735, 0.3620)),
    ((0.1, 2, 5, 1, 1, 1), (0.4240, 0.4053, 0.3999)),
    ((1, 1, 100, 0.5, 1, 1), (0.9371, 0.7710, 0.3032)),
)


@pytest.mark.parametrize(("setting", "figures"), _FIGURES)
def test_bounds_are_those_of_another_program(setting: tuple[float, ...], figures: tuple[float, ...]) -> None:
    eta, K, n, sigma, L, D = setting
    run = NoisySGD(2000, eta, sigma, K, int(n), diameter=D)
    for assumption, other in zip((ClippedConvex(inf), Convex(inf), ClippedConvex(L)), figures, strict=True):
        found = bound(run, assumption, delta=1e-5)
        assert (
            lower_bound(replace(run, steps=20), assumption, delta=1e-5).value <= found.epsilon <= 1.01 * other
        )
        assert found.claim.startswith("ours/contraction/")


@pytest.mark.parametrize("sampling", ["full", "cyclic", "shuffled", "without_replacement", "poisson"])
@pytest.mark.parametrize("assumption", [Convex(30.0), Convex(inf), ClippedConvex(1.0), ClippedConvex(inf)])
def test_every_scheme_takes_them_and_its_certificate_holds(sampling: str, assumption: Assumption) -> None:
    size = {} if sampling == "full" else {"batch_size": 2}
    run = NoisySGD(4, 0.4, 0.5, 1.0, 4, sampling=sampling, diameter=1.0, **size)
    found = bound(run, assumption, delta=1e-3)
    assert lower_bound(run, assumption, delta=1e-3).value <= found.epsilon
    accepted(found.certificate(weaker=True))


@pytest.mark.parametrize(
    "assumption", [Convex(1.0), Convex(30.0), Convex(inf), ClippedConvex(inf), StronglyConvex(9.0, 0.5)]
)
@pytest.mark.parametrize("meets", ["every", "none"])
def test_the_checker_of_certificates_expands_as_much(assumption: Assumption, meets: str) -> None:
    checks_expansions(assumption, meets, 0.7)


@pytest.mark.parametrize("a", [0.3, 2.0, 3.5, 5.0])
@pytest.mark.parametrize("meets", ["every", "none"])
def test_the_checker_of_certificates_expands_as_much_where_clipping_acts(a: float, meets: str) -> None:
    checks_expansions(ClippedConvex(a), meets, 1.0)


def checks_expansions(assumption: Assumption, meets: str, h: float) -> None:
    """Compare the distances of both programs, which share no code, and the lines of the checker with them."""
    run = NoisySGD(2, h, 1.0, 1.5, 8, diameter=30.0)
    updates = Updates(_Run(write_run(run)), _Loss(write_loss(assumption)), meets)
    ours = assumption.expansion(run, 0, differs=meets == "every")
    for z in (0.0, 1e-6, 0.05, 0.4, 3.0, 20.0):
        found = float(updates.e(0, arb(z)))
        assert found == pytest.approx(float(ours.ball(exact(z))), rel=1e-12)
        if getattr(assumption, "L", inf) < inf:
            c, s = updates.line(0)
            assert found <= float((c * z + s).upper()) * _ULP


def test_a_long_step_of_full_batches_cites_a_claim_that_covers_it() -> None:
    run = NoisySGD(3, 0.375, 0.5, 1.0, 8)
    assert bound(run, Convex(5.0), order=2).claim == "chien_li/theorem_3_1/direct/convex"
    assert (
        bound(replace(run, step_size=0.41), Convex(5.0), order=2).claim != "chien_li/theorem_3_1/direct/convex"
    )
    one = NoisySGD(1, 0.6, 0.5, 1.0, 8, diameter=1.0)
    assert bound(one, Convex(5.0), order=2).claim == "ours/derived/known_windows"
    assert bound(one, ClippedConvex(5.0), order=2).claim == "ours/derived/known_windows"


def test_curvature_from_below_helps_short_steps_and_does_no_harm_to_long_ones() -> None:
    run = NoisySGD(50, 0.1, 0.5, 1.0, 8, diameter=1.0)
    assert bound(run, StronglyConvex(1.0, 0.5), order=2).epsilon < bound(run, Convex(1.0), order=2).epsilon
    long = replace(run, step_size=3.0)
    assert bound(long, StronglyConvex(1.0, 0.5), order=2).epsilon == bound(long, Convex(1.0), order=2).epsilon
    assert bound(long, Convex(1.0), order=2).epsilon <= bound(long, Smooth(1.0), order=2).epsilon


def test_infinite_smoothness_is_read_from_a_run_file(tmp_path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        "[run]\nsteps = 5\nstep_size = 0.1\nnoise_std = 0.3\nclip_norm = 1.0\ndataset_size = 10\ndiameter = 1.0\n"
        '[assumption]\nkind = "clipped_convex"\nL = inf\n'
    )
    assert load_run(file)[1] == ClippedConvex(inf)
    assert ClippedConvex(inf).statement == "every per-sample loss is convex; its gradients are clipped"
    assert Convex(inf).statement.startswith("every per-sample loss is convex, and Lipschitz")
    with pytest.raises(InputError, match="L needs a number of at least 0, or inf, got L=-1"):
        ClippedConvex(-1.0)
