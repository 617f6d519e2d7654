"""Search for losses on an interval with a large privacy loss, in families tuned to a run.

The differing sample has opposite gradients in the two data sets. The shared samples either have constant
curvature, or push outwards as strongly as the assumption allows, outside a dead zone in which the moves of
the differing sample accumulate. They may also all pull in one direction, so that clamping does not hide the
last step. Each candidate is checked in exact arithmetic and certified like any other witness.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, sqrt

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.lower.gradients import (
    Gradient,
    admits_gradient,
    affine_gradient,
    least_curvature,
    steepest_push,
)
from lastiterate.numeric.lower.masses import Target
from lastiterate.numeric.lower.walk import WIDEST
from lastiterate.numeric.lower.witness import Witness, refusal, with_value
from lastiterate.numeric.run import NoisySGD

_JUST_BELOW = 1 - 1e-13
_NARROW = 50.0
_SHORT = 600
_SAFE = 1 - 1e-9
_NANOSECONDS = 0.6e9
"""Approximate time limit for the search of a family."""
_MOST_NANOSECONDS = 1.8e9
"""Time limit for Poisson batches; if one witness would take longer, the shared samples are given zero gradients."""
_MOST = 24
_COARSE = 6
_FIRST_STEPS = 3
_Place = tuple[float, ...]
"""Three numbers in [0, 1]: the pull of the shared samples, the dead zone, and the reduction of the push."""


@dataclass(frozen=True)
class _Family:
    words: str
    make: Callable[[_Place], Witness]
    free: tuple[int, ...]


def interval_witnesses(run: NoisySGD, assumption: Assumption, target: Target) -> Iterator[tuple[str, Witness]]:
    """For each family, a description and the best witness found, with its value."""
    for family in _families(run, assumption, target):
        best = _tuned(family, _budget(run))
        if best is not None:
            pull = ", pulled one way" if best[0][0] else ""
            yield f"{family.words}{pull}", best[1]


def widest(run: NoisySGD) -> float:
    """Maximum interval length in units of the noise; smaller for long shuffled runs, which cost more."""
    return _NARROW if run.scheme.permuted and run.steps > _SHORT else WIDEST


def _tuned(family: _Family, budget: int) -> tuple[_Place, Witness] | None:
    seen: dict[_Place, float] = {}

    def value(place: _Place) -> float:
        if place not in seen:
            seen[place] = with_value(family.make(place), _COARSE).value
        return seen[place]

    def moved(i: int, x: float) -> _Place:
        return (*best[:i], min(max(x, 0.0), 1.0), *best[i + 1 :])

    best: _Place = (0.0, 0.0, 0.0)
    value(best)
    for i in family.free:
        scan = [moved(i, x) for x in (0.1, 0.2, 0.35, 0.65, 1.0)]
        best = max((best, *scan[: max(budget - len(seen), 0)]), key=value)
    step = 0.1
    while step > 0.01 and len(seen) < budget:
        near = [moved(i, best[i] + sign * step) for i in family.free for sign in (1, -1)]
        better = max((best, *near), key=value)
        best, step = better, step if better != best else step / 2
    witness = with_value(family.make(best))
    return (best, witness) if witness.value > 0 and not refusal(witness) else None


def _budget(run: NoisySGD) -> int:
    sizes = _sizes(run) if _cost(run, _sizes(run)) <= _MOST_NANOSECONDS else 1.0
    return int(min(max((_NANOSECONDS if sizes == 1 else _MOST_NANOSECONDS) / _cost(run, sizes), 1), _MOST))


def _sizes(run: NoisySGD) -> float:
    return 1.0 if run.scheme.fixed_size else min(18 * sqrt(run.batch) + 1, run.dataset_size)


def _cost(run: NoisySGD, sizes: float) -> float:
    noise = min(run.noise_std) if isinstance(run.noise_std, tuple) else run.noise_std
    wide = min(run.diameter / noise, WIDEST)
    states, cells = 34 + 11 * wide, 6 * wide + 120
    steps = min(run.steps, 20 + 4 * wide**2, 600)
    kernels = 2 * sizes + (0 if run.constant else min(run.steps, 600))
    return (40 if sizes == 1 else 100) * kernels * states * (states + 2 * cells) + 2 * steps * states**2


def _families(run: NoisySGD, assumption: Assumption, target: Target) -> Iterator[_Family]:
    noise = min(run.noise_std) if isinstance(run.noise_std, tuple) else run.noise_std
    half = min(run.diameter, widest(run) * noise) / 2 * _JUST_BELOW
    blank = affine_gradient(half, 0.0, 0.0)
    base = Witness(run, assumption, (blank,), blank, blank, order=target.order, delta=target.delta)
    m = least_curvature(assumption)
    shares = run.scheme.fixed_size or _cost(run, _sizes(run)) <= _MOST_NANOSECONDS
    shares = shares and run.dataset_size > 1
    pull: tuple[int, ...] = (0,) if shares else ()
    starts = (0.0, -half) if run.steps <= _FIRST_STEPS else (0.0,)
    for start in starts:
        here = replace(base, start=start)
        if m * run.diameter / 2 < run.clip_norm * _JUST_BELOW and admits_gradient(
            assumption, affine_gradient(half, m, 0.0)
        ):
            words = f"clamped quadratics of curvature {m:g}" if m else "clamped linear losses"
            yield _Family(words, partial(_curved, here, m), pull)
        kappa = 0.0 if m else steepest_push(assumption, run) * _SAFE
        if kappa > 0 and shares:
            words = "gradients that push outwards as hard as they may"
            zone = (1,) if kappa * half > run.clip_norm else ()
            weaker = (2,) if _weakest(here) < run.clip_norm / 2 else ()
            yield _Family(words, partial(_pushed, here, kappa), weaker + pull + zone)


def _strongest(witness: Witness) -> float:
    """Largest useful gradient of the shared samples: it moves every iterate past the end of the interval."""
    run, noise = witness.run, witness.run.noise_std_at(witness.run.steps - 1)
    move = run.step_size_at(run.steps - 1) * (run.batch - 1 if run.batch > 1 else 1) / run.batch
    return min(run.clip_norm * _JUST_BELOW, (2 * witness.half + 7 * noise) / move)


def _weakest(witness: Witness) -> float:
    run, last = witness.run, witness.run.steps - 1
    shared = (run.batch - 1 if run.batch > 1 else 1) / run.batch
    return run.noise_std_at(last) / 2 / (run.step_size_at(last) * shared)


def _curved(base: Witness, m: float, place: _Place) -> Witness:
    half, tilt = base.half, base.run.clip_norm * _JUST_BELOW - m * base.run.diameter / 2
    pull = min(place[0] * _strongest(base), tilt)
    return _both(base, *(affine_gradient(half, m, one) for one in (-pull, tilt, -tilt)))


def _pushed(base: Witness, kappa: float, place: _Place) -> Witness:
    half, K = base.half, base.run.clip_norm * _JUST_BELOW
    push = K * min(_weakest(base) / K, 1.0) ** place[2]
    tilt = min(place[0] * _strongest(base), push)
    shared = _outward(half, push, kappa, -tilt, place[1] * half * 0.999)
    return _both(base, shared, affine_gradient(half, 0.0, K), affine_gradient(half, 0.0, -K))


def _both(base: Witness, shared: Gradient, first: Gradient, second: Gradient) -> Witness:
    return replace(
        base, shared=(shared,), first=first, second=None if base.run.adjacency == "add_remove" else second
    )


def _outward(half: float, K: float, kappa: float, tilt: float, zone: float) -> Gradient:
    """``tilt`` on [-zone, zone], and slope -kappa outside, up to K on the left and down to -K on the right."""
    left, right = ((zone + (K + sign * tilt) / kappa if isfinite(kappa) else zone) for sign in (-1, 1))
    middle = [(-zone, tilt), (zone, tilt)] if zone else []
    inside = [(x, g) for x, g in [(-left, K), *middle, (right, -K)] if -half < x < half]
    ends = (
        K if left < half else tilt + kappa * (half - zone),
        -K if right < half else tilt - kappa * (half - zone),
    )
    return ((-half, ends[0]), *inside, (half, ends[1]))
