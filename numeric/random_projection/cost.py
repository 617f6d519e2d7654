"""The cost of a random projection: the noise comes after it, so the projection is part of the sensitivity.

A step releases A^T g / sqrt(p) + N(0, s^2 I_p); A is d x p with independent N(0, sigma_A^2) entries, fresh each step
and independent of the data. For gradients a distance Delta apart, R = Delta^2 sigma_A^2 / (p s^2), loads w R < 1 and
M(w) = (1 - w R)^(-p/2), (alpha - 1) times the divergence of the pairs (A, output), of either from the other, is at most

    log M(alpha (alpha - 1))                                     where the sample that differs is in the batch;
    log(1 - q + q M(alpha (alpha - 1)))                          where it is with chance q, and this is revealed;
    log sum_j C(alpha, j) (1 - q)^(alpha - j) q^j M(j (j - 1))   where it is with chance q and not revealed, for a
                                                                 sample that is there or not and an integer alpha.

Source: docs/proofs/random_projection.md; it takes the place of Theorem 1 of D2P2-SGD, which the ledger refutes
(``d2p2/theorem_1``); claims d2p2/theorem_1/projected_step and ours/projection/*.
"""

from math import ceil, inf

from flint import arb

from lastiterate.numeric.errors import count, portion, positive, renyi_order, within
from lastiterate.numeric.rounding import exact, lower, precision, upper

HIGHEST_WHOLE_ORDER = 128
"""Binomial sums of more terms are not worth their time."""


def projection_rdp(
    order: float,
    *,
    sensitivity: float,
    noise_std: float,
    dimension: int,
    entry_std: float = 1.0,
    rate: float = 1.0,
    adjacency: str = "replace",
) -> float:
    """The Renyi divergence of one step with A known, rounded up; infinite from `order_limit` on. Upper bound.

    Args:
        order: alpha, more than 1.
        sensitivity: Delta, the greatest distance of the two gradients before the projection; at least 0.
        noise_std: s, standard deviation of the noise in each of the p coordinates, in the unit of Delta.
        dimension: p, the dimension projected to (the least of all layers); d, from which it is, does not matter.
        entry_std: sigma_A, standard deviation of the entries of A, without unit.
        rate: chance q that the batch holds the sample that differs; rounded up where it is a fraction.
        adjacency: "add_remove" where the sample is there or not; "replace" where it has another value.

    Raises:
        InputError: an argument is out of its range.

    >>> round(projection_rdp(2.0, sensitivity=1.0, noise_std=2.0, dimension=1), 6)
    0.346574
    >>> projection_rdp(2.0, sensitivity=1.0, noise_std=1.0, dimension=2)
    inf
    """
    order, ratio = renyi_order(order), _ratio(sensitivity, noise_std, dimension, entry_std)
    rate = portion("rate", rate, "a chance in (0, 1]", "give batch_size / dataset_size.")
    with precision():
        found = _revealed(order, ratio, dimension, exact(rate))
        if rate < 1 and adjacency == "add_remove" and order <= HIGHEST_WHOLE_ORDER:
            found = min(found, _hidden(ceil(order), ratio, dimension, exact(rate)))  # it grows with the order
        return found


def order_limit(*, sensitivity: float, noise_std: float, dimension: int, entry_std: float = 1.0) -> float:
    """The order at which one projected step becomes infinite, rounded down: below it the divergence is finite.

    Arguments, units and errors as `projection_rdp`; of several steps that with the least noise decides.

    >>> order_limit(sensitivity=1.0, noise_std=1.0, dimension=2)
    2.0
    """
    ratio = _ratio(sensitivity, noise_std, dimension, entry_std)
    with precision():
        return inf if ratio == 0 else lower((1 + (1 + 4 / ratio).sqrt()) / 2)


def _revealed(order: float, ratio: arb, dimension: int, rate: arb) -> float:
    alpha = exact(order)
    moment = _moment(alpha * (alpha - 1), ratio, dimension)
    if moment is None:
        return inf
    return max(upper((1 + rate * (moment - 1)).log() / (alpha - 1)), 0.0)


def _hidden(order: int, ratio: arb, dimension: int, rate: arb) -> float:
    if _moment(arb(order * (order - 1)), ratio, dimension) is None:
        return inf
    weight = (1 - rate) ** order
    total = weight
    for j in range(1, order + 1):
        weight *= rate / (1 - rate) * (order - j + 1) / j
        moment = _moment(arb(j * (j - 1)), ratio, dimension)
        total += weight * (arb(inf) if moment is None else moment)
    return max(upper(total.log() / (order - 1)), 0.0)


def _moment(load: arb, ratio: arb, dimension: int) -> arb | None:
    """M(load), None where it may be infinite."""
    left = 1 - load * ratio
    return left ** (-arb(dimension) / 2) if left > 0 else None


def _ratio(sensitivity: float, noise_std: float, dimension: int, entry_std: float) -> arb:
    """R of the module docstring."""
    need = "a finite number that is at least 0"
    sensitivity = within("sensitivity", sensitivity, need, lambda x: 0 <= x < inf, "clip gradients.")
    dimension = count("dimension", dimension)
    with precision():
        length = exact(sensitivity) * exact(positive("entry_std", entry_std)) / exact(positive("noise_std", noise_std))
        return length**2 / dimension
