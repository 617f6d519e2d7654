"""Jumps of per-sample gradients, as of a network with ReLU, and a modulus of continuity in spite of them.

Pairs that a search found, and as many distant drawn pairs, are halved until the distance is 2^-32 of the points'
length. The half is kept in which the gradient is less linear: of a smooth gradient, the second difference
shrinks with the square of the distance, and across a kink not at all. In the last 1024-fold step, the change of
a smooth gradient falls to about a thousandth; for a jump, 0.9 of it must be left. It must also exceed 1000
times the rounding error, and a millionth of the gradient. All of this is computed in float64.

A jump J excludes every finite Hölder constant of an order above 0. What holds is a modulus J + L r: L is the
largest slope (change - J) / distance over the pairs that the search found, and over these at other distances.
"""

from collections.abc import Sequence
from math import inf, log2
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from lastiterate.numeric.store import Arrays
from lastiterate.runtime.constants.record import TRUSTED_ERROR
from lastiterate.runtime.constants.search import ROW, Search, State, unit_vectors
from lastiterate.runtime.leaves import clip_factor
from lastiterate.runtime.training.descent import project_onto_ball

_PAIRS: Final = 64
_KEPT: Final = 2**22
"""Largest number of pairs that are halved, and of entries of their points, unless a single point has more."""

_WORK: Final = 120
"""Time that a pair takes, in Hessian products."""

_CLOSEST: Final = 2.0**-32
_STEP: Final = 2.0**10
_LEFT: Final = 0.9
_SMALLEST: Final = 1e-6
"""Final distance in lengths of a point; factor over which a jump may not shrink, and share of the change that must be
left; smallest jump in lengths of the gradient."""

_REACH: Final = 1e-3
_WIDER: Final = 4.0
"""Shortest distance of the modulus, in diameters, and the factor between its distances."""

_LINES: Final = 2**51
_FREE_LINES: Final = 2**52
"""Purposes of the streams that draw the distant pairs and their free inputs."""


class Kinks(Search):
    """Search for jumps; the gradients are in float64."""

    @torch.no_grad()
    def jumps(self, ends: Sequence[Arrays]) -> Arrays:
        """Jumps near the pairs ``ends`` from `climb`, and on lines through the ball, as pairs of `climb`.

        The result may have none, and has the numbers of a `lastiterate.runtime.constants.record.Jump`.
        """
        most = max(1, min(_PAIRS, _KEPT // self.gradients.dimension))
        most = self.time.fitting(most, 2, lambda: _WORK * self.gradients.pace)
        ranked = [(k, of) for k in range(most) for of in reversed(ends) if k < len(of["x"])][:most]
        generator, device = self._stream(_LINES), self.center.device
        drawn, _ = self._starts(most, generator)
        samples = generator.integers(self.gradients.samples, most, device)
        place = {"x": drawn, "y": drawn.roll(1, 0)} | self._rows(samples, self._stream(_FREE_LINES))
        for name, lines in place.items():  # the rows are those of the search, whose precision may be lower
            own = torch.from_numpy(np.stack([of[name][k] for k, of in ranked])).to(device)
            place[name] = torch.cat([own.to(lines), lines] if name in "xy" else [own, lines.to(own)])
        x, y = place["x"], place["y"]
        far, ahead = (x + y) / 2, unit_vectors(x - y)
        x, y, wide = self._halved(place, x, y)
        x, y = (project_onto_ball(end, self.center, self.diameter) for end in (x, y))
        moved, floor, long, distance = self._measured(place, x, y)
        jump = (moved >= _LEFT * wide) & (floor <= TRUSTED_ERROR * moved) & (moved >= _SMALLEST * long)
        place |= {"x": x, "y": y, "changes": moved, "floors": floor, "distances": distance, "started": wide}
        found = {name: values[jump].cpu().numpy() for name, values in place.items()}
        height = (found["changes"] - found["floors"]).max(initial=0.0)
        seen = [(of["changes"] - of["floors"], of["distances"]) for of in ends]
        apart = reach = _REACH * self.diameter
        while apart <= self.diameter and height:
            for middle in (far, (x + y) / 2):
                pair = self._inside(middle, apart * ahead)
                moved, floor, _, distance = self._measured(place, pair["x"], pair["y"])
                seen.append(((moved - floor).cpu().numpy(), distance.cpu().numpy()))
            apart *= _WIDER
        change, distances = (np.concatenate(parts) for parts in zip(*seen, strict=True))
        slopes = ((change - height) / distances)[distances >= reach]
        one = {"slope": np.fmax.reduce(slopes, initial=0.0), "greatest": np.fmax.reduce(change, initial=height)}
        one |= {"reach": reach, "diameter": self.diameter}
        return found | {name: np.array([value]) for name, value in one.items()}

    def _clipped(self, place: State, points: Tensor) -> tuple[Tensor, Tensor]:
        """Clipped gradients of each pair's sample, and the lengths of the gradients."""
        inputs, targets = (
            place[name].double() if place[name].is_floating_point() else place[name] for name in ROW[:2]
        )
        found = vmap(self.gradients.of_one, chunk_size=self.gradients.fitting(1))(points, inputs, targets)
        long = torch.linalg.vector_norm(found, dim=1)
        return found * clip_factor(long, self.clip_norm)[:, None], long

    def _measured(self, place: State, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Changes, their rounding errors, the lengths of both gradients summed, and distances; (pairs,)."""
        (here, long), (there, other) = (self._clipped(place, end) for end in (x, y))
        moved, distance = (torch.linalg.vector_norm(part, dim=1) for part in (here - there, x - y))
        return moved, self.gradients.rounding * (long + other), long + other, distance

    def _halved(self, place: State, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Points about 2^-32 of their length apart, and the change at 1024 times this distance."""
        size = torch.maximum(*(torch.linalg.vector_norm(end, dim=1) for end in (x, y)))
        distance, last = torch.linalg.vector_norm(x - y, dim=1), _CLOSEST * size.clamp(min=_SMALLEST)
        middle, away = (x + y) / 2, (x - y) / 2 * (4 * _STEP * last / distance).clamp(min=1)[:, None]
        x, y, wide = middle + away, middle - away, torch.full_like(distance, inf)
        here, half, there = (self._clipped(place, points)[0] for points in (x, middle, y))
        for _ in range(int(torch.log2(2 * self.diameter / last.amin()).clamp(min=2 + log2(_STEP)).ceil())):
            middle, far = (x + y) / 2, torch.linalg.vector_norm(x - y, dim=1) > last
            first, second = (self._clipped(place, (end + middle) / 2)[0] for end in (x, y))
            bent = [(a - 2 * b + c).norm(dim=1) for a, b, c in ((here, first, half), (half, second, there))]
            left, go = (bent[0] >= bent[1])[:, None], far[:, None]
            x, y = torch.where(go & ~left, middle, x), torch.where(go & left, middle, y)
            here, there = torch.where(go & ~left, half, here), torch.where(go & left, half, there)
            half = torch.where(go, torch.where(left, first, second), half)
            near = torch.linalg.vector_norm(x - y, dim=1) <= _STEP * last
            wide = torch.where(near & wide.isinf(), (here - there).norm(dim=1), wide)
        return x, y, wide
