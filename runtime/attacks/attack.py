"""Attacks on the last iterate: what a privacy bound must survive.

Many runs are trained on the data and on the adjacent ones, each with noise of its own, and only their last iterates
are looked at (hidden-state threat model). Half of the runs teach the attack, the other half are counted.

canary    The sample that differs is a worst case: its gradient is always +K u on the one data set and -K u on the
          other (add_remove: nothing), u a direction drawn once. The score is <W_T, u>. Gradient crafting of Cebere et
          al. 2024; a linear loss has such gradients.
loss      A real sample; the score is its loss at W_T, small where it was seen. Yeom et al. 2018.
shadow    The same loss against the Gaussians fitted to the losses of the shadow runs. Carlini et al. 2022.
"""

from collections.abc import Callable
from enum import StrEnum
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.audit import Audit, audit
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD, count
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.memory import says_when_memory_runs_out
from lastiterate.runtime.training.batches import batches
from lastiterate.runtime.training.descent import BATCHES, project, stream
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["Attack", "attack"]

Array = NDArray[np.float64]

_NOISE = 2**44
_DIRECTION = 2**45
"""The purposes of the streams that draw the noise of the runs and the direction of the canary."""


class Attack(StrEnum):
    """The attacks; see the module."""

    CANARY = "canary"
    LOSS = "loss"
    SHADOW = "shadow"


@says_when_memory_runs_out
@torch.no_grad()
def attack(
    workload: Workload,
    run: NoisySGD,
    kind: Attack = Attack.CANARY,
    *,
    delta: float,
    runs: int = 500,
    target: int = 0,
    level: float = 0.95,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int = 256 * 2**20,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
) -> Audit:
    """Attack a run and say what epsilon it must have at least.

    Args:
        workload: network, loss and data. Under "replace" a real sample is exchanged for the workload's last one, so
            that loss and shadow need one sample more than the run.
        run: the run; the bound to compare with is that of this very record.
        kind: the attack.
        delta: of (epsilon, delta).
        runs: runs on each of the two data sets; half of them are counted.
        target: index of the sample that differs.
        level: confidence.
        dtype: float32 or float64.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take.
        seed: of everything random. The batches are drawn once for each run.
        on_step: called with (finished, all) steps.

    Returns:
        Lower confidence bounds; an attack above a bound refutes the bound.

    Raises:
        InputError: too few runs or samples, no such sample, or the parameters stop being finite.
    """
    if count("runs", runs) < 4:
        raise InputError(f"runs needs at least 4, two to learn from and two to count, got runs={runs}.")
    if kind not in tuple(Attack):
        raise InputError(f"kind needs one of {', '.join(Attack)}, got kind={kind!r}; choose one of them.")
    if not 0 <= target < run.dataset_size:
        raise InputError(f"target needs an index below dataset_size={run.dataset_size}, got target={target}.")
    exchanged = kind != Attack.CANARY and run.adjacency == "replace"
    if workload.samples < run.dataset_size + exchanged:
        raise InputError(
            f"The attack needs {run.dataset_size + exchanged} samples, got {workload.samples} in "
            f"workload={workload.name}; describe a run on fewer samples."
        )
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    drawn = torch.randn(gradients.dimension, generator=stream(seed, purpose=_DIRECTION), dtype=torch.float64)
    direction = (drawn / torch.linalg.vector_norm(drawn)).to(gradients.start)
    seen, adjacent = _last_iterates(gradients, run, kind, runs, target, direction, seed, on_step)
    if kind == Attack.CANARY:
        scores = [-(points @ direction) for points in (seen, adjacent)]
    else:
        scores = [-_losses(gradients, points, target) for points in (seen, adjacent)]
    with_it, without = (values.cpu().double().numpy() for values in scores)
    if kind == Attack.SHADOW:
        with_it, without = _likelihood_ratios(with_it, without)
    half = runs // 2
    threshold = _best_threshold(with_it[:half], without[:half], delta)
    return audit(
        false_positives=int((without[half:] > threshold).sum()),
        negatives=runs - half,
        false_negatives=int((with_it[half:] <= threshold).sum()),
        positives=runs - half,
        delta=delta,
        level=level,
    )


def _last_iterates(
    gradients: Gradients,
    run: NoisySGD,
    kind: Attack,
    runs: int,
    target: int,
    direction: Tensor,
    seed: int,
    on_step: Callable[[int, int], None] | None,
) -> tuple[Tensor, Tensor]:
    """Last iterates with the target and without it, each of shape (runs, dimension)."""
    noise = stream(seed, purpose=_NOISE)
    drawers = [batches(run, stream(seed * runs + i, purpose=BATCHES)) for i in range(2 * runs)]
    if run.sampling in ("full", "cyclic"):
        drawers = drawers[:1]
    points = gradients.start.repeat(2 * runs, 1)
    crafted = run.clip_norm * direction
    for t in range(run.steps):
        chosen = [next(drawer) for drawer in drawers]
        met = torch.tensor([bool((batch == target).any()) for batch in chosen])
        met = (met if len(met) > 1 else met.expand(2 * runs)).to(points.device)
        if len(chosen) == 1:
            sums = gradients.totals(points, run.clip_norm, chosen[0][chosen[0] != target])
        else:
            others = [batch[batch != target] for batch in chosen]
            sums = torch.cat(
                [gradients.totals(points[i : i + 1], run.clip_norm, batch) for i, batch in enumerate(others)]
            )
        first, second = met[:runs, None], met[runs:, None]
        if kind == Attack.CANARY:
            sums[:runs] += first * crafted
            if run.adjacency == "replace":
                sums[runs:] -= second * crafted
        else:
            sums[:runs] += first * gradients.totals(points[:runs], run.clip_norm, torch.tensor([target]))
            if run.adjacency == "replace":
                other = torch.tensor([gradients.samples - 1])
                sums[runs:] += second * gradients.totals(points[runs:], run.clip_norm, other)
        drawn = torch.randn(2 * runs, gradients.dimension, generator=noise, dtype=torch.float64).to(points)
        points = points - run.step_size_at(t) / run.batch * sums + run.noise_std_at(t) * drawn
        points = project(points, gradients.start, run.diameter)
        if not bool(torch.isfinite(points).all()):
            raise InputError(f"An attack needs finite parameters, got nan or inf after step={t + 1}; lower step_size.")
        if on_step is not None:
            on_step(t + 1, run.steps)
    return points[:runs], points[runs:]


def _losses(gradients: Gradients, points: Tensor, target: int) -> Tensor:
    """The loss of one sample at many points, shape (points,)."""
    rows, targets = gradients.rows(slice(target, target + 1))
    return torch.cat(
        [gradients.losses(points[part], rows[0], targets[0]) for part in gradients.point_chunks(len(points))]
    )


def _likelihood_ratios(with_it: Array, without: Array) -> tuple[Array, Array]:
    """Log likelihood ratio of Gaussians fitted to the first half of each."""
    half = len(with_it) // 2
    fits = [(scores[:half].mean(), scores[:half].std() + 1e-300) for scores in (with_it, without)]

    def ratio(scores: Array) -> Array:
        logs = [-(((scores - mean) / std) ** 2) / 2 - np.log(std) for mean, std in fits]
        return np.asarray(logs[0] - logs[1])

    return ratio(with_it), ratio(without)


def _best_threshold(with_it: Array, without: Array, delta: float) -> float:
    """The threshold with the largest lower bound on the runs that teach."""
    best, chosen = -inf, 0.0
    for threshold in np.unique(np.concatenate([with_it, without])).tolist():
        found = audit(
            false_positives=int((without > threshold).sum()),
            negatives=len(without),
            false_negatives=int((with_it <= threshold).sum()),
            positives=len(with_it),
            delta=delta,
        )
        if found.epsilon > best:
            best, chosen = found.epsilon, threshold
    return chosen
