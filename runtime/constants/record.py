"""What a measurement says: constants for many orders, the measured modulus, and how far to trust them.

Everything here is a *lower* estimate. The largest ratio over sampled pairs is at most the true Hölder
constant, so a privacy number computed from it is a `lastiterate.numeric.results.Estimate`: it holds only if the true
constant is no larger than the sampled one.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.assumptions import Holder, Tabulated
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.results import Measured
from lastiterate.numeric.run import NoisySGD, real
from lastiterate.runtime.constants.kinds import Kind, PairTable

__all__ = ["TRUSTED_ERROR", "Constants", "Envelope", "HolderEstimate", "envelope_of", "orders", "read_off", "trusted"]

TRUSTED_ERROR: Final = 1e-3
"""Pairs whose difference has a larger assumed relative rounding error are left out of every maximum."""

_KNOTS: Final = 48


@dataclass(frozen=True)
class Constants:
    """The constants of one kind of gradient. Direction: lower estimates, measured.

    Attributes:
        constants: for each order the largest |g(x) - g(y)| / |x - y|^lambda, in gradient / length^lambda;
            0 where every pair was left out.
        float_errors: for each order the assumed relative rounding error of the pair that attains it.
        left_out: pairs left out because rounding may dominate their difference.
    """

    constants: tuple[float, ...]
    float_errors: tuple[float, ...]
    left_out: int


@dataclass(frozen=True)
class Envelope:
    """Measured modulus: values[i] is the largest change over pairs at distance at most distances[i].

    Direction: a lower estimate of the true modulus at every distance. Shapes (k,), distances increasing.
    """

    distances: tuple[float, ...]
    values: tuple[float, ...]

    def tabulated(self) -> Tabulated:
        """The same table as a modulus of `lastiterate.numeric`; what it gives is an estimate."""
        return Tabulated(self.distances, self.values)

    def join(self, other: "Envelope") -> "Envelope":
        """The larger of two measured moduli at every distance; both are lower estimates, and so is this."""
        distances = sorted({*self.distances, *other.distances})
        values = [max(part.at(r) for part in (self, other)) for r in distances]
        return Envelope(tuple(distances), tuple(values))

    def at(self, distance: float) -> float:
        """The largest change measured at most this far apart; 0 below the first distance."""
        place = int(np.searchsorted(self.distances, distance, side="right"))
        return self.values[place - 1] if place else 0.0


@dataclass(frozen=True)
class HolderEstimate:
    """Hölder constants of a network, measured. Direction: lower estimates of the true constants.

    Attributes:
        workload: name of the network, loss and data.
        lambdas: the orders asked for, each in (0, 1].
        measured: for each kind of gradient its constants, in the order of ``lambdas``.
        envelopes: for each kind of gradient its measured modulus.
        run: the training run whose iterates were the centers, one run for every initialisation.
        inits: number of initialisations.
        points: points drawn around every iterate.
        radius: radius of the ball they were drawn in, a length.
        draw: distribution of the points, ``uniform`` or ``log-uniform``.
        pairs: number of (iterate, point) pairs.
        distances: least and greatest distance of a pair.
        dtype: floating-point format of the gradients.
        device: where they were computed.
        seed: seed of initialisations, noise and points.
        remark: what the workload says of itself.

    Source: Chien & Li 2025, appendix A.13.
    """

    workload: str
    lambdas: tuple[float, ...]
    measured: dict[Kind, Constants]
    envelopes: dict[Kind, Envelope]
    run: NoisySGD
    inits: int
    points: int
    radius: float
    draw: str
    pairs: int
    distances: tuple[float, float]
    dtype: str
    device: str
    seed: int
    remark: str = ""

    def constant(self, lam: float, kind: Kind = Kind.SAMPLE) -> float:
        """The measured constant for one of the orders asked for, in gradient / length^lambda.

        Raises:
            InputError: ``lam`` is not among ``lambdas``, or there is no such kind.
        """
        if kind not in self.measured:
            raise InputError(f"The kind must be one of {', '.join(Kind)}, got kind={kind}; choose one of them.")
        if lam not in self.lambdas:
            raise InputError(
                f"The order must be one that was measured ({', '.join(f'{x:g}' for x in self.lambdas)}), "
                f"got lam={lam:g}; measure again with this order, it costs no new gradients."
            )
        return self.measured[kind].constants[self.lambdas.index(lam)]

    def holder(self, lam: float, kind: Kind = Kind.SAMPLE) -> Measured:
        """The measured (L, lambda) as an assumption that `lastiterate.numeric.bound.estimate` takes.

        `lastiterate.numeric.bound.bound` refuses it: a sampled constant is a lower estimate.

        Args:
            lam: one of the orders measured.
            kind: ``SAMPLE`` (assumed by Theorem 3.7) or ``SAMPLE_CLIPPED`` (what its proof needs).

        Raises:
            InputError: ``lam`` was not measured, or ``kind`` is a kind of the batch.
        """
        constant = self.constant(lam, kind)
        return Measured(Holder(constant, lam), self._condition(f"the constant {constant:.4g}", kind))

    def modulus(self, kind: Kind = Kind.SAMPLE) -> Measured:
        """The measured modulus as an assumption, as `holder`. It knows no distance beyond the sampled ones.

        Raises:
            InputError: ``kind`` is a kind of the batch.
        """
        return Measured(self.envelopes[kind].tabulated(), self._condition("the tabulated modulus", kind))

    def _condition(self, what: str, kind: Kind) -> str:
        """What a number made from this measurement is conditional on, in one sentence."""
        if kind not in (Kind.SAMPLE, Kind.SAMPLE_CLIPPED):
            raise InputError(
                f"A privacy number needs the per-sample constants, got kind={kind}: the mean over this batch "
                "says nothing of other data sets; use sample or sample_clipped."
            )
        clipped = f"clipped (norm {self.run.clip_norm:g}) " if kind == Kind.SAMPLE_CLIPPED else ""
        return (
            f"{what} of {self.workload} holding for the {clipped}per-sample gradient of every possible sample at "
            f"every two points of the domain; it is the largest over {self.pairs} sampled pairs "
            f"{self.distances[0]:.3g} to {self.distances[1]:.3g} apart, a lower estimate of the constant in the "
            "balls around the iterates"
        )

    def to_json(self) -> str:
        """The record as JSON text; `from_json` reads it back."""
        data = asdict(self)
        if self.run.diameter == inf:  # JSON has no infinity
            data["run"]["diameter"] = None
        return json.dumps(data, indent=2, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> "HolderEstimate":
        """The record that `to_json` wrote.

        Raises:
            InputError: the text is no such record.
        """
        try:
            data = json.loads(text)
            data = data.get("measurement", data)
            run = _tuples(data["run"])
            run["diameter"] = inf if run["diameter"] is None else run["diameter"]
            return HolderEstimate(
                **{
                    **data,
                    "lambdas": tuple(data["lambdas"]),
                    "measured": {Kind(k): Constants(**_tuples(v)) for k, v in data["measured"].items()},
                    "envelopes": {Kind(k): Envelope(**_tuples(v)) for k, v in data["envelopes"].items()},
                    "run": NoisySGD(**run),
                    "distances": tuple(data["distances"]),
                }
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"A measurement must be the JSON that lastiterate estimate --json wrote, got text={text[:40]!r} "
                f"({type(error).__name__}); write it again."
            ) from None


def orders(values: Sequence[float]) -> tuple[float, ...]:
    """The Hölder orders, sorted and without repetition.

    Raises:
        InputError: none was given, or one lies outside (0, 1].
    """
    for value in values:
        if not 0 < real("lambda", value, "a Hölder order in (0, 1]") <= 1:
            raise InputError(f"A Hölder order must lie in (0, 1], got lambda={value:g}; use 1 for smoothness.")
    if not values:
        raise InputError("At least one Hölder order is needed, got lambdas=(); give values in (0, 1].")
    return tuple(sorted({float(value) for value in values}))


def read_off(table: PairTable, kind: Kind, lambdas: Sequence[float]) -> Constants:
    """The constants of one kind of gradient for every order, from one table of pairs.

    Args:
        table: the measured pairs.
        kind: which gradient.
        lambdas: orders in (0, 1].
    """
    kept = trusted(table, kind)
    distances, differences = table.distances[kept], table.differences[kind][kept]
    constants, errors = [], []
    for lam in lambdas:
        if not len(distances):
            constants.append(0.0)
            errors.append(0.0)
            continue
        ratios = differences / distances**lam
        best = int(np.argmax(ratios))
        constants.append(float(ratios[best]))
        errors.append(float(table.floors[kept][best] / differences[best]))
    return Constants(tuple(constants), tuple(errors), int(len(kept) - np.count_nonzero(kept)))


def envelope_of(table: PairTable, kind: Kind, radius: float) -> Envelope:
    """The measured modulus on at most 48 distances, equally spaced in the logarithm.

    Where all pairs were left out it is zero up to ``radius``. The last distance is at least ``radius``.
    """
    kept = trusted(table, kind)
    if not kept.any():
        return Envelope((radius,), (0.0,))
    order = np.argsort(table.distances[kept])
    distances = table.distances[kept][order]
    highest = np.maximum.accumulate(table.differences[kind][kept][order])
    last = max(radius, float(distances[-1]))
    knots = np.geomspace(distances[0], last, _KNOTS)
    knots[0], knots[-1] = distances[0], last
    knots = np.unique(knots)
    values = highest[np.searchsorted(distances, knots, side="right") - 1]
    return Envelope(tuple(knots.tolist()), tuple(values.tolist()))


def trusted(table: PairTable, kind: Kind) -> NDArray[np.bool_]:
    """Which pairs rounding does not dominate, shape (pairs,)."""
    kept: NDArray[np.bool_] = table.floors <= TRUSTED_ERROR * table.differences[kind]
    return kept & (table.distances > 0) & (table.differences[kind] > 0)


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
