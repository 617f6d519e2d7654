"""Records of Hölder constants: from drawn pairs, a search, and training checkpoints.

Each constant is the largest ratio over some pairs, a *lower* estimate of the true Hölder constant. A privacy
number computed from such a constant is a `lastiterate.numeric.bound.Estimate`, which holds if the true
constant is no larger.

A layer is a module that directly owns parameters. The weight and bias of a linear map form one block.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf, isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.display import Displayed, TextTable, plain
from lastiterate.numeric.errors import InputError, portion
from lastiterate.numeric.losses.assumptions import Clipped, Holder, Measured, Minimum, Smooth, Sum, Tabulated
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays
from lastiterate.runtime.pair_table import Kind, PairTable, Subset

TRUSTED_ERROR: Final = 1e-3
"""Largest accepted relative rounding error of a difference; pairs with a larger error are excluded."""

_KNOTS: Final = 48
"""Number of distances at which a measured modulus is tabulated."""


@dataclass(frozen=True)
class Constants:
    """Constants of one kind of gradient. Direction: lower estimates.

    Attributes:
        constants: largest |g(x) - g(y)| / |x - y|^lambda for each order, in gradient / length^lambda; 0 if
            every pair was excluded.
        float_errors: assumed relative rounding error of the pair that attains each constant.
        left_out: number of pairs excluded because rounding may dominate their difference.
        kept: number of pairs over which the maxima are taken.
    """

    constants: tuple[float, ...]
    float_errors: tuple[float, ...]
    left_out: int
    kept: int

    def cell(self, order: int) -> str:
        """Constant for the order at this index, rounded down, or "none trusted" if no pair was kept."""
        return printed_down(self.constants[order], 4) if self.kept else "none trusted"


@dataclass(frozen=True)
class LayerConstants:
    """Constants of one layer's block of the gradient. Direction: lower estimates.

    Attributes:
        name: name of the module, as in ``named_modules``; "(module)" for the outermost.
        size: number of parameters of the module.
        measured: constants of the block for each kind of gradient, in the order of ``lambdas``.
    """

    name: str
    size: int
    measured: dict[Kind, Constants]


def check_orders(values: Sequence[float]) -> tuple[float, ...]:
    """Sorted Hölder orders without repetition; an `InputError` if none is given or one is outside (0, 1]."""
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"The Hölder orders need a list, got lambdas={values!r}; write, say, (0.5, 1.0).")
    if not len(values):
        raise InputError("At least one Hölder order is needed, got lambdas=(); give values in (0, 1].")
    return tuple(
        sorted({portion("lambda", x, "a Hölder order in (0, 1]", "use 1 for smoothness.") for x in values})
    )


def read_off(table: PairTable, kind: Kind, lambdas: Sequence[float]) -> Constants:
    """Constants of one kind of gradient for the given orders, less the assumed rounding errors."""
    kept = trusted(table, kind)
    distances, differences, floors = table.distances[kept], table.differences[kind][kept], table.floors[kept]
    if not len(distances):
        none = (0.0,) * len(lambdas)
        return Constants(none, none, len(kept), 0)
    ratios = [(differences - floors) / distances**lam for lam in lambdas]
    best = [int(np.argmax(ratio)) for ratio in ratios]
    return Constants(
        tuple(float(ratio[k]) for ratio, k in zip(ratios, best, strict=True)),
        tuple(float(floors[k] / differences[k]) for k in best),
        len(kept) - len(distances),
        len(distances),
    )


def envelope_of(table: PairTable, kind: Kind, radius: float) -> Tabulated:
    """Measured modulus, less the assumed rounding errors, at up to 48 logarithmically spaced distances.

    Each value is the largest change over pairs of at most that distance, a lower estimate; zero if all pairs
    were excluded. The last distance is at least ``radius``.
    """
    kept = trusted(table, kind)
    if not kept.any():
        return Tabulated((radius,), (0.0,))
    order = np.argsort(table.distances[kept])
    distances = table.distances[kept][order]
    highest = np.maximum.accumulate((table.differences[kind] - table.floors)[kept][order])
    last = max(radius, float(distances[-1]))
    knots = np.geomspace(distances[0], last, _KNOTS)
    knots[0], knots[-1] = distances[0], last
    knots = np.unique(knots)
    values = highest[np.searchsorted(distances, knots, side="right") - 1]
    return Tabulated(tuple(knots.tolist()), tuple(values.tolist()))


def trusted(table: PairTable, kind: Kind) -> NDArray[np.bool_]:
    """Mask, of shape (pairs,), of the pairs whose difference rounding does not dominate."""
    kept: NDArray[np.bool_] = table.floors <= TRUSTED_ERROR * table.differences[kind]
    return kept & (table.distances > 0) & (table.differences[kind] > 0)


def constants_by_layer(
    table: PairTable, sizes: dict[str, int], lambdas: Sequence[float]
) -> tuple[LayerConstants, ...]:
    """Constants of every layer; ``sizes`` gives numbers of parameters by name, in the order of the blocks."""
    return tuple(
        LayerConstants(name, size, {kind: read_off(table.block(j), kind, lambdas) for kind in Kind})
        for j, (name, size) in enumerate(sizes.items())
    )


_WORDS: Final = {Kind.SAMPLE: "per-sample gradients", Kind.SAMPLE_CLIPPED: "clipped per-sample gradients"}


def _for_all(kind: Kind, run: NoisySGD) -> str:
    clipped = f"clipped (norm {run.clip_norm:g}) " if kind == Kind.SAMPLE_CLIPPED else ""
    return f"holding for the {clipped}per-sample gradient of every possible sample at every two points of the domain"


@dataclass(frozen=True)
class HolderEstimate(Displayed):
    """Measured Hölder constants of a network. Direction: lower estimates.

    The settings are those of `lastiterate.runtime.constants.sampling.Sampling`, but ``centers`` is always the
    number of iterates measured per run.

    Attributes:
        lambdas: the orders, each in (0, 1].
        measured: constants for each kind of gradient, in the order of ``lambdas``.
        envelopes: measured modulus for each kind of gradient.
        run: training run from every initialisation; its iterates were the centers of the balls.
        pairs: number of (iterate, point) pairs.
        distances: smallest and largest distance within a pair.
        layers: constants of every layer's block of the gradient, if requested.

    Source: Chien & Li 2025, appendix A.13.
    """

    workload: str
    lambdas: tuple[float, ...]
    measured: dict[Kind, Constants]
    envelopes: dict[Kind, Tabulated]
    run: NoisySGD
    inits: int
    centers: int
    points: int
    radius: float
    draw: str
    pairs: int
    distances: tuple[float, float]
    dtype: str
    device: str
    memory: int
    seed: int
    remark: str = ""
    layers: tuple[LayerConstants, ...] = ()
    subset: Subset | None = None

    def __str__(self) -> str:
        cells = map(self.measured[Kind.SAMPLE].cell, range(len(self.lambdas)))
        constants = ", ".join(
            f"{cell} for lambda = {lam:g}" for cell, lam in zip(cells, self.lambdas, strict=True)
        )
        return f"{self.workload}: L per sample {constants}, lower estimates from {self.pairs} sampled pairs"

    def table(self) -> TextTable:
        kinds = self.measured[Kind.SAMPLE], self.measured[Kind.SAMPLE_CLIPPED]
        rows = ((f"{lam:g}", *(kind.cell(k) for kind in kinds)) for k, lam in enumerate(self.lambdas))
        caption = f"{self.workload}: measured Hölder constants (lower estimates)"
        return TextTable(caption, ("lambda", "L per sample", "L clipped"), tuple(rows))

    def records(self) -> list[dict[str, Any]]:
        """One record per order, with None if no pair could be trusted."""
        return [
            {"kind": "estimate", "lambda": lam}
            | {str(kind): one.constants[k] if one.kept else None for kind, one in self.measured.items()}
            for k, lam in enumerate(self.lambdas)
        ]

    def constant(self, lam: float, kind: Kind = Kind.SAMPLE) -> float:
        """Constant for a measured order, in gradient / length^lambda; an `InputError` for any other order."""
        if kind not in self.measured:
            raise InputError(f"The kind must be one of {', '.join(Kind)}, got kind={kind}; choose one of them.")
        if lam not in self.lambdas:
            raise InputError(
                f"The order must be one that was measured ({', '.join(f'{x:g}' for x in self.lambdas)}), got "
                f"lam={lam:g}; measure again with this order, which needs no new gradients."
            )
        return self.measured[kind].constants[self.lambdas.index(lam)]

    def holder(self, lam: float, kind: Kind = Kind.SAMPLE) -> Measured:
        """Constant for a measured order, as an assumption; errors as in `constant` and `condition`."""
        constant = self.constant(lam, kind)
        return Measured(Holder(constant, lam), self.condition(f"the constant {constant:.4g}", kind))

    def modulus(self, kind: Kind = Kind.SAMPLE) -> Measured:
        """Measured modulus, as an assumption; an `InputError` if no pair is trusted."""
        return Measured(self.envelopes[kind], self.condition("the tabulated modulus", kind))

    def condition(self, what: str, kind: Kind) -> str:
        """Condition on which a number from this measurement holds; an `InputError` if no pair is trusted."""
        if not self.measured[kind].kept:
            raise InputError(f"A constant needs a trusted pair, got none for kind={kind}. {self.untrusted}.")
        least, greatest = self.distances
        return (
            f"{what} of {self.workload} {_for_all(kind, self.run)}; it is the largest over {self.pairs} sampled pairs "
            f"at distances from {least:.3g} to {greatest:.3g}, a lower estimate of the constant in the balls around "
            "the iterates"
        )

    @property
    def trusted(self) -> bool:
        """True if at least one pair is trusted for unclipped gradients, as a constant requires."""
        return self.measured[Kind.SAMPLE].kept > 0

    @property
    def untrusted(self) -> str:
        """Reason why a measurement has no trusted pair, with a remedy."""
        way = "float64 or with a larger radius" if self.dtype != "float64" else "a larger radius"
        return (
            "No pair could be trusted: every gradient changes by less than 1000 times the rounding assumed for "
            f"{self.dtype} ({self.pairs} pairs, distances {self.distances[0]:.3g} to {self.distances[1]:.3g}); "
            f"measure with {way}; a loss that is linear in the parameters has nothing to measure"
        )

    def to_json(self) -> str:
        """Record as JSON text, which `from_json` reads."""
        return json.dumps(plain(asdict(self)), indent=2, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> "HolderEstimate":
        """Record from the text that `to_json` wrote; an `InputError` for any other text."""
        from pydantic import TypeAdapter

        try:
            data = json.loads(text)
            data = data.get("measurement", data)
            return TypeAdapter(HolderEstimate).validate_python(data)
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"A measurement must be the output of lastiterate estimate --draw uniform --json, got "
                f"text={text[:40]!r} ({type(error).__name__}); run that command again."
            ) from None


@dataclass(frozen=True)
class WorstPair:
    """Worst pair found for one order. Direction: lower estimate.

    Attributes:
        lam: the order; 0 for a jump.
        constant: |G(x) - G(y)| / |x - y|^lambda, in gradient / length^lambda, less the assumed rounding error
            of the difference; 0 if no pair could be trusted.
        distance: |x - y|, a length.
        sample: index of the sample; None if inputs are free.
        float_error: assumed relative rounding error of the difference.
        start: ratio of the best drawn pair at the start of the ascent.
        seed: seed of the initialisation.
        place: arrays ``x``, ``y``, ``inputs`` and ``targets``.
    """

    lam: float
    constant: float
    distance: float
    sample: int | None
    float_error: float
    start: float
    seed: int = 0
    place: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)


def best_end(ends: Arrays, lam: float) -> tuple[int, float]:
    """Index of the pair with the largest constant, and this constant, which is 0 if no pair is trusted."""
    changes, floors = ends["changes"], ends["floors"]
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(floors <= TRUSTED_ERROR * changes, (changes - floors) / ends["distances"] ** lam, 0.0)
    best = int(np.nanargmax(kept))
    return best, float(kept[best])


def best_pairs(lambdas: Sequence[float], found: Sequence[Arrays], seed: int = 0) -> tuple[WorstPair, ...]:
    """Best pair of each order, in the given order, among the results ``found`` of the searches for *all* orders."""
    ends = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    pairs = []
    for lam, started in zip(lambdas, ends["started"], strict=True):
        best, constant = best_end(ends, lam)
        sample = None if ends["samples"][best] < 0 else int(ends["samples"][best])
        error = float(ends["floors"][best] / ends["changes"][best]) if constant else 0.0
        place = {name: ends[name][best] for name in ("x", "y", "inputs", "targets")}
        distance = float(ends["distances"][best])
        pairs.append(WorstPair(lam, constant, distance, sample, error, float(started), seed, place))
    return tuple(pairs)


@dataclass(frozen=True)
class Jump:
    """Jump of a per-sample gradient, and a modulus J + L r for the distance r. Direction: lower estimates.

    Attributes:
        pair: two points so close that a smooth gradient would hardly change; its constant is J, a gradient.
        slope: L, gradient / length.
        reach: distance from which on J + L r holds for the pairs that were found, a length.
        greatest: largest change that was found at any distance, a gradient.
        diameter: diameter of the ball that was searched, a length.
        upper: proved upper bound on every change; possibly infinite, or None if none is known.
    """

    pair: WorstPair
    slope: float
    reach: float
    greatest: float
    diameter: float
    upper: float | None

    @staticmethod
    def of(found: Arrays, seed: int, upper: float | None) -> "Jump | None":
        """Largest of the jumps in the arrays of `lastiterate.runtime.constants.kinks.Kinks`; None without any."""
        if not len(found["changes"]):
            return None
        (pair,) = best_pairs((0.0,), [found | {"started": found["started"][:1]}], seed)
        numbers = {name: float(found[name][0]) for name in ("slope", "reach", "greatest", "diameter")}
        return Jump(pair, **numbers, upper=upper)

    def __str__(self) -> str:
        sample = "an input" if self.pair.sample is None else f"sample {self.pair.sample}"
        return (
            f"The gradient of {sample} jumps: at two points {self.pair.distance:.2g} apart it differs by J = "
            f"{printed_down(self.pair.constant, 4)}, and the difference does not shrink with the distance. So no "
            f"Hölder constant of an order above 0 is finite. At distances r from {self.reach:.3g} on, gradients were "
            f"found to differ by at most J + L r with L = {printed_up(self.slope, 4)}, and by at most "
            f"{printed_up(self.greatest, 4)}; J, L and this largest change are lower estimates."
        )

    @property
    def modulus(self) -> Minimum:
        """The modulus J + L (reach + r), and the largest change, up to the diameter of the ball."""
        near = Tabulated((self.diameter,), (self.pair.constant + self.slope * self.reach,))
        return Minimum(Sum(near, Smooth(self.slope)), Tabulated((self.diameter,), (self.greatest,)))


def improves(run: NoisySGD, smoothness: float, radius: float, delta: float = 1e-5) -> bool:
    """True if smoothness gives the run, projected onto a ball of this radius, a smaller bound than clipping alone."""
    narrow = replace(run, diameter=2 * radius)
    try:
        smooth, clipped = (bound(narrow, one, delta=delta).epsilon for one in (Smooth(smoothness), Clipped()))
    except InputError:  # a scheme for which smoothness gives no bound
        return False
    return smooth < (1 - 1e-6) * clipped


@dataclass(frozen=True)
class WorstCaseConstants(Displayed):
    """Lower estimates of and upper bounds on the constants of one initialisation.

    Attributes:
        run: training run around whose iterates the search begins.
        inputs: set of inputs searched, with every label of the data; None for the samples of the data.
        found: largest constant found for each order. Lower estimates.
        upper: proved constant for each order, possibly infinite; None if none is known. Upper bounds.
        why: reason why no finite constant is proved, or empty.
        searched: worst pair found for each order. Lower estimates.
        certified: proved constants on the domain. Upper bounds.
        bounded: bound that the certified constants give for the run.
        jump: largest jump found; then no constant of an order above 0 is finite. None if none was found.
    """

    workload: str
    run: NoisySGD
    kind: Kind
    inputs: str | None
    found: tuple[float, ...]
    upper: tuple[float | None, ...]
    why: str
    searched: tuple[WorstPair, ...]
    certified: LossConstants | None
    bounded: Bound | None
    device: str
    memory: int
    remark: str = ""
    subset: Subset | None = None
    jump: Jump | None = None

    @property
    def lambdas(self) -> tuple[float, ...]:
        """Hölder orders."""
        return tuple(pair.lam for pair in self.searched)

    @property
    def trusted(self) -> bool:
        """True if every order has a trusted pair, or a jump was found."""
        return self.jump is not None or all(self.found)

    @property
    def carried(self) -> tuple[float, ...]:
        """Orders that have a finite constant: 0 if gradients jump."""
        return self.lambdas if self.jump is None else (0.0,)

    @property
    def untrusted(self) -> str:
        """Reason why a search yields no privacy number, with a remedy."""
        return "for some order no pair could be trusted; search in float64 or on a wider domain"

    def holder(self, lam: float) -> Measured:
        """Largest constant found, or the modulus (order 0) of gradients that jump; an `InputError` without one."""
        if not self.trusted:
            raise InputError(
                f"A privacy estimate needs a trusted pair for every order, got kind={self.kind}: {self.untrusted}."
            )
        if self.jump is not None:
            if lam:
                raise InputError(
                    f"The order must be 0 for gradients that jump, got lam={lam:g}; use 0. {self.jump}"
                )
            return Measured(
                self.jump.modulus,
                f"the modulus J + L r with J = {printed_down(self.jump.pair.constant, 4)} and L = "
                f"{printed_down(self.jump.slope, 4)} of {self.workload} {_for_all(self.kind, self.run)}; it is the "
                f"least for the pairs that a search found among {self._among}, a lower estimate",
            )
        constant = self.found[self.lambdas.index(lam)]
        return Measured(
            Holder(constant, lam),
            f"the constant {printed_down(constant, 4)} of {self.workload} {_for_all(self.kind, self.run)}; it is the "
            f"largest that a search found among {self._among}, a lower estimate",
        )

    @property
    def _among(self) -> str:
        return f"any input of {self.inputs}" if self.inputs else "the samples of the data"

    def table(self) -> TextTable:
        apart = [f"{pair.distance:.3g}" if pair.constant else "-" for pair in self.searched]
        apart = apart if self.jump is None else ["-"] * (1 + len(apart))
        rows = tuple(
            (f"{row['lambda']:g}", words_found(row["found"]), words_upper(row["certified"]), where)
            for row, where in zip(self.records(), apart, strict=True)
        )
        caption = f"{self.workload}: Hölder constants of {_WORDS[self.kind]}, searched among {self._among}"
        return TextTable(caption, ("lambda", "found", "certified", "at distance"), rows)

    def records(self) -> list[dict[str, Any]]:
        rows = [*zip(self.lambdas, self.found, self.upper, strict=True)]
        if self.jump is not None:
            rows = [(0.0, self.jump.greatest, self.jump.upper), *((lam, inf, high) for lam, _, high in rows)]
        return [{"kind": "estimate", "lambda": lam, "found": low, "certified": high} for lam, low, high in rows]

    @property
    def helps(self) -> bool | None:
        """Tell whether the proved smoothness gives the run a smaller bound than clipping; None if it is unknown."""
        if self.why or self.certified is None or not isfinite(self.run.diameter):
            return None
        return improves(self.run, self.certified.smoothness, self.run.diameter / 2)

    def as_dict(self) -> dict[str, Any]:
        """All fields as plain data, except the places of the pairs."""
        said = asdict(replace(self, bounded=None)) | {"kind": str(self.kind)}
        said["bounded"] = self.bounded.as_dict() if self.bounded else None
        for pair in [*said["searched"], *([said["jump"]["pair"]] if self.jump else [])]:
            del pair["place"]
        return said


def words_found(constant: float) -> str:
    """Constant found, rounded down, or "none trusted" if it is 0, or "infinite"."""
    return "infinite" if constant == inf else printed_down(constant, 4) if constant else "none trusted"


def words_upper(constant: float | None) -> str:
    """Certified constant, rounded up, or "not known" or "infinite"."""
    if constant is None:
        return "not known"
    return printed_up(constant, 4) if isfinite(constant) else "infinite"


@dataclass(frozen=True)
class Stage:
    """Measurement at one checkpoint. Direction: lower estimates.

    Attributes:
        checkpoint: file of the checkpoint.
        around: constants over pairs of the checkpoint and a point drawn around it.
        moved: distance to the previous checkpoint, a length; None for the first.
        between: constants over the pair with the previous checkpoint; None for the first.
        layers: constants of every layer's block around the checkpoint, by name, if requested.
    """

    checkpoint: str
    around: Constants
    moved: float | None
    between: Constants | None
    layers: dict[str, Constants]


@dataclass(frozen=True)
class AlongTraining:
    """Constants at the checkpoints of one training run. Direction: lower estimates.

    Attributes:
        lambdas: the orders, each in (0, 1].
        samples: number of samples over which the maximum is taken.
    """

    workload: str
    lambdas: tuple[float, ...]
    stages: tuple[Stage, ...]
    points: int
    radius: float
    draw: str
    dtype: str
    seed: int
    samples: int
    remark: str
