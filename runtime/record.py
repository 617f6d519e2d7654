"""What a measurement says: constants for many orders, the measured modulus, and how far to trust them.

Everything here is a *lower* estimate. The largest ratio over sampled pairs is at most the true Hölder
constant, so a privacy number computed from it is an `lastiterate.numeric.estimate.Estimate`: it holds only if
the true constant is no larger than the sampled one.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.assumptions import Tabulated
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, real
from lastiterate.runtime.kinds import Kind, PairTable

__all__ = ["TRUSTED_ERROR", "Envelope", "HolderEstimate", "Measured", "envelope_of", "orders", "read_off"]

TRUSTED_ERROR: Final = 1e-3
"""Pairs whose difference has a larger assumed relative rounding error are left out of every maximum."""

_KNOTS: Final = 48


@dataclass(frozen=True)
class Measured:
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
        """The same table as an assumption of `lastiterate.numeric`; what it gives is an estimate."""
        return Tabulated(self.distances, self.values)


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
    measured: dict[Kind, Measured]
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
            InputError: ``lam`` is not among ``lambdas``.
        """
        if lam not in self.lambdas:
            raise InputError(
                f"The order must be one that was measured ({', '.join(f'{x:g}' for x in self.lambdas)}), "
                f"got lam={lam:g}; measure again with this order, it costs no new gradients."
            )
        return self.measured[kind].constants[self.lambdas.index(lam)]

    def conditional_on(self, what: str, kind: Kind = Kind.SAMPLE) -> str:
        """The condition under which a number computed from this measurement is a privacy bound."""
        gradient = "per-sample gradient" if "sample" in kind else "batch gradient"
        text = (
            f"{what} measured on {self.workload} for the {gradient} being no smaller than the true one over "
            f"the whole domain and for every possible sample; it is the largest value over {self.pairs} "
            f"sampled pairs at distances {self.distances[0]:.3g} to {self.distances[1]:.3g}, "
            "a lower estimate"
        )
        return f"{text}. {self.remark}" if self.remark else text

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
            run = _tuples(data["run"])
            run["diameter"] = inf if run["diameter"] is None else run["diameter"]
            return HolderEstimate(
                **{
                    **data,
                    "lambdas": tuple(data["lambdas"]),
                    "measured": {Kind(k): Measured(**_tuples(v)) for k, v in data["measured"].items()},
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


def read_off(table: PairTable, kind: Kind, lambdas: Sequence[float]) -> Measured:
    """The constants of one kind of gradient for every order, from one table of pairs.

    Args:
        table: the measured pairs.
        kind: which gradient.
        lambdas: orders in (0, 1].
    """
    kept = _trusted(table, kind)
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
    return Measured(tuple(constants), tuple(errors), int(len(kept) - np.count_nonzero(kept)))


def envelope_of(table: PairTable, kind: Kind, radius: float) -> Envelope:
    """The measured modulus on at most 48 distances, equally spaced in the logarithm.

    Where all pairs were left out it is zero up to ``radius``. The last distance is at least ``radius``.
    """
    kept = _trusted(table, kind)
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


def _trusted(table: PairTable, kind: Kind) -> NDArray[np.bool_]:
    kept: NDArray[np.bool_] = table.floors <= TRUSTED_ERROR * table.differences[kind]
    return kept & (table.distances > 0) & (table.differences[kind] > 0)


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
