"""Chien & Li 2025, Theorem 3.12: batches drawn without replacement, Hoelder gradients, as printed.

Their noise is on the iterate, K is the clip norm and D a diameter: the conventions of this package. (19) prints
S_alpha(b/n, beta_t sigma b / (2 eta K)) where the noise that hides the change of the data has the *variance* beta_t
sigma^2 (below (70)): it is read with sqrt(beta_t), the smaller of the two values. S_alpha is their (18), the smaller
direction of the sampled Gaussian. Any tau, beta, a that meet (20) and (21) are an instance of the theorem.
"""

from math import isfinite

import numpy as np
from flint import arb
from numpy.typing import NDArray

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.published.altschuler_talwar_sampled import smaller_direction
from lastiterate.numeric.published.chien_li_full import Printed
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shift_program.program import run_forward
from lastiterate.numeric.shift_program.shooting import shoot

_SHARES = np.sin(np.linspace(0, np.pi / 2, 34)[1:-1]) ** 2
"""Shares beta_t that are tried."""

_EVERY = 3
"""Where a shot is dear, only every third share has one."""
_STRAIGHT = 4096
_LONGEST_TRACK = 10**5


def theorem_3_12(run: NoisySGD, order: float, smoothness: float, hoelder: float = 1.0) -> float:
    """min over tau, beta, a of sum S_alpha(b/n, sqrt(beta_t) sigma b/(2 eta K)) + alpha a_t^2/(2 sigma^2 (1 - beta_t)).

    The minimum is sought over windows with the shifts of one common share, after which every step takes its own best
    share of a table: an instance of the theorem, and close to its least. For constant step size and noise.

    Returns:
        Renyi epsilon at the order, rounded up; a claim, and smaller than the truth: see chien_li/theorem_3_12.

    Source: Theorem 3.12, (19)-(21).

    >>> run = NoisySGD(1, 1.0, 1.0, 1.0, dataset_size=10, batch_size=1, sampling="without_replacement")
    >>> round(theorem_3_12(run, 20.0, 1.0), 6)
    0.080734
    """
    with precision():
        composed = upper(run.steps * exact(smaller_direction(run, order)))
        start = tracked(run, smoothness, hoelder)
        if run.steps == 1 or not isfinite(start) or start == 0:
            return composed
        prices = np.array([smaller_direction(run, order, share) for share in _SHARES])
        expansion = Printed(upper(exact(run.step_size_at(0)) * exact(smoothness)), hoelder, arb(0))
        scale = order / (2 * run.noise_std_at(0) ** 2)
        best = composed
        for k in range(0, len(_SHARES), 1 if hoelder == 1 else _EVERY):
            shifts = _shifts(expansion, start, run.steps, prices[k] * (1 - _SHARES[k]) / scale)
            paid = prices + scale * shifts[:, None] ** 2 / (1 - _SHARES)
            chosen = np.argmin(paid, axis=1)
            if paid[np.arange(len(shifts)), chosen].sum() < best:
                best = min(best, _certified(run, order, expansion, start, shifts, chosen, prices))
        return best


def tracked(run: NoisySGD, smoothness: float, hoelder: float) -> float:
    """D_{T-1} of (21), rounded up, at least D_tau of every window that is used.

    D_0 = 0 and D_t = min(g(D_{t-1}; eta L (b-1)/b) + 2 eta K/b, D_{t-1} + 2 eta K, D), g(x; c) = x + c x^lambda.
    """
    eta, K, b = run.step_size_at(0), run.clip_norm, run.batch
    weight, up = eta * smoothness * (b - 1) / b, 1 + 1e-12
    if isfinite(run.diameter) and (run.steps - 1) * 2 * eta * K / b >= run.diameter:
        return run.diameter  # it grows by at least 2 eta K / b a step
    distance = 0.0
    for _ in range(min(run.steps - 1, _LONGEST_TRACK)):
        distance = up * min(distance + weight * distance**hoelder + 2 * eta * K / b, distance + 2 * eta * K)
        if distance >= run.diameter:
            return run.diameter
    return distance if run.steps - 1 <= _LONGEST_TRACK else run.diameter


def _shifts(expansion: Printed, start: float, steps: int, toll: float) -> Array:
    """The shifts that hide ``start`` most cheaply where every step has the toll, a squared length."""
    if expansion.order != 1:
        return shoot(expansion, start, steps, toll).shifts
    c = 1 + expansion.weight
    lengths = np.arange(1, min(steps, _STRAIGHT) + 1)
    with np.errstate(over="ignore"):
        powers = c ** (-1.0 * lengths)
        width = np.cumsum(powers**2)
        length = int(np.argmin(lengths * toll + start**2 / width)) + 1
    shifts: Array = start * powers[:length] / width[length - 1]
    return shifts


def _certified(
    run: NoisySGD,
    order: float,
    expansion: Printed,
    start: float,
    shifts: Array,
    chosen: NDArray[np.int64],
    prices: Array,
) -> float:
    """The value of (19) for these shifts, the last one replaced by what is left to hide, rounded up."""
    noise = exact(run.noise_std_at(0))
    parts = [float((noise * (1 - exact(share)).sqrt()).lower()) * (1 - 1e-15) for share in _SHARES.tolist()]
    squares = run_forward(lambda _t: expansion, lambda t: parts[chosen[t]], start, shifts)
    counts = np.bincount(chosen, minlength=len(prices)).tolist()
    tolls = sum((times * exact(price) for times, price in zip(counts, prices.tolist(), strict=True)), arb(0))
    return upper(tolls + exact(order) * squares / 2)
