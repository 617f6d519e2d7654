"""Tables of sampled Gaussian prices: one step and many, near; with the coins of the sample revealed, far.

Poisson batches, P the run with the sample: one step is dominated by M = (1-q) N(0, 1) + q N(s, 1) against N(0, 1). With
theta the Gaussian profile at s, E_g(M || N) = q theta((g - 1 + q) / q) and E_g(N || M) = (1 - g (1-q)) theta(1 / t),
t = (1/g - 1 + q) / q, 0 from 1 / (1-q) on. Without replacement q theta(1 + (g - 1) / q) serves both orders.

Many steps are composed as privacy losses; far out, where transforms drown in rounding errors, Renyi bounds say more.

Source: docs/proofs/contraction.md (claims ours/contraction/poisson, ours/contraction/without_replacement); Balle,
Barthe & Gaboardi 2018.
"""

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from flint import arb
from scipy.special import bdtrc

from lastiterate.numeric.accounting.conversion import quick_rdp_to_delta
from lastiterate.numeric.accounting.dominating import DominatingPair, SampledStep
from lastiterate.numeric.accounting.pld_fft import Composition
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.contraction.gaussian import gaussian
from lastiterate.numeric.contraction.table import Table, spread, tabulated
from lastiterate.numeric.divergences.hockey_stick import gaussian_profile
from lastiterate.numeric.rounding import exact, precision, upper

NODES, _FAR_NODES, _COMPOSED_NODES = 400, 240, 200
_FINE = 0.02
_WIDEST = 45.0
_DELTAS = (1e-1, 1e-3, 1e-6, 1e-10)
"""A transform is made for a delta; together these cover a profile."""
_ORDERS = (1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 33.0, 65.0)
_LEAST_ALONE = 1e-6


@lru_cache(maxsize=64)
def sampled_step(rate: float, multiplier: float, adjacency: str) -> Table:
    """The near price of one step whose batch holds the sample with chance ``rate``; arguments as `SampledStep`."""
    with precision():
        s, q = 1 / exact(multiplier), exact(rate)
        shift = float(s)
        steps = shift * spread(0.01, min(_WIDEST, 300 / shift), NODES)
        up = np.log1p(rate * np.expm1(np.minimum(steps, 300.0)))
        if rate == 1:
            return gaussian(upper(s))
        if adjacency == "replace":
            return tabulated(lambda g: q * _theta(s, 1 + (g - 1) / q), up)
        down = -np.log1p(rate * np.expm1(-steps))

        def back(g: arb) -> arb:
            kept = 1 - g * (1 - q)
            return kept * _theta(s, g * q / kept) if kept > 0 else arb(0).union(kept) if kept.contains(0) else arb(0)

        return tabulated(lambda g: q * _theta(s, (g - 1 + q) / q), np.unique(np.concatenate([up, down])), back)


def _theta(s: arb, ratio: arb) -> arb:
    return gaussian_profile(s, ratio.log())


@lru_cache(maxsize=64)
def composed(steps: tuple[SampledStep, ...]) -> Table | None:
    """The near price of sampled steps, one after the other; None where floats do not reach."""
    if len(steps) == 1 and steps[0].count == 1:
        return sampled_step(steps[0].rate, steps[0].multiplier, steps[0].adjacency)
    pair = DominatingPair(0.0, steps)
    with precision():
        renyi = [(order, pair.rdp(order)) for order in _ORDERS]
        # Where the profile of the Renyi bounds is below 1e-10 the transforms have no say.
        end = max(min((rho + 23 / (order - 1)) for order, rho in renyi), 1e-6)
        about = (2 * renyi[1][1] / renyi[1][0]) ** 0.5
        logs = (
            spread(_FINE * about, end, _COMPOSED_NODES) if _FINE * about < end else np.linspace(0, end, _COMPOSED_NODES)
        )
        logs = np.concatenate([logs, end * np.geomspace(1.05, 40.0, 40)])
        logs = np.append(logs[logs < 299], 300.0)
        known = np.array([min(quick_rdp_to_delta(order, rho, x) for order, rho in renyi) for x in logs.tolist()])
        found = [_profile(pair, side, logs, known) for side in pair.sides]
    ahead, back = found[0], found[-1]
    if ahead is None or back is None:
        return None
    if back is not ahead:
        ahead[0] = back[0] = min(ahead[0], back[0])
    return Table(np.exp(logs), ahead, back)


def _profile(pair: DominatingPair, side: str, logs: Array, known: Array) -> Array | None:
    values, releases = known.copy(), pair.releases(side)
    reached = False
    for delta in _DELTAS:
        law = Composition.of(releases, delta)
        if law is None:
            continue
        reached = True
        for k, x in enumerate(logs.tolist()):
            if delta / 1e4 < values[k] and x >= law.losses[0]:
                values[k] = min(values[k], law.delta(float(np.nextafter(x * (1 - 1e-15), 0.0))))
    return np.minimum.accumulate(values) if reached else None


def revealed(shifts: tuple[float, ...], chances: tuple[float, ...], failure: float) -> Table:
    """The far price where coins and sizes are revealed: a mean of Gaussian profiles, plus a chance of failure.

    Args:
        shifts: mu of each kind of outcome, the cheapest first and the dearest last.
        chances: of each, in all at least 1 with what is above it at the dearer outcome.
        failure: added to the profile of both orders.
    """
    top = shifts[-1]
    logs = spread(0.015 * shifts[0], min(_WIDEST * top, 300.0), _FAR_NODES)
    with precision(96):
        parts = [(exact(mu), exact(chance)) for mu, chance in zip(shifts, chances, strict=True)]

        def mean(g: arb) -> arb:
            return sum((chance * _theta(mu, g) for mu, chance in parts), arb(failure))

        return tabulated(mean, logs)


def outcomes(count: int, rate: float, bins: int) -> list[tuple[int, float]]:
    """Numbers of times that a sample is met in so many steps, and their chances; rounded to the greater number."""
    rare = bisect_left(range(count), True, key=lambda k: bool(bdtrc(k, count, rate) <= _LEAST_ALONE))
    highest = min(rare + 2, count)
    edges = sorted({int(x) for x in np.linspace(0, highest, bins)} | {count})
    tails = [_tail(count, rate, low + 1) for low in edges]  # P(H > edge), rounded up
    found, before = [], 1.0
    for edge, tail in zip(edges, tails, strict=True):
        found.append((edge, before, tail))
        before = tail
    # The mean of a rising sequence is at most sum of f_k (T_(k-1) - T_k) for tails T rounded up, by parts.
    return [(edge, float(np.nextafter(start - stop, 2.0))) for edge, start, stop in found]


def _tail(count: int, rate: float, least: int) -> float:
    """P(H >= least), rounded up."""
    if least <= 0:
        return 1.0
    if least > count:
        return 0.0
    with precision():
        q = exact(rate)
        below = sum((arb(count).bin(k) * q**k * (1 - q) ** (count - k) for k in range(least)), arb(0))
        return min(max(upper(1 - below), 0.0), 1.0)
