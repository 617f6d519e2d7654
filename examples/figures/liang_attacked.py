"""Attacks in Figures 2 and 3 of Liang et al. 2026.

The paper attacks a ResNet-18 on CIFAR-10 by membership inference, with noise so small that the certified epsilon is in
the millions. Here a logistic regression on scikit-learn's breast-cancer data is attacked, with noise at which attacks
and bounds are on one scale.
"""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Final

from curves import RunOf
from figure_cache import FigureCache
from plotting import Curve, CurveKind

from lastiterate.numeric.run import NoisySGD

DELTA: Final = 1e-5
"""The confidence level of D.4."""
WORKLOAD: Final = "builtin:breast-cancer"
SAMPLES: Final = 140
"""Samples of a run: the first of the 569."""


def doublings(last: int, every: int = 1) -> tuple[int, ...]:
    """1, 2, 4, ... up to ``last``, or every second of them and so on.

    >>> doublings(20), doublings(64, every=2)
    ((1, 2, 4, 8, 16), (1, 4, 16, 64))
    """
    return tuple(2**k for k in range(0, last.bit_length(), every) if 2**k <= last)


def attacked(keep: FigureCache, kind: str, epochs: Sequence[int], run_of: RunOf, runs: int) -> Curve:
    """Lower confidence bound of an attack, and above it, as a bar, the estimate (20) of the paper from its rates.

    The kind is "canary" or "shadow", the runs are those on each of the two data sets.
    """
    pairs = [_attack(keep, kind, run_of(epoch), runs) for epoch in epochs]
    low = tuple(epsilon for epsilon, _observed in pairs)
    high = tuple(max(epsilon, observed) if isfinite(observed) else epsilon for epsilon, observed in pairs)
    words = {"canary": "worst-case canary", "shadow": "shadow models, a real sample"}
    marker = {"canary": "o", "shadow": "X"}[kind]
    return Curve(
        f"attack {kind}",
        words[kind],
        tuple(epochs),
        low,
        CurveKind.ATTACK,
        line="",
        marker=marker,
        low=low,
        high=high,
    )


def _attack(keep: FigureCache, kind: str, run: NoisySGD, runs: int) -> tuple[float, float]:
    """The lower confidence bound and the observed value of one attack."""

    def measure() -> dict[str, list[float]]:
        from lastiterate.runtime.attacks.attack import attack
        from lastiterate.runtime.workloads.loading import load_workload

        found = attack(load_workload(WORKLOAD), run, kind, delta=DELTA, runs=runs)
        return {"epsilon": [found.epsilon], "observed": [found.observed]}

    found = keep(
        {"attack": kind, "workload": WORKLOAD, "run": asdict(run), "runs": runs, "delta": DELTA}, measure
    )
    return float(found["epsilon"][0]), float(found["observed"][0])


def attack_note(runs: int) -> str:
    """Explain a mark of `attacked`, and in which direction every number errs."""
    return (
        f"Attacks see the last iterates of {runs} runs on each data set: marks are 95% Clopper-Pearson lower bounds of "
        "ε, bars reach up to (20) of the paper at the observed rates where that is finite, which bounds nothing. Upper "
        "bounds are rounded up, lower ones down."
    )
