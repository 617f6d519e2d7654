"""The best of all exactly solvable runs, for every scheme of batches, every assumption, Renyi and (epsilon, delta).

`lastiterate.numeric.lower.lower_bound` chooses among them; a bound below what it certifies is refuted.
"""

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.published.record import run_of
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.proofs_checks.attacks.record import Assumed, Attack, BothDirections, Setting, assumption_of


def _attack(scheme: str, *, dp: bool) -> Attack:
    def attack(setting: Setting, assumed: Assumed) -> BothDirections | None:
        target = {"delta": setting["delta"]} if dp else {"order": setting["alpha"]}
        try:
            found = lower_bound(run_of(setting, scheme), assumption_of(setting, assumed), **target).value
        except InputError:
            return None
        return BothDirections(found, found) if found > 0 else None

    return Attack(
        name=f"solved_{scheme}_dp" if dp else f"solved_{scheme}",
        run=f"the best exactly solvable run with {scheme} batches; the greater of both orders",
        meets=frozenset(Assumed) - {Assumed.SENSITIVITY},
        bounded=None,
        maps=False,
        solve=attack,
        quantity="epsilon at delta" if dp else "D_alpha",
    )


SOLVED = tuple(_attack(scheme, dp=dp) for scheme in SCHEMES for dp in (False, True))
"""One attack a scheme and kind of guarantee."""
