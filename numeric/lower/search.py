"""A search over losses that an assumption admits: piecewise linear gradients, changed one number at a time.

It begins with the best run of the known families. A move changes the slope of one piece of the shared gradient, the
whole of it, or a value of the gradient of the sample that differs. Cyclic batches have shared gradients of their own,
so that the updates vary over an epoch. What is found is checked exactly, and its value is certified as any other.
"""

from dataclasses import replace

import numpy as np

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.lower.bounds import lower_bounds
from lastiterate.numeric.lower.gradients import Gradient
from lastiterate.numeric.lower.witness import Witness, refusal, with_value
from lastiterate.numeric.run import NoisySGD

_PIECES = 6
_LEAST_MOVE = 0.02
_MOST_BATCHES = 4
_COARSE = 6


@teaches()
def search_losses(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None, tries: int = 100
) -> Witness:
    """The run with the greatest certified loss that a coordinate ascent over piecewise linear gradients finds.

    Args:
        run: the run; its domain has a finite diameter.
        assumption: what the losses must meet.
        order: alpha > 1, for the Renyi divergence; or
        delta: in (0, 1), for the epsilon of (epsilon, delta)-DP. Exactly one of the two.
        tries: how many runs may be evaluated.

    Returns:
        A witness with its value, which `replay` confirms; not below `lower_bound` for the families on an interval.

    Raises:
        InputError: as `lower_bound`, or no family of losses on an interval speaks of the run.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> from lastiterate.numeric.lower.witness import replay
    >>> run = NoisySGD(40, 0.1, 1.0, 2.0, dataset_size=4, batch_size=2, sampling="cyclic", diameter=1.0)
    >>> witness = search_losses(run, Convex(4.0), order=2.0, tries=30)
    >>> replay(Witness.from_json(witness.to_json())) == witness.value > 0.02
    True
    """
    tries = count("tries", tries)
    known = [one.losses for one in lower_bounds(run, assumption, order=order, delta=delta) if one.losses]
    if not known:
        raise InputError(
            f"A search needs a run on a bounded domain that a family of losses speaks of, got D={run.diameter:g} and "
            f"{assumption!r}; give a finite diameter, or a smaller one."
        )
    first = max(known, key=lambda one: one.value)
    best = with_value(_refined(first), _COARSE)
    step, left = 0.5, tries
    while step > _LEAST_MOVE and left > 0:
        before = best.value
        for number in range(_numbers(best)):
            for sign in (1.0, -1.0):
                other = _moved(best, number, sign * step)
                if left <= 0 or other is None or refusal(other):
                    continue
                left -= 1
                other = with_value(other, _COARSE)
                if other.value > best.value * (1 + 1e-6):
                    best = other
                    break
        step = step if best.value > before * (1 + 1e-3) else step / 2
    return max((with_value(best), first), key=lambda one: one.value)


def _refined(witness: Witness) -> Witness:
    """The same losses with points for the search to move, and with shared gradients for each of a few batches."""
    run = witness.run
    several = run.scheme.fixed and 1 < run.batches <= _MOST_BATCHES and len(witness.shared) == 1
    shared = witness.shared * (run.batches if several else 1)
    return replace(
        witness,
        shared=tuple(_with_points(one) for one in shared),
        first=_with_points(witness.first),
        second=None if witness.second is None else _with_points(witness.second),
    )


def _with_points(gradient: Gradient) -> Gradient:
    """The same with more points; one that jumps stays as it is."""
    places, values = np.array(gradient).T
    if np.any(np.diff(places) == 0):
        return gradient
    more = np.union1d(places, np.linspace(places[0], places[-1], _PIECES + 1))
    return tuple(zip(more.tolist(), np.interp(more, places, values).tolist(), strict=True))


def _numbers(witness: Witness) -> int:
    return sum(len(one) + 1 for one in _gradients(witness))


def _gradients(witness: Witness) -> tuple[Gradient, ...]:
    return (*witness.shared, witness.first, *(() if witness.second is None else (witness.second,)))


def _moved(witness: Witness, number: int, step: float) -> Witness | None:
    """A witness with one of its numbers changed by a part of the clip norm; None where that changes nothing."""
    found: list[Gradient] = list(_gradients(witness))
    K, place = witness.run.clip_norm * (1 - 1e-13), number
    for i, gradient in enumerate(found):
        if place > len(gradient):
            place -= len(gradient) + 1
            continue
        values = np.array([value for _, value in gradient])
        if place == len(gradient):
            values += step * _scale(witness, i)
        elif i < len(witness.shared):  # a slope: all values from there on
            values[place:] += step * _scale(witness, i) / 2
        else:
            values[place] += step * _scale(witness, i)
        values = np.clip(values, -K, K)
        found[i] = tuple((x, float(value)) for (x, _), value in zip(gradient, values, strict=True))
        if found[i] == gradient:
            return None
        break
    shared = len(witness.shared)
    second = found[shared + 1] if witness.second is not None else None
    return replace(witness, shared=tuple(found[:shared]), first=found[shared], second=second)


def _scale(witness: Witness, i: int) -> float:
    """A gradient that moves an iterate over the domain, but no more than the clip norm; or that of the sample."""
    run, last = witness.run, witness.run.steps - 1
    across = 2 * witness.half / run.step_size_at(last)
    return run.clip_norm * (1.0 if i >= len(witness.shared) else min(1.0, across / run.clip_norm))
