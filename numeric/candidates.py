"""Every bound that is known of a run, by every route."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from math import inf, isfinite

import numpy as np

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.chain import Goal
from lastiterate.numeric.contraction.fixed_batches import APART, contract_fixed, contract_shuffled
from lastiterate.numeric.contraction.random_batches import contract_random
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Minimum, Modulus
from lastiterate.numeric.run import NoisySGD, extreme
from lastiterate.numeric.shift_program.positions import fallback_route, fixed_routes
from lastiterate.numeric.shuffling.shuffled import shuffled_routes
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.windows import composition_route
from lastiterate.numeric.subsampling.without_replacement import convert_routes, without_replacement_routes

_STEEP = 8.0
"""A modulus above so many caps on the domain is worth a look at clipping alone, where batches have a known order."""
_HIGHEST = 1e9
"""Beyond this order only Gaussian bounds of random batches are looked at."""


def candidates(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool = False
) -> list[Candidate]:
    """Bounds that are known for a run, each of them valid, and good near the order or the delta that is given.

    Random batches need one of the two. With ``every`` routes that cannot be the least are there, too.
    """
    if not run.scheme.random:
        found = by_shifts(run, assumption, order, delta, every=every)
        return [*found, *contracted(run, assumption, order, delta, found)]
    if _plain(run, assumption, order):
        return by_shifts(run, assumption, order, delta)
    better = contracted(run, assumption, order, delta, [composition_route(run)])
    most = min((one.value(order, delta) for one in better), default=inf)
    return better + by_shifts(run, assumption, order, delta, every=every, most=most)


def containing(run: NoisySGD, assumption: Assumption) -> list[Assumption]:
    """Larger classes of losses whose bound may be the lower one, as routes differ from class to class.

    So shuffled batches have routes for a modulus and not for a minimum, and a steep modulus is clipped all but at once.
    """
    if isinstance(assumption, Minimum) and run.scheme.permuted:
        return [wider for part in assumption.parts for wider in (part, *containing(run, part))]
    if not isinstance(assumption, Modulus) or isinstance(assumption, Clipped) or not isfinite(run.diameter):
        return []
    cap = 2 * run.clip_norm * (1 if run.scheme.permuted else _STEEP)
    with np.errstate(over="ignore"):
        steep = not run.scheme.random and float(assumption.value(np.array(run.diameter))) > cap
    return [Clipped()] if steep else []


def least_candidate(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    routes: Callable[..., list[Candidate]] = candidates,
) -> Candidate:
    """The candidate of least epsilon at an order or at a delta; without either, of least mu."""
    found = routes(run, assumption, order, delta)
    for wider in containing(run, assumption):
        found = [*found, *(replace(one, within=wider) for one in routes(run, wider, order, delta))]
    return found[0] if len(found) == 1 else min(found, key=lambda one: one.value(order, delta))


def by_shifts(
    run: NoisySGD,
    assumption: Assumption,
    order: float | None,
    delta: float | None,
    *,
    every: bool = False,
    most: float = inf,
) -> list[Candidate]:
    """Bounds by shifts and by composition; of random batches those above ``most`` need not be found."""
    if _plain(run, assumption, order):
        return [fallback_route(run, assumption)]
    routes = _ROUTES[run.scheme.name][0]
    if not run.scheme.random:
        return routes(run, assumption, order, delta, every=every)
    if delta is None:
        return routes(run, assumption, order, every=every, most=most if most < inf else None)
    return convert_routes(run, partial(routes, run, assumption, delta=delta, every=False), delta, most)


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
    wide = not run.scheme.random and run.diameter > APART * run.noise_std_at(run.steps - 1)
    if (order is None and delta is None) or wide or not isfinite(run.diameter) or extreme(run, assumption):
        return []
    other = min(found, key=lambda one: one.value(order, delta))
    goal = Goal(order, delta, other.value(order, delta), cache(other.rdp))
    try:
        return _ROUTES[run.scheme.name][1](run, assumption, goal, other)
    except ArithmeticError:  # a table lost too many digits: the other routes stand
        return []


def _plain(run: NoisySGD, assumption: Assumption, order: float | None) -> bool:
    """Tell whether numbers are beyond what floats can search."""
    return bool(extreme(run, assumption)) or (run.scheme.random and order is not None and order > _HIGHEST)


_ROUTES: Mapping[str, tuple[Callable[..., list[Candidate]], Callable[..., list[Candidate]]]] = {
    "full": (fixed_routes, contract_fixed),
    "cyclic": (fixed_routes, contract_fixed),
    "shuffled": (shuffled_routes, contract_shuffled),
    "without_replacement": (without_replacement_routes, contract_random),
    "poisson": (poisson_routes, contract_random),
}
"""The routes of each scheme: by shifts and composition, and by contraction."""
