"""A distance that two coupled runs never exceed, though their domain may: what contracts goes only so far.

Where e_t(z) <= z for every step and the runs begin at most z apart, they stay so, since e_t does not decrease.
The distance is searched for in floats; that it is one is shown in balls.

Source: docs/proofs/expansions.md, "Weight decay".
"""

from collections.abc import Iterable
from math import inf, isfinite

import numpy as np
from scipy.optimize import brentq

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD

_DOUBLINGS, _SIZES = 100, 64
"""Doublings of a distance that are tried, and step sizes of a schedule that are looked at."""
_ABOVE = 1 + 1e-9


def least_diameter(run: NoisySGD, assumption: Assumption, initial: float) -> float:
    """The diameter of the domain, or a lesser distance that two runs keep by weight decay where no line tells it.

    Args:
        run: with batches of fixed size.
        assumption: of its losses.
        initial: distance of the runs at the beginning, a length.
    """
    with precision():
        if assumption.expansion(run, 0, differs=True).affine_on(run.diameter) is not None:
            return run.diameter
        steps = {(run.step_size_at(t), run.batch_at(t)): t for t in range(1 if run.constant else run.steps)}.values()
        if len(steps) > _SIZES:
            return run.diameter
        every = [assumption.expansion(run, t, differs=met) for t in steps for met in (True, False)]
        return min(run.diameter, invariant_distance(every, initial))


def invariant_distance(expansions: Iterable[Expansion], initial: float) -> float:
    """A distance of at least ``initial`` that no update exceeds once it is not exceeded; inf where none is found.

    Args:
        expansions: of every update, once each; all nondecreasing.
        initial: a length, at least 0.

    >>> from flint import arb
    >>> from lastiterate.numeric.losses.expansion import Affine
    >>> round(invariant_distance([Affine(arb(0.5), arb(1.0))], 0.0), 6)
    2.0
    """
    every = list(expansions)

    def excess(z: float) -> float:
        return max(float(one.value(np.array([z]))[0]) for one in every) - z

    low = max(initial, max(float(one.sensitivity) for one in every))
    high = low
    for _ in range(_DOUBLINGS):
        if excess(high) <= 0:
            break
        low, high = high, 2 * high
    found = high if excess(low) <= 0 else float(brentq(excess, low, high)) if excess(high) <= 0 else inf
    distance = initial if found == initial else found * _ABOVE
    with precision():
        kept = isfinite(distance) and all(one.ball(exact(distance)) <= exact(distance) for one in every)
    return distance if kept else inf
