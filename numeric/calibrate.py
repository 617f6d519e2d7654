"""The run that just meets a privacy target: least noise, most steps, widest domain, or smallest batch."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, inf, isfinite, log
from typing import Any, ClassVar, Final

from lastiterate.numeric.bound import Bound, PrivacyLoss, bound
from lastiterate.numeric.display import TextTable
from lastiterate.numeric.errors import InputError, order_or_delta, positive, suggestion, teaches
from lastiterate.numeric.explain import remarks
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.schemes import SCHEMES

_TIGHT, _TIGHT_SEARCHED = 1 + 1e-9, 1 + 1e-5
"""Tolerance of the crossing, as a factor: for bounds by shifts, and for bounds that result from a search."""
_FAR = 1e18
_MOST_STEPS = 10**9
_FEW_SIZES = 16


@teaches()
@dataclass(frozen=True)
class Calibrated(Bound):
    """Bound for the run whose field ``vary`` is set so that the target epsilon is just met."""

    vary: str = ""
    target: float = 0.0
    _caption: ClassVar[str] = "The run that meets the target; a bound, rounded up"

    @property
    def value(self) -> Any:
        """Value of the field ``vary``; the largest value tried if `any_steps`."""
        return getattr(self.run, self.vary)

    @property
    def any_steps(self) -> bool:
        """Tell whether the target holds for any number of steps."""
        known = self.window[0] > 0 and not self.run.scheme.permuted
        return self.vary == "steps" and self.value == _MOST_STEPS and known

    def __str__(self) -> str:
        multiplier = remarks(self.run, None).get("noise multiplier", "") if self.vary == "noise_std" else ""
        found = f"{self.vary} = {self._words}{multiplier and f' (noise multiplier {multiplier})'}"
        met = PrivacyLoss.__str__(self)
        return f"{found}\nthe last iterate is {met}, by {self.route}; the target is at most {self.target:g}"

    def as_dict(self) -> dict[str, object]:
        found = {self.vary: self.value} | super().as_dict() | {"kind": "bound"}
        return found | ({"any_steps": self.any_steps} if self.vary == "steps" else {})

    def table(self) -> TextTable:
        found = super().table()
        rows = (self.vary, self._words), ("target epsilon", f"{self.target:g}")
        return replace(found, rows=(*rows, *found.rows))

    @property
    def _words(self) -> str:
        if self.any_steps:
            charged = self.window[1] - self.window[0]
            return f"any number (the bound for {self.value:,} charges only the last {charged:,})"
        return repr(self.value)


@teaches()
def calibrate(
    run: NoisySGD,
    assumption: Assumption,
    *,
    epsilon: float,
    order: float | None = None,
    delta: float | None = None,
    vary: str = "noise_std",
) -> Calibrated:
    """Change one field of the run so that its privacy loss just meets a target.

    Args:
        run: the run; the search starts from its value of the varied field. Noise schedules are scaled.
        assumption: as in `bound`.
        epsilon: target epsilon, above 0.
        order: makes the target (order, epsilon)-RDP.
        delta: makes the target (epsilon, delta)-DP. Give exactly one of order and delta.
        vary: "noise_std" (smallest), "steps" (most), "diameter" (widest) or "batch_size" (smallest).

    Returns:
        The bound for the calibrated run. Noise or diameter is within a relative 1e-9 of the crossing (1e-5
            for random batches or contraction). The next smaller allowed batch size misses the target; if at
            most 16 sizes are allowed, all smaller sizes miss it.

    Raises:
        InputError: as in `bound`, or no value meets the target, or every noise tried meets it.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> round(calibrate(run, Convex(1.0), epsilon=1.0, delta=1e-5).run.noise_std, 3)
    0.559
    """
    described_run("calibrate", run, groups=True, momentum=True)
    epsilon = positive("epsilon", epsilon, toward=-inf)
    order, delta = order_or_delta("calibrate", order, delta)
    if not isinstance(vary, str) or vary not in VARIED:
        raise InputError(
            f"vary needs one of {', '.join(VARIED)}, got vary={vary!r}; {suggestion(vary, VARIED)}"
        )
    best = VARIED[vary](run, lambda changed: bound(changed, assumption, order=order, delta=delta), epsilon)
    return Calibrated(best.run, assumption, best.order, best.delta, best.candidate, vary, epsilon)


_At = Callable[[NoisySGD], Bound]


def _noise(run: NoisySGD, at: _At, epsilon: float) -> Bound:
    def scaled(factor: float) -> NoisySGD:
        noise = run.noise_std
        return replace(
            run, noise_std=tuple(v / factor for v in noise) if isinstance(noise, tuple) else noise / factor
        )

    return _largest_factor(lambda x: at(scaled(x)), "noise_std", epsilon)


def _diameter(run: NoisySGD, at: _At, epsilon: float) -> Bound:
    start = run.diameter if isfinite(run.diameter) else 1.0
    if (free := at(replace(run, diameter=inf))).epsilon <= epsilon:
        return free
    return _largest_factor(lambda x: at(replace(run, diameter=start * x)), "diameter", epsilon)


def _largest_factor(at: Callable[[float], Bound], name: str, epsilon: float) -> Bound:
    """The bound at the largest factor that meets the target, searched in both directions from 1."""
    low, best, leap = 1.0, at(1.0), 2.0
    while best.epsilon > epsilon and low > 1 / _FAR:
        low, leap = low / leap, min(leap**2, 16.0)
        best = at(low)
    if best.epsilon > epsilon:
        raise InputError(
            f"The target must be reachable by varying {name}, got epsilon={epsilon:g}; ask for a larger epsilon, "
            "or vary something else."
        )
    high = low * leap
    while (more := at(high)).epsilon <= epsilon and high < _FAR:
        low, best, leap = high, more, min(leap**2, 16.0)
        high *= leap
    if more.epsilon <= epsilon:
        raise InputError(
            f"The value of {name} that just meets the target must be within a factor of {_FAR:g} of the run's "
            f"own value, got epsilon={epsilon:g}, which every value in that range meets; start from another run."
        )
    searched = best.run.scheme.random or best.candidate.renyi or best.route == "contraction"
    tight = _TIGHT_SEARCHED if searched else _TIGHT
    return _crossing(at, {low: best, high: more}, epsilon, log(tight))


def _steps(run: NoisySGD, at: _At, epsilon: float) -> Bound:
    if not run.constant:
        raise InputError(
            "vary='steps' needs one step_size, noise_std and batch_size for all steps, got a schedule; vary noise_std."
        )
    low, best = 1, at(replace(run, steps=1))
    if best.epsilon > epsilon:
        raise InputError(
            f"The target must be attainable by a run of one step, got epsilon={epsilon:g}; add noise."
        )
    # Epsilon grows at most in proportion to the steps, so the first try rarely misses the target.
    high, leap = max(2, int(min(epsilon / max(best.epsilon, 1e-300), _MOST_STEPS))), 2
    while (more := at(replace(run, steps=high))).epsilon <= epsilon:
        if high >= _MOST_STEPS:
            return more
        low, best, high, leap = high, more, min(leap * high, _MOST_STEPS), min(leap**2, 16)
    return _crossing(
        lambda steps: at(replace(run, steps=round(steps))), {low: best, high: more}, epsilon, whole=True
    )


def _crossing(
    at: Callable[[float], Bound],
    known: dict[float, Bound],
    epsilon: float,
    close: float = 1e-11,
    *,
    whole: bool = False,
) -> Bound:
    """Bound at the largest value found to meet the target, by Brent's method on logarithms.

    The smaller ``known`` value meets the target. Some value within ``close`` of the result on a logarithmic
    scale misses the target; if ``whole``, the next integer does.
    """
    from scipy.optimize import brentq  # slow import, rarely needed

    ends = sorted(known)

    def gap(place: float) -> float:
        """Logarithm of the ratio of epsilon to the target, kept away from 0 and from infinity."""
        x: float = round(exp(place)) if whole else exp(place)
        x = next((end for end in ends if place == log(end)), x)
        found = known[x] if x in known else known.setdefault(x, at(x))
        over = log(min(max(found.epsilon, 1e-300), 1e300)) - log(epsilon)
        return max(over, 1e-12) if found.epsilon > epsilon else min(over, -1e-12)

    brentq(gap, *map(log, ends), xtol=close, maxiter=10_000)
    return known[max(x for x, found in known.items() if found.epsilon <= epsilon)]


def _batch_size(run: NoisySGD, at: _At, epsilon: float) -> Bound:
    if isinstance(run.batch_size, tuple):
        raise InputError("vary='batch_size' needs one size for all steps, got a schedule; vary noise_std.")
    n, scheme = run.dataset_size, SCHEMES[run.sampling]
    if scheme.full:
        raise InputError(
            f"vary='batch_size' needs a run in batches, got sampling={run.sampling!r}; specify how batches are "
            "drawn, for example sampling='without_replacement'."
        )
    sizes: Sequence[int] = [b for b in range(1, n + 1) if n % b == 0] if scheme.in_epochs else range(1, n + 1)

    @cache
    def of(index: int) -> Bound:
        return at(replace(run, batch_size=sizes[index]))

    few = (found for index in range(len(sizes)) if (found := of(index)).epsilon <= epsilon)
    if len(sizes) <= _FEW_SIZES and (smallest := next(few, None)):
        return smallest
    high = len(sizes) - 1
    while of(high).epsilon > epsilon and high > 0:  # only a tiny batch may meet the target
        high //= 4
    if of(high).epsilon > epsilon:
        raise InputError(
            f"The target must be reachable by varying batch_size, got epsilon={epsilon:g}; add noise."
        )
    return of(bisect_left(range(high), True, key=lambda index: of(index).epsilon <= epsilon))


VARIED: Final[dict[str, Callable[[NoisySGD, _At, float], Bound]]] = {
    "noise_std": _noise,
    "steps": _steps,
    "diameter": _diameter,
    "batch_size": _batch_size,
}
"""Parameters that can be calibrated."""
