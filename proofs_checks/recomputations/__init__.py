"""Numbers that the code computes, and their limits from other computations."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from lastiterate.proofs_checks.recomputations.record import Number


@cache
def recomputations() -> Mapping[str, Callable[[], Iterable[Number]]]:
    """Functions ``recompute_*`` of this folder, by name without the prefix."""
    from lastiterate.proofs_checks.recomputations import (
        accounting,
        audits,
        descriptions,
        losses,
        networks,
        runs,
    )

    every = [
        entry
        for one in (accounting, audits, descriptions, losses, networks, runs)
        for entry in vars(one).items()
    ]
    return {name.removeprefix(_PREFIX): make for name, make in every if name.startswith(_PREFIX)}


_PREFIX = "recompute_"
