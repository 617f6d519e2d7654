"""Linear losses without projection: the law of the last iterate is a mixture of Gaussians over uses of the sample.

All gradients are constant. In each of T_j steps, the batch holds the differing sample with probability q_j,
and the sample then moves the iterate by r_j. Up to a constant, W_T - W_0 = sum_j r_j k_j + N(0, sum of the
variances) with independent k_j ~ Binomial(T_j, q_j). Masses of the numerator are rounded down and masses of
the denominator up; the mass of omitted components is added to every cell of the denominator. scipy's ``ndtr``
is assumed to have a relative error of at most 1e-12 for negative arguments, which are moved outwards by their
rounding error.

Under weight decay lambda, W_T has the law of r sum_k c^k B_k + N(0, sigma^2 sum_k c^(2k)), where c = 1 - eta
lambda and B_k = 1 if the k-th step before the last met the sample, else 0. Rounding c^k down to a multiple of
1/n and capping the sum cannot increase the divergence: the likelihood ratio is monotone, so the best tests
are half lines.

Source: docs/proofs/lower_bounds.md.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, prod, sqrt

import numpy as np
from flint import arb
from scipy.special import gammaln, logsumexp, ndtr, ndtri, xlog1py, xlogy

from lastiterate.numeric.accounting.conversion import gdp_epsilon_below
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.divergences import Mixture, renyi_mixtures
from lastiterate.numeric.lower.masses import Masses, Target
from lastiterate.numeric.rounding import exact, geometric_sum, lower, precision, upper
from lastiterate.numeric.run import NoisySGD

_CELLS = 4000
_LOOK = 300
_MEMORY = 1_000_000
"""Maximum number of entries of a table of cells by components."""
_ZOOMS = 5
_DEEP = 45.0
"""Cells that contribute less than e^-45 times the largest contribution are merged into the two outermost cells."""
_TAIL = 1e-12
_ULPS = 4 * 2.0**-52
"""Bound on the relative error of a standardised place per sum or product of floats in its computation."""
_LEAST = 1e-300
MOST = 4096
"""Maximum number of components kept for a binomial law or a schedule."""
_KINDS = 3
_NEGLIGIBLE = 1e-18
"""Weights below this fraction of the largest are dropped when laws are convolved."""
_PLACES, _FINEST, _OUTLIERS, _LONGEST = 2048, 64, 12.0, 20_000
"""Under decay: limits on lattice places, on inverse powers, on standard deviations covered, and on steps."""
_SLACK = 1e-9
"""Relative reduction applied to powers computed in floats."""

Kinds = tuple[tuple[int, Fraction, float], ...]
"""Number of steps, probability that each meets the sample, and distance by which the sample moves the iterate."""

Move = tuple[tuple[float, float], str]
"""Distances by which a step that meets the sample moves the two runs, and a description of the losses."""


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """A mixture of N(place, std^2).

    ``places`` and ``std`` are lengths. ``low`` and ``high`` are the weights, shape (components,), rounded
    down and up.
    """

    places: Array
    low: Array
    high: Array
    missing: float  # mass of all other components, rounded up
    std: float
    terms: int = 1  # number of products summed in a place

    def masses(self, edges: Array) -> Masses:
        """Masses of the cells below, between and above the edges, shape (edges + 1,)."""
        z = (edges[:, None] - self.places[None, :]) / self.std
        blur = (
            _ULPS
            * self.terms
            * (np.abs(z) + (np.abs(edges)[:, None] + np.abs(self.places)[None, :]) / self.std)
        )
        ends = [  # mass to the left of each edge, then to the right
            (ndtr(sign * z - blur) * (1 - _TAIL), ndtr(sign * z + blur) * (1 + _TAIL) + _LEAST)
            for sign in (1, -1)
        ]
        (left_low, left_high), (right_low, right_high) = ends
        from_left = left_high[1:] < right_high[:-1]
        low = np.where(from_left, left_low[1:] - left_high[:-1], right_low[:-1] - right_high[1:])
        high = np.where(from_left, left_high[1:] - left_low[:-1], right_high[:-1] - right_low[1:])
        low = np.concatenate([left_low[:1], np.maximum(low, 0.0), right_low[-1:]])
        high = np.concatenate([left_high[:1], high, right_high[-1:]])
        slack = 4 * 2.0**-52 * len(self.places)
        return Masses.between(
            low @ self.low * (1 - slack), (high @ self.high) * (1 + slack) + self.missing + _LEAST
        )

    def log_density(self, x: Array) -> Array:
        """Logarithm of the density in floats, used only to choose cells."""
        z = (x[:, None] - self.places[None, :]) / self.std
        with np.errstate(divide="ignore"):
            return np.asarray(logsumexp(np.log(self.high) - z**2 / 2, axis=1))


def binomial_mixture(kinds: Kinds | list[tuple[int, Fraction, float]], std: float) -> GaussianMixture:
    """Law for kinds of steps (T_j, q_j, r_j) with total noise ``std``."""
    places, low, high, missing = np.zeros(1), np.ones(1), np.ones(1), 0.0
    for steps, rate, move in kinds:
        if not move or rate in (0, 1):
            places = places + steps * move * int(rate)
            continue
        counts, least, most, rest = _binomial(steps, rate)
        kept = most > most.max() * (_NEGLIGIBLE if len(kinds) > 1 else 0.0)
        missing += rest + float(most[~kept].sum()) * (1 + 1e-12)
        places = np.add.outer(places, counts[kept] * move).ravel()
        low, high = (np.multiply.outer(*pair).ravel() for pair in ((low, least[kept]), (high, most[kept])))
    slack = 4 * (len(kinds) - 1) * np.finfo(float).eps
    return GaussianMixture(places, low * (1 - slack), high * (1 + slack), missing, std, len(kinds))


def _binomial(steps: int, rate: Fraction) -> tuple[Array, Array, Array, float]:
    """Binomial counts, bounds on their weights, and an upper bound on the omitted mass; 0 < rate < 1."""
    centre = round(steps * rate)
    first = max(0, min(centre - MOST // 2, steps - MOST))
    last = min(steps, first + MOST)
    with precision():
        q = arb(rate.numerator) / rate.denominator
        weight = arb(steps).bin(first) * q**first * (1 - q) ** (steps - first)
        weights = [weight]
        for k in range(first, last):
            weight = weight * (steps - k) / (k + 1) * q / (1 - q)
            weights.append(weight)
        missing = max(0.0, upper(1 - sum(weights, arb(0)))) if last - first < steps else 0.0
        low, high = ([end(w) for w in weights] for end in (lower, upper))
    return np.arange(first, last + 1, dtype=float), np.maximum(low, 0.0), np.array(high), missing


def mixture_masses(
    order: float | None, first: GaussianMixture, second: GaussianMixture
) -> tuple[Masses, Masses]:
    """Masses on cells that resolve D_order(first || second), or a hockey-stick divergence if the order is None.

    Raises:
        ArithmeticError: the laws are too far apart for floats.
    """
    far = max(float(np.abs(law.places).max()) for law in (first, second))
    alpha = 2.0 if order is None else order
    reach = (alpha + 1) * far + 14 * first.std
    left, right = -reach, reach
    for _ in range(_ZOOMS):
        x = np.linspace(left, right, _LOOK)
        above, below = first.log_density(x), second.log_density(x)
        height = above if order is None else alpha * above - (alpha - 1) * below
        kept = np.flatnonzero(height > height.max() - _DEEP)
        if not len(kept):
            raise ArithmeticError("the laws are too far apart for floats")
        left, right = float(x[max(kept[0] - 1, 0)]), float(x[min(kept[-1] + 1, len(x) - 1)])
    components = max(len(law.places) for law in (first, second))
    edges = np.linspace(left, right, max(_LOOK, min(_CELLS, _MEMORY // components)))
    return first.masses(edges), second.masses(edges)


def mixture_loss(target: Target, first: GaussianMixture, second: GaussianMixture) -> float:
    """Larger loss of the two directions, rounded down; 0 if the laws are too far apart for floats."""
    found = 0.0
    for pair in ((first, second), (second, first)):
        with suppress(ArithmeticError):  # too far apart for floats
            found = max(found, target.of_masses(*mixture_masses(target.order, *pair)))
    return found


def affine_law(c: arb, steps: int, s: arb, sigma: arb) -> tuple[arb, arb]:
    """Difference between the means, and common variance, after ``steps`` updates x -> c x +- s/2 + N(0, sigma^2).

    For T = ``steps`` these are s (1 + c + ... + c^(T-1)), a length, and sigma^2 (1 + c^2 + ... + c^(2T-2)).
    """
    return s * (1 + geometric_sum(c, steps - 1)), sigma**2 * (1 + geometric_sum(c * c, steps - 1))


def one_step_below(order: float, rate: float, first: float, second: float, noise: float) -> float:
    """D_order((1-q) N(0) + q N(first) || (1-q) N(0) + q N(second)) at q = ``rate``, rounded down.

    The divergence increases in q: the laws are affine in q, so its integral is convex in q, and smallest at q
    = 0.
    """
    try:
        return renyi_mixtures(Mixture(rate, 0.0, first), Mixture(rate, 0.0, second), noise, alpha=order).lower
    except (ArithmeticError, ValueError):  # too close together or too far apart for the quadrature
        return 0.0


def component_below(
    target: Target, steps: int, rate: Fraction, move: float, offset: arb, variance: arb
) -> float:
    """Lower bound, by one component, on the loss between offset + move Binomial(steps, rate) + N(0, v) and N(0, v).

    Here v is ``variance``. The density is at least w N, where N is the density of a component and w its
    weight. So D_alpha is at least alpha / (alpha - 1) log w plus D_alpha of N, and the hockey-stick
    divergence at e^epsilon is at least w times the divergence of N at e^epsilon / w. The two terms may nearly
    cancel, so they are rounded together.
    """
    order, delta = target.order, float(target.delta or 0)
    q, k = float(rate), np.unique(np.linspace(0, steps, _LOOK).round())
    about = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1)
    about, mu = (
        about + xlogy(k, q) + xlog1py(steps - k, -q),
        np.abs(k * move + float(offset)) / sqrt(float(variance)),
    )
    if order is not None:
        value = order * mu**2 / 2 + order / (order - 1) * about
    else:
        value = about + mu**2 / 2 - mu * ndtri(np.exp(np.minimum(log(delta) - about, -1e-9)))
    best = int(k[value.argmax()])
    total, exact_rate = arb(steps), arb(rate.numerator) / rate.denominator
    log_weight = (
        (total + 1).lgamma() - (arb(best) + 1).lgamma() - (total - best + 1).lgamma() + best * exact_rate.log()
    )
    log_weight += (total - best) * (1 - exact_rate).log() if best < steps else 0
    squared = (best * exact(move) + offset) ** 2 / variance
    if order is not None:
        alpha = exact(order)
        return max(0.0, lower(alpha * squared / 2 + alpha / (alpha - 1) * log_weight))
    left = upper(exact(delta) * (-log_weight).exp())
    if not left < 1:
        return 0.0
    return max(0.0, lower(exact(gdp_epsilon_below(max(lower(squared.sqrt()), 0.0), left)) + log_weight))


def kinds_of_steps(run: NoisySGD) -> Kinds:
    """Kinds of steps of a run with random batches, without projection or decay; empty if there are too many."""
    if run.scheme.permuted:  # a whole epoch meets the sample once, a partial epoch at most once
        epochs, part = divmod(run.steps, run.batches)
        move = run.clip_norm * run.step_size_at(0) / run.batch
        return ((epochs, Fraction(1), move), (1, Fraction(part, run.batches), move)) if run.constant else ()
    steps = range(1 if run.constant else run.steps)
    alike = Counter((run.batch_at(t), run.step_size_at(t)) for t in steps)
    if len(alike) > _KINDS or prod(times + 1 for times in alike.values()) > MOST**2:
        return ()
    return tuple(
        (
            run.steps if run.constant else times,
            Fraction(batch, run.dataset_size),
            run.clip_norm * step_size / batch,
        )
        for (batch, step_size), times in alike.items()
    )


def decayed(run: NoisySGD, target: Target, moves: Iterator[Move]) -> Iterator[tuple[float, str]]:
    """Losses, with descriptions, for independent batches and weight decay of at most 1 / step size."""
    rate, pull = Fraction(run.batch, run.dataset_size), exact(run.step_size_at(0)) * exact(run.weight_decay)
    c = float(1 - pull)
    counted = (log(_FINEST) / -log(c) if c > 0 else 1) if c < 1 else run.steps
    powers: Array = c ** np.arange(min(run.steps, ceil(counted), _LONGEST), dtype=np.float64)
    total = float(powers.sum())
    usual = total * float(rate)
    most = ceil(min(usual + _OUTLIERS * (sqrt(usual) + 1), total))
    _, variance = affine_law(1 - pull, run.steps, exact(0), exact(run.noise_std_at(0)))
    for pair, words in moves:
        laws = [_decayed_law(powers, rate, most, move, upper(variance.sqrt())) for move in pair]
        yield mixture_loss(target, *laws), words


def _decayed_law(powers: Array, rate: Fraction, most: int, move: float, std: float) -> GaussianMixture:
    if not move:
        return GaussianMixture(np.zeros(1), np.ones(1), np.ones(1), 0.0, std)
    per_move = max(_PLACES // most, 1)
    places = np.floor(powers * (1 - _SLACK) * per_move).astype(int)
    weights, met, unmet = np.zeros(most * per_move + 1), float(rate), float(1 - rate)
    weights[0] = 1.0
    for shift in places[places > 0]:
        moved = np.zeros_like(weights)
        moved[shift:] = weights[:-shift]
        moved[-1] += weights[-shift:].sum()
        weights = unmet * weights + met * moved
    slack = (len(weights) + 8 * len(places)) * np.finfo(float).eps
    kept = weights > weights.max() * _NEGLIGIBLE
    missing = float(weights[~kept].sum()) * (1 + slack)
    at = np.flatnonzero(kept) / per_move * move
    return GaussianMixture(at, weights[kept] * (1 - slack), weights[kept] * (1 + slack), missing, std, 2)
