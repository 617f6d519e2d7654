"""Runs on an interval with given losses: a lower bound that anyone can replay.

The gradients of all samples are piecewise linear on an interval [-D'/2, D'/2], where D' is less than the
diameter. The domain is a capsule: all points of R^(1+d) within a tiny distance of this interval. Projection
clamps the first coordinate, but as d grows, the direction of the iterate reveals the removed part. So no
bound that holds in every dimension is below the privacy loss of the first coordinate before its projection.

Source: docs/proofs/lower_bounds.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import hypot, isfinite

import numpy as np

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, echo, renyi_order, teaches, within
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, described_assumption
from lastiterate.numeric.lower.gradients import (
    Gradient,
    admits_gradient,
    drawn_gradient,
    largest_gradient,
    least_curvature,
)
from lastiterate.numeric.lower.line import binomial_mixture
from lastiterate.numeric.lower.masses import Masses, Target
from lastiterate.numeric.lower.walk import Mixture, Update, Walk, WalkStep, cells_between, last_masses
from lastiterate.numeric.run import NoisySGD, described_run

_JUST_BELOW = 1 - 1e-13
_AGAIN = 1e-6
_RARE = 1e-18
_MOST_SIZES = 400
_SIGMAS = 9.0
_TILTED = 25.0


@teaches()
@dataclass(frozen=True)
class Witness:
    """Losses for a run, and the resulting privacy loss of its last iterate.

    Attributes:
        run: a run whose domain has a finite diameter.
        shared: gradient of all other samples, or, for fixed batches, of each batch of the last epoch.
        first: gradient of the differing sample in the first data set.
        second: gradient of this sample in the second data set; None if it is absent there.
        start: the first iterate, a length.
        value: divergence at ``order`` or epsilon at ``delta``, in the worse direction; rounded down.
    """

    run: NoisySGD
    assumption: Assumption
    shared: tuple[Gradient, ...]
    first: Gradient
    second: Gradient | None
    start: float = 0.0
    order: float | None = None
    delta: float | None = None
    value: float = 0.0

    def __post_init__(self) -> None:
        described_run("A witness", self.run)
        described_assumption(self.assumption)
        if not isinstance(self.shared, tuple | list) or not self.shared:
            raise InputError(
                f"A witness needs gradients of the shared samples, got shared={echo(self.shared, 80)}; list "
                "at least one."
            )
        object.__setattr__(self, "shared", tuple(map(drawn_gradient, self.shared)))
        object.__setattr__(self, "first", drawn_gradient(self.first))
        object.__setattr__(self, "second", None if self.second is None else drawn_gradient(self.second))
        object.__setattr__(self, "order", None if self.order is None else renyi_order(self.order))
        object.__setattr__(self, "delta", None if self.delta is None else chance("delta", self.delta))
        for name in ("start", "value"):
            number = within(name, getattr(self, name), "a finite number", isfinite, "write one.")
            object.__setattr__(self, name, number)

    @property
    def half(self) -> float:
        """Half the length of the interval."""
        return self.first[-1][0]

    @property
    def gradients(self) -> tuple[Gradient, ...]:
        """Gradients of the shared samples, then of the differing sample."""
        return (*self.shared, self.first, *(() if self.second is None else (self.second,)))


@teaches()
def replay(witness: Witness) -> float:
    """Check that the losses of a witness satisfy its assumption, and recompute its value, rounded down.

    Raises:
        InputError: the losses violate the assumption, the run cannot be propagated, or ``witness.value``
            exceeds the computed value by more than rounding errors.

    >>> from lastiterate.numeric.losses.assumptions import Convex
    >>> run = NoisySGD(steps=50, step_size=0.1, noise_std=1.0, clip_norm=2.0, dataset_size=5, diameter=1.0)
    >>> up, down = (((-0.4, g), (0.4, g)) for g in (-2.0, 2.0))
    >>> round(replay(Witness(run, Convex(1.0), (up,), up, down, order=2.0)), 5)
    0.01133
    """
    if not isinstance(witness, Witness):
        raise InputError(
            f"replay needs a Witness, got witness={type(witness).__name__}; give lower_bound(...).losses."
        )
    refused = refusal(witness)
    if refused:
        raise InputError(f"A witness needs losses that meet its assumption, got {refused}; correct them.")
    found = evaluated(witness)
    if found is None:
        raise InputError(
            f"A witness needs a run whose law can be computed, got diameter={witness.run.diameter:g} with "
            f"noise_std={witness.run.noise_std_at(0):g}; use a narrower interval."
        )
    if witness.value > found * (1 + _AGAIN):
        raise InputError(
            f"The value of a witness can be at most {found!r}, got value={witness.value!r}; lower it."
        )
    return found


def refusal(witness: Witness) -> str:
    """Reason in words why a witness is invalid; empty if it is valid."""
    run, half = witness.run, witness.half
    if run.weight_decay:
        return f"weight_decay={run.weight_decay:g}, which witnesses do not support"
    if (witness.order is None) == (witness.delta is None):
        return f"order={witness.order}, delta={witness.delta}, exactly one of which is needed"
    if not isfinite(run.diameter) or not 2 * half < run.diameter:
        return f"an interval of length {2 * half:g} in a domain of diameter {run.diameter:g}"
    if len(witness.shared) != 1 and not (run.scheme.fixed and len(witness.shared) == run.batches):
        return f"{len(witness.shared)} gradients of shared samples"
    if (witness.second is None) != (run.adjacency == "add_remove"):
        return f"second={'None' if witness.second is None else 'a gradient'} under {run.adjacency}"
    if not -half <= witness.start <= half:
        return f"start={witness.start:g} outside of the interval"
    witness.assumption.expansion(
        run, max(range(1 if run.constant else run.steps), key=run.step_size_at), differs=True
    )
    # A strongly convex loss has a nonzero gradient at the ends of a domain much longer than the interval.
    bend = (2 * half < run.diameter * (1 - 1e-6)) * least_curvature(witness.assumption) * run.diameter / 2
    for gradient in witness.gradients:
        places = [x for x, _ in gradient]
        if places[0] != -half or places[-1] != half or places != sorted(places):
            return f"a gradient at {places}, which do not increase from {-half:g} to {half:g}"
        if not admits_gradient(witness.assumption, gradient):
            return f"a gradient {gradient} that does not meet {witness.assumption}"
        if hypot(largest_gradient(gradient), bend) > run.clip_norm:
            return f"a gradient longer than clip_norm={run.clip_norm:g}"
    return ""


def evaluated(witness: Witness, cells_a_sigma: int = 16) -> float | None:
    """Divergence or epsilon of a witness, rounded down; None if the run cannot be propagated."""
    return _evaluated(replace(witness, assumption=Clipped(), value=0.0), cells_a_sigma)


@lru_cache(maxsize=4096)
def _evaluated(witness: Witness, cells_a_sigma: int) -> float | None:
    edges = cells_between(*_window(witness), witness.run.noise_std_at(witness.run.steps - 1) / cells_a_sigma)
    first, second = (_law(witness, one, edges) for one in (witness.first, witness.second))
    if first is None or second is None:
        return None
    return Target(witness.order, witness.delta).of_masses(first, second) * _JUST_BELOW


def with_value(witness: Witness, cells_a_sigma: int = 16) -> Witness:
    """The witness with its value, which is 0 if the run cannot be propagated."""
    return replace(witness, value=evaluated(witness, cells_a_sigma) or 0.0)


def _law(witness: Witness, own: Gradient | None, edges: Array) -> Masses | None:
    run, width = witness.run, 2 * witness.half
    if run.scheme.fixed:
        length = run.batches if run.constant else run.steps
        if not run.constant and length * len(own or ()) > 10**6:
            return None
        cycle = tuple(_known_step(witness, own, run.steps - length + t) for t in range(length))
        return last_masses(Walk(run.steps, width, cycle, start=witness.start), edges=edges)
    sizes, missing = _sizes(witness)
    if not run.constant or len(sizes) > _MOST_SIZES:
        return None
    weight, shared = run.step_size_at(0) / run.batch, witness.shared[0]
    with_it = 1 if run.scheme.fixed_size else 0  # in a batch of fixed size the sample replaces another
    plain: Mixture = tuple((p, _update(weight, ((k, shared),))) for p, k in sizes)
    met: Mixture = tuple((p, _update(weight, ((k - with_it, shared), (1, own)))) for p, k in sizes)
    epoch = run.batches if run.scheme.permuted else 1
    chance = run.batch / run.dataset_size if own and epoch == 1 else 0.0
    step = WalkStep(run.noise_std_at(0), plain, met if chance or epoch > 1 else (), chance)
    return last_masses(Walk(run.steps, width, (step,), epoch, witness.start, missing), edges=edges)


def _known_step(witness: Witness, own: Gradient | None, t: int) -> WalkStep:
    """Step t of a run with fixed batches; the differing sample is in the batch of the last step."""
    run, batch = witness.run, (t - witness.run.steps) % witness.run.batches
    last = batch == run.batches - 1
    shared = witness.shared[batch if len(witness.shared) > 1 else 0]
    update = _update(run.step_size_at(t) / run.batch, ((run.batch - last, shared), (int(last), own)))
    return WalkStep.known(update, run.noise_std_at(t))


def _window(witness: Witness) -> tuple[float, float]:
    run, last = witness.run, witness.run.steps - 1
    weight, noise = run.step_size_at(last) / run.batch, run.noise_std_at(last)
    own = [largest_gradient(one) for one in witness.gradients[len(witness.shared) :]]
    reach = _SIGMAS + min((witness.order or 0.0) * weight * sum(own) / noise, _TILTED)
    shared = [value for _, value in witness.shared[-1]]
    sizes = [size for _, size in _sizes(witness)[0]]
    moves = [
        -weight * size * value for size in (min(sizes), max(sizes)) for value in (min(shared), max(shared))
    ]
    spread = reach * noise + weight * max(own)
    return min(*moves, 0.0) - spread - witness.half, max(*moves, 0.0) + spread + witness.half


def _sizes(witness: Witness) -> tuple[list[tuple[float, int]], float]:
    """Pairs (weight, rounded down; number of shared samples in a batch), and a bound on the missing weight."""
    run = witness.run
    if run.scheme.fixed_size:
        return [(1.0, run.batch)], 0.0
    if not largest_gradient(witness.shared[0]):
        return [(1.0, 0)], 0.0
    law = binomial_mixture([(run.dataset_size - 1, Fraction(run.batch, run.dataset_size), 1.0)], 1.0)
    kept = law.low > _RARE
    lost = float(law.high[~kept].sum() + (law.high - law.low)[kept].sum()) * (1 + 1e-9) + law.missing
    return [(float(p), int(k)) for p, k in zip(law.low[kept], law.places[kept], strict=True)], lost


@lru_cache(maxsize=1024)
def _update(weight: float, parts: tuple[tuple[int, Gradient | None], ...]) -> Update:
    lines = [(k, np.array(one).T) for k, one in parts if one is not None and k]
    if not lines:
        half = max(one[-1][0] for _, one in parts if one is not None)
        return Update.affine(1.0, 0.0, half)
    points: list[tuple[float, float]] = []
    for x in sorted({float(x) for _, (places, _) in lines for x in places}):
        left = x - weight * sum(k * float(np.interp(-x, -xs[::-1], gs[::-1])) for k, (xs, gs) in lines)
        right = x - weight * sum(k * float(np.interp(x, xs, gs)) for k, (xs, gs) in lines)
        points += [(x, left)] if left == right else [(x, left), (x, right)]
    return Update(tuple(points))
