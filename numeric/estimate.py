"""Estimates: bounds from measured constants."""

from dataclasses import dataclass, replace
from typing import ClassVar

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.bound import PrivacyLoss, solved
from lastiterate.numeric.display import TextTable
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Measured
from lastiterate.numeric.run import NoisySGD, described_run


@teaches()
@dataclass(frozen=True)
class Estimate(PrivacyLoss):
    """The same numbers from *measured* constants: no bound, but what would be one if the measurement were true."""

    conditional_on: str = ""
    _caption: ClassVar[str] = "An estimate, not a bound"

    def __str__(self) -> str:
        """The numbers, said to be an estimate, and on what they are conditional."""
        return f"an estimate, not a bound: {super().__str__()}, conditional on {self.conditional_on}"

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"conditional_on": self.conditional_on}

    def table(self) -> TextTable:
        found = super().table()
        return replace(found, notes=(f"conditional on {self.conditional_on}", *found.notes))


@teaches()
def estimate(run: NoisySGD, measured: Measured, *, order: float | None = None, delta: float | None = None) -> Estimate:
    """The bound that holds if the measured constants are true, typed as an estimate. Arguments as of `bound`.

    Raises:
        InputError: as `bound`, or ``measured`` is not a `Measured`.
    """
    if not isinstance(measured, Measured):
        raise InputError(
            f"estimate needs a Measured assumption, got measured={type(measured).__name__}; "
            "for an assumption that is proved or assumed call bound(run, assumption, ...)."
        )
    described_run("estimate", run)
    found = solved(run, measured.assumption, order, delta)
    return Estimate(run, measured.assumption, *found, conditional_on=measured.conditional_on, tried="")
