"""What a random projection costs: the noise comes after it, so the projection is part of the sensitivity.

A step releases A^T g / sqrt(p) + N(0, s^2 I_p); A is d x p with independent N(0, sigma_A^2) entries, fresh each step
and independent of the data. Two gradients a distance Delta apart give, once A is known, two Gaussians whose means
are |A^T (g - g')| / sqrt(p) apart, and that length squared is Delta^2 sigma_A^2 / p times a chi-square variable with
p degrees of freedom. Its moment generating function gives the divergence of the pairs (A, output), exactly:

    -p / (2 (alpha - 1)) log(1 - alpha (alpha - 1) Delta^2 sigma_A^2 / (p s^2)),

finite only while alpha (alpha - 1) Delta^2 sigma_A^2 < p s^2. Either law may be the numerator: A has one law under
both data sets, and equal covariances make the two Gaussians symmetric. Whoever does not see A sees a function of the
pair, so the value is an upper bound for him, and for the model update A (A^T g / sqrt(p) + noise) as well.

These are bounds by composition, every step taking part with its whole sensitivity: no amplification by sampling is
claimed. Lengths are those of the clipped gradient: with the clipping g / (|g| + gamma) and the mean of B samples,
Delta is 2 / B where one sample is replaced and 1 / B where one is set to zero.

Source: ours; it takes the place of Theorem 1 of D2P2-SGD, which the ledger refutes (``d2p2/theorem_1``).
"""

from collections.abc import Callable
from math import inf

from flint import arb

from lastiterate.numeric.accounting.conversion import quick_rdp_to_dp
from lastiterate.numeric.balls import exact, lower, precision, upper
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import count, positive, real

__all__ = ["d2p2_rdp", "d2p_rdp", "dp2_rdp", "epsilon_from_rdp", "order_limit", "projection_rdp"]

ORDERS = 200
"""Orders tried for one epsilon; any of them gives a valid value."""


def projection_rdp(
    order: float, *, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0
) -> float:
    """The Renyi divergence of one step with A known, rounded up; infinite from `order_limit` on. Upper bound.

    Args:
        order: alpha, more than 1.
        sensitivity: Delta, the greatest distance of the two gradients before the projection; at least 0.
        noise_std: s, standard deviation of the noise in each of the p coordinates, in the unit of Delta.
        dimension: p, the dimension projected to; the dimension d projected from does not matter.
        entry_std: sigma_A, standard deviation of the entries of A, without unit.

    Raises:
        InputError: an argument is out of its range.

    >>> round(projection_rdp(2.0, sensitivity=1.0, noise_std=2.0, dimension=1), 6)
    0.346574
    >>> projection_rdp(2.0, sensitivity=1.0, noise_std=1.0, dimension=2)
    inf
    """
    return _composed(order, 1, sensitivity, noise_std, dimension, entry_std, decaying=False)


def dp2_rdp(
    order: float, *, steps: int, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0
) -> float:
    """DP2-SGD (Algorithm 3): the same projected step ``steps`` times, all A and outputs released. Upper bound.

    Arguments, units and errors as `projection_rdp`; ``steps`` is at least 1.
    """
    return _composed(order, steps, sensitivity, noise_std, dimension, entry_std, decaying=False)


def d2p2_rdp(
    order: float, *, steps: int, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0
) -> float:
    """D2P2-SGD (Algorithm 1): projected steps, step k = 1, 2, ... with noise ``noise_std`` / sqrt(k). Upper bound.

    The last step is the dearest: finite only while alpha (alpha - 1) Delta^2 sigma_A^2 steps < p s^2.
    Arguments, units and errors as `projection_rdp`; ``steps`` is at least 1.
    """
    return _composed(order, steps, sensitivity, noise_std, dimension, entry_std, decaying=True)


def d2p_rdp(order: float, *, steps: int, sensitivity: float, noise_std: float) -> float:
    """D2P-SGD (Algorithm 2): no projection, step k with noise ``noise_std`` / sqrt(k). Upper bound.

    The steps compose to alpha Delta^2 steps (steps + 1) / (4 s^2): as if one Gaussian had been released.
    Arguments, units and errors as `projection_rdp`; ``steps`` is at least 1.

    >>> round(d2p_rdp(2.0, steps=3, sensitivity=1.0, noise_std=1.0), 9)
    6.0
    """
    order, steps = _order(order), count("steps", steps)
    sensitivity, noise_std = _sensitivity(sensitivity), positive("noise_std", noise_std)
    with precision():
        return upper(exact(order) * (exact(sensitivity) / exact(noise_std)) ** 2 * steps * (steps + 1) / 4)


def order_limit(*, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0) -> float:
    """The order at which one projected step becomes infinite, rounded down: below it the divergence is finite.

    For D2P2-SGD the last step decides: pass ``noise_std`` / sqrt(steps).
    Arguments, units and errors as `projection_rdp`.

    >>> order_limit(sensitivity=1.0, noise_std=1.0, dimension=2)
    2.0
    """
    sensitivity, noise_std = _sensitivity(sensitivity), positive("noise_std", noise_std)
    dimension, entry_std = count("dimension", dimension), positive("entry_std", entry_std)
    if sensitivity == 0:
        return inf
    with precision():
        ratio = (exact(noise_std) / (exact(sensitivity) * exact(entry_std))) ** 2 * dimension
        return lower((1 + (1 + 4 * ratio).sqrt()) / 2)


def epsilon_from_rdp(curve: Callable[[float], float], delta: float, *, limit: float = inf) -> float:
    """An epsilon, rounded up, for which the Renyi divergences ``curve`` imply (epsilon, delta)-DP. Upper bound.

    The least over `ORDERS` orders below ``limit`` of
    curve(alpha) + log((alpha - 1) / alpha) - log(alpha delta) / (alpha - 1), and 0 where that is negative.

    Args:
        curve: order -> divergence of either law from the other, an upper bound.
        delta: in (0, 1).
        limit: orders from here on are not tried; see `order_limit`.

    Raises:
        InputError: delta is outside (0, 1) or limit is not more than 1.

    Source: Canonne, Kamath & Steinke 2020, Proposition 12.
    """
    delta = real("delta", delta, "a number in (0, 1)")
    if not 0 < delta < 1:
        raise InputError(f"delta needs a number in (0, 1), got delta={delta:g}; 1e-5 is customary.")
    if not limit > 1:
        raise InputError(f"limit needs a number above 1, got limit={limit:g}; pass what order_limit returns.")
    top = min(limit - 1, 1e5)
    excesses = (top * 10 ** (-6 * (1 - i / ORDERS)) for i in range(ORDERS))
    best = inf
    for order in (1 + excess for excess in excesses):
        value = curve(order)
        if order > 1 and value < inf:
            best = min(best, quick_rdp_to_dp(order, value, delta))
    return best


def _composed(
    order: float,
    steps: int,
    sensitivity: float,
    noise_std: float,
    dimension: int,
    entry_std: float,
    *,
    decaying: bool,
) -> float:
    """The sum of the steps' divergences: fresh A and noise in each, so they compose by addition."""
    order, steps = _order(order), count("steps", steps)
    sensitivity, noise_std = _sensitivity(sensitivity), positive("noise_std", noise_std)
    dimension, entry_std = count("dimension", dimension), positive("entry_std", entry_std)
    with precision():
        alpha = exact(order)
        ratio = (exact(sensitivity) * exact(entry_std) / exact(noise_std)) ** 2
        load = alpha * (alpha - 1) * ratio / dimension
        if not load * (steps if decaying else 1) < 1:
            return inf
        logs = sum((-(-load * k).log1p() for k in range(1, steps + 1)), arb(0)) if decaying else None
        total = -(-load).log1p() * steps if logs is None else logs
        return max(upper(total * dimension / (2 * (alpha - 1))), 0.0)


def _order(order: float) -> float:
    order = real("order", order, "a number above 1")
    if not 1 < order < inf:
        raise InputError(f"order needs a number above 1, got order={order:g}; 2 is customary.")
    return order


def _sensitivity(sensitivity: float) -> float:
    sensitivity = real("sensitivity", sensitivity, "a number that is at least 0")
    if not 0 <= sensitivity < inf:
        raise InputError(
            f"sensitivity needs a finite number that is at least 0, got sensitivity={sensitivity:g}; clip gradients."
        )
    return sensitivity
