"""Exactly solvable runs, which attack every privacy bound in the ledger."""

from typing import Final

from lastiterate.proofs_checks.attacks.exact_runs import EXACT_RUNS
from lastiterate.proofs_checks.attacks.record import Assumed, BothDirections, ExactRun, Setting

__all__ = ["ATTACKS", "Assumed", "BothDirections", "ExactRun", "Setting"]

ATTACKS: Final[dict[str, ExactRun]] = {attack.name: attack for attack in EXACT_RUNS}
"""Attacks by the name that claims use; `proofs_checks.folder` adds attacks of a user's folder."""
