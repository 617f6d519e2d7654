"""Faults of one percent in formulas, definitions or code: where they are planted, and how each is tried."""

from collections.abc import Callable, Sequence

from lastiterate.proofs_checks.places import code, formulas
from lastiterate.proofs_checks.places.planted import Planted, plant
from lastiterate.proofs_checks.places.source import SourcePlace
from lastiterate.symbolic import ledger


def sweep(
    where: str,
    drawn: Callable[[Sequence[SourcePlace]], Sequence[SourcePlace]],
    *,
    jobs: int,
    on_place: Callable[[int, int], None],
) -> tuple[Planted, ...]:
    """Plant faults in formulas, definitions or code, at all of their places or at those that are drawn."""
    find, attempt = {
        "formulas": (formulas.formula_places, formulas.try_formula),
        "definitions": (formulas.definition_places, formulas.try_formula),
        "code": (code.code_places, code.try_code),
    }[where]
    ledger.claims()  # before processes begin as this one is
    return plant(attempt, drawn(tuple(find())), jobs=jobs, on_place=on_place)
