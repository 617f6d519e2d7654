"""Attacks: runs whose last-iterate law is known well enough to bound their divergence from below.

They attack bounds at random settings, with log-uniform scales and frequent corner cases.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import inf, isfinite
from typing import Final

from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Convex, Holder, Smooth, StronglyConvex
from lastiterate.numeric.published.record import Setting as Setting

JUST_BELOW: Final = 1 - 1e-13
"""Factor that covers the rounding of a few floating-point operations."""


class Assumed(StrEnum):
    """Assumption of a privacy bound about the losses, besides gradients of norm at most K."""

    SENSITIVITY = "sensitivity"
    """Only that the update maps satisfy |psi(x) - psi'(x)| <= s at every x."""
    CLIPPED = "clipped"
    """Nothing except clipping."""
    HOLDER = "holder"
    """(L, lam)-Hoelder gradients of every sample."""
    SMOOTH = "smooth"
    """L-Lipschitz gradients of every sample."""
    CONVEX = "convex"
    """Convex, L-smooth and K-Lipschitz losses, and eta <= 2/L."""
    STRONGLY_CONVEX = "strongly_convex"
    """m-strongly convex, L-smooth and K-Lipschitz losses."""


LOSSES: Final[dict[Assumed, tuple[Callable[..., Assumption], str]]] = {
    Assumed.CLIPPED: (Clipped, ""),
    Assumed.HOLDER: (Holder, "L lam"),
    Assumed.SMOOTH: (Smooth, "L"),
    Assumed.CONVEX: (Convex, "L"),
    Assumed.STRONGLY_CONVEX: (StronglyConvex, "L m"),
}
"""Class of each assumption about losses, and the names of its constants in a setting."""


def assumption_at(setting: Setting, assumed: Assumed) -> Assumption:
    """Assumption with the constants of the setting; `Clipped` for the sensitivity alone."""
    losses, letters = LOSSES.get(assumed, LOSSES[Assumed.CLIPPED])
    return losses(*(setting[letter] for letter in letters.split()))


@dataclass(frozen=True)
class BothDirections:
    """Certified lower bounds on D_alpha(P || Q), ``forward``, and D_alpha(Q || P), ``backward``.

    P and Q are the laws of the last iterate if the replaced sample pushes up (P) or down (Q).
    """

    forward: float
    backward: float


@dataclass(frozen=True)
class ExactRun:
    """Exactly solvable pair of runs.

    Attributes:
        meets: assumptions under which the run is admissible, at settings for which `lower` gives an answer.
        solve: lower bounds at a setting with its kind of domain; None if the run is not admissible.
        bounded: whether the run needs a bounded domain, or else D = inf; None if both are possible.
        maps: whether the run is a pair of maps with |psi(x) - psi'(y)| <= e(|x - y|), as in the theorem's
            proof, while its losses are not K-Lipschitz (a quadratic is not Lipschitz on an unbounded domain).
        quantity: quantity bounded from below, in words.
    """

    name: str
    run: str
    meets: frozenset[Assumed]
    solve: Callable[[Setting, Assumed], BothDirections | None]
    bounded: bool | None = None
    maps: bool = False
    quantity: str = "D_alpha"

    def lower(self, setting: Setting, assumed: Assumed) -> BothDirections | None:
        """Lower bounds at a setting under an assumption; None if the run is not admissible."""
        if self.bounded not in (None, isfinite(setting["D"])):
            return None
        return self.solve(setting, assumed)


def _scale(generator: random.Random, low: float, high: float) -> float:
    return float(10.0 ** generator.uniform(low, high))


def _often(generator: random.Random, corners: tuple[float, ...], otherwise: float, share: float = 0.3) -> float:
    return generator.choice(corners) if generator.random() < share else otherwise


def _round(*, bounded: bool) -> Iterator[Setting]:
    """Settings in round numbers, tried first, which a reader can check by hand."""
    lengths, diameters = ((1, 2, 10, 100), (0.01, 1.0, 10.0)) if bounded else ((1, 2, 10, 100), (inf,))
    for steps, diameter, clip, order in product(lengths, diameters, (1.0, 10.0), (1.0, 0.5)):
        run = {"T": float(steps), "n": 5.0, "eta": 0.1, "sigma": 1.0, "K": clip, "D": diameter}
        yield {**run, "L": 1.0, "lam": order, "m": 0.5, "alpha": 2.0}


def _corners() -> Iterator[Setting]:
    """Corner cases: eta L up to 400, clipping about to act, and orders near 1."""
    for steps, smoothness in product((20.0, 60.0), (40.0, 400.0, 4000.0)):
        run = {"T": steps, "n": 5.0, "eta": 0.1, "sigma": 1.0, "K": 25.0, "D": 0.01}
        yield {**run, "L": smoothness, "lam": 1.0, "m": 0.5, "alpha": 2.0}
    for smoothness in (1.0, 600.0):
        run = {"T": 30.0, "n": 1.0, "eta": 1.0, "sigma": 1.0, "K": 1.5, "D": 5.0}
        yield {**run, "L": smoothness, "lam": 1.0, "m": 0.5, "alpha": 1.001}


def settings(seed: int, *, bounded: bool) -> Iterator[Setting]:
    """Endless, reproducible stream of settings, a few in round numbers first.

    The sensitivity of one step and the diameter are drawn in units of the noise, and the curvatures in units
    of 1/eta, so that no regime is rare. Bounded settings have finite diameters and shorter runs, whose laws
    are enclosed numerically; the others have D = inf.
    """
    yield from _round(bounded=bounded)
    if bounded:
        yield from _corners()
    generator = random.Random(seed)  # noqa: S311
    while True:
        longest = 1.7 if bounded else 2.5
        steps = round(_scale(generator, 0, longest))
        eta = _scale(generator, -2, 0.7)
        sigma = _scale(generator, -1.5, 1)
        size = round(_often(generator, (1, 2, 5, 10), _scale(generator, 0, 3)))
        gap = sigma * _scale(generator, -2, 1)
        curvature = _often(generator, (1e-6, 0.1, 1.0, 2.0), _scale(generator, -4, 0.5)) / eta
        yield {
            "T": float(_often(generator, (1, 2, 3), steps)),
            "n": float(size),
            "eta": eta,
            "sigma": sigma,
            "K": gap * size / (2 * eta),
            "D": sigma * _scale(generator, -2.5, 1.7) if bounded else inf,
            "L": curvature,
            "lam": _often(generator, (1.0, 0.5), generator.uniform(0.05, 1.0)),
            "m": min(curvature, 1 / eta) * _often(generator, (1.0, 1e-6), _scale(generator, -3, 0)),
            "alpha": _often(generator, (1 + 1e-6, 1.01, 2.0, 500.0), 1 + _scale(generator, -2, 2)),
        }
