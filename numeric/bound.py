"""A rigorous privacy bound for a described run, and the estimate that a measured constant gives."""

from dataclasses import replace
from math import isfinite
from typing import Final

from flint import arb

from lastiterate.numeric.accounting.dominating import Composed
from lastiterate.numeric.accounting.pld import composed_epsilon
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.losses.measured import Measured
from lastiterate.numeric.results import Bound, Estimate, RenyiBound, rdp_epsilon, renyi_order
from lastiterate.numeric.rounding import precision, upper
from lastiterate.numeric.run import RANDOM, NoisySGD, chance, described_run
from lastiterate.numeric.shift_program.fallback import plain_optimum
from lastiterate.numeric.shift_program.float_range import extreme
from lastiterate.numeric.shift_program.optimum import Optimum, worst_position
from lastiterate.numeric.shuffling.shuffled import mean_dp, mean_loss, worst_order
from lastiterate.numeric.subsampling.dp import sampled_dp
from lastiterate.numeric.subsampling.without_replacement import sampled_loss

__all__ = ["RANDOM_CLAIMS", "bound", "estimate", "gaussian_bound"]


RANDOM_CLAIMS: Final = {"without_replacement": "ours/sampled/step", "poisson": "ours/poisson/step"}
"""Schemes whose bound is of Renyi type, and the claim behind it."""

_HIGHEST = 1e9
"""Beyond this order random batches are priced as if the sample were in every one."""


def gaussian_bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound:
    """As `bound`, for a run whose batches are fixed in advance, or for every order of shuffled ones.

    Raises:
        InputError: as `bound`, or the batches are random.
    """
    order, delta = _target(assumption, order, delta)
    if run.sampling in RANDOM:
        raise InputError(
            f"A Gaussian bound needs batches that are fixed in advance, got sampling={run.sampling!r}; "
            "use sampling='full' or 'cyclic', or call bound."
        )
    return Bound(*_solve(run, assumption, order, delta))


def bound(
    run: NoisySGD, assumption: Assumption, *, order: float | None = None, delta: float | None = None
) -> Bound | RenyiBound:
    """Bound the privacy loss of the last iterate of a run.

    Args:
        run: the run.
        assumption: what is assumed of the losses on the domain.
        order: alpha > 1 for `Bound.epsilon` in the sense of Renyi.
        delta: in (0, 1) for `Bound.epsilon` in the sense of (epsilon, delta)-DP. At most one of the two.

    Returns:
        A rigorous upper bound: a `Bound` where the batches are fixed in advance, a `RenyiBound` where they are random.
        Of shuffled batches the `Bound` holds for every order; the mean over orders, a `RenyiBound`, where it is less.

    Raises:
        InputError: the assumption does not fit the run, an argument is out of range (random batches need an order
            or a delta), the assumption rests on a measurement (see `estimate`), or it is no `NoisySGD`.

    Source: docs/proofs/shift_program.md; claims chien_li/theorem_3_1/direct/* and chien_li/theorem_3_7/sharper.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(steps=2000, step_size=0.1, noise_std=1, clip_norm=2, dataset_size=5, diameter=1)
    >>> round(bound(run, Smooth(1), order=2).epsilon, 4)
    0.4992
    """
    if not isinstance(run, NoisySGD):
        raise InputError(
            f"bound needs a NoisySGD, got run={type(run).__name__}; of a run with random projections call "
            "projection_bound."
        )
    if isinstance(assumption, Measured):
        raise InputError(
            "bound needs an assumption that is proved or assumed, got assumption=Measured(...); "
            "a measured constant gives an estimate: call estimate(run, measured, ...)."
        )
    if run.sampling == "shuffled" and run.batches > 1:
        return _shuffled(run, assumption, order, delta)
    if run.sampling not in RANDOM:
        return gaussian_bound(run, assumption, order=order, delta=delta)
    order, delta = _target(assumption, order, delta)
    if run.batch == run.dataset_size and run.sampling == "without_replacement":
        return replace(bound(replace(run, sampling="full"), assumption, order=order, delta=delta), run=run)
    if order is None and delta is None:
        raise InputError("Random batches need an order or a delta, got order=None, delta=None; pass one of them.")
    claim, stated = RANDOM_CLAIMS[run.sampling], _stated(run, assumption)
    if extreme(run, assumption) or (order is not None and order > _HIGHEST):
        whole = Composed(_up(plain_optimum(run, assumption)[1].cost))
        epsilon = rdp_epsilon(whole.cost, order) if order is not None else composed_epsilon(whole, delta or 0.0)
        return RenyiBound(run, epsilon, order, delta, "worst batches", (0, run.steps), 0.0, claim, stated, whole)
    if order is not None:
        found = sampled_loss(run, assumption, order)
        epsilon, route = found.epsilon, found.route
    else:
        converted = sampled_dp(run, assumption, delta or 0.0)
        epsilon, order, route, found = converted.epsilon, converted.order, converted.route, converted.found
    return RenyiBound(run, epsilon, order, delta, route, found.window, found.share, claim, stated, found.composed)


def _shuffled(run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None) -> Bound | RenyiBound:
    """Of the bound for every order and the mean over orders the smaller."""
    order, delta = _target(assumption, order, delta)
    always = gaussian_bound(run, assumption, order=order, delta=delta)
    if extreme(run, assumption) or (order is not None and order > _HIGHEST):
        return always
    if order is not None:
        found = mean_loss(run, assumption, order)
        epsilon = found.epsilon
    elif delta is not None:
        epsilon, order, found = mean_dp(run, assumption, delta)
    else:
        return always
    if always.epsilon <= epsilon:
        return always
    claim, stated = "ours/shuffled/mean", _stated(run, assumption)
    # Every order by itself is dominated by the Gaussian of the worst, and so is their mixture.
    worst = Composed(always.cost)
    return RenyiBound(run, epsilon, order, delta, found.route, found.window, 0.0, claim, stated, worst)


def estimate(run: NoisySGD, measured: Measured, *, order: float | None = None, delta: float | None = None) -> Estimate:
    """What `bound` would say if the measured constants were true; typed as an estimate.

    Args:
        run: the run.
        measured: the assumption, with what it is conditional on.
        order: alpha > 1, or None.
        delta: in (0, 1), or None.

    Raises:
        InputError: as `bound`, or ``measured`` is not a `Measured`.
    """
    if not isinstance(measured, Measured):
        raise InputError(
            f"estimate needs a Measured assumption, got measured={type(measured).__name__}; "
            "for an assumption that is proved or assumed call bound(run, assumption, ...)."
        )
    described_run("estimate", run)
    if run.sampling in RANDOM:
        raise InputError(
            f"estimate needs batches that are fixed in advance, got sampling={run.sampling!r}; "
            "describe the run with sampling='full' or 'cyclic'."
        )
    order, delta = _target(measured.assumption, order, delta)
    return Estimate(*_solve(run, measured.assumption, order, delta), conditional_on=measured.conditional_on)


def _target(assumption: Assumption, order: float | None, delta: float | None) -> tuple[float | None, float | None]:
    """The order and the delta, checked before the work."""
    described_assumption(assumption)
    if order is not None and delta is not None:
        raise InputError(f"bound needs an order or a delta, got order={order} and delta={delta}; leave one out.")
    return None if order is None else renyi_order(order), None if delta is None else chance("delta", delta)


def _solve(
    run: NoisySGD, assumption: Assumption, order: float | None, delta: float | None
) -> tuple[NoisySGD, float, float | None, float | None, str, int, tuple[str, ...], Optimum]:
    stated = _stated(run, assumption)
    if extreme(run, assumption):
        position, found = plain_optimum(run, assumption)
        return run, _up(found.cost), order, delta, assumption.claim, position, stated, found
    if run.sampling == "shuffled" and run.batches > 1:
        worst = worst_order(run, assumption)
        found = Optimum(worst.cost, worst.path, worst.route)
        return run, _up(found.cost), order, delta, "ours/shuffled/worst", run.batches - 1, stated, found
    program, found = worst_position(run, assumption)
    claim = assumption.claim if run.batches == 1 else "ours/cyclic/last_step"
    return run, _up(found.cost), order, delta, claim, program.position, stated, found


def _stated(run: NoisySGD, assumption: Assumption) -> tuple[str, ...]:
    """What a number for the run rests on, in words."""
    batches = {
        "full": "batches are full",
        "cyclic": f"the {run.batches} batches are fixed in advance and come in the same order in every epoch",
        "shuffled": f"the {run.batches} batches of an epoch are cut from a fresh uniform permutation, the same for "
        "both data sets",
        "without_replacement": f"each batch is {run.batch} of the {run.dataset_size} samples, drawn independently",
        "poisson": (
            f"every sample is in every batch with chance {run.batch}/{run.dataset_size}, independently, and the sum of "
            f"gradients is divided by {run.batch}; nothing is assumed of the sizes of the batches"
        ),
    }
    differ = (
        "by replacing one sample" if run.adjacency == "replace" else f"in that one of {run.dataset_size} is missing"
    )
    stated = (
        assumption.statement,
        f"per-sample gradients are clipped to norm {run.clip_norm:g}, and the data sets differ {differ}",
        batches[run.sampling],
        "isotropic Gaussian noise of the stated standard deviation; only the last iterate is released",
    )
    if isfinite(run.diameter):
        return (*stated, f"every iterate is projected to a convex domain of diameter {run.diameter:g}")
    return stated


def _up(cost: arb) -> float:
    with precision():
        return upper(cost)
