"""The distance after one update, by the formulas of docs/proofs/expansions.md in floats, class by class.

A ball and a float of the code are held against the same number; slopes against differences of it.
"""

from collections.abc import Callable, Iterator
from math import inf, sqrt

import numpy as np

from lastiterate.numeric.contraction.uses import Clean
from lastiterate.numeric.losses import assumptions as loss
from lastiterate.numeric.losses.expansion import PowerDrift, UpdateExpansion
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram, invariant_distance
from lastiterate.proofs_checks.recomputations.record import Number, as_recorded, equals, near, upper_bound

Modulus = Callable[[float], float]
_ETA, _K, _B, _DECAY = 0.4, 1.5, 3, 0.25
_PLACES = (0.3, 1.7, 9.0)


def _table(z: float) -> float:
    return 0.2 if z <= 0.5 else 0.8 if z <= 2 else inf


_MODULI: dict[str, tuple[loss.Assumption, Modulus]] = {
    "smooth": (loss.Smooth(0.7), lambda z: 0.7 * z),
    "Hoelder": (loss.Holder(0.9, 0.5), lambda z: 0.9 * sqrt(z)),
    "clipped": (loss.Clipped(), lambda _: inf),
    "tabulated": (loss.Tabulated((0.5, 2.0), (0.2, 0.8)), _table),
    "sum": (loss.Sum(loss.Smooth(0.3), loss.Holder(0.4, 0.5)), lambda z: 0.3 * z + 0.4 * sqrt(z)),
    "blocks": (loss.Blocks(loss.Smooth(0.3), loss.Smooth(0.4)), lambda z: 0.5 * z),
    "blocks and a table": (
        loss.Blocks(loss.Smooth(0.3), loss.Tabulated((0.5, 2.0), (0.2, 0.8))),
        lambda z: 0.3 * z + _table(z),  # of orders 1 and 0: two groups
    ),
    "blocks in two groups": (loss.Blocks(loss.Holder(1.0, 0.1), loss.Holder(1.0, 0.9)), lambda z: z**0.1 + z**0.9),
}
_CURVED: tuple[tuple[str, loss.Assumption, float, float], ...] = (
    ("convex", loss.Convex(3.0), 0.0, 3.0),
    ("strongly convex", loss.StronglyConvex(4.5, 0.5), 0.5, 4.5),
)


def _looked(name: str, found: UpdateExpansion, truth: Modulus) -> Iterator[Number]:
    for z in _PLACES:
        with precision():
            ball = float(found.ball(exact(z)).upper())
        yield equals(f"{name}, at {z:g}, in balls", ball, truth(z))
        yield equals(f"{name}, at {z:g}, in floats", float(found.value(np.array([z]))[0]), truth(z))
        step = 1e-6 * z
        slope = (truth(z + step) - truth(z)) / step
        yield near(f"{name}, slope at {z:g}", float(found.slope(np.array([z]))[0]), slope)
    yield equals(f"{name}, of equal points", float(found.sensitivity), truth(0.0))


def recompute_expansions() -> Iterator[Number]:
    """Distances after one update, with the sample that differs or without it, and over batches of several sizes."""
    run = NoisySGD(4, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", weight_decay=_DECAY)
    keeps = 1 - _ETA * _DECAY
    for name, (losses, omega) in _MODULI.items():
        for met in (True, False):

            def truth(z: float, omega: Modulus = omega, met: bool = met) -> float:
                drift = min(omega(z), 2 * _K) if z else 0.0
                return keeps * z + _ETA * (_B - met) / _B * drift + 2 * _ETA * _K / _B * met

            with precision():
                found = losses.expansion(run, 0, differs=met)
            yield from _looked(f"{name}{', met' * met}", found, truth)

        def over(z: float, omega: Modulus = omega) -> float:
            return keeps * z + (_ETA * 5 / _B * min(omega(z), 2 * _K) if z else 0.0)

        with precision():
            sized = losses.over_sizes(run, 0, 2, 5)
        yield from _looked(f"{name}, two to five samples", sized, over)
    for name, losses, m, L in _CURVED:
        factor = max(keeps - _ETA * m, _ETA * L - keeps)
        with precision():
            yield from _looked(name, losses.expansion(run, 0, differs=False), lambda z, c=factor: c * z)  # type: ignore[misc]
            wide = max(keeps - _ETA * 2 / _B * m, _ETA * 5 / _B * L - keeps)

            def least(z: float, c: float = wide) -> float:
                return min(c * z, keeps * z + 2 * _ETA * 5 / _B * _K) if z and c > 1 else c * z

            yield from _looked(f"{name}, two to five samples", losses.over_sizes(run, 0, 2, 5), least)
    with precision():
        both = loss.Minimum(loss.Smooth(2.0), loss.Holder(0.9, 0.5)).expansion(run, 0, differs=False)
    yield from _looked(
        "a minimum", both, lambda z: keeps * z + _ETA * min(2.0 * z, 0.9 * sqrt(z), 2 * _K) if z else 0.0
    )


def recompute_distances() -> Iterator[Number]:
    """Distances of runs: followed step by step, kept by weight decay, and hidden by reflections."""
    run = NoisySGD(9, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", diameter=3.0)
    program, z = ShiftProgram(run, loss.Smooth(0.7), 1), 0.0
    for t, found in enumerate(program.tracked.tolist()):
        yield equals(f"distance before step {t}", found, z)
        met = t % 2 == 1
        z = min(z + _ETA * (_B - met) / _B * min(0.7 * z, 2 * _K) + 2 * _ETA * _K / _B * met, 3.0)
    decayed = NoisySGD(9, _ETA, 1.0, _K, dataset_size=6, batch_size=_B, sampling="cyclic", weight_decay=2.0)
    with precision():
        every = [loss.Holder(0.9, 0.5).expansion(decayed, 0, differs=met) for met in (True, False)]
    z = 1.0
    for _ in range(200):
        drift = min(0.9 * sqrt(z), 2 * _K)
        z = max((1 - 2 * _ETA) * z + _ETA * (_B - met) / _B * drift + 2 * _ETA * _K / _B * met for met in (True, False))
    yield upper_bound("a distance that decay keeps", invariant_distance(every, 0.0), z, 1e-8)
    power = PowerDrift(0.8, 0.5, 2.0)
    for y in (0.5, 3.0, 9.0):
        x = float(power.inverse(np.array([y]))[0])
        back = x + min(0.8 * sqrt(x), 2.0)
        yield equals(f"a drift and its inverse at {y:g}", back, y)
    wide = NoisySGD(40, 0.1, 0.3, 1.0, dataset_size=6, diameter=7.5)
    yield as_recorded(
        "what reflections leave of a wide domain", float(Clean(wide, loss.Convex(1.0), 5).variation[-1]), 1e-4
    )
