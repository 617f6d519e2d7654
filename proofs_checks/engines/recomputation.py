"""Numbers that the code computes, each compared with limits from another computation.

The other computation is a closed form, an exact run from below or a slow sum, and shares no code with the
checked one. If there is no other computation, an earlier value takes its place; the report counts such
numbers.
"""

from functools import lru_cache

from sympy.logic.boolalg import Boolean

from lastiterate.numeric.errors import InputError, suggestion
from lastiterate.proofs_checks.engines.answers import held, refuted, without_near_misses
from lastiterate.proofs_checks.recomputations import recomputations
from lastiterate.proofs_checks.recomputations.record import Number
from lastiterate.proofs_checks.verdict import Counterexample, Grade, Outcome
from lastiterate.symbolic.checks import Recomputed


@lru_cache(maxsize=64)
def _numbers(quantity: str) -> tuple[Number, ...]:
    known = recomputations()
    if quantity not in known:
        raise InputError(
            f"quantity needs the name of a recomputation, got quantity={quantity!r}; {suggestion(quantity, known)}"
        )
    return tuple(known[quantity]())


def decide(check: Recomputed, assumptions: tuple[Boolean, ...]) -> Outcome:  # noqa: ARG001
    """Compare the numbers of a `Recomputed` check with their limits."""
    found = _numbers(check.quantity)
    factor = 1 + float(check.off)
    for one in found:
        if not one.low <= one.value * factor <= one.high:
            ends, by = (
                f"[{one.low!r}, {one.high!r}]",
                "the recorded number" if one.recorded else "another computation",
            )
            return refuted(check, Counterexample({"of": one.what}, repr(one.value * factor), "in", ends, by))
    recorded = sum(one.recorded for one in found)
    also = f", {recorded} of them with recorded numbers on one side or both" if recorded else ""
    below, above = (max(share) for share in zip(*(one.room for one in found), strict=True))
    room = f"none could be smaller by more than {below:.2g} or larger by more than {above:.2g} of its value"
    return held(check, Grade.NOT_REFUTED, f"{len(found)} numbers agree{also}; {room}", f"{len(found)} numbers")


near_misses = without_near_misses  # the mutants of the check are numbers that are off
