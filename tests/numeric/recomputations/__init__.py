"""Numbers that the code computes, and their limits from other computations."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from recomputations.record import Number


@cache
def recomputations() -> Mapping[str, Callable[[], Iterable[Number]]]:
    """Functions ``recompute_*`` of this folder, by name without the prefix."""
    from recomputations import accounting, audits, descriptions, losses, networks, runs

    modules = map(vars, (accounting, audits, descriptions, losses, networks, runs))
    every = [entry for names in modules for entry in names.items() if entry[0].startswith("recompute_")]
    return {name.removeprefix("recompute_"): make for name, make in every}
