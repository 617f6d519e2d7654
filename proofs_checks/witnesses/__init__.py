"""Exactly solvable runs, the adversaries of every privacy bound in the ledger."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lastiterate.proofs_checks.witnesses.batches import BATCHES
from lastiterate.proofs_checks.witnesses.clamped import CLAMPED_LINEAR, CLAMPED_QUADRATIC, SIGN_DRIFT
from lastiterate.proofs_checks.witnesses.gaussian import EXPANDING, LINEAR, QUADRATIC
from lastiterate.proofs_checks.witnesses.record import Assumed, Lower, Setting, Witness

__all__ = ["WITNESSES", "Assumed", "Lower", "Setting", "Witness"]

WITNESSES: Final[Mapping[str, Witness]] = MappingProxyType(
    {
        witness.name: witness
        for witness in (LINEAR, QUADRATIC, EXPANDING, CLAMPED_LINEAR, CLAMPED_QUADRATIC, SIGN_DRIFT, *BATCHES)
    }
)
"""Each witness under the name that claims use."""
