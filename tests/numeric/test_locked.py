"""Every number of many small runs, every route by itself, against a lock file: a bound that changes is looked at.

A route that does not win in `bound` is seen by no user, and another error bound by no test of an inequality; here both
are, the widths of certified intervals among them. What is locked is not thereby right: other tests say what is true. To
lock what has changed, after reading it:

    python tests/numeric/test_locked.py && git diff tests/numeric/locked.json
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import cycle, product, repeat
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_projection import RandomProjectionRun, projection_bound

import lastiterate as li
from lastiterate.numeric.bound import bound_by_shifts
from lastiterate.numeric.calibrate import VARIED
from lastiterate.numeric.lower.masses import Masses
from lastiterate.numeric.lower.walk import Update, Walk, WalkStep, last_masses
from lastiterate.numeric.shuffling.shuffled import View, mean_routes, worst_routes
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.without_replacement import without_replacement_routes

LOCKED = Path(__file__).with_name("locked.json")
CLOSE = 1e-7
"""Searches end within this share of where they ended before, whatever the versions of numpy and scipy."""

LOSSES: Mapping[str, li.Assumption] = {
    "smooth": li.Smooth(1.0),
    "Hölder": li.Holder(1.0, 0.5),
    "clipped": li.Clipped(),
    "convex": li.Convex(1.0),
    "strongly convex": li.StronglyConvex(1.0, 0.25),
    "tabulated": li.Tabulated((0.1, 1.0), (0.2, 0.8)),
    "sum": li.Sum(li.Smooth(0.5), li.Holder(0.3, 0.5)),
    "minimum": li.Minimum(li.Smooth(2.0), li.Holder(0.5, 0.25)),
}
LENGTHS: Mapping[str, dict[str, Any]] = {
    "short": {"steps": 4, "step_size": 0.5, "diameter": 1.0},
    "long": {"steps": 40, "step_size": 0.1, "diameter": 0.3},
    "varying": {"steps": 8, "step_size": (0.5, 0.4, 0.3, 0.2) * 2, "diameter": 1.0},
    "free": {"steps": 8, "step_size": 0.2, "diameter": inf},
}
SAMPLINGS = ("full", "cyclic", "shuffled", "without_replacement", "poisson")
TARGETS: tuple[dict[str, float], ...] = ({"order": 4.0}, {"delta": 1e-5})
SMALL_DELTA = {"delta": 1e-15}
"""Here the error terms of privacy-loss distributions are seen."""


def _run(length: str, sampling: str, noise: float) -> li.NoisySGD:
    batch = None if sampling == "full" else 3
    return li.NoisySGD(
        **LENGTHS[length], noise_std=noise, clip_norm=1.0, dataset_size=12, batch_size=batch, sampling=sampling
    )


def _bound(run: li.NoisySGD, loss: li.Assumption, target: dict[str, float]) -> list[Any]:
    """By shifts or composition; tables of contraction depend on the last digit of searches, see test_routes."""
    found = bound_by_shifts(run, loss, **target)
    return [found.epsilon, found.route, *found.window, found.claim]


def _routes(run: li.NoisySGD, loss: li.Assumption) -> list[Any]:
    if run.sampling == "shuffled":
        worst = worst_routes(run, loss)
        means = mean_routes(View(run, loss), 4.0, worst[0].pair)
        return [
            [(one.route, one.pair.cost, one.window[0]) for one in worst],
            [(one.route, one.rdp(4.0), *one.window) for one in means],
        ]
    routes = poisson_routes if run.sampling == "poisson" else without_replacement_routes
    always = [(one, one.rdp(4.0)) for one in routes(run, loss, 4.0)]
    found = [*always, *((one, one.pair.conditional.rdp(4.0)) for one in routes(run, loss, 4.0, 1e-5))]
    return [(one.route, epsilon, *one.window, one.share, one.pair.failure) for one, epsilon in found]


def _lower(run: li.NoisySGD, loss: li.Assumption, target: dict[str, float]) -> list[Any]:
    found = li.lower_bound(run, loss, **target)
    return [found.value, found.witness]


def _compared(run: li.NoisySGD, loss: li.Assumption) -> list[Any]:
    """Numbers are locked, verdicts elsewhere: what is supported may come to hold."""
    rows = li.compare(run, loss, order=2.0)
    return [(row.title, "bound" if row.usable else row.kind, row.epsilon, row.ratio) for row in rows]


def _calibrated(run: li.NoisySGD, loss: li.Assumption, vary: str) -> list[Any]:
    found = li.calibrate(run, loss, epsilon=0.015 if vary == "steps" else 0.2, order=2.0, vary=vary)
    return [getattr(found.run, vary), found.epsilon]


def _projected(sampling: str, target: dict[str, float]) -> list[Any]:
    batch = None if sampling == "full" else 3
    run = RandomProjectionRun(5, 0.2, 4.0, (3, 2), 12, batch, sampling=sampling)
    return [
        projection_bound(run, **target).epsilon,
        projection_bound(replace(run, steps=1), **target).epsilon,
    ]


def _about(width: float) -> dict[str, float]:
    """The width of a certified interval, which changes by some roundings with the version of numpy."""
    return {"about": width}


def _walked(find: Callable[[], Masses | None]) -> list[Any]:
    found = find()
    assert found is not None
    low, high = np.exp(found.low), np.exp(found.high)
    return [len(low), float(high @ np.linspace(0, 1, len(low))), _about(float((high - low).sum()))]


def _cases() -> dict[str, Callable[[], list[Any]]]:
    cases: dict[str, Callable[[], list[Any]]] = {}
    noises = cycle((0.2, 1.0, 5.0))
    for sampling, length, (name, loss) in product(SAMPLINGS, LENGTHS, LOSSES.items()):
        run, target, other = _run(length, sampling, next(noises)), *TARGETS
        what = f"{name}, {sampling}, {length}"
        cases[f"bound at an order: {what}"] = partial(_bound, run, loss, target)
        cases[f"bound at a delta: {what}"] = partial(_bound, run, loss, other)
        if length in ("short", "free"):
            cases[f"lower bound at an order: {what}"] = partial(_lower, run, loss, target)
            cases[f"lower bound at a delta: {what}"] = partial(_lower, run, loss, other)
        if sampling in ("without_replacement", "poisson") and length in ("short", "long"):
            cases[f"bound at a small delta: {what}"] = partial(_bound, run, loss, SMALL_DELTA)
        if sampling in ("shuffled", "without_replacement", "poisson"):
            cases[f"routes: {what}"] = partial(_routes, run, loss)
        if length == "short":
            cases[f"compare: {what}"] = partial(_compared, run, loss)
    for vary, name in product(VARIED, ("smooth", "clipped", "strongly convex")):
        loss = LOSSES[name]
        run = (
            _run("short", "cyclic", 0.7)
            if vary == "batch_size"
            else replace(_run("long", "full", 0.2), steps=400)
        )
        cases[f"calibrate {vary}: {name}"] = partial(_calibrated, run, loss, vary)
    for sampling, target in product(SAMPLINGS, TARGETS):
        cases[f"random projections: {sampling}, {next(iter(target))}"] = partial(_projected, sampling, target)
    plain = Update(((-1.5, -1.75), (-0.8, -1.12), (0.8, 0.92), (1.5, 1.55)))
    met = Update(((-1.5, -0.95), (-0.8, -0.32), (0.8, 1.52), (1.5, 2.15)))
    for steps, chance, epoch in product((2, 9), (1.0, 0.3), (1, 4)):
        walk = Walk(steps, 3.0, (WalkStep(0.7, ((1.0, plain),), ((1.0, met),), chance),), epoch)
        cases[f"walk: {steps}, {chance}, {epoch}"] = partial(_walked, partial(last_masses, walk))
        known = Walk(steps, 3.0, (WalkStep.known(plain, 0.7),) * (epoch - 1) + (WalkStep.known(met, chance),))
        cases[f"walk: {steps}, {chance}, {epoch}, known batches"] = partial(
            _walked, partial(last_masses, known)
        )
    return cases


def _said(case: Callable[[], list[Any]]) -> Any:
    try:
        return json.loads(json.dumps(case()))
    except li.InputError as error:
        return str(error)


def _close(found: Any, known: Any, share: float = CLOSE) -> bool:
    if isinstance(known, list):
        return (
            isinstance(found, list)
            and len(found) == len(known)
            and all(map(_close, found, known, repeat(share)))
        )
    if isinstance(known, dict):
        return bool(found["about"] == pytest.approx(known["about"], rel=0.2, abs=0))
    if isinstance(known, float):
        return bool(found == pytest.approx(known, rel=share, abs=0))
    return bool(found == known)


def _kept(name: str, found: Any) -> bool:
    """Tell whether a case is as it is locked, where contraction has a say to a thousandth.

    A case that is kept stays as it was first locked: its last digits may be those of an earlier version.
    """
    return _close(found, KNOWN[name], 1e-3 if name.startswith(("compare", "calibrate")) else CLOSE)


CASES = _cases()
KNOWN = json.loads(LOCKED.read_text(encoding="utf-8")) if LOCKED.exists() else {}


BY_DAY = ("smooth", "clipped", "strongly convex", "minimum")
"""Losses of comparisons and of lower bounds, whose kinds of witnesses these have between them."""


def _kind(name: str) -> str:
    """The first word or two; a calibration by contraction takes seconds, and is a kind by itself."""
    kind, _, what = name.partition(": ")
    if kind in ("calibrate noise_std", "calibrate diameter"):
        return name
    at_night = kind.startswith(("compare", "lower bound")) and what.partition(",")[0] not in BY_DAY
    return f"{kind}: other losses" if at_night else kind


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=pytest.mark.nightly if ":" in kind and kind != "calibrate noise_std: clipped" else ()
        )
        for kind in dict.fromkeys(map(_kind, CASES))
    ],
)
def test_as_locked(kind: str) -> None:
    names = [name for name in CASES if _kind(name) == kind and name in KNOWN]
    changed = {name: (KNOWN[name], found) for name in names if not _kept(name, found := _said(CASES[name]))}
    assert not changed, "".join(
        f"\n{name}: was {known}, is {found}" for name, (known, found) in changed.items()
    )


def test_the_lock_has_no_more() -> None:
    assert set(KNOWN) == set(CASES)


if __name__ == "__main__":
    found = {name: _said(case) for name, case in CASES.items()}
    kept = {name: KNOWN[name] if name in KNOWN and _kept(name, one) else one for name, one in found.items()}
    rows = (f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(one)}" for name, one in kept.items())
    LOCKED.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
