"""Jumps of per-sample gradients, as of a network with ReLU, and a modulus of continuity in spite of them.

A pair of points is halved again and again, and the half over which the gradient changes more is kept, until
the points are so close that the coordinates have a few trusted digits left in their difference. The change of a
smooth gradient shrinks with the distance, in the last 1024-fold step to about a thousandth. The change across a
kink stays the same; 0.9 of it must be left. It must also exceed 1000 times the rounding error, and a
millionth of the gradient. All of this is computed in float64.

A jump J excludes every finite Hölder constant of an order above 0. What holds is a modulus J + L r: L is the
largest slope (change - J) / distance over pairs that the search found, and over the same pairs at other distances.
"""

from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.store import Arrays
from lastiterate.runtime.constants.record import TRUSTED_ERROR
from lastiterate.runtime.constants.search import Changes
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.training.descent import project_onto_ball

_PAIRS: Final = 64
_KEPT: Final = 2**22
"""Largest number of pairs that are halved, and of entries of their points, unless a single point has more."""

_CLOSEST: Final = 2.0**-32
_STEP: Final = 2.0**10
"""Final distance in lengths of a point, and the factor over which a jump may not shrink."""

_LEFT: Final = 0.9
_SMALLEST: Final = 1e-6
"""Share of the change that must be left, and the smallest jump in lengths of the gradient."""

_REACH: Final = 1e-3
_WIDER: Final = 4.0
"""Shortest distance of the modulus, in diameters, and the factor between its distances."""

_PLACE: Final = ("inputs", "targets", "samples")


@torch.no_grad()
def jumps_of(
    gradients: Gradients, ends: Sequence[Arrays], center: Tensor, diameter: float, clip_norm: float
) -> Arrays:
    """Jumps near the pairs ``ends`` that `Search.climb` found for several orders, in the ball of the domain.

    Args:
        gradients: gradients in float64.
        ends: pairs, the most promising first; those of the last order are halved first.
        center: center of the domain, shape (dimension,).
        diameter: diameter of the domain, a length.
        clip_norm: clip norm of the compared gradients; inf without clipping.

    Returns:
        The jumps as pairs of `Search.climb`, possibly none, and the numbers of a
        `lastiterate.runtime.constants.record.Jump` about all pairs.
    """
    most = max(1, min(_PAIRS, _KEPT // gradients.dimension))
    ranked = [(k, of) for k in range(most) for of in reversed(ends) if k < len(of["x"])][:most]
    place = {name: np.stack([of[name][k] for k, of in ranked]) for name in ("x", "y", *_PLACE)}
    x, y, inputs, targets = (
        torch.from_numpy(place[name]).to(center.device) for name in ("x", "y", "inputs", "targets")
    )
    rows = (part.double() if part.is_floating_point() else part for part in (inputs, targets))
    changes = Changes(gradients, *rows, clip_norm)
    far = x.double(), y.double()
    x, y, wide = _halved(changes, *far)
    x, y = (project_onto_ball(end, center, diameter) for end in (x, y))
    moved, floor, long, distance = _measured(changes, x, y)
    jump = (moved >= _LEFT * wide) & (floor <= TRUSTED_ERROR * moved) & (moved >= _SMALLEST * long)
    chosen = jump.cpu().numpy()
    named = {"changes": moved, "floors": floor, "distances": distance, "x": x, "y": y, "started": wide}
    found = {name: values.cpu().numpy()[chosen] for name, values in named.items()}
    found |= {name: place[name][chosen] for name in _PLACE}
    height = float((moved - floor)[jump].max()) if chosen.any() else 0.0
    middles = [(a + b) / 2 for a, b in (far, (x, y))]
    ahead = (far[0] - far[1]) / torch.linalg.vector_norm(far[0] - far[1], dim=1, keepdim=True)
    seen = [(of["changes"] - of["floors"], of["distances"]) for of in ends]
    apart = _REACH * diameter
    while apart <= diameter and height:
        for middle in middles:
            pair = (project_onto_ball(middle + s * apart / 2 * ahead, center, diameter) for s in (1, -1))
            moved, floor, _, distance = _measured(changes, *pair)
            seen.append(((moved - floor).cpu().numpy(), distance.cpu().numpy()))
        apart *= _WIDER
    change, distances = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    best, long_enough = int(np.nanargmax(change)), distances >= _REACH * diameter
    slopes = (change - height)[long_enough] / distances[long_enough]
    one = {"slope": np.fmax.reduce(slopes, initial=0.0), "reach": _REACH * diameter, "diameter": diameter}
    one |= {"greatest": max(height, change[best]), "apart": distances[best]}
    return found | {name: np.array([value]) for name, value in one.items()}


def _halved(changes: Changes, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Points of each pair about 2^-32 of their length apart, and the largest change at 1024 times this distance."""
    size = torch.maximum(*(torch.linalg.vector_norm(end, dim=1) for end in (x, y)))
    distance, last = torch.linalg.vector_norm(x - y, dim=1), _CLOSEST * size.clamp(min=_SMALLEST)
    middle, away = (x + y) / 2, (x - y) / 2 * (4 * _STEP * last / distance).clamp(min=1)[:, None]
    x, y, wide = middle + away, middle - away, torch.full_like(distance, inf)
    while bool((far := torch.linalg.vector_norm(x - y, dim=1) > last).any()):
        middle = (x + y) / 2
        first, second = (_measured(changes, *pair)[0] for pair in ((x, middle), (middle, y)))
        left, go = (first >= second)[:, None], far[:, None]
        x, y = torch.where(go & ~left, middle, x), torch.where(go & left, middle, y)
        near = torch.linalg.vector_norm(x - y, dim=1) <= _STEP * last
        wide = torch.where(near & wide.isinf(), torch.maximum(first, second), wide)
    return x, y, wide


def _measured(changes: Changes, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Change of each pair's gradient, its rounding error, the gradients' lengths summed, and the distance."""
    change, long = changes.between(x, y)
    moved, distance = (torch.linalg.vector_norm(part, dim=1) for part in (change, x - y))
    return moved, changes.rounding * long, long, distance
