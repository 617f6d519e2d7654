"""Chien & Li's theorem for batches from a permutation, and its mean over permutations, as printed.

Theorem A.1, (25)-(27): for batches in a known order, with s = 2 eta K / b and the sample met at the steps t_e,

    epsilon = alpha / (2 sigma^2) min over tau, beta, a of sum_{t_e >= tau} s^2 / beta_{t_e} + sum a_t^2 / (1 - beta_t),

A_T = 0, A_{t-1} = h(A_t + a_{t-1}), A_tau >= D_tau of Lemma A.2, and beta_t = 0 where the sample is not met. The best
beta leaves (s + a_t)^2 at the participations and a_t^2 elsewhere; the best shifts are stationary, xi_{t-1} = xi_t
g'(A_t) and a_t = xi_t, or max(xi_t - s, 0) at a participation, which leaves xi_{T-1} to be searched. Corollary A.3,
(62), is log E exp((alpha - 1) epsilon(alpha, B)) over the orders B, bounded above by shifts that do not look at the
order (`oblivious_shifts`). These numbers are what the paper claims; they are rounded up by more than their float error.
"""

from collections.abc import Callable, Sequence
from math import inf, log

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.numeric.losses.expansion import PowerDrift
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shuffling.oblivious_shifts import LONGEST, Epochs, oblivious_cost

_UP = 1 + 1e-12
_SHOTS = 769
_ROUNDS = 5


def _setting(run: NoisySGD, assumption: Assumption) -> tuple[PowerDrift, Epochs]:
    """g and the run with lengths in units of the noise, or an `InputError` where the theorem does not apply."""
    if not isinstance(assumption, Holder | Convex | StronglyConvex):
        raise InputError(
            "Theorem A.1 of Chien & Li needs Hoelder continuous gradients, got "
            f"assumption={type(assumption).__name__}; use Holder(L, lam) or Smooth(L)."
        )
    if not run.constant or run.scheme.random:
        raise InputError(
            "Theorem A.1 of Chien & Li needs constant step_size and noise_std and batches from a permutation, got "
            f"sampling={run.sampling!r}, constant={run.constant}; call bound, which has no such limit."
        )
    eta, sigma = run.step_size_at(0), run.noise_std_at(0)
    lam = assumption.lam if isinstance(assumption, Holder) else 1.0
    s = 2 * eta * run.clip_norm / (run.batch * sigma)
    drift = PowerDrift(eta * assumption.L * sigma ** (lam - 1), lam)
    return drift, Epochs(run.steps, run.batches, s, run.diameter / sigma)


def _tracked(drift: PowerDrift, epochs: Epochs, batch: int, meets: Callable[[int], bool], enough: float) -> list[float]:
    """min(D_t, D) of (28) and (29) for t = 0..T; no longer followed beyond ``enough``."""
    distance, share = 0.0, (batch - 1) / batch
    found = [0.0]
    for t in range(epochs.steps):
        met = meets(t)
        grown = distance + (share if met else 1.0) * drift.weight * distance**drift.order + epochs.s * met
        distance = min(grown, distance + epochs.s * batch, epochs.diameter) if distance or met else 0.0
        found.append(distance)
        if distance >= min(enough, epochs.diameter):
            break
    return found + [distance] * (epochs.steps + 1 - len(found))


def theorem_a_1(run: NoisySGD, assumption: Assumption, order: float, position: int | Sequence[int]) -> float:
    """Epsilon of Theorem A.1 for batches in a known order, minimised over tau, beta and the shifts.

    Read with min(D_tau, D) for D_tau, as the proof has it at (61); (29) leaves D out.

    Args:
        run: constant step size and noise; batches full, cyclic or shuffled.
        assumption: Holder or Smooth; Convex and StronglyConvex count as their smoothness.
        order: alpha > 1.
        position: the batch of an epoch that holds the sample that differs, from 0; or one for each epoch begun.

    Raises:
        InputError: the theorem does not speak of such a run, or a position is not a batch of its epoch.

    >>> run = NoisySGD(6, 0.1, 1.0, 5.0, 3, batch_size=1, sampling="cyclic")
    >>> 1 < theorem_a_1(run, Holder(1.0, 0.5), 2.0, 2) < 2  # below the composition of two participations
    True
    """
    drift, epochs = _setting(run, assumption)
    begun = -(-run.steps // run.batches)
    places = [position] * begun if isinstance(position, int) else list(position)
    if len(places) != begun or not all(0 <= place < run.batches for place in places):
        raise InputError(
            f"position needs a batch in 0..{run.batches - 1}, one for all or one for each of {begun} epochs, got "
            f"position={position!r}; count batches from 0."
        )

    def meets(t: int) -> bool:
        return t % run.batches == places[t // run.batches]

    composed = sum(e * run.batches + place < run.steps for e, place in enumerate(places)) * epochs.s**2
    farthest = (composed * LONGEST) ** 0.5  # hiding more than this in LONGEST steps costs more than composition
    tracked = _tracked(drift, epochs, run.batch, meets, farthest)
    return order / 2 * min(_known_order(drift, epochs.s, meets, tracked), composed) * _UP


def corollary_a_3(run: NoisySGD, assumption: Assumption, order: float) -> float:
    """An upper bound of the right side of (62): the mean of Theorem A.1 over the orders of shuffled batches.

    Arguments and errors are those of `theorem_a_1`.

    >>> run = NoisySGD(6, 0.1, 1.0, 5.0, 3, batch_size=1, sampling="shuffled")
    >>> round(corollary_a_3(run, Holder(1.0, 0.5), 2.0), 9)  # without projection it stays at composition
    2.0
    """
    drift, epochs = _setting(run, assumption)
    return order / 2 * oblivious_cost(drift, epochs, order * (order - 1) / 2)[0] * _UP


def _known_order(drift: PowerDrift, s: float, meets: Callable[[int], bool], tracked: list[float]) -> float:
    """The least cost of a window with shifts, over its start and its last price; inf where there is none."""
    top = max(tracked)
    if top == 0:
        return inf
    ahead = float(drift.value(np.array([top]))[0]) + s
    low, high, best = log(ahead) - 25.0, log(ahead) + 1.0, inf
    for _ in range(_ROUNDS):
        xi = np.linspace(low, high, _SHOTS)
        value = _fire(drift, s, meets, np.exp(xi), tracked)
        best = min(best, float(value.min()))
        centre, width = float(xi[int(value.argmin())]), (high - low) * 8 / _SHOTS
        low, high = centre - width, centre + width
    return best


def _fire(drift: PowerDrift, s: float, meets: Callable[[int], bool], xi: Array, tracked: list[float]) -> Array:
    """For each last price the least cost over the starts at which the window hides the distance there is."""
    A, paid, value = np.zeros_like(xi), np.zeros_like(xi), np.full_like(xi, inf)
    steps = len(tracked) - 1
    for t in range(steps - 1, max(steps - LONGEST, 0) - 1, -1):
        met = meets(t)
        spent = np.maximum(xi, s) if met else xi
        paid = paid + spent**2
        A = drift.inverse(A + (spent - s if met else spent))
        value = np.where(tracked[t] <= A, np.minimum(value, paid), value)
        if float(paid.min()) >= float(value.min()):
            break
        with np.errstate(over="ignore"):
            xi = xi * drift.slope(A)
    return value
