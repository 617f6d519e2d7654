"""The run that just meets a privacy target: least noise, most steps, or widest domain.

The answer is always on the safe side: it is a run whose `Bound` was computed and meets the target. A bisection moves
the other end towards it.
"""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite, sqrt
from typing import Final

from lastiterate.numeric.assumptions import Assumption
from lastiterate.numeric.bound import Bound, RenyiBound, bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, positive

__all__ = ["VARIED", "calibrate"]

_TIGHT = 1 + 1e-9
_FAR = 1e18
_MOST_STEPS = 10**9


def calibrate(
    run: NoisySGD,
    assumption: Assumption,
    *,
    epsilon: float,
    order: float | None = None,
    delta: float | None = None,
    vary: str = "noise_std",
) -> Bound | RenyiBound:
    """Change one number of the run until its privacy loss is at most epsilon, and hardly less.

    Args:
        run: the run; its own value of what is varied is only a starting point. Schedules of noise are scaled.
        assumption: what is assumed of the losses.
        epsilon: the target, above 0.
        order: the target is of (order, epsilon)-RDP.
        delta: the target is of (epsilon, delta)-DP. Exactly one of the two.
        vary: "noise_std" (the least), "steps" (the most) or "diameter" (the widest).

    Returns:
        The bound of the calibrated run, which is its field ``run``. The noise and the diameter are within 1e-9 of
        where the bound crosses the target.

    Raises:
        InputError: as `bound`, or no value meets the target, or every value does.

    >>> from lastiterate.numeric.assumptions import Convex
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> found = calibrate(run, Convex(1.0), epsilon=1.0, delta=1e-5)
    >>> found.epsilon <= 1.0, round(found.run.noise_std, 3)
    (True, 2.111)
    """
    epsilon = positive("epsilon", epsilon)
    if (order is None) == (delta is None):
        raise InputError(f"calibrate needs an order or a delta, got order={order}, delta={delta}; pass exactly one.")
    if vary not in VARIED:
        raise InputError(f"vary needs one of {', '.join(VARIED)}, got vary={vary!r}; choose one of them.")

    def found(changed: NoisySGD) -> Bound | RenyiBound | None:
        here = bound(changed, assumption, order=order, delta=delta)
        return here if here.epsilon <= epsilon else None

    return VARIED[vary](run, found, epsilon)


_Met = Callable[[NoisySGD], Bound | RenyiBound | None]
"""The bound of a run that meets the target, None for one that does not."""


def _noise(run: NoisySGD, met: _Met, epsilon: float) -> Bound | RenyiBound:
    def scaled(factor: float) -> NoisySGD:
        noise = run.noise_std
        return replace(run, noise_std=tuple(factor * v for v in noise) if isinstance(noise, tuple) else factor * noise)

    return _bisect(lambda x: met(scaled(1 / x)), "noise_std", epsilon)


def _diameter(run: NoisySGD, met: _Met, epsilon: float) -> Bound | RenyiBound:
    start = run.diameter if isfinite(run.diameter) else 1.0
    unprojected = met(replace(run, diameter=float("inf")))
    if unprojected is not None:
        raise InputError(
            f"vary='diameter' needs a target that depends on the domain, got epsilon={epsilon:g}, "
            "which holds without projection; vary something else."
        )
    return _bisect(lambda x: met(replace(run, diameter=start * x)), "diameter", epsilon)


def _bisect(met: Callable[[float], Bound | RenyiBound | None], name: str, epsilon: float) -> Bound | RenyiBound:
    """The largest factor that meets the target, from a factor of 1 both ways."""
    low, best = 1.0, met(1.0)
    while best is None and low > 1 / _FAR:
        low /= 16
        best = met(low)
    if best is None:
        raise InputError(f"The target needs to be within reach of {name}, got epsilon={epsilon:g}; ask for less.")
    high = 16 * low
    while (more := met(high)) is not None and high < _FAR:
        low, best, high = high, more, 16 * high
    while high > low * _TIGHT:
        middle = sqrt(low * high)
        more = met(middle)
        if more is None:
            high = middle
        else:
            low, best = middle, more
    return best


def _steps(run: NoisySGD, met: _Met, epsilon: float) -> Bound | RenyiBound:
    if not run.constant:
        raise InputError("vary='steps' needs a constant step_size and noise_std, got a schedule; vary the noise.")
    low, best = 1, met(replace(run, steps=1))
    if best is None:
        raise InputError(f"The target needs to hold after one step, got epsilon={epsilon:g}; add noise.")
    high = 2
    while (more := met(replace(run, steps=high))) is not None:
        if high >= _MOST_STEPS:
            raise InputError(
                f"vary='steps' needs a target that steps can reach, got epsilon={epsilon:g}, which holds for every "
                f"number of steps up to {high:,}; the loss has converged below it."
            )
        low, best, high = high, more, min(2 * high, _MOST_STEPS)
    while high - low > 1:
        middle = (low + high) // 2
        more = met(replace(run, steps=middle))
        if more is None:
            high = middle
        else:
            low, best = middle, more
    return best


VARIED: Final[dict[str, Callable[[NoisySGD, _Met, float], Bound | RenyiBound]]] = {
    "noise_std": _noise,
    "steps": _steps,
    "diameter": _diameter,
}
"""What can be calibrated."""
