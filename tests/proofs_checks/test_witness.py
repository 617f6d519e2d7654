"""Witness laws against simulation and quadrature, and the engine against right and wrong bounds."""

import math
from itertools import islice

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from lastiterate.numeric import theorems
from lastiterate.proofs_checks.engines import decide_check, witness
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.proofs_checks.witnesses import WITNESSES, Assumed
from lastiterate.proofs_checks.witnesses.gaussian import affine_law
from lastiterate.proofs_checks.witnesses.settings import settings
from lastiterate.proofs_checks.witnesses.walk import two_point_divergence, upper_tail, walk_divergence
from lastiterate.symbolic.claim import UpperBound
from lastiterate.symbolic.notation import K, T, alpha, eta, lam, m, n
from lastiterate.symbolic.notation import L as SMOOTHNESS

BASE = {"T": 4.0, "n": 5.0, "eta": 0.1, "sigma": 1.0, "K": 12.5, "D": math.inf, "L": 1.0, "lam": 0.5, "m": 0.5}
SETTING = {**BASE, "alpha": 2.0}
MAPS = {
    "linear": lambda x: x,
    "quadratic": lambda x: 0.7 * x,
    "sign drift": lambda x: x + 0.3 * np.sign(x) * np.minimum(np.abs(x) ** 0.5, 1.0),
}


@pytest.mark.parametrize("c", [0.0, 0.9, 1.0, 1.2])
def test_affine_law_is_that_of_the_recursion(c):
    gap, variance = 0.0, 0.0
    for _ in range(11):
        gap, variance = c * gap + 0.3, c * c * variance + 4.0
    exact_gap, exact_variance = affine_law(arb(c), 11, arb(3) / 10, arb(2))
    assert float(exact_gap) == pytest.approx(gap, rel=1e-12)
    assert float(exact_variance) == pytest.approx(variance, rel=1e-12)


def test_gaussian_divergence_against_quadrature():
    """Two steps of a quadratic: D_2 by integrating the densities."""
    setting = {**SETTING, "T": 2.0}
    lower = WITNESSES["quadratic"].lower(setting, Assumed.STRONGLY_CONVEX)
    c, s = 1 - 0.1 * 0.5, 2 * 0.1 * 12.5 / 5
    gap, spread = s * (1 + c), math.sqrt(1 + c * c)
    p, q = stats.norm(gap / 2, spread), stats.norm(-gap / 2, spread)
    moment, _ = integrate.quad(lambda x: p.pdf(x) ** 2 / q.pdf(x), -30, 30)
    assert lower.forward == pytest.approx(math.log(moment), rel=1e-8)
    assert lower.backward == lower.forward


def test_linear_losses_attain_composition():
    lower = WITNESSES["linear"].lower(SETTING, Assumed.CONVEX)
    assert lower.forward == pytest.approx(2 / 2 * 4 * 0.5**2, rel=1e-14)


@pytest.mark.parametrize("phi", MAPS.values(), ids=MAPS.keys())
@pytest.mark.parametrize("steps", [1, 2, 6])
def test_walk_tail_is_above_a_simulation(phi, steps):
    generator, size = np.random.default_rng(steps), 200_000
    walk = np.zeros(size)
    for _ in range(steps):
        walk = np.clip(phi(walk) - 0.3 + generator.normal(size=size), -2, 2)
    thresholds = np.linspace(-1.9, 2, 14)
    bound = upper_tail(phi, -0.3, 1.0, 4.0, steps, thresholds)
    seen = (walk[None, :] >= thresholds[:, None]).mean(axis=1)
    error = 5 * np.sqrt(seen * (1 - seen) / size) + 1e-9
    assert (seen - error <= bound).all()
    assert (bound <= seen + error + 0.02).all()


def test_one_step_of_the_walk_is_exact():
    bound = upper_tail(lambda x: x, -1.0, 0.5, 3.0, 1, np.array([0.25, 1.5]))
    assert bound == pytest.approx(stats.norm.sf([2.5, 5.0]), rel=1e-10)


def test_deep_tails_keep_their_relative_precision():
    """Probability of crossing the domain twice over: far below 1e-16, and not lost in a slack."""
    bound = upper_tail(lambda x: x, -3.0, 0.5, 4.0, 2, np.array([2.0]))
    inner, _ = integrate.quad(
        lambda x: stats.norm.pdf(x, -3, 0.5) * stats.norm.sf((2 - (max(-2, min(2, x)) - 3)) / 0.5),
        -8,
        6,
        points=[-2, 2],
    )
    assert inner < 1e-20
    assert inner <= bound[0] <= 1.3 * inner


@pytest.mark.parametrize("order", [1.01, 2.0, 40.0])
def test_two_point_divergence_against_its_definition(order):
    p, q = 0.9, 0.2
    moment = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
    found = two_point_divergence(order, np.array([1 - p]), np.array([q]))[0]
    assert found == pytest.approx(math.log(moment) / (order - 1), rel=1e-9)
    assert found <= math.log(moment) / (order - 1)


def test_walk_divergence_is_below_the_true_one():
    """One step on a wide domain: the two-point bound is below the Gaussian value and not far from it."""
    lower = walk_divergence(lambda x: x, 2.0, 1.0, 40.0, 1, 2.0)
    assert 0.6 * 4.0 <= lower.forward <= 4.0


def test_output_perturbation_is_refuted_as_in_the_audit():
    """Finding 7: D = .01, drift +-1/2; the divergence is about .525, the claim 1e-4."""
    setting = {**SETTING, "T": 1.0, "n": 1.0, "eta": 0.5, "K": 1.0, "D": 0.01}
    lower = WITNESSES["clamped_linear"].lower(setting, Assumed.CONVEX)
    assert 0.52 < lower.forward < 0.53
    assert 0.52 < lower.backward < 0.53


def test_a_witness_is_silent_where_it_is_not_admissible():
    bounded = {**SETTING, "D": 1.0}
    assert WITNESSES["linear"].lower(bounded, Assumed.CONVEX) is None
    assert WITNESSES["clamped_linear"].lower(SETTING, Assumed.CONVEX) is None
    assert WITNESSES["clamped_quadratic"].lower({**bounded, "m": 100.0, "L": 100.0}, Assumed.CONVEX) is None
    assert WITNESSES["quadratic"].lower({**SETTING, "m": 2.0}, Assumed.STRONGLY_CONVEX) is None


@pytest.mark.parametrize("order", [0.1, 0.5, 1.0])
def test_the_sign_drift_is_hoelder_with_its_constant(order):
    """The gradient of the witness, over many pairs: the ratio reaches L and never passes it."""
    points = np.linspace(-1, 1, 801)
    push = 2.0 * 2 ** (order - 1) * np.sign(points) * np.abs(points) ** order
    apart = np.abs(points[:, None] - points[None, :])
    with np.errstate(invalid="ignore"):
        ratio = np.abs(push[:, None] - push[None, :]) / apart**order
    assert np.nanmax(ratio) == pytest.approx(2.0, rel=1e-12)


A, CONVEX = (alpha > 1,), (alpha > 1, eta <= 2 / SMOOTHNESS)
STRONG = (alpha > 1, eta <= 1 / SMOOTHNESS, m <= SMOOTHNESS)
RUNS = ("linear", "clamped_linear", "clamped_quadratic")


@pytest.mark.parametrize(
    ("bound", "names", "assumptions"),
    [
        ("composition", (*RUNS, "quadratic", "expanding", "sign_drift"), A),
        ("last_step_convex", ("clamped_linear", "clamped_quadratic"), CONVEX),
        ("shift_strongly_convex", ("quadratic", "clamped_quadratic"), STRONG),
        ("shift_clipped", ("linear", "clamped_linear", "sign_drift"), A),
    ],
)
def test_right_bounds_are_not_refuted(bound, names, assumptions, monkeypatch):
    monkeypatch.setattr(witness, "UNBOUNDED", 150)
    monkeypatch.setattr(witness, "BOUNDED", 80)
    outcome = decide_check(UpperBound(bound, names), assumptions)
    assert outcome.status is Status.HELD, outcome
    assert outcome.grade is Grade.NOT_REFUTED


@pytest.mark.parametrize(
    ("bound", "names", "assumptions", "altered"),
    [
        ("composition", ("linear",), A, {T: T - 1}),
        ("composition", ("linear",), A, {K: K / 2}),
        ("composition", ("clamped_linear",), A, {n: 3 * n}),
        ("output_perturbation", ("clamped_linear",), A, {}),
        ("affine_untested", ("linear",), A, {}),
        ("shift_strongly_convex", ("quadratic",), STRONG, {m: 2 * m}),
        ("shift_clipped", ("sign_drift",), A, {K: K / 4}),
    ],
)
def test_wrong_bounds_are_refuted(bound, names, assumptions, altered):
    outcome = decide_check(UpperBound(bound, names, altered), assumptions)
    assert outcome.status is Status.REFUTED, outcome
    assert "||" in outcome.counterexample.note
    setting = {key: float(value) for key, value in outcome.counterexample.at.items()}
    assert set(setting) == set(SETTING)


def test_only_one_direction_is_enough(monkeypatch):
    """A bound that holds for P || Q and fails for Q || P is refuted, and says so."""
    from lastiterate.proofs_checks.witnesses import Lower, Witness

    lopsided = Witness("lopsided", "none", frozenset(Assumed), False, False, lambda *_: Lower(0.0, 2.0))
    monkeypatch.setattr(witness, "WITNESSES", {"lopsided": lopsided})
    monkeypatch.setattr(witness, "_evaluators", lambda: {"one_clipped": lambda _: 1.0})
    outcome = decide_check(UpperBound("one_clipped", ("lopsided",)), A)
    assert outcome.status is Status.REFUTED
    assert "Q || P" in outcome.counterexample.note


@pytest.mark.parametrize(
    ("bound", "names", "assumptions", "why"),
    [
        ("no_such_bound", ("linear",), A, "bound needs"),
        ("composition", ("no_such_run",), A, "witnesses needs"),
        ("composition", (), A, "witnesses needs"),
        ("shift_strongly_convex", ("linear",), STRONG, "does not meet"),
        ("composition", ("linear",), (alpha > 1, alpha < 1), "no setting"),
    ],
)
def test_what_cannot_be_attacked_is_an_error(bound, names, assumptions, why):
    outcome = decide_check(UpperBound(bound, names), assumptions)
    assert outcome.status is Status.ERROR
    assert why in outcome.detail


def test_an_assumption_that_was_not_tested_keeps_a_refutation_open():
    from lastiterate.symbolic.notation import beta

    outcome = decide_check(UpperBound("composition", ("linear",), {T: T - 1}), (alpha > 1, beta < 1))
    assert outcome.status is Status.UNDECIDED


def test_settings_repeat_and_reach_the_corners():
    first, again = (list(islice(settings(3, bounded=True), 400)) for _ in range(2))
    assert first == again
    assert any(setting["T"] == 1 for setting in first)
    assert any(setting["lam"] == 1 for setting in first)
    assert any(setting["alpha"] < 1.001 for setting in first)
    assert all(setting["m"] <= setting["L"] * (1 + 1e-12) for setting in first)
    gaps = [2 * s["eta"] * s["K"] / s["n"] / s["sigma"] for s in first]
    assert min(gaps) < 0.05 < 5 < max(gaps)


def test_every_bound_says_what_it_assumes():
    for name in theorems.EVALUATORS:
        assert witness.assumed_by(name) in Assumed
    assert lam in witness._SYMBOLS
