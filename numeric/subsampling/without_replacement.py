"""Batches drawn without replacement, and random batches at a delta.

A batch without the differing sample is revealed; with probability q = b / n the sample replaces an element of
the batch. A share beta_t of the variance hides this change, at the cost S of one step between mixtures
(`step_rdp`), and the rest hides shifts; see `noise_split`.

Source: docs/proofs/without_replacement.md; repairs Chien & Li 2025, Theorem 3.12 (claims ours/sampled/*).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, log, sqrt

from lastiterate.numeric.accounting.conversion import mixed_rdp, quick_rdp_to_dp, rdp_to_dp
from lastiterate.numeric.accounting.dominating import Candidate, DominatingPair
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.rounding import precision
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import ShiftProgram
from lastiterate.numeric.subsampling.noise_split import Shares, approximate_rdp
from lastiterate.numeric.subsampling.windows import beside, composition_route

_FIRST_ORDER, _HIGHEST_ORDER, _ORDERS = 8.0, 400.0, 3
_LOOKED_AT = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_PROMISING = 1.5
"""Largest ratio of a route's estimate to the best estimate at which its privacy-loss distribution is used."""


@dataclass(frozen=True, eq=False)
class EventMixture:
    """The choices behind a bound that may fail: the candidate outside the event, and the candidates inside."""

    inside: Candidate
    beyond: tuple[Candidate, ...]


def without_replacement_routes(
    run: NoisySGD,
    assumption: Assumption,
    order: float,
    delta: float | None = None,
    *,
    every: bool = True,
    most: float | None = None,
) -> list[Candidate]:
    """Composition, the best window of shifts and the worst batches; arguments as in `by_shifts`."""
    del delta
    with precision():
        program, composed = ShiftProgram(run, assumption), composition_route(run)
        surely = None if every else composed.rdp(order) if most is None else most
        return [composed, *beside(Shares(run, program, order), surely)]


def convert_routes(
    run: NoisySGD, routes: Callable[..., list[Candidate]], delta: float, most: float = inf
) -> list[Candidate]:
    """Bounds for random batches at one delta; the smallest is close to the best bound of all routes.

    Worst batches are converted exactly, other routes through their privacy-loss distribution or Renyi
    divergence. The best window depends on the order, so a few orders are tried.
    """
    order, tried, whole = _order_near(most, delta), set[float](), composition_route(run)
    best = min(most, *(quick_rdp_to_dp(at, approximate_rdp(whole.pair, at), delta) for at in _LOOKED_AT))
    estimates: dict[DominatingPair, tuple[float, float, Candidate]] = {}
    while len(tried) < _ORDERS and order not in tried:
        tried.add(order)
        slope = inf
        for one in routes(order, most=_PROMISING * best - quick_rdp_to_dp(order, 0.0, delta)):
            about = approximate_rdp(one.pair, order)
            known = (quick_rdp_to_dp(order, about, delta - one.pair.failure), order, one)
            estimates[one.pair] = min(estimates.get(one.pair, known), known, key=lambda x: x[0])
            best, slope = min(best, known[0]), min(slope, about / order)
        order = (
            round(min(max(1 + sqrt(-log(delta) / slope), 1.05), _HIGHEST_ORDER), 3) if slope else _HIGHEST_ORDER
        )
    least = min(estimates.values(), key=lambda x: x[0])
    found = [
        replace(one, renyi=None, route=f"{one.route} through {'PLD' if one.pair.steps else 'GDP'}")
        for estimate, _, one in estimates.values()
        if estimate <= _PROMISING * least[0] or not one.pair.steps
    ]
    _, at, one = least
    if rdp_to_dp(at, approximate_rdp(one.pair, at), delta) < min(each.dp(delta) for each in found):
        epsilon = one.pair.conditional.rdp(at)
        if one.pair.failure:
            epsilon = mixed_rdp(epsilon, one.pair.failure, whole.rdp(at), at)
            one = replace(one, choices=EventMixture(replace(one, pair=one.pair.conditional), (whole,)))
        found.append(replace(one, renyi=(at, epsilon), route=f"{one.route} through RDP, order {at:.4g}"))
    return found


def _order_near(epsilon: float, delta: float) -> float:
    """Approximate best order for a Gaussian with rho + 2 sqrt(rho log(1/delta)) = epsilon."""
    if epsilon == inf:
        return _FIRST_ORDER
    root = sqrt(-log(delta))
    return (
        round(min(1 + root / (sqrt(root**2 + epsilon) - root), _HIGHEST_ORDER), 3)
        if epsilon
        else _HIGHEST_ORDER
    )


def least_of_each(found: list[Candidate], order: float, delta: float | None) -> list[Candidate]:
    """The best bound by every route; at a delta, separately for bounds that may fail and bounds that cannot."""

    def spent(one: Candidate) -> float:
        if delta is None:
            return one.rdp(order)
        return quick_rdp_to_dp(order, approximate_rdp(one.pair, order), delta - one.pair.failure)

    best: dict[tuple[str, bool], Candidate] = {}
    for one in found:
        if delta is not None and one.pair.failure >= delta:
            continue
        key = (one.route, delta is not None and one.pair.failure > 0)
        if key not in best or spent(one) < spent(best[key]):
            best[key] = one
    return list(best.values())
