"""Every bound that is known for a run: which routes there are for which scheme of batches."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.fallback import plain_optimum
from lastiterate.numeric.shift_program.float_range import extreme
from lastiterate.numeric.shift_program.optimum import Optimum, worst_position
from lastiterate.numeric.shuffling.shuffled import mean_at_delta, mean_routes, worst_routes
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.without_replacement import converted, without_replacement_routes

__all__ = ["candidates", "least"]

_HIGHEST = 1e9
"""Beyond this order only Gaussian bounds are looked at."""


def least(run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None) -> Candidate:
    """The candidate of least epsilon at an order or at a delta; without either, of least mu."""
    found = candidates(run, assumption, order, delta)
    return found[0] if len(found) == 1 else min(found, key=lambda one: one.value(order, delta))


def candidates(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool = False
) -> list[Candidate]:
    """Bounds that are known for a run, each of them valid.

    Args:
        run: the run.
        assumption: what is assumed of the losses.
        order: alpha > 1, near which they are to be good, or None.
        delta: in (0, 1), near which they are to be good, or None. Random batches need one of the two.
        every: whether routes that cannot be the least are wanted too.
    """
    if extreme(run, assumption) or (run.scheme.random and order is not None and order > _HIGHEST):
        position, found = plain_optimum(run, assumption)
        return [_gaussian(run, assumption, position, found)]
    return _ROUTES[run.scheme.name](run, assumption, order, delta, every)


def _gaussian(run: NoisySGD, assumption: Assumption, position: int, found: Optimum) -> Candidate:
    with precision():
        pair, claim = DominatingPair(upper(found.cost)), run.scheme.claim or assumption.claim
    if run.scheme.random:
        return Candidate("worst batches", claim, (0, run.steps), pair, share=0.0)
    return Candidate(found.route, claim, (found.path.start, run.steps), pair, optimum=found, position=position)


_Routes = Callable[[NoisySGD, Assumption, float | None, float | None, bool], list[Candidate]]


def _fixed(
    run: NoisySGD, assumption: Assumption, _order: float | None, _delta: float | None, every: bool
) -> list[Candidate]:
    """The cheapest path of the shift program; beside it, one last step and composition."""
    program, best = worst_position(run, assumption)
    found = [_gaussian(run, assumption, program.position, best)]
    if every:
        with precision():
            last, all_steps = DominatingPair(upper(program.last_step())), DominatingPair(upper(program.composition()))
        window = (run.steps - 1, run.steps)
        found.append(Candidate("one last step", "chien_li/remarks_3_1/last_step", window, last))
        found.append(Candidate("composition", "chien_li/theorem_3_1/composition", (0, run.steps), all_steps))
    return found


def _shuffled(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, every: bool
) -> list[Candidate]:
    """Bounds for the worst order of the batches, and on the mean over orders."""
    found = worst_routes(run, assumption)
    worst = min(found, key=lambda one: one.pair.cost)
    found = found if every else [worst]
    if delta is not None:
        found.append(mean_at_delta(run, assumption, delta, worst.pair))
    elif order is not None and order <= _HIGHEST:
        found += mean_routes(run, assumption, order, worst.pair)
    return found


def _random(
    routes: Callable[..., list[Candidate]],
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    every: bool,
) -> list[Candidate]:
    """The routes at an order, or the best conversions to a delta."""
    if delta is None:
        return routes(run, assumption, order, every=every)
    return converted(lambda at: routes(run, assumption, at, delta), delta)


_ROUTES: Final[Mapping[str, _Routes]] = MappingProxyType(
    {
        "full": _fixed,
        "cyclic": _fixed,
        "shuffled": _shuffled,
        "without_replacement": partial(_random, without_replacement_routes),
        "poisson": partial(_random, poisson_routes),
    }
)
