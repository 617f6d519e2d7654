"""Numbers of the code and what other computations say of them, by the name that claims use.

What each holds its numbers against stands in its module; the modules are imported when a claim is decided.
"""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Final

from lastiterate.proofs_checks.recomputations.record import Number

_AREAS: Final = {
    "accounting": ("gaussian", "conversions", "sampling", "compositions"),
    "audits": ("by_counts", "by_scores", "in_one_run"),
    "networks": ("at_the_centre", "closed_forms"),
    "descriptions": ("events", "batches", "tables"),
    "runs": ("contraction", "classes", "lower", "uses", "projections"),
}


def _found(area: str, name: str) -> Iterable[Number]:
    numbers: Iterable[Number] = getattr(import_module(f"{__name__}.{area}"), name)()
    return numbers


RECOMPUTATIONS: Final[dict[str, Callable[[], Iterable[Number]]]] = {
    name: partial(_found, area, name) for area, names in _AREAS.items() for name in names
}
"""Each by its name."""
