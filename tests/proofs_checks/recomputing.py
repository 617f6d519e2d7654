"""Certificates of bounds, recomputed by the independent checker: a kind of check, and the checks of every scheme.

The checker, which shares no code with `bound`, recomputes a bound from the choices in its certificate. A check is
refuted if a certificate is refused or claims a larger bound. In mutants, `bound` computes an altered run.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from types import SimpleNamespace
from typing import Any, Final

from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.certificates.description import dyadic, from_dyadic, seal_nodes, write_loss, write_run
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.attacks.record import LOSSES, Assumed, Setting, assumption_at
from lastiterate.proofs_checks.certificates.checker import Refused, accepted
from lastiterate.proofs_checks.engines.answers import held, refuted
from lastiterate.proofs_checks.feasible_points import NoPointError
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Check
from lastiterate.symbolic.statement import given, sentence

_ROUNDING: Final = 1e-8
"""Relative amount by which a certificate may exceed the bound, because its paths are written as floats."""
_DELTA: Final = {"delta": 1e-5}


def settings() -> Iterator[Setting]:
    """Settings for every route of `bound` (windows, last step, composition, schedules); some have a delta."""
    base = {"T": 60.0, "n": 6.0, "eta": 0.1, "sigma": 1.0, "K": 5.0, "D": 0.8, "L": 0.5, "lam": 0.5, "m": 0.1}
    base |= {"alpha": 2.0, "falls": 0.0}
    yield {**base, **_DELTA}
    yield {**base, "T": 40.0, "n": 4.0, "sigma": 0.3, "K": 1.0, "D": 0.1, "L": 19.0, "m": 1.5, "alpha": 6.0}
    yield {**base, "T": 25.0, "sigma": 0.05, "K": 0.5, "D": inf, "L": 0.2, "alpha": 3.0}
    yield {**base, "T": 50.0, "D": 0.6, "L": 1.0, "m": 0.5, "falls": 0.5}
    yield {**base, "T": 30.0, "K": 2.0, "D": 0.01, "L": 1e4, "m": 8.0, "alpha": 1.01}
    yield {**base, "n": 200.0, "K": 150.0}
    yield {**base, "T": 5.0, "n": 31.0, "K": 1.0, "D": inf, "delta": 1e-2}
    yield {**base, "T": 120.0, "sigma": 2.0, "D": 40.0, "L": 1e-2, "lam": 0.9, "m": 1e-2, "alpha": 1.5}


def scheduled_run(setting: Setting, sampling: str) -> NoisySGD:
    """Run at a setting, with a step size that decreases linearly by the share ``falls``."""
    run = run_of(setting, sampling)
    if not setting["falls"]:
        return run
    sizes = tuple(run.step_size_at(t) * (1 - setting["falls"] * t / run.steps) for t in range(run.steps))
    return replace(run, step_size=sizes)


@dataclass(frozen=True)
class Certified(Check):
    """The checker accepts the certificates of `bound`, of an epsilon if ``delta``, else of a Renyi divergence."""

    engine = "recomputation"
    scheme: str
    losses: str
    delta: bool = False
    alter: Callable[[Setting], Setting] | None = None
    name: str = "certificates"

    @property
    def says(self) -> Any:
        return given((), sentence("The checker accepts each certificate"))

    @staticmethod
    def near_misses(*_: Any) -> tuple[Check, ...]:
        return ()

    @staticmethod
    def decide(check: "Certified", _assumptions: Any = ()) -> Outcome:
        """Compute `bound` at the settings, and check the certificates."""
        assumed, (kind, letter) = (
            Assumed(check.losses),
            ("delta", "delta") if check.delta else ("order", "alpha"),
        )
        made, asked = 0, 0
        for setting in (one for one in settings() if letter in one):
            run, seen = scheduled_run(setting, check.scheme), (check.alter or dict)(setting)
            losses = assumption_at(setting, assumed)
            try:
                losses.expansion(run, 0, differs=True)
            except InputError:  # a step size that is not allowed
                continue
            found = bound_by_shifts(
                scheduled_run(seen, check.scheme), assumption_at(seen, assumed), **{kind: seen[letter]}
            )
            asked += 1
            try:
                certificate = json.loads(json.dumps(found.certificate()))
            except InputError:  # its route has no certificate
                continue
            made += 1
            # The certificate is for this run, even if `bound` was given an altered one.
            certificate["claim"]["at"] = dyadic(setting[letter])
            certificate |= {"run": write_run(run), "class": write_loss(losses)}
            claimed, why = from_dyadic(certificate["claim"]["value"]), _refused(dict(seal_nodes(certificate)))
            if claimed > found.epsilon * (1 + _ROUNDING):
                why = why or f"the certificate claims {claimed!r}"
            if why:
                at = {key: repr(number) for key, number in setting.items()}
                return refuted(check, Counterexample(at, "what follows", "<=", repr(found.epsilon), why))
        if not made:
            raise NoPointError("no setting has a certificate.")
        return held(check, Grade.NOT_REFUTED, f"{made} of {asked}", f"{made} certificates")


def _refused(certificate: dict[str, Any]) -> str:
    try:
        accepted(certificate)
    except Refused as refused:
        return str(refused)
    return ""


_CLASSES: Final = tuple(map(str, LOSSES))
_WITH_CERTIFICATES: Final = {
    "full": (_CLASSES, _CLASSES),
    "cyclic": (_CLASSES, _CLASSES),
    "shuffled": (("clipped", "holder"), ("clipped", "convex", "strongly_convex")),
    "without_replacement": (_CLASSES, ()),
    "poisson": (_CLASSES, ()),
}
"""The classes with certificates for a Renyi divergence, and for an epsilon at a delta."""
_WRONG: Final[dict[str, tuple[str, Callable[[Setting], Setting]]]] = {
    "clipped": ("gradients five percent shorter", lambda at: {**at, "K": at["K"] / 1.05}),
    "holder": ("a step fewer", lambda at: {**at, "T": at["T"] - 1}),
    "smooth": ("a hundredth of the smoothness", lambda at: {**at, "L": at["L"] / 100}),
    "convex": ("a radius for the diameter", lambda at: {**at, "D": at["D"] / 2}),
    "strongly_convex": ("another step size", lambda at: {**at, "eta": at["eta"] / 1.05}),
}
_NOISIER: Final = ("one percent more noise", lambda at: {**at, "sigma": at["sigma"] * 1.01})


def _checks(scheme: str) -> Iterator[Certified]:
    for delta, kind in enumerate(("Renyi", "epsilon at delta")):
        for losses in _WITH_CERTIFICATES[scheme][delta]:
            words, alter = _NOISIER if delta else _WRONG[losses]
            check = Certified(scheme, losses, bool(delta), name=f"{losses}, {kind}")
            yield check.mutant(words, alter=alter)


RECOMPUTED: Final = {
    f"recomputed/{scheme}": SimpleNamespace(checks=tuple(_checks(scheme)), assumptions=())
    for scheme in _WITH_CERTIFICATES
}
