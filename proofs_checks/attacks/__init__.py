"""Exactly solvable runs, the adversaries of every privacy bound in the ledger."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lastiterate.proofs_checks.attacks.batches import BATCHES
from lastiterate.proofs_checks.attacks.clamped import CLAMPED_LINEAR, CLAMPED_QUADRATIC, SIGN_DRIFT
from lastiterate.proofs_checks.attacks.gaussian import EXPANDING, LINEAR, QUADRATIC
from lastiterate.proofs_checks.attacks.record import Assumed, Attack, BothDirections, Setting
from lastiterate.proofs_checks.attacks.solved import SOLVED

__all__ = ["ATTACKS", "Assumed", "Attack", "BothDirections", "Setting"]

ATTACKS: Final[Mapping[str, Attack]] = MappingProxyType(
    {
        attack.name: attack
        for attack in (LINEAR, QUADRATIC, EXPANDING, CLAMPED_LINEAR, CLAMPED_QUADRATIC, SIGN_DRIFT, *BATCHES, *SOLVED)
    }
)
"""Each attack under the name that claims use."""
