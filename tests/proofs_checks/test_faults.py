"""Faults planted in the code that computes a bound: the claims of ours/attacked must turn."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lastiterate.numeric.accounting import dominating, gdp, pld_fft
from lastiterate.numeric.accounting import dominating as candidate
from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses.expansion import Plus
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shuffling import shuffled
from lastiterate.numeric.subsampling import poisson, windows
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_ATTACKED = {claim.key: claim for claim in CLAIMS if claim.key.startswith("ours/attacked/")}


def divided(function: Callable[..., Any], by: float) -> Callable[..., Any]:
    return lambda *args, **rest: function(*args, **rest) / by


def forget() -> None:
    """Empty the caches through which a fault would outlive its test."""
    for function in vars(dominating).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def pooled(view: Any, kappa: float | None, cells: int, *, every: bool = True) -> Iterator[tuple[float, int, str]]:
    for cost, start, route in _pooled(view, kappa, cells, every=every):
        yield cost / 100, start, route


_pooled = shuffled._pooled
_ADD = property(lambda _: ("add",))
FAULTS = {
    "shuffled Renyi epsilon over 100": ("shuffled", "clipped, Renyi", shuffled, "_pooled", pooled),
    "shuffled epsilon at delta over 100": (
        "shuffled", "smooth, epsilon at delta", candidate, "rdp_to_dp", divided(candidate.rdp_to_dp, 100)),
    "PLD epsilon over 100": (
        "without_replacement", "smooth, epsilon at delta", pld_fft.Composition, "epsilon",
        divided(pld_fft.Composition.epsilon, 100)),
    "a direction dropped": ("poisson", "smooth, epsilon at delta", dominating.DominatingPair, "sides", _ADD),
    "the smaller direction": ("poisson", "smooth, Renyi", dominating, "s_up", s_down),
    "the smaller direction of a step without replacement": (
        "without_replacement", "smooth, Renyi", dominating, "replacement_step", s_down),
    "half the move of a Poisson step": (
        "poisson", "convex, Renyi", windows, "moved", divided(windows.moved, 2)),
    "the step size of a Poisson step squared": (
        "poisson", "smooth, Renyi", poisson.Sized, "expansion",
        lambda self, run, t, *, differs: Plus(
            self.inner.over_sizes(run, t, self.low, self.high),
            exact(run.step_size_at(t)) ** 2 * exact(run.clip_norm) / run.batch * differs)),
    "delta over 1000": ("full", "smooth, epsilon at delta", gdp, "gdp_delta", divided(gdp.gdp_delta, 1000)),
    "half the composition": (
        "full", "clipped, Renyi", ShiftProgram, "composition", divided(ShiftProgram.composition, 2)),
    "half the composition, cyclic": (
        "cyclic", "clipped, Renyi", ShiftProgram, "composition", divided(ShiftProgram.composition, 2)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_code_turns_a_claim(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme, name, place, attribute, wrong = FAULTS[fault]
    claim = _ATTACKED[f"ours/attacked/{scheme}"]
    check = next(check for check in claim.checks if check.name == name)
    forget()
    monkeypatch.setattr(place, attribute, wrong)
    try:
        outcome = decide_check(check, claim.assumptions)
    finally:
        forget()
    assert outcome.status is Status.REFUTED, outcome
