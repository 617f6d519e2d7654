"""Tilt and grid of a composition: any choice is valid, a good one is tight.

The chords of the lattice add about lam (lam + 1) w^2 / 12 to the log-moment of a release at lam, w^2 the mean over the
tilted law of the squared width of a cell of losses, and lam times epsilon grows by as much. For as many nodes as there
are this is least where their density in z is as the cube root of the tilted density times the squared slope of the
loss. Moments come from a coarse sketch in floats.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, frexp, inf, ldexp, log, log2, sqrt
from typing import Final

import numpy as np

from lastiterate.numeric.accounting.pld_lattice import Release
from lastiterate.numeric.arrays import Array

_FINE = 4e-5
"""What lattice and nodes may each add to epsilon, relatively."""
_COARSE = 0.04
"""Most that the tilted density may grow from one node to the next, as a power of e, where it counts."""
_WIDEST = 0.1
"""Distance of two nodes in z."""
_MOST_NODES = 1500
_LONGEST = 1 << 21
_LEAST_DELTA = 1e-250
_LEAST_GAP, _MOST_GAP = 1e-25, 1e8
"""Beyond them floats have no room for the masses and losses of a sketch."""
TILTS: Final[Array] = np.geomspace(1e-8, 1e5, 161).astype(np.float64)
"""Tilts to choose from."""


@dataclass(frozen=True)
class Plan:
    """Tilt and grid, and the nodes of each release in z; any values are valid, good ones are tight."""

    tilt: float
    spacing: float
    length: int
    nodes: tuple[Array, ...]


def choose(found: Sequence[Release], delta: float, tilt: float | None) -> Plan | None:
    """Choose by the moments of a coarse sketch: log E e^(lam loss), its slope and its curvature."""
    if delta < _LEAST_DELTA or not all(_LEAST_GAP < float(one.gap) < _MOST_GAP for one in found):
        return None
    total = sum(one.count for one in found)
    ends = tuple(one.ends(1e-5 * delta / total) for one in found)
    sketches = [one.sketch(*end) for one, end in zip(found, ends, strict=True)]
    moments = np.zeros_like(TILTS)
    for one, (loss, mass, _) in zip(found, sketches, strict=True):
        moments += one.count * moments_of(loss, mass)
    if not np.isfinite(moments).all():  # no mass of the sketch is a float
        return None
    epsilons = (moments - log(delta) - np.log1p(TILTS)) / TILTS - np.log1p(1 / TILTS)
    best = int(np.argmin(epsilons))
    if tilt is None:
        tilt = float(TILTS[best])
    top = float(np.min((moments - log(1e-4 * delta)) / TILTS))
    mean = variance = 0.0
    tilted = []
    for one, (loss, mass, slope), end in zip(found, sketches, ends, strict=True):
        exponents = tilt * loss + np.log(np.maximum(mass, 1e-300))
        weighed = np.exp(exponents - np.max(exponents))
        weighed /= np.sum(weighed)
        middle = float(weighed @ loss)
        mean += one.count * middle
        variance += one.count * float(weighed @ (loss - middle) ** 2)
        folded = weighed[: len(slope)] + (weighed[len(slope) : -1] if len(loss) > len(slope) else 0.0)
        tilted.append((folded * len(slope) / (end[1] - end[0]), slope, loss[: len(slope)]))
    spread = sqrt(variance)
    scale = max(float(epsilons[best]), 0.05 * spread, 1e-9)
    fine = sqrt(12 * _FINE * scale / (tilt + 1))
    reach = top - mean + 9 * spread + 4 * scale / (1 + tilt)
    if not (0 < reach < inf and spread > 0):
        return None
    spacing = ldexp(1.0, frexp(min(fine / sqrt(total), spread / 4, _COARSE / max(tilt, 1.0)))[1] - 1)
    while reach / spacing > _LONGEST:
        spacing *= 2
    length = 1 << max(6, ceil(log2(reach / spacing)))
    pulls = [np.cbrt(one.count * density * slope**2) for one, (density, slope, _) in zip(found, tilted, strict=True)]
    pace = sqrt(sum(float(np.mean(pull)) * (end[1] - end[0]) for pull, end in zip(pulls, ends, strict=True))) / fine
    alone = 2 * float(epsilons[best])  # what is lost at once may be as much as epsilon
    nodes = []
    for pull, (_, slope, loss), end in zip(pulls, tilted, ends, strict=True):
        rarer = np.log(max(np.max(pull), 1e-300)) - np.log(np.maximum(pull, 1e-300))
        rarer[(loss > 0) & (loss < alone)] = 0.0
        nodes.append(_placed(np.maximum(pace * pull, max(tilt, 1.0) * slope / (_COARSE * (1 + rarer))), *end))
    return Plan(tilt, spacing, length, tuple(nodes))


def _placed(pace: Array, low: float, high: float) -> Array:
    """Nodes from one end to the other, ``pace`` of them a unit of z, by cell; at most `_MOST_NODES`."""
    edges = np.linspace(low, high, len(pace) + 1)
    counted = np.append(0.0, np.cumsum(np.maximum(pace, 1 / _WIDEST))) * (edges[1] - edges[0])
    return np.interp(np.linspace(0.0, counted[-1], min(ceil(counted[-1]), _MOST_NODES) + 1), counted, edges)


def moments_of(loss: Array, mass: Array) -> Array:
    """Log of the sum of mass e^(lam loss) for every lam in ``TILTS``; not rounded."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weighed = np.log(mass) + TILTS[:, None] * loss
        highest = np.max(weighed, axis=1)
        found: Array = highest + np.log(np.sum(np.exp(weighed - highest[:, None]), axis=1))
    return found
