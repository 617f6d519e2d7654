"""Attacks on the values of `bound`, for every scheme of batches and class of losses.

An attack is the best run whose loss is known exactly. It must not exceed the value of `bound`, neither in Renyi
divergence nor at a delta. In mutants, `bound` computes an altered run.
"""

from collections.abc import Iterator
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.attacks import ATTACKS, BothDirections, ExactRun, targets
from lastiterate.proofs_checks.attacks.record import LOSSES, Assumed, Setting, assumption_at
from lastiterate.symbolic.checks import UpperBound
from lastiterate.symbolic.claim import Ours
from lastiterate.symbolic.notation import K, L, alpha, m, sigma
from lastiterate.symbolic.ours.paper import proof

_DELTA: Final = {"delta": 1e-5}
_KINDS: Final = (("Renyi", ""), ("epsilon at delta", "_dp"))


def tight(*, bounded: bool) -> Iterator[Setting]:
    """A few settings for slow bounds: extreme, or with an exact value close to the bound; some have a delta."""
    base = {"eta": 0.1, "sigma": 1.0, "D": inf, "L": 2.0, "lam": 0.5, "m": 1.0, "alpha": 2.0}
    if bounded:
        yield {**base, "T": 12.0, "n": 6.0, "K": 5.0, "D": 1.0}
        yield {**base, "T": 1.0, "n": 2.0, "K": 5.0, "D": 4.0}
        yield {**base, "T": 1.0, "n": 4.0, "K": 30.0, "D": 30.0, "alpha": 4.0, **_DELTA}
        yield {**base, "T": 8.0, "n": 4.0, "K": 3.0, "D": 10.0, "L": 0.01, "m": 0.005, **_DELTA}
        yield {**base, "T": 30.0, "n": 4.0, "K": 3.0, "D": 0.003, "L": 1e4}
    else:
        yield {**base, "T": 1.0, "n": 5.0, "K": 10.0}
        yield {**base, "T": 4.0, "n": 6.0, "K": 10.0, **_DELTA}
        yield {**base, "T": 12.0, "n": 6.0, "K": 5.0}
        yield {**base, "T": 7.0, "n": 4.0, "K": 4.0}
        yield {**base, "T": 1.0, "n": 4.0, "K": 60.0, "alpha": 50.0, **_DELTA}


def with_delta(*, bounded: bool) -> Iterator[Setting]:
    return (setting for setting in tight(bounded=bounded) if "delta" in setting)


def _asked(setting: Setting, *, dp: bool) -> dict[str, float]:
    return {"delta": setting["delta"]} if dp else {"order": setting["alpha"]}


def _target(scheme: str, assumed: Assumed, end: str) -> targets.AttackedBound:
    def evaluate(setting: Setting) -> float:
        run, losses = run_of(setting, scheme), assumption_at(setting, assumed)
        return bound(run, losses, **_asked(setting, dp=bool(end))).epsilon

    name = f"bound_{scheme}_{assumed}{end}"
    return targets.AttackedBound(name, assumed, evaluate, with_delta if end else tight)


def _solved(scheme: str, end: str) -> ExactRun:
    def solve(setting: Setting, assumed: Assumed) -> BothDirections | None:
        run, losses = run_of(setting, scheme), assumption_at(setting, assumed)
        try:
            found = lower_bound(run, losses, **_asked(setting, dp=bool(end))).value
        except InputError:
            return None
        return BothDirections(found, found) if found > 0 else None

    words = f"the best exactly solvable run with {scheme} batches; the greater of both orders"
    kind = partial(ExactRun, quantity="epsilon at delta") if end else ExactRun
    return kind(f"solved_{scheme}{end}", words, frozenset(LOSSES), solve)


_MADE = [_target(scheme, assumed, end) for scheme in SCHEMES for assumed in LOSSES for _, end in _KINDS]
targets.TARGETS = MappingProxyType({**targets.TARGETS, **{one.name: one for one in _MADE}})  # type: ignore[misc]
ATTACKS.update({run.name: run for run in (_solved(scheme, end) for scheme in SCHEMES for _, end in _KINDS)})


def _checks(scheme: str) -> Iterator[UpperBound]:
    wrong = ("half the sensitivity", {K: K / 2}), ("twice the noise", {sigma: 2 * sigma})
    for (kind, end), (words, altered) in zip(_KINDS, wrong, strict=True):
        for losses in LOSSES:
            target, run = f"bound_{scheme}_{losses}{end}", f"solved_{scheme}{end}"
            check = UpperBound(target, (run,), name=f"{losses}, {kind}")
            yield check.mutant(f"{losses}: {words}", altered=altered)


ATTACKED: Final = {
    f"attacked/{scheme}": Ours(
        f"tests/attacked/{scheme}",
        f"`bound` for {scheme} batches is not below the best solved run, in Renyi divergence and at a delta",
        proof("shift_program", "Theorem"),
        *_checks(scheme),
        assumptions=(alpha > 1, m <= L),
    )
    for scheme in SCHEMES
}
