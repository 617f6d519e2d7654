"""Numbers of the code and what other computations say of them, by the name that claims use."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from lastiterate.proofs_checks.recomputations.record import Number


@cache
def recomputations() -> Mapping[str, Callable[[], Iterable[Number]]]:
    """Each by its name; what they hold the numbers against stands in their modules."""
    from lastiterate.proofs_checks.recomputations import accounting, audits, descriptions, losses, networks, runs

    every = (
        *(accounting.gaussian, accounting.conversions, accounting.sampling, accounting.compositions),
        *(audits.by_counts, audits.by_scores, audits.in_one_run),
        *(descriptions.events, descriptions.batches, descriptions.tables),
        *(losses.expansions, losses.distances),
        *(networks.at_the_centre, networks.closed_forms),
        *(runs.contraction, runs.classes, runs.lower, runs.uses, runs.projections),
    )
    return {one.__name__: one for one in every}
