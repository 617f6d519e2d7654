"""Distances after one update for each class of losses, in floats (docs/proofs/expansions.md)."""

from collections.abc import Callable, Iterator
from functools import partial
from math import hypot, inf, sqrt
from operator import mul

import numpy as np

from lastiterate.numeric.contraction.uses import Clean
from lastiterate.numeric.losses import assumptions as loss
from lastiterate.numeric.losses.expansion import PowerDrift, UpdateExpansion
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram, invariant_distance
from recomputations.record import Number, as_recorded, equals, near, upper_bound

Modulus = Callable[[float], float]
_ETA, _K, _B, _DECAY = 0.4, 1.5, 3, 0.25


def _table(z: float) -> float:
    return 0.2 if z <= 0.5 else 0.8 if z <= 2 else inf


_TABULATED = loss.Tabulated((0.5, 2.0), (0.2, 0.8))
_MODULI: tuple[tuple[str, loss.Assumption, Modulus], ...] = (
    ("smooth", loss.Smooth(0.7), lambda z: 0.7 * z),
    ("Hoelder", loss.Holder(0.9, 0.5), lambda z: 0.9 * sqrt(z)),
    ("clipped", loss.Clipped(), lambda _: inf),
    ("tabulated", _TABULATED, _table),
    ("sum", loss.Sum(loss.Smooth(0.3), loss.Holder(0.4, 0.5)), lambda z: 0.3 * z + 0.4 * sqrt(z)),
    ("a minimum", loss.Minimum(loss.Smooth(2.0), loss.Holder(0.9, 0.5)), lambda z: min(2.0 * z, 0.9 * sqrt(z))),
    ("blocks", loss.Blocks(loss.Smooth(0.3), loss.Smooth(0.4)), lambda z: 0.5 * z),
    (
        "blocks and a table",
        loss.Blocks(loss.Smooth(0.3), _TABULATED),
        lambda z: 0.3 * z + _table(z),
    ),  # two groups
    (
        "blocks in two groups",
        loss.Blocks(loss.Holder(1.0, 0.1), loss.Holder(1.0, 0.9)),
        lambda z: z**0.1 + z**0.9,
    ),
)


def _after(omega: Modulus, others: int, met: int, z: float, decay: float = _DECAY) -> float:
    """Distance after an update with ``others`` shared samples, and ``met`` times the differing sample."""
    drift = min(omega(z), 2 * _K) if z else 0.0
    return (1 - _ETA * decay) * z + _ETA / _B * (others * drift + 2 * _K * met)


def _looked(name: str, found: UpdateExpansion, truth: Modulus) -> Iterator[Number]:
    for z in (0.3, 1.7, 9.0):
        yield equals(f"{name}, at {z:g}, in balls", float(found.ball(exact(z)).upper()), truth(z))
        yield equals(f"{name}, at {z:g}, in floats", found.value(np.array([z]))[0], truth(z))
        slope = (truth(z * (1 + 1e-6)) - truth(z)) / (1e-6 * z)
        yield near(f"{name}, slope at {z:g}", found.slope(np.array([z]))[0], slope)
    yield equals(f"{name}, of equal points", float(found.sensitivity), truth(0.0))


def recompute_expansions() -> Iterator[Number]:
    """Distances after one update, with and without the differing sample, and over several batch sizes."""
    run = NoisySGD(4, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", weight_decay=_DECAY)
    keeps = 1 - _ETA * _DECAY
    with precision():
        for name, losses, omega in _MODULI:
            without, met = (losses.expansion(run, 0, differs=differs) for differs in (False, True))
            yield from _looked(name, without, partial(_after, omega, _B, 0))
            yield from _looked(f"{name}, met", met, partial(_after, omega, _B - 1, 1))
            sized = losses.over_sizes(run, 0, 2, 5)
            yield from _looked(f"{name}, two to five samples", sized, partial(_after, omega, 5, 0))
        curved: tuple[tuple[str, loss.Assumption, float, float], ...] = (
            ("convex", loss.Convex(3.0), 0.0, 3.0),
            ("strongly convex", loss.StronglyConvex(4.5, 0.5), 0.5, 4.5),
        )
        for name, losses, m, L in curved:
            factor = max(keeps - _ETA * m, _ETA * L - keeps)
            yield from _looked(name, losses.expansion(run, 0, differs=False), partial(mul, factor))
            wide = max(keeps - _ETA * 2 / _B * m, _ETA * 5 / _B * L - keeps)

            def least(z: float, c: float = wide, L: float = L) -> float:
                if c <= 1:
                    return c * z
                # The longest vector keeps d - h g, with <g, d> = |g|^2 / L and |g| as large as it may be.
                g, h = min(L * z, 2 * _K), _ETA * 5 / _B
                along = g / (L * z) if z else 0.0
                return hypot(keeps * z - h * g * along, h * g * sqrt(1 - min(along, 1.0) ** 2))

            yield from _looked(f"{name}, two to five samples", losses.over_sizes(run, 0, 2, 5), least)
        for L in (0.4, 4.5, inf):
            yield from _looked(
                f"clipped convex, L = {L:g}, two to five samples",
                loss.ClippedConvex(L).over_sizes(run, 0, 2, 5),
                partial(_clipped_convex, L, _ETA * 5 / _B, keeps),
            )


def _clipped_convex(smooth: float, h: float, keeps: float, z: float) -> float:
    """The least of the factor of a quadratic, maximised over its angle to the clipped gradient, and h K plus a root."""
    root = h * _K + hypot(keeps * z, h * _K) if z else 0.0
    if smooth == inf:
        return root
    angles = np.linspace(0.0, np.pi, 20_001)
    # d = (1, 0), and the Hessian is L v v', v = (cos a, sin a): what the clip leaves of the change of the gradient
    # is in the ball with a diameter from 0 to this change.
    change = smooth * np.cos(angles)  # of the gradient, along v
    centre = np.hypot(keeps - h * change / 2 * np.cos(angles), h * change / 2 * np.sin(angles))
    return min(float(np.max(centre + h * np.abs(change) / 2)) * z, root)


def recompute_distances() -> Iterator[Number]:
    """Distances between runs: tracked, invariant under weight decay, and left by reflections."""
    run = NoisySGD(9, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", diameter=3.0)
    program, z = ShiftProgram(run, loss.Smooth(0.7), 1), 0.0
    for t, found in enumerate(program.tracked.tolist()):
        yield equals(f"distance before step {t}", found, z)
        z = min(_after(partial(mul, 0.7), _B - t % 2, t % 2, z, decay=0.0), 3.0)
    decayed = NoisySGD(9, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", weight_decay=2.0)
    with precision():
        every = [loss.Holder(0.9, 0.5).expansion(decayed, 0, differs=met) for met in (True, False)]
    z = 1.0
    for _ in range(200):
        z = max(_after(lambda z: 0.9 * sqrt(z), _B - met, met, z, decay=2.0) for met in (0, 1))
    yield upper_bound("a distance that decay keeps", invariant_distance(every, 0.0), z, 1e-8)
    power = PowerDrift(0.8, 0.5, 2.0)
    for y in (0.5, 3.0, 9.0):
        x = float(power.inverse(np.array([y]))[0])
        yield equals(f"a drift and its inverse at {y:g}", x + min(0.8 * sqrt(x), 2.0), y)
    wide = NoisySGD(40, 0.1, 0.3, 1.0, dataset_size=6, diameter=7.5)
    remains = Clean(wide, loss.Convex(1.0), 5).variation[-1]
    yield as_recorded("what reflections leave of a wide domain", remains, 1e-4)
