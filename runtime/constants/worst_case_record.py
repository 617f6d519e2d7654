"""Record of a search for the worst pair: what is found, and what is proved, for many orders.

What is found is a lower estimate, so a privacy number from it is a `lastiterate.numeric.bound.Estimate`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf, isfinite
from typing import Any, Final

from lastiterate.numeric.bound import Bound
from lastiterate.numeric.display import Displayed, TextTable
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Holder, Measured
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.rounding import printed_down, printed_up
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.both_sides import Certified, certified_holder
from lastiterate.runtime.constants.extreme_value import Extrapolation
from lastiterate.runtime.constants.search import Pair, Witness
from lastiterate.runtime.pair_table import Kind, Subset

CLIPPED: Final = (Kind.SAMPLE_CLIPPED, Kind.BATCH_CLIPPED)
BATCH: Final = (Kind.BATCH, Kind.BATCH_CLIPPED)
"""Kinds of gradients that are clipped, and that are means over the samples."""
_WORDS: Final = {
    Kind.SAMPLE: "per-sample gradients",
    Kind.SAMPLE_CLIPPED: "clipped per-sample gradients",
    Kind.BATCH: "mean gradients of the batch",
    Kind.BATCH_CLIPPED: "mean clipped gradients of the batch",
}


@dataclass(frozen=True)
class WorstCaseConstants(Displayed):
    """Constants of one initialisation, or the largest over several, by several methods.

    Attributes:
        workload: name of the network, loss and data.
        run: the training run around whose iterates the search begins.
        kind: which gradient the search and the extrapolation are about.
        inputs: the set of inputs that is searched, with every label of the data; None for the samples of the data.
        effort: rounds of the search.
        inits: initialisations.
        searched: for each order the worst pair found in the domain. Lower estimates.
        curvature: largest |eigenvalue| of a per-sample Hessian along the trajectory (of unclipped gradients), a
            lower estimate of order 1; None where it is not finite, and for networks so large that only pairs climb.
        extremes: for each order the extrapolated constant, or None where too few pairs could be trusted. Statistical
            estimates, from at most 256 of the samples.
        side: what is proved on the domain. Upper bounds.
        bounded: the bound that the certified constants give for the run, or None.
        device: where the gradients were computed.
        memory: bytes that one chunk of gradients might take there.
        seeds: of the initialisation that the pair of each order is about.
        witnesses: where the pair of each order is.
        subset: how the samples were drawn from more; None if all were used.
        remark: what the workload says of itself, and whether gradients of its network jump.
    """

    workload: str
    run: NoisySGD
    kind: Kind
    inputs: str | None
    effort: int
    inits: int
    searched: tuple[Pair, ...]
    curvature: float | None
    extremes: tuple[Extrapolation | None, ...]
    side: Certified
    bounded: Bound | None
    device: str
    memory: int
    seeds: tuple[int, ...]
    witnesses: tuple[Witness, ...] = field(repr=False, compare=False)
    subset: Subset | None = None
    remark: str = ""

    @property
    def certified(self) -> LossConstants | None:
        """Constants that are proved on the domain, or None where none are known."""
        return self.side.constants

    def found(self, order: int) -> float:
        """The largest constant found for the order with this index: searched, drawn, or the curvature for order 1."""
        pair, extreme = self.searched[order], self.extremes[order]
        curved = self.curvature if pair.lam == 1 and self.kind is Kind.SAMPLE else None
        return max(pair.constant, extreme.largest if extreme else 0.0, curved or 0.0)

    def upper(self, order: int) -> float | None:
        """The certified constant for the order with this index, perhaps infinite; None where none is known."""
        if self.certified is None:
            return None
        clip_norm = self.run.clip_norm if self.kind in CLIPPED else inf
        return certified_holder(self.certified, self.searched[order].lam, self.run.diameter, clip_norm)

    def holder(self, order: int) -> Measured:
        """The largest constant found as an assumption that `lastiterate.numeric.bound.estimate` takes.

        Raises:
            InputError: the gradients are means of the batch, or no pair could be trusted.
        """
        constant, lam = self.found(order), self.searched[order].lam
        if self.kind in BATCH or not constant:
            raise InputError(
                f"A privacy number needs a per-sample pair that rounding does not dominate, got kind={self.kind} with "
                f"L={constant:g}; search for sample or sample_clipped, in float64 or on a wider domain."
            )
        clipped = f"clipped (norm {self.run.clip_norm:g}) " if self.kind in CLIPPED else ""
        among = f"inputs of {self.inputs}" if self.inputs else "the samples of the data"
        said = printed_down(constant, 4)
        return Measured(
            Holder(constant, lam),
            f"the constant {said} of {self.workload} holding for the {clipped}per-sample gradient of every possible "
            f"sample at every two points of the domain; it is the largest that a search found among {among}, "
            "a lower estimate",
        )

    def table(self) -> TextTable:
        """The constants from both sides, for every order."""
        among = f"any input of {self.inputs}" if self.inputs else "the samples of the data"
        rows = []
        for k, pair in enumerate(self.searched):
            found, extreme = self.found(k), self.extremes[k]
            rows.append((
                f"{pair.lam:g}",
                printed_down(found, 4) if found else "none trusted",
                _upper(self.upper(k)),
                f"{pair.distance:.3g}" if pair.constant else "-",
                _interval(extreme, found),
            ))  # fmt: skip
        caption = f"{self.workload}: Hölder constants of {_WORDS[self.kind]}, searched among {among}"
        headings = ("lambda", "found", "certified", "at distance", "extrapolated, 95%")
        return TextTable(caption, headings, tuple(rows))

    def records(self) -> list[dict[str, Any]]:
        """A row for every order: what is found is an estimate, what is certified an upper bound."""
        return [
            {"kind": "estimate", "lambda": pair.lam, "found": self.found(k), "certified": self.upper(k)}
            for k, pair in enumerate(self.searched)
        ]

    def as_dict(self) -> dict[str, object]:
        """Everything but where the pairs are as plain data."""
        orders_ = range(len(self.searched))
        return {
            "workload": self.workload,
            "run": asdict(self.run),
            "kind": str(self.kind),
            "inputs": self.inputs,
            "effort": self.effort,
            "inits": self.inits,
            "found": [self.found(k) for k in orders_],
            "upper": [self.upper(k) for k in orders_],
            "why": self.side.reason,
            "searched": [asdict(pair) for pair in self.searched],
            "curvature": self.curvature,
            "extremes": [asdict(one) if one else None for one in self.extremes],
            "certified": asdict(self.certified) if self.certified else None,
            "bounded": self.bounded.as_dict() if self.bounded else None,
            "device": self.device,
            "memory": self.memory,
            "remark": self.remark,
        }

    @staticmethod
    def joined(looks: Sequence["WorstCaseConstants"]) -> "WorstCaseConstants":
        """The largest constants over several initialisations, each on the ball around its own."""
        best = [max(looks, key=lambda look: look.searched[k].constant) for k in range(len(looks[0].searched))]
        worst = max(looks, key=lambda look: look.certified.smoothness if look.certified else inf)
        bounds = [look.bounded for look in looks if look.bounded]
        return replace(
            worst,
            inits=len(looks),
            searched=tuple(look.searched[k] for k, look in enumerate(best)),
            seeds=tuple(look.seeds[k] for k, look in enumerate(best)),
            witnesses=tuple(look.witnesses[k] for k, look in enumerate(best)),
            curvature=max((look.curvature for look in looks if look.curvature is not None), default=None),
            extremes=tuple(
                max(drawn, key=lambda one: one.largest) if (drawn := [e for e in some if e]) else None
                for some in zip(*(look.extremes for look in looks), strict=True)
            ),
            bounded=max(bounds, key=lambda one: one.epsilon or 0.0) if len(bounds) == len(looks) else None,
        )


def _interval(extreme: Extrapolation | None, found: float) -> str:
    """The extrapolated interval, where no pair that was found is above it."""
    if extreme is None:
        return "too few pairs trusted"
    if extreme.high < found:
        return "below a pair that was found"
    return f"{extreme.low:.4g} to {extreme.high:.4g}" if isfinite(extreme.low) else "the fitted law has no end"


def _upper(constant: float | None) -> str:
    """A certified constant, or in a word why there is none."""
    if constant is None:
        return "not known"
    return printed_up(constant, 4) if isfinite(constant) else "infinite"
