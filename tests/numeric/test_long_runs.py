"""Constant runs on a bounded domain: once the window is shorter than the run, a longer run costs no more."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from lastiterate.numeric.bound import bound_by_shifts as bound
from lastiterate.numeric.losses.assumptions import (
    Assumption,
    Blocks,
    Clipped,
    Convex,
    Holder,
    Minimum,
    Smooth,
    StronglyConvex,
    Sum,
    Tabulated,
)
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.run import NoisySGD

_KINDS: dict[str, Assumption] = {
    "clipped": Clipped(),
    "holder": Holder(0.1, 0.5),
    "smooth": Smooth(0.1),
    "convex": Convex(1.0),
    "strongly convex": StronglyConvex(1.0, 0.1),
    "tabulated": Tabulated((0.2, 0.5), (0.05, 0.1)),
    "sum": Sum(Smooth(0.05), Holder(0.05, 0.5)),
    "blocks": Blocks(Smooth(0.05), Holder(0.05, 0.5)),
    "minimum": Minimum(Smooth(0.1), Holder(0.1, 0.5)),
}
_EPOCHS = {"cyclic": 5, "shuffled": 5}
_SETTLED = 100_000
"""Steps, a multiple of an epoch: every best window below is shorter."""
_LIMITS = (4096, 8192, 1 << 16, 200_000, 1 << 22, 10_000_000, 5 << 21)
"""Where the package once changed its ways, or does so still."""


def _run(steps: int, scheme: str) -> NoisySGD:
    batches = {} if scheme == "full" else {"batch_size": 4}
    diameter = 0.1 if scheme in ("without_replacement", "poisson") else 1.0
    return NoisySGD(steps, 0.1, 1.0, 2.0, 20, sampling=scheme, diameter=diameter, **batches)  # type: ignore[arg-type]


def _longer(seed: int, per: int) -> list[int]:
    """Lengths up to 10^15 with the same last epoch: across powers of ten, and just above a limit."""
    rng = np.random.default_rng(seed)
    drawn = [int(10 ** rng.uniform(5.1, 15)), int(rng.choice(_LIMITS)) + 1 + _SETTLED]
    return [steps // per * per for steps in drawn]


_QUICK = {("full", "order"), ("shuffled", "order"), ("poisson", "order"), ("full", "delta")}
_SLOW = ("poisson", "order", "clipped")
_SCHEMES = ("full", "cyclic", "shuffled", "without_replacement", "poisson")
_CASES = [
    pytest.param(
        *case,
        marks=() if case != _SLOW and (case[:2] in _QUICK or case[2] == "convex") else pytest.mark.nightly,
    )
    for case in product(_SCHEMES, ("order", "delta"), _KINDS)
]


@pytest.mark.parametrize(("scheme", "target", "kind"), _CASES)
@pytest.mark.sweep(3)
def test_a_longer_run_costs_no_more(scheme: str, target: str, kind: str) -> None:
    goal: dict[str, Any] = {"order": 2.0} if target == "order" else {"delta": 1e-5}
    run, assumption = _run(_SETTLED, scheme), _KINDS[kind]
    settled = bound(run, assumption, **goal)
    # From 0 and contracting: what is long ago is forgotten.
    assert settled.window[0] > 0 or kind == "strongly convex"
    for steps in _longer(len(scheme + kind), _EPOCHS.get(scheme, 1)):
        assert bound(replace(run, steps=steps), assumption, **goal).epsilon <= settled.epsilon * (1 + 1e-9), (
            steps
        )


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["cyclic", "shuffled"])
def test_as_many_participations_as_there_are(scheme: str) -> None:
    """2^21 of them, and 10^7 steps, were once the most that were looked at."""
    run = NoisySGD(5, 0.1, 1.0, 2.0, 20, batch_size=4, sampling=scheme, diameter=1e6)
    for steps in (5 << 21, 5 + (5 << 21), 10**15):
        found = bound(replace(run, steps=steps), Convex(1.0), order=2.0)
        s = 2 * 0.1 * 2.0 / 4
        # A participation costs s^2 / 5, a window (D + s m)^2 / 5 m.
        exact = min(steps // 5 * s**2 / 5, 4 * 1e6 * s / 5)
        assert exact <= found.epsilon <= exact * (1 + 1e-5) + 1


@pytest.mark.parametrize("kind", ["smooth", "holder", "strongly convex"])
@pytest.mark.sweep(1)
def test_the_sizes_that_count_are_those_of_the_window(kind: str) -> None:
    """The chance of a batch that is too large was once spread over all steps of the run, and grew with them."""
    run = NoisySGD(10**4, 0.1, 0.1, 1.0, 100, batch_size=5, sampling="poisson", diameter=0.05)
    goal: dict[str, Any] = {"order": 2.0}
    settled, long = (bound(replace(run, steps=steps), _KINDS[kind], **goal) for steps in (10**4, 10**15))
    assert long.window == (10**15 - settled.window[1] + settled.window[0], 10**15)
    assert lower_bound(run, _KINDS[kind], **goal).value <= long.epsilon <= settled.epsilon * (1 + 1e-9)


@pytest.mark.nightly
def test_batches_without_number() -> None:
    run = NoisySGD(10**15, 0.1, 1.0, 2.0, 10**12, batch_size=1, sampling="shuffled", diameter=1.0)
    settled = bound(replace(run, steps=2 * 10**13), Convex(1.0), order=2.0)
    assert settled.window[0] > 0
    assert bound(run, Convex(1.0), order=2.0).epsilon <= settled.epsilon * (1 + 1e-9)
