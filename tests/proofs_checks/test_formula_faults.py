"""Faults planted in the formulas that claims and derivations share: the claim that is named must turn."""

import sys
from importlib import import_module, reload
from typing import Any

import pytest
from sympy import Max, Min, Rational, exp, log, sqrt

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic import prelude
from lastiterate.symbolic.formulas import accounting, divergences, networks, shift_program, update

_cumulative = divergences.cumulative
FAULTS: dict[str, tuple[Any, str, Any, str, str, str]] = {
    "a radius for the sensitivity": (
        update, "step_sensitivity", lambda eta, K, b: eta * K / b, "ours.expansions",
        "ours/expansions/sensitivity", "replaced"),
    "a move over 1.05": (
        update, "moved", lambda eta, K, b: eta * K / b * 100 / 105, "ours.expansions", "ours/expansions/sensitivity",
        "added"),
    "gradients K apart": (
        update, "same_batch", lambda z, omega, eta, K, k=1: k * z + eta * Min(omega, K), "ours.expansions",
        "ours/expansions/modulus", "update"),
    "weight decay adds": (
        update, "same_batch", lambda z, omega, eta, K, k=1: k * k * z + eta * Min(omega, 2 * K), "ours.expansions",
        "ours/expansions/weight_decay", "a modulus"),
    "one sample fewer drifts": (
        update, "modulus", lambda z, omega, eta, K, b: z + eta * (b - 2) / b * Min(omega, 2 * K) + 2 * eta * K / b,
        "ours.expansions", "ours/expansions/sensitivity", "with b - 1 other samples with a modulus"),
    "no overshoot": (
        update, "strongly_convex_over_sizes", lambda eta, _L, m, b, low, _high, k=1: k - eta * low / b * m,
        "ours.expansions", "ours/expansions/strongly_convex", "a long step"),
    "every batch as large as the largest": (
        update, "strongly_convex_over_sizes",
        lambda eta, L, m, b, _low, high, k=1: Max(k - eta * high / b * m, eta * high / b * L - k),
        "ours.expansions", "ours/expansions/strongly_convex", "a short step"),
    "a radius for the diameter": (
        shift_program, "cost", lambda s, start, v, w: (s * v + start / 2) ** 2 / w, "ours.derived",
        "ours/derived/convex_window", "derivation"),
    "a window of a step fewer": (
        shift_program, "v_sum", lambda c, w: (1 - c ** -(w - 1)) / (c - 1), "ours.derived",
        "ours/derived/strongly_convex_window", "derivation"),
    "noise of a step more": (
        shift_program, "w_sum", lambda c, w: (1 - c ** (-2 * (w + 1))) / (c**2 - 1), "ours.derived",
        "ours/derived/strongly_convex_window", "derivation"),
    "half a test of feasibility": (
        shift_program, "feasibility", lambda c, s, start, w: start * (c**2 - 1) - s * (c**w - 1) / 2,
        "chien_li.theorem_3_1_direct", "chien_li/theorem_3_1/direct/feasible",
        "last shift at least s, in closed form"),
    "order - 1 for the order": (
        divergences, "renyi", lambda P, Q, a: (a - 1) * (P[0] - Q[0]) ** 2 / (2 * (a * Q[1] + (1 - a) * P[1])),
        "chien_li.section_2", "chien_li/definition_2_1/gaussians", "closed form"),
    "a hockey stick that bends the other way": (
        divergences, "delta_of_gdp",
        lambda eps, mu: _cumulative(mu / 2 - eps / mu) - _cumulative(-mu / 2 - eps / mu),
        "chien_li.theorem_3_1_window", "chien_li/theorem_3_1/gdp/delta", "slope in mu, positive"),
    "an event that counts twice": (
        divergences, "event", lambda a, first, second: 2 * (a * log(first) - (a - 1) * log(second)) / (a - 1),
        "altschuler_talwar.appendix_b_2", "altschuler_talwar/appendix_b_2/bound_repaired", "the event"),
    "delta^2 in the conversion": (
        accounting, "quick_dp",
        lambda a, rho, delta: rho + log((a - 1) / a) - (log(delta) / 2 + log(a)) / (a - 1), "ours.pld",
        "ours/conversion/usual", "it reaches e^((alpha - 1) rho) at the epsilon of the proposition"),
    "half of two points": (
        accounting, "two_point_moment",
        lambda p, a, eps, delta: p**a * ((p - delta) * exp(-eps)) ** (1 - a), "ours.pld",
        "ours/conversion/convex", "the moment of two points"),
    "tanh'' that is halved": (
        networks, "tanh_curvature", lambda u: -u * (1 - u**2), "ours.networks", "ours/certified/network/activations",
        "tanh''"),
    "a norm that bends once": (
        networks, "second", lambda c, s, d: (-c / (s**2 * sqrt(d)), -(1 - 3 * c**2) / (s**2 * sqrt(d))),
        "ours.networks", "ours/certified/network/normalisation/derivatives", "derivative 2, its part along u"),
    "a norm without a twist along n": (
        networks, "third", lambda c, s, d: (-3 * (1 - 3 * c**2) / (s**3 * d), 9 * c / (s**3 * d)),
        "ours.networks", "ours/certified/network/normalisation/derivatives", "derivative 3, its part along n"),
    "a bend 2% too small": (
        networks, "greatest_bend", lambda: Rational(98, 100) * 2 / sqrt(3), "ours.networks",
        "ours/certified/network/normalisation/bounds", "|y''|^2 s^4 d"),
    "a worst bend 2% too small": (
        networks, "worst_bend", lambda: Rational(98 * 48, 2500) / sqrt(5), "ours.networks",
        "ours/certified/network/normalisation/bounds", "|y''|^2 eps^2 d"),
    "a twist 2% too small": (
        networks, "twist", lambda _v, _eps, d: 3 * Rational(98, 100) / d, "ours.networks",
        "ours/certified/network/normalisation/bounds", "|y'''|^2 s^6 d^2"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_formula_turns_a_claim(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, attribute, wrong, name, key, of = FAULTS[fault]
    module = import_module(f"lastiterate.symbolic.{name}")
    try:
        with monkeypatch.context() as planted:
            planted.setattr(place, attribute, wrong)
            for names in (
                prelude,
                import_module(f"{module.__package__}.paper"),
            ):  # which have the formula from before
                planted.setattr(names, attribute, wrong, raising=False)
            (claim,) = (one for one in reload(module).CLAIMS if one.key == key)
            outcome = decide_check(next(check for check in claim.checks if check.name == of), claim.assumptions)
    finally:
        reload(sys.modules[module.__name__])
    assert outcome.status in (Status.REFUTED, Status.UNDECIDED), outcome
