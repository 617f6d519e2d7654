"""Batches drawn without replacement: the repaired theorem, at one Renyi order.

Reveal a batch without the differing sample, drawn once for both runs, and put the sample in place of one of its
elements with probability q = b / n: that is a batch drawn without replacement. Given what is revealed, an update is
one of two maps, the same coin for two copies of one run, so that a distance z grows to at most e(z) with no
sensitivity in it. Split the noise: a share beta of the variance hides the change of the data, at the price of
one step between mixtures (`composed_rdp`, in both directions), the rest hides shifts. For every
window of w steps from a distance Delta that bounds the runs,

    epsilon(alpha) <= w S(beta) + alpha / (2 (1 - beta) sigma^2) sum a_t^2,   z' = e(z) - a_t,  Delta -> 0.

Nothing is conditioned on: the third law moves from one run to the other, as for full batches. Beside it stand
composition (z = 0 throughout, beta = 1), and the worst case over batches, which is Gaussian.

Source: ours; it repairs Chien & Li 2025, Theorem 3.12, whose one-step price is the smaller direction (claims
ours/sampled/*). Price of a step: Balle, Barthe & Gaboardi 2018.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, nextafter

import numpy as np
from flint import arb

from lastiterate.numeric.affine import untested
from lastiterate.numeric.assumptions import Assumption
from lastiterate.numeric.balls import exact, lower, precision, upper
from lastiterate.numeric.composed import Composed, SampledStep
from lastiterate.numeric.composed_rdp import composed_rdp, step_price
from lastiterate.numeric.expansion import Expansion
from lastiterate.numeric.optimum import optimum
from lastiterate.numeric.program import ShiftProgram, run_forward
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.shooting import shoot

__all__ = ["Sampled", "sampled_loss", "sampled_routes"]

_SHARES = 9
_ROUNDS = 2
_WINDOWS = 200_000


@dataclass(frozen=True)
class Sampled:
    """A rigorous bound at one order.

    Attributes:
        epsilon: of (order, epsilon)-RDP, rounded up; of either law from the other.
        route: "composition", "window of shifts" or "worst batches".
        window: (tau, T), the steps that are paid for.
        share: beta, the share of the noise variance that hides the change of the data; 0 for worst batches.
        composed: what dominates the last iterate, of which epsilon is the divergence.
    """

    epsilon: float
    route: str
    window: tuple[int, int]
    share: float
    composed: Composed


def sampled_loss(run: NoisySGD, assumption: Assumption, order: float) -> Sampled:
    """The least of composition, the best window of shifts, and the worst case over batches, at one order.

    Args:
        run: a run whose batches are drawn without replacement; windows are used where it has no schedules.
        assumption: what is assumed of the losses.
        order: alpha > 1.
    """
    return min(sampled_routes(run, assumption, order), key=lambda one: one.epsilon)


def sampled_routes(run: NoisySGD, assumption: Assumption, order: float) -> list[Sampled]:
    """Every bound of `sampled_loss`, each valid. Arguments as there."""
    with precision():
        worst = optimum(ShiftProgram(run, assumption))
        found = [
            _composition(run, order),
            _sampled(Composed(upper(worst.cost)), order, "worst batches", (worst.path.start, run.steps), 0.0),
        ]
        return found + _windows(run, assumption, order) if run.constant else found


def _rate(run: NoisySGD) -> float:
    """b / n as a float, rounded up."""
    q = run.batch / run.dataset_size
    return q if Fraction(q) >= Fraction(run.batch, run.dataset_size) else nextafter(q, 1.0)


def _sampled(composed: Composed, order: float, route: str, window: tuple[int, int], share: float) -> Sampled:
    return Sampled(composed_rdp(composed, order), route, window, share, composed)


def _part(run: NoisySGD, t: int, share: float, count: int) -> SampledStep:
    """Steps as step t whose change of the data is hidden by a share of the noise variance."""
    moved = 2 * exact(run.step_size_at(t)) * exact(run.clip_norm) / run.batch
    multiplier = lower(exact(share).sqrt() * exact(run.noise_std_at(t)) / moved)
    return SampledStep(_rate(run), multiplier, "replace", count)


def _composition(run: NoisySGD, order: float) -> Sampled:
    if run.constant:
        parts = [_part(run, 0, 1.0, run.steps)]
    else:
        alike = Counter((run.step_size_at(t), run.noise_std_at(t)) for t in range(run.steps))
        first = {(run.step_size_at(t), run.noise_std_at(t)): t for t in reversed(range(run.steps))}
        parts = [_part(run, first[key], 1.0, count) for key, count in alike.items()]
    return _sampled(Composed(0.0, tuple(parts)), order, "composition", (0, run.steps), 1.0)


def _windows(run: NoisySGD, assumption: Assumption, order: float) -> list[Sampled]:
    expansion = assumption.expansion(run, 0, differs=False)
    program = ShiftProgram(run, assumption)
    start = program.reach(run.steps - 1)  # the runs are never farther apart, whatever their batches
    if not isfinite(start) or start == 0.0:
        return []
    hide = _hiding(expansion, start, run.steps)
    best: Sampled | None = None
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        shares = np.linspace(low, high, _SHARES + 2)[1:-1]
        for share in shares.tolist():
            one = _window(run, order, share, hide)
            if best is None or one.epsilon < best.epsilon:
                best = one
        width = (high - low) / (_SHARES + 1)
        centre = best.share if best else 0.5
        low, high = max(0.0, centre - width), min(1.0, centre + width)
    return [best] if best else []


_Hiding = Callable[[float], tuple[int, arb]]
"""Toll of a step -> length of the best window, and an enclosure of its sum of squared shifts."""


def _window(run: NoisySGD, order: float, share: float, hide: _Hiding) -> Sampled:
    part = _part(run, 0, share, 1)
    variance = (1 - exact(share)) * exact(run.noise_std_at(0)) ** 2
    price = exact(step_price(part.rate, part.multiplier, part.adjacency, order))
    length, squares = hide(float(price * 2 * variance / exact(order)))
    composed = Composed(upper(squares / variance), (replace(part, count=length),))
    return _sampled(composed, order, "window of shifts", (run.steps - length, run.steps), share)


def _hiding(expansion: Expansion, start: float, steps: int) -> _Hiding:
    """How best to hide a distance in at most ``steps`` steps where each has a toll, a squared length."""
    affine = expansion.affine_on(start)
    if affine is not None:
        c = affine[0]
        lengths = np.arange(1, min(steps, _WINDOWS) + 1)
        with np.errstate(over="ignore"):
            squares = start**2 / np.cumsum(float(c) ** (-2.0 * lengths)) if c > 0 else np.full(len(lengths), 0.0)

        def straight(toll: float) -> tuple[int, arb]:
            length = int(np.argmin(lengths * toll + squares)) + 1
            # From here on nothing drifts in, so the closed form is feasible whatever c.
            return length, untested(c, arb(0), exact(start), length).cost if c > 0 else arb(0)

        return straight

    def curved(toll: float) -> tuple[int, arb]:
        shot = shoot(expansion, start, steps, toll)
        return len(shot.shifts), run_forward(lambda _t: expansion, lambda _t: 1.0, start, shot.shifts)

    return curved
