"""Contraction for every scheme: what it adds to the candidates of a run."""

from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.fixed_batches import contracted_fixed
from lastiterate.numeric.contraction.random_batches import contracted_random
from lastiterate.numeric.contraction.shuffled import contracted_shuffled
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD

_ROUTES: Mapping[str, Callable[[NoisySGD, Assumption, Goal, Candidate], list[Candidate]]] = {
    "full": contracted_fixed,
    "cyclic": contracted_fixed,
    "shuffled": contracted_shuffled,
    "poisson": contracted_random,
    "without_replacement": contracted_random,
}


def contracted(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, found: list[Candidate]
) -> list[Candidate]:
    """The candidate by contraction where the domain is bounded and a number is asked for, or none.

    Args:
        run: any run.
        assumption: of its losses.
        order: alpha > 1, or None.
        delta: in (0, 1), or None.
        found: what other routes give; the best of them stands beside the table.
    """
    if (order is None and delta is None) or not isfinite(run.diameter) or run.scheme.name not in _ROUTES:
        return []
    other = min(found, key=lambda one: one.value(order, delta))
    goal = Goal(order, delta, other.value(order, delta), cache(other.rdp))
    try:
        return _ROUTES[run.scheme.name](run, assumption, goal, other)
    except ArithmeticError:  # a table lost too many digits: the other routes stand
        return []
