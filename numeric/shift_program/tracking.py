"""The distance of two coupled runs, followed forward: D_(t+1) = min(D, e_t(D_t)), rounded up.

Where gradients are clipped a distance that is large grows by the same length in every period of the batches. Let E be
the expansion of a part of a period; it is concave where those of its steps are. A slope of E beyond z is at most that
of its chord from z/2 to z. Where this is 1 for each part, E(z + x) <= E(z) + x, and so D_(t + j p + i) <= D_(t + i) +
j (E_p(D_t) - D_t): all the rest is known after one period. Where it is less that holds too, but is not tight.

Source: Chien & Li 2025, Lemmas 3.5 and 3.10.
"""

from collections.abc import Callable

import numpy as np
from flint import arb

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.losses.expansion import Expansion
from lastiterate.numeric.rounding import exact, precision, upper

_EPS = float(np.finfo(float).eps)
_FIRST = 64
"""Steps after which the distance is first tried for even growth; then whenever there are twice as many."""
_FLAT = arb(2) ** -100
"""The slope of a chord may be so far from 1: over as many steps as there are entries that is far less than rounding."""


def tracked_distances(
    expansion: Callable[[int], Expansion],
    steps: int,
    initial: float,
    diameter: float,
    *,
    period: int | None,
    stays: bool,
) -> Array:
    """Distances before steps 0 to ``steps`` - 1 and after the last, shape (steps + 1,), lengths rounded up.

    Args:
        expansion: e of each step.
        steps: how many there are.
        initial: distance at the beginning, a length.
        diameter: D, a length; may be infinite.
        period: of steps that repeat, None where they do not.
        stays: whether a distance that has reached the diameter stays there.
    """
    distances, tried = np.full(steps + 1, diameter), max(_FIRST, 2 * (period or 0))
    distances[0] = initial
    for t in range(steps):
        with precision():
            step = upper(expansion(t).ball(exact(float(distances[t]))))
        if step >= diameter and stays:
            break  # once at the diameter, always there
        distances[t + 1] = min(step, diameter)
        if period == 1 and distances[t + 1] == distances[t]:
            distances[t + 1 :] = distances[t]
            break
        if period is not None and t + 1 == tried:
            tried *= 2
            rest = _evenly_grown(expansion, t + 1, float(distances[t + 1]), steps - t - 1, period)
            if rest is not None:
                distances[t + 2 :] = np.minimum(rest, diameter)
                break
    return distances


def _evenly_grown(
    expansion: Callable[[int], Expansion], t: int, distance: float, steps: int, period: int
) -> Array | None:
    """Distances after each of so many steps from t on; None where they are not known to grow evenly."""
    if not (0 < distance < np.inf and steps > period):
        return None
    with precision():
        far, near, ends = exact(distance), exact(distance) / 2, list[float]()
        for i in range(period):
            e = expansion(t + i)
            if not e.concave:
                return None
            far, near = e.ball(far), e.ball(near)
            if not abs((far - near) / (exact(distance) / 2) - 1) <= _FLAT:
                return None
            ends.append(upper(far))
        rise = max(upper(far - exact(distance)), 0.0)
    rounds = np.arange(-(-steps // period))[:, None]
    return np.asarray(((np.array(ends) + rounds * rise) * (1 + 8 * _EPS)).ravel()[:steps])
