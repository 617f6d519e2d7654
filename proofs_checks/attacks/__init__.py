"""Exactly solvable runs, the adversaries of every privacy bound in the ledger."""

from typing import Final

from lastiterate.proofs_checks.attacks.added import ADDED
from lastiterate.proofs_checks.attacks.batches import BATCHES
from lastiterate.proofs_checks.attacks.full_batches import FULL
from lastiterate.proofs_checks.attacks.projected import PROJECTED
from lastiterate.proofs_checks.attacks.record import Assumed, Attack, BothDirections, Setting
from lastiterate.proofs_checks.attacks.solved import SOLVED

__all__ = ["ATTACKS", "Assumed", "Attack", "BothDirections", "Setting"]

ATTACKS: Final[dict[str, Attack]] = {attack.name: attack for attack in (*FULL, *BATCHES, *ADDED, *PROJECTED, *SOLVED)}
"""Each attack under the name that claims use; `proofs_checks.folder` adds those of one's own folder."""
