"""Attack laws against simulation and quadrature, and the engine against right and wrong bounds."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from counterexamples import attack_at
from flint import arb
from scipy import integrate, stats

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.lower.line import affine_law
from lastiterate.proofs_checks import decide as deciding
from lastiterate.proofs_checks.attacks import ATTACKS, Assumed, targets
from lastiterate.proofs_checks.attacks.record import settings
from lastiterate.proofs_checks.attacks.targets import AttackedBound
from lastiterate.proofs_checks.engines import attack, decide_check
from lastiterate.proofs_checks.engines.answers import held
from lastiterate.proofs_checks.verdict import Grade, Status, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import UpperBound
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.notation import K, T, alpha, beta, eta, lam, m, n, q
from lastiterate.symbolic.notation import L as SMOOTHNESS
from lastiterate.symbolic.statement import closed

BASE = {"T": 4.0, "n": 5.0, "eta": 0.1, "sigma": 1.0, "K": 12.5, "D": math.inf, "L": 1.0, "lam": 0.5, "m": 0.5}
SETTING = {**BASE, "alpha": 2.0}


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
    lower = ATTACKS["quadratic"].lower(setting, Assumed.STRONGLY_CONVEX)
    c, s = 1 - 0.1 * 0.5, 2 * 0.1 * 12.5 / 5
    gap, spread = s * (1 + c), math.sqrt(1 + c * c)
    p, q = stats.norm(gap / 2, spread), stats.norm(-gap / 2, spread)
    moment, _ = integrate.quad(lambda x: p.pdf(x) ** 2 / q.pdf(x), -30, 30)
    assert lower.forward == pytest.approx(math.log(moment), rel=1e-8)
    assert lower.backward == lower.forward


def test_linear_losses_attain_composition():
    lower = ATTACKS["linear"].lower(SETTING, Assumed.CONVEX)
    assert lower.forward == pytest.approx(2 / 2 * 4 * 0.5**2, rel=1e-14)


def test_one_clamped_step_on_a_wide_domain_is_gaussian():
    setting = {**SETTING, "T": 1.0, "D": 40.0}
    exact = ATTACKS["linear"].lower({**setting, "D": math.inf}, Assumed.CONVEX).forward
    lower = ATTACKS["clamped_linear"].lower(setting, Assumed.CONVEX)
    assert exact * (1 - 1e-3) <= lower.forward <= exact
    assert lower.backward == lower.forward


@pytest.mark.parametrize("name", ["clamped_linear", "clamped_quadratic", "sign_drift"])
@pytest.mark.parametrize("assumed", [Assumed.SMOOTH, Assumed.HOLDER, Assumed.CLIPPED])
def test_clamped_attacks_against_a_simulation(name, assumed):
    """Above the divergence of a few cells of a million simulated runs, up to their error; below composition."""
    setting = {**SETTING, "D": 3.0, "L": 4.0}
    lower = ATTACKS[name].lower(setting, assumed)
    generator, size = np.random.default_rng(1), 300_000
    slope = 0.95 if name == "clamped_quadratic" else 1.0
    tilt = setting["K"] - (0.75 if name == "clamped_quadratic" else 0.0)
    kappa = {Assumed.SMOOTH: 4.0, Assumed.HOLDER: 4.0 / 3**0.5, Assumed.CLIPPED: 1e9}[assumed]
    walk = np.zeros(size)
    for _ in range(4):
        push = 0.08 * np.clip(kappa * walk, -12.5, 12.5) if name == "sign_drift" else 0.0
        walk = np.clip(slope * walk + push + 0.02 * tilt + generator.normal(size=size), -1.5, 1.5)
    p = np.mean(walk >= 1.5)
    q = np.mean(walk <= -1.5)
    coarse = math.log(p**2 / q + q**2 / p + (1 - p - q))
    assert coarse - 0.05 <= lower.forward <= 4 * 0.5**2


def test_sign_drift_has_nothing_to_push_with():
    assert ATTACKS["sign_drift"].lower({**SETTING, "D": 3.0, "L": 0.0}, Assumed.SMOOTH) is None


def test_output_perturbation_is_refuted_as_in_the_audit():
    """Finding 7: D = .01, drift +-1/2; the divergence is about .525, the claim 1e-4."""
    setting = {**SETTING, "T": 1.0, "n": 1.0, "eta": 0.5, "K": 1.0, "D": 0.01}
    lower = ATTACKS["clamped_linear"].lower(setting, Assumed.CONVEX)
    assert 0.52 < lower.forward < 0.53
    assert 0.52 < lower.backward < 0.53


def test_an_attack_is_silent_where_it_does_not_meet_the_assumptions():
    bounded = {**SETTING, "D": 1.0}
    assert ATTACKS["linear"].lower(bounded, Assumed.CONVEX) is None
    assert ATTACKS["clamped_linear"].lower(SETTING, Assumed.CONVEX) is None
    assert ATTACKS["clamped_quadratic"].lower({**bounded, "m": 100.0, "L": 100.0}, Assumed.CONVEX) is None
    assert ATTACKS["quadratic"].lower({**SETTING, "m": 2.0}, Assumed.STRONGLY_CONVEX) is None


@pytest.mark.parametrize("order", [0.1, 0.5, 1.0])
def test_the_sign_drift_is_hoelder_with_its_constant(order):
    """The gradient of the attack, over many pairs: the ratio reaches L and never passes it."""
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
        ("shifts_full_strongly_convex", ("quadratic", "clamped_quadratic"), STRONG),
        ("shifts_full_clipped", ("linear", "clamped_linear", "sign_drift"), A),
    ],
)
def test_right_bounds_are_not_refuted(bound, names, assumptions, monkeypatch):
    monkeypatch.setattr(attack, "UNBOUNDED", 150)
    monkeypatch.setattr(attack, "BOUNDED", 80)
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
        ("shifts_full_strongly_convex", ("quadratic",), STRONG, {m: 2 * m}),
        ("shifts_full_clipped", ("sign_drift",), A, {K: K / 4}),
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
    from lastiterate.proofs_checks.attacks import BothDirections, ExactRun

    lopsided = ExactRun("lopsided", "none", frozenset(Assumed), lambda *_: BothDirections(0.0, 2.0), False)
    monkeypatch.setattr(attack, "ATTACKS", {"lopsided": lopsided})
    monkeypatch.setattr(attack, "_target", lambda name: AttackedBound(name, Assumed.CLIPPED, lambda _: 1.0))
    outcome = decide_check(UpperBound("one_clipped", ("lopsided",)), A)
    assert outcome.status is Status.REFUTED
    assert "Q || P" in outcome.counterexample.note


@pytest.mark.parametrize(
    ("bound", "names", "assumptions", "why"),
    [
        ("no_such_bound", ("linear",), A, "bound needs"),
        ("composition", ("no_such_run",), A, "attacks needs"),
        ("composition", (), A, "attacks needs"),
        ("shifts_full_strongly_convex", ("linear",), STRONG, "needs attacks that meet"),
        ("composition", ("linear",), (alpha > 1, alpha < 1), "no setting"),
    ],
)
def test_what_cannot_be_attacked_is_an_error(bound, names, assumptions, why):
    outcome = decide_check(UpperBound(bound, names), assumptions)
    assert outcome.status is Status.ERROR
    assert why in outcome.detail


def test_an_unknown_bound_and_an_alien_symbol_are_refused():
    with pytest.raises(InputError, match=r"^bound needs the name of a target, got bound='made_up'"):
        targets.find_target("made_up")
    alien = decide_check(UpperBound("composition", ("linear",), {beta: beta}), A)
    assert alien.status is Status.ERROR
    assert "altered needs symbols among " in alien.detail
    assert "got symbol=beta; use one of them." in alien.detail


def test_one_setting_is_attacked_by_the_attacks_of_its_kind():
    """Without projection linear losses attain composition, so that only a smaller claim falls."""
    assert attack_at(UpperBound("composition", ("linear", "clamped_linear")), SETTING) is None
    refuted = attack_at(UpperBound("composition", ("clamped_linear", "linear"), {T: T - 1}), SETTING)
    assert refuted is not None
    assert refuted.status is Status.REFUTED
    assert "the attack linear " in refuted.counterexample.note
    assert attack_at(UpperBound("composition", ("linear",), {T: T - 1}), {**SETTING, "D": 1.0}) is None
    assert attack_at(UpperBound("composition", ("linear",), {T: T - 4}), SETTING) is None, "a run of no step"


def test_a_bound_that_is_not_a_number_is_an_error_and_not_a_refutation(monkeypatch):
    monkeypatch.setattr(
        attack, "_target", lambda name: AttackedBound(name, Assumed.CLIPPED, lambda _: math.nan)
    )
    outcome = decide_check(UpperBound("composition", ("linear",)), A)
    assert outcome.status is Status.ERROR
    assert outcome.detail.startswith("the engine stopped with ArithmeticError: the bound is not a number at {")


def test_an_assumption_that_was_not_tested_keeps_a_refutation_open():
    outcome = decide_check(UpperBound("composition", ("linear",), {T: T - 1}), (alpha > 1, beta < 1))
    assert outcome.status is Status.UNDECIDED


def test_a_sampling_rate_is_at_most_one_at_every_setting():
    wrong = UpperBound("composition", ("linear",), {K: K / 2})
    assert decide_check(wrong, (alpha > 1, q <= 1)).status is Status.REFUTED
    # Some rates are larger.
    assert decide_check(wrong, (alpha > 1, q <= sp.Rational(1, 5))).status is Status.UNDECIDED


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
    assert {target.assumed for target in targets.TARGETS.values()} == set(Assumed)
    assert lam in attack._SYMBOLS


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda bound: bound, Verdict.SUPPORTED),
        (lambda bound: 99 * bound / 100, Verdict.UNDECIDED),
        (lambda bound: bound + sp.Symbol("gap", positive=True), Verdict.UNDECIDED),
        (lambda bound: sp.Function("f", real=True)(bound), Verdict.UNDECIDED),
        (lambda bound: bound / (T - 1), Verdict.UNDECIDED),
    ],
)
def test_a_statement_is_held_against_the_bound_that_is_attacked(monkeypatch, change, verdict):
    monkeypatch.setattr(
        deciding, "decide_check", lambda check, _, **__: held(check, Grade.NOT_REFUTED, "", "some settings")
    )
    claim = next(one for one in ledger.claims() if one.key == "liang/theorem_3_3/forward")
    said, check = claim.statement, next(one for one in claim.checks if isinstance(one, UpperBound))
    other = closed(said.body.func(said.body.lhs, change(said.body.rhs)), *said.conditions)
    report = deciding.decide(Claim("k/one", "", claim.source, replace(check, mutants=()), statement=other))
    assert report.verdict is verdict
