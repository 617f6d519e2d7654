"""Every bound that is known of a run, by every route."""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf

from lastiterate.numeric.accounting.dominating import Candidate
from lastiterate.numeric.contraction.routes import contracted
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD, extreme
from lastiterate.numeric.shift_program.positions import fallback_route, fixed_routes
from lastiterate.numeric.shuffling.shuffled import shuffled_routes
from lastiterate.numeric.subsampling.poisson import poisson_routes
from lastiterate.numeric.subsampling.windows import composition
from lastiterate.numeric.subsampling.without_replacement import converted, without_replacement_routes

_HIGHEST = 1e9
"""Beyond this order only Gaussian bounds of random batches are looked at."""


def candidates(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None, *, every: bool = False
) -> list[Candidate]:
    """Bounds that are known for a run, each of them valid, and good near the order or the delta that is given.

    Random batches need one of the two. With ``every`` routes that cannot be the least are there, too.
    """
    if not run.scheme.random:
        found = shifted(run, assumption, order, delta, every=every)
        return found if extreme(run, assumption) else [*found, *contracted(run, assumption, order, delta, found)]
    if _plain(run, assumption, order):
        return shifted(run, assumption, order, delta)
    better = contracted(run, assumption, order, delta, [composition(run)])
    most = min((one.value(order, delta) for one in better), default=inf)
    return better + shifted(run, assumption, order, delta, every=every, most=most)


def shifted(
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
    routes = _ROUTES[run.scheme.name]
    if not run.scheme.random:
        return routes(run, assumption, order, delta, every=every)
    if delta is None:
        return routes(run, assumption, order, every=every, most=most if most < inf else None)
    return converted(run, partial(routes, run, assumption, delta=delta, every=False), delta, most)


def _plain(run: NoisySGD, assumption: Assumption, order: float | None) -> bool:
    """Tell whether numbers are beyond what floats can search."""
    return bool(extreme(run, assumption)) or (run.scheme.random and order is not None and order > _HIGHEST)


_ROUTES: Mapping[str, Callable[..., list[Candidate]]] = {
    "full": fixed_routes,
    "cyclic": fixed_routes,
    "shuffled": shuffled_routes,
    "without_replacement": without_replacement_routes,
    "poisson": poisson_routes,
}
