"""Faults planted in the code that computes a bound: a claim of the ledger must turn, and it is named."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from attacking import ATTACKED
from flint import arb
from recomputing import RECOMPUTED

from lastiterate.numeric.accounting import batches as drawn
from lastiterate.numeric.accounting import conversion, dominating, pld
from lastiterate.numeric.divergences import s_down
from lastiterate.numeric.losses import assumptions
from lastiterate.numeric.losses.expansion import Affine, ModulusExpansion, UpdateExpansion
from lastiterate.numeric.rounding import exact
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.numeric.shift_program import optimum, positions, taut_string
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.shuffling import epoch_value_iteration, shuffled
from lastiterate.numeric.subsampling import noise_split, poisson, windows
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.verdict import Status

CLAIMS = ATTACKED | RECOMPUTED
RENYI, DELTA = "Renyi", "epsilon at delta"


def divided(function: Callable[..., Any], by: float) -> Callable[..., Any]:
    return lambda *args, **rest: function(*args, **rest) / by


def first_divided(function: Callable[..., Any], by: float) -> Callable[..., Any]:
    """The first of several results divided."""

    def wrong(*args: Any, **rest: Any) -> Any:
        first, *others = function(*args, **rest)
        return first / by, *others

    return wrong


def each_divided(function: Callable[..., Any], by: float) -> Callable[..., Any]:
    """The first of each of many results divided."""

    def wrong(*args: Any, **rest: Any) -> Iterator[Any]:
        for first, *others in function(*args, **rest):
            yield first / by, *others

    return wrong


def held(prop: Any, change: Callable[[Any, Any], Any]) -> property:
    """A property, cached or not, whose value is changed."""
    compute: Callable[[Any], Any] = getattr(prop, "fget", None) or prop.func
    return property(lambda self: change(self, compute(self)))


def shown(function: Callable[..., Any], place: int, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function with one of its arguments changed."""

    def wrong(*args: Any, **rest: Any) -> Any:
        return function(*args[:place], change(args[place]), *args[place + 1 :], **rest)

    return wrong


def forget() -> None:
    """Empty the caches through which a fault would outlive its test."""
    for name, module in list(sys.modules.items()):
        if name.startswith("lastiterate.numeric"):
            for function in vars(module).values():
                if hasattr(function, "cache_clear"):
                    function.cache_clear()


def _slower_contraction(self: Any, run: Any, t: int, *, differs: bool) -> Affine:
    eta = exact(run.step_size_at(t))
    return Affine(1 - eta * exact(self.m), assumptions._sensitivity(run, t, differs=differs))


def _one_sample_fewer(self: Any, run: Any, t: int, *, differs: bool) -> ModulusExpansion:
    weight = exact(run.step_size_at(t)) * (run.batch - 2 * differs) / run.batch
    return ModulusExpansion(self, weight, run.clip_norm, assumptions._sensitivity(run, t, differs=differs))


def _no_overshoot(self: Any, run: Any, t: int, low: int, high: int) -> Affine:
    del self, run, t, low, high
    return Affine(arb(1), arb(0))


def _step_size_squared(self: Any, run: Any, t: int, *, differs: bool) -> UpdateExpansion:
    move = exact(run.step_size_at(t)) ** 2 * exact(run.clip_norm) / run.batch
    shared: UpdateExpansion = self.inner.over_sizes(run, t, self.low, self.high)
    return shared.plus(move * differs)


def _first_position(run: Any, assumption: Any) -> Any:
    found = ShiftProgram(run, assumption, 0)
    return found, optimum.optimum(found)


def _cheapest_position(run: Any, assumption: Any) -> Any:
    found = [ShiftProgram(run, assumption, place) for place in range(min(run.batches, run.steps))]
    return min(((one, optimum.optimum(one)) for one in found), key=lambda pair: float(pair[1].cost))


_STEP = NoisySGD.step_size_at
_S, _SP, _P = assumptions.StronglyConvex, ShiftProgram, taut_string.Participations
_PAIR, _SHARES = dominating.DominatingPair, noise_split.Shares
_OVER = assumptions.Modulus.over_sizes
_ADD = property(lambda _: ("add",))
_Fault = tuple[str, str, Any, str, Any]
FIXED: dict[str, _Fault] = {
    "a Renyi epsilon over 1.05": (
        "recomputed/full", f"smooth, {RENYI}", dominating.Candidate, "value",
        divided(dominating.Candidate.value, 1.05)),
    "an epsilon at delta over 1.05": (
        "recomputed/full", f"smooth, {DELTA}", dominating, "gdp_epsilon", divided(conversion.gdp_epsilon, 1.05)),
    "composition over 100": ("attacked/full", f"clipped, {RENYI}", _SP, "composition", divided(_SP.composition, 100)),
    "composition over 1.05": (
        "recomputed/full", f"clipped, {RENYI}", _SP, "composition", divided(_SP.composition, 1.05)),
    "half the composition, cyclic": (
        "attacked/cyclic", f"clipped, {RENYI}", _SP, "composition", divided(_SP.composition, 2)),
    "T - 1 steps composed": (
        "attacked/full", f"clipped, {RENYI}", _SP, "participations",
        held(_SP.participations, lambda _, hits: hits[1:])),
    "order - 1 for the order": (
        "recomputed/full", f"convex, {RENYI}", _PAIR, "rdp",
        shown(_PAIR.rdp, 1, lambda order: order - 0.01)),
    "the diameter hidden, not what a step makes of it": (
        "recomputed/full", f"clipped, {RENYI}", _SP, "last_step",
        lambda self: (exact(self.diameter) / exact(self.noise_at(self.steps - 1))) ** 2),
    "no test of feasibility": ("recomputed/full", f"smooth, {RENYI}", optimum, "affine_window",
        lambda c, s, delta, length: optimum.untested_window(c, s, delta, length)),
    "a radius for the diameter": (
        "recomputed/full", f"convex, {RENYI}", optimum, "best_window", shown(optimum.best_window, 2, lambda D: D / 2)),
    "a contraction without eta L - 1": (
        "recomputed/full", f"strongly_convex, {RENYI}", _S, "expansion", _slower_contraction),
    "one sample fewer drifts": (
        "recomputed/full", f"smooth, {RENYI}", assumptions.Modulus, "expansion", _one_sample_fewer),
    "K for the sensitivity 2 K": (
        "recomputed/cyclic", f"smooth, {RENYI}", assumptions, "_sensitivity", divided(assumptions._sensitivity, 2)),
    "a sensitivity over 1.05": (
        "recomputed/full", f"convex, {RENYI}", assumptions, "_sensitivity", divided(assumptions._sensitivity, 1.05)),
    "a hundredth of L": (
        "recomputed/full", f"holder, {RENYI}", assumptions.Holder, "ball", divided(assumptions.Holder.ball, 100)),
    "the step size of the next step": (
        "recomputed/full", f"convex, {RENYI}", NoisySGD, "step_size_at",
        lambda self, t: _STEP(self, min(t + 1, self.steps - 1))),
    "a tracked distance over 1.05": (
        "recomputed/full", f"strongly_convex, {RENYI}", _SP, "tracked", held(_SP.tracked, lambda _, z: z / 1.05)),
    "the first batch of an epoch, not the worst": (
        "recomputed/cyclic", f"convex, {RENYI}", positions, "worst_position", _first_position),
    "the cheapest batch of an epoch": (
        "attacked/cyclic", f"convex, {RENYI}", positions, "worst_position", _cheapest_position),
    "participations a step too early": (
        "recomputed/cyclic", f"convex, {RENYI}", optimum, "Participations",
        lambda *all_: _P(*all_[:6], all_[6] + 1, *all_[7:])),
    "what a piece of the string hides over 1.05": (
        "recomputed/cyclic", f"strongly_convex, {RENYI}", taut_string, "run_forward",
        divided(taut_string.run_forward, 1.05)),
    "delta times 1.05": (
        "recomputed/full", f"convex, {DELTA}", dominating, "_epsilon",
        shown(dominating._epsilon, 2, lambda d: d * 1.05)),
    "delta over 1000": (
        "attacked/full", f"smooth, {DELTA}", conversion, "gdp_delta", divided(conversion.gdp_delta, 1000)),
}  # fmt: skip
RANDOM: dict[str, _Fault] = {
    "the price of a step over 1.05": (
        "recomputed/without_replacement", f"clipped, {RENYI}", dominating, "step_rdp",
        divided(dominating.step_rdp, 1.05)),
    "a rate over 1.05": (
        "recomputed/poisson", f"clipped, {RENYI}", noise_split, "rate", divided(drawn.rate, 1.05)),
    "the smaller direction": ("attacked/poisson", f"smooth, {RENYI}", dominating, "s_up", s_down),
    "the smaller direction of a step without replacement": (
        "attacked/without_replacement", f"smooth, {RENYI}", dominating, "replacement_step", s_down),
    "half the move of a Poisson step": (
        "attacked/poisson", f"convex, {RENYI}", drawn, "outcome_distance", divided(drawn.outcome_distance, 2)),
    "the step size of a Poisson step squared": (
        "attacked/poisson", f"smooth, {RENYI}", assumptions.Sized, "expansion", _step_size_squared),
    "large batches that do not overshoot": (
        "recomputed/poisson", f"convex, {RENYI}", assumptions.Convex, "over_sizes", _no_overshoot),
    "no batch that is empty": (
        "recomputed/poisson", f"strongly_convex, {RENYI}", _S, "over_sizes",
        shown(_S.over_sizes, 3, lambda low: low + 1)),
    "no batch larger than b": (
        "recomputed/poisson", f"smooth, {RENYI}", assumptions.Modulus, "over_sizes",
        lambda self, run, t, low, high: _OVER(self, run, t, low, min(high, run.batch))),
    "an unlikely batch a hundred times rarer": (
        "recomputed/poisson", f"smooth, {RENYI}", drawn, "tail_from", divided(drawn.tail_from, 100)),
    "an unlikely batch forgotten": (
        "recomputed/poisson", f"smooth, {RENYI}", poisson, "mixed_rdp", lambda inside, *_: inside),
    "the shifts of a window over 1.05": (
        "recomputed/without_replacement", f"convex, {RENYI}", windows, "_cost", divided(windows._cost, 1.05)),
    "the radius at the start of a window": (
        "recomputed/without_replacement", f"smooth, {RENYI}", _SHARES, "reach",
        held(_SHARES.reach, lambda _, z: z / 2)),
    "noise that hides twice": (
        "recomputed/without_replacement", f"convex, {RENYI}", _SHARES, "left",
        lambda _, multipliers: np.ones(len(multipliers))),
    "a direction dropped": (
        "attacked/poisson", f"smooth, {DELTA}", _PAIR, "sides", _ADD),
    "PLD epsilon over 1.05": (
        "attacked/without_replacement", f"smooth, {DELTA}", pld.Composition, "epsilon",
        divided(pld.Composition.epsilon, 1.05)),
}  # fmt: skip
SHUFFLED: dict[str, _Fault] = {
    "shuffled Renyi epsilon over 100": (
        "attacked/shuffled", f"clipped, {RENYI}", shuffled, "_pooled", each_divided(shuffled._pooled, 100)),
    "shuffled Renyi epsilon over 2": (
        "attacked/shuffled", f"holder, {RENYI}", shuffled, "_pooled", each_divided(shuffled._pooled, 2)),
    "shuffled Renyi epsilon over 1.05": (
        "attacked/shuffled", f"strongly_convex, {RENYI}", shuffled, "_pooled", each_divided(shuffled._pooled, 1.05)),
    "value iteration over 1.05": (
        "attacked/shuffled", f"strongly_convex, {RENYI}", shuffled, "iterate",
        first_divided(epoch_value_iteration.iterate, 1.05)),
    "the worst order over 1.05": (
        "recomputed/shuffled", f"convex, {DELTA}", shuffled, "cheapest", first_divided(taut_string.cheapest, 1.05)),
    "one last step without its sensitivity": (
        "recomputed/shuffled", f"clipped, {RENYI}", shuffled.View, "into", shuffled.View.free),
}  # fmt: skip
FAULTS = FIXED | RANDOM | SHUFFLED


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_code_turns_a_claim(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key, name, place, attribute, wrong = FAULTS[fault]
    claim = CLAIMS[key]
    check = next(check for check in claim.checks if check.name == name)
    forget()
    monkeypatch.setattr(place, attribute, wrong)
    try:
        outcome = decide_check(check, claim.assumptions)
    finally:
        forget()
    assert outcome.status is Status.REFUTED, outcome


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", SCHEMES)
def test_five_percent_less_is_noticed_for_every_class_and_guarantee(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dominating.Candidate, "value", divided(dominating.Candidate.value, 1.05))
    seen: dict[str, list[Status]] = {}
    for claim in (CLAIMS[f"attacked/{scheme}"], CLAIMS[f"recomputed/{scheme}"]):
        for check in claim.checks:
            seen.setdefault(check.name, []).append(decide_check(check, claim.assumptions).status)
    assert len(seen) == 10
    assert [name for name, found in seen.items() if Status.REFUTED not in found] == []
