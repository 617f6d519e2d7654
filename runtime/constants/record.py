"""Record of a measurement: constants for many orders, the measured modulus, and how far to trust them.

Everything here is a *lower* estimate. The largest ratio over sampled pairs is at most the true Hölder
constant, so a privacy number computed from it is a `lastiterate.numeric.bound.Estimate`: it holds only if the true
constant is no larger than the sampled one.
"""

import json
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Holder, Measured
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.fit import Constants, Envelope
from lastiterate.runtime.constants.layers import Layer, combined
from lastiterate.runtime.pair_table import Kind, Subset


@dataclass(frozen=True)
class HolderEstimate(Displayed):
    """Hölder constants of a network, measured. Direction: lower estimates of the true constants.

    Attributes:
        workload: name of the network, loss and data.
        lambdas: the orders asked for, each in (0, 1].
        measured: for each kind of gradient its constants, in the order of ``lambdas``.
        envelopes: for each kind of gradient its measured modulus.
        run: the training run whose iterates were the centers, one run for every initialisation.
        inits: number of initialisations.
        centers: iterates of each run that were measured, evenly spaced, the first and the last included.
        points: points drawn around every such iterate.
        radius: radius of the ball they were drawn in, a length.
        draw: distribution of the points, ``uniform`` or ``log-uniform``.
        pairs: number of (iterate, point) pairs.
        distances: least and greatest distance of a pair.
        dtype: floating-point format of the gradients.
        device: where they were computed.
        memory: bytes that one chunk of gradients might take there.
        seed: seed of initialisations, noise and points.
        remark: what the workload says of itself, and whether gradients of its network jump.
        layers: the same of every layer's block of the gradient, where they were asked for.
        subset: how the samples were drawn from more; None if all were used.

    Source: Chien & Li 2025, appendix A.13.
    """

    workload: str
    lambdas: tuple[float, ...]
    measured: dict[Kind, Constants]
    envelopes: dict[Kind, Envelope]
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
    layers: tuple[Layer, ...] = ()
    subset: Subset | None = None

    def __str__(self) -> str:
        kept = self.measured[Kind.SAMPLE]
        constants = ", ".join(f"{kept.cell(k)} for lambda = {lam:g}" for k, lam in enumerate(self.lambdas))
        return f"{self.workload}: L per sample {constants}, lower estimates from {self.pairs} sampled pairs"

    def table(self) -> TextTable:
        """The constants for every order, per sample and of the batch."""
        kinds = self.measured[Kind.SAMPLE], self.measured[Kind.BATCH]
        rows = ((f"{lam:g}", *(kind.cell(k) for kind in kinds)) for k, lam in enumerate(self.lambdas))
        caption = f"{self.workload}: measured Hölder constants (lower estimates)"
        return TextTable(caption, ("lambda", "L per sample", "L per batch"), tuple(rows))

    def records(self) -> list[dict[str, Any]]:
        """A row for every order; None where no pair could be trusted."""
        return [
            {"kind": "estimate", "lambda": lam}
            | {str(kind): one.constants[k] if one.kept else None for kind, one in self.measured.items()}
            for k, lam in enumerate(self.lambdas)
        ]

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
            InputError: ``lam`` was not measured, ``kind`` is a kind of the batch, or no pair could be trusted.
        """
        constant = self.constant(lam, kind)
        return Measured(Holder(constant, lam), self.condition(f"the constant {constant:.4g}", kind))

    def modulus(self, kind: Kind = Kind.SAMPLE) -> Measured:
        """The measured modulus as an assumption, with the errors of `holder`; it ends at the longest distance."""
        return Measured(self.envelopes[kind].tabulated(), self.condition("the tabulated modulus", kind))

    def by_layer(self, kind: Kind = Kind.SAMPLE) -> Measured:
        """The constants of the layers, each of the order that suits it, as an assumption, with the errors of `holder`.

        Raises:
            InputError: also where the layers were not told apart, or a layer has no trusted pair.
        """
        stated = self.condition("every layer's constants", kind)
        return Measured(combined(self.layers, self.lambdas, kind, self.distances[1]), stated)

    def condition(self, what: str, kind: Kind) -> str:
        """Condition of a number made from this measurement, in one sentence.

        Raises:
            InputError: ``kind`` is a kind of the batch, or no pair could be trusted.
        """
        if kind not in (Kind.SAMPLE, Kind.SAMPLE_CLIPPED):
            raise InputError(
                f"A privacy number needs the per-sample constants, got kind={kind}: the mean over this batch "
                "says nothing of other data sets; use sample or sample_clipped."
            )
        if not self.measured[kind].kept:
            raise InputError(f"{self.untrusted}, got kind={kind}; {self.remedy}.")
        clipped = f"clipped (norm {self.run.clip_norm:g}) " if kind == Kind.SAMPLE_CLIPPED else ""
        return (
            f"{what} of {self.workload} holding for the {clipped}per-sample gradient of every possible sample at "
            f"every two points of the domain; it is the largest over {self.pairs} sampled pairs "
            f"{self.distances[0]:.3g} to {self.distances[1]:.3g} apart, a lower estimate of the constant in the "
            "balls around the iterates"
        )

    @property
    def trusted(self) -> bool:
        """Tell whether a per-sample pair is left that rounding does not dominate; without one there is no constant."""
        return self.measured[Kind.SAMPLE].kept > 0

    @property
    def untrusted(self) -> str:
        """Explanation for a measurement of which no pair is left."""
        return (
            "No pair could be trusted: every gradient changes by less than 1000 times the rounding assumed of "
            f"{self.dtype} ({self.pairs} pairs, {self.distances[0]:.3g} to {self.distances[1]:.3g} apart)"
        )

    @property
    def remedy(self) -> str:
        """Remedy for a measurement of which no pair is left."""
        way = "float64 or with a larger radius" if self.dtype != "float64" else "a larger radius"
        return f"measure with {way}; a loss that is linear in the parameters has nothing to measure"

    def to_json(self) -> str:
        """The record as JSON text; `from_json` reads it back."""
        data = asdict(self)
        if self.run.diameter == inf:  # JSON has no infinity
            data["run"]["diameter"] = "inf"
        return json.dumps(data, indent=2, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> "HolderEstimate":
        """The record that `to_json` wrote.

        Raises:
            InputError: the text is no such record.
        """
        from pydantic import TypeAdapter

        try:
            data = json.loads(text)
            data = data.get("measurement", data)
            return TypeAdapter(HolderEstimate).validate_python(data)
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"A measurement must be what lastiterate estimate --draw uniform --json wrote, got text={text[:40]!r} "
                f"({type(error).__name__}); write it again."
            ) from None
