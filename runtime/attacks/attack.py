"""Attacks on the last iterate, which give lower bounds that a valid privacy bound cannot contradict.

Many runs are trained on the data and on adjacent data, each with its own noise and batches, and only their
last iterates are observed. The attack learns from half of the runs and counts its errors on the other half.
The AUC and the trade-off curve use the scores of all runs, or of the second half if the score is learned
(shadow). Half of the error probability goes to the counts, a quarter to the AUC and a quarter to the curve.

canary    The gradient of the differing sample is always +K u on one data set and -K u on the other
          (add_remove: absent), where u is a random direction; the score is -<W_T - W_0, u>. Cebere, Bellet &
          Papernot 2024. A linear loss has such gradients and meets every assumption except strong convexity,
          for which a quadratic is added (`crafted_tilt`). A ball narrower than the noise shrinks the score.
loss      A real sample; the score is minus its loss at W_T, which is small if the sample was seen. Yeom et
          al. 2018.
shadow    The same loss, scored by the likelihood ratio of Gaussians fitted to the learning runs, so that its
          spread counts, too. Carlini et al. 2022.

Without a workload every gradient is crafted, as in the witnesses of `lower_bound`, for one parameter in an
interval. If there are few steps or the domain is wide, the worst other samples have gradient 0. If iterates
reach the ends of the domain, the worst samples push outwards as hard as the assumption allows, which
preserves an early difference.
"""

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from math import inf, isfinite
from typing import Final, Unpack

import numpy as np
import torch
from torch import Tensor, nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count, teaches
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.lower.audit import Audit, all_scores, audit, epsilon_limits
from lastiterate.numeric.lower.gradients import least_curvature, steepest_push
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Store
from lastiterate.runtime.constants.sampling import Sampling, Settings, choose_member
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.adjacent import Differing, adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

_NOISE: Final = 2**44
_DIRECTION: Final = 2**45
"""Purposes of the streams that draw the noise of the runs and the direction of the canary."""


class AttackKind(StrEnum):
    """Kind of attack; see the module."""

    CANARY = "canary"
    LOSS = "loss"
    SHADOW = "shadow"


@teaches()
@says_when_memory_runs_out
def attack(
    workload: Workload,
    run: NoisySGD,
    kind: AttackKind | str = AttackKind.CANARY,
    *,
    delta: float,
    assumption: Assumption | None = None,
    runs: int = 500,
    target: int | None = None,
    level: float = 0.95,
    **settings: Unpack[Settings],
) -> Audit:
    """Attack a run to find lower confidence bounds on epsilon; `Audit.refutes` compares them with a bound.

    Args:
        workload: network, loss and data. Under "replace" a real sample is exchanged for the workload's last
            one, so the attacks "loss" and "shadow" need one more sample than the run.
        run: the run.
        kind: the attack.
        delta: delta of (epsilon, delta)-DP.
        assumption: assumption of the bound to compare with, which the canary meets; needed only for strong
            convexity.
        runs: number of runs on each of the two data sets.
        target: index of the differing sample; None for the first sample in the last batch of a cyclic run,
            which costs most privacy, or for sample 0 in other runs.
        level: joint confidence level of all limits.
        **settings: fields of `lastiterate.runtime.constants.sampling.Sampling`; blocks of runs are stored.

    Raises:
        InputError: too few runs or samples, an invalid target, or parameters that become non-finite.
    """
    described_workload("attack", workload)
    described_run("attack", run)
    if (runs := count("runs", runs)) < 4:
        raise InputError(
            f"runs must be at least 4, two to learn from and two to score, got runs={runs}; give more."
        )
    kind = choose_member("kind", kind, AttackKind)
    delta, level = chance("delta", delta), chance("level", level)
    if target is None:
        target = (run.steps - 1) % run.batches * run.batch if run.scheme.fixed else 0
    check_sample(
        workload, run, "target", target, spare=kind != AttackKind.CANARY and run.adjacency == "replace"
    )
    sampling = Sampling(**settings)
    gradients, seed = sampling.gradients(workload), sampling.seed
    if kind == AttackKind.CANARY:
        (drawn,) = stream(seed, _DIRECTION).normals(1, gradients.dimension, gradients.start)
        direction: Tensor = drawn / torch.linalg.vector_norm(drawn)
        differing = _canary(gradients, run, target, direction, crafted_tilt(run, assumption))

        def score(points: Tensor) -> Tensor:
            return -((points - gradients.start) @ direction)

    else:
        differing = real_sample(gradients, run, target)
        row, wanted = (part[target] for part in gradients.rows())

        @torch.no_grad()
        def score(points: Tensor) -> Tensor:
            parts = gradients.point_chunks(len(points), 1)
            return -torch.cat([gradients.losses(points[part], row, wanted) for part in parts])

    deciding = identify_workload(workload, gradients) | {
        "format": 4,
        "run": asdict(run),
        "sample": list(crafted_tilt(run, assumption)) if kind == AttackKind.CANARY else "real",
        "target": target,
        "dtype": sampling.dtype,
        "seed": seed,
    }
    store = Store(sampling.folder, deciding)

    def block(number: int, size: int, tick: Callable[[], None]) -> dict[str, Array]:
        sides = (gradients.start[None], gradients.start[None])
        for here, there in adjacent_runs(
            gradients, run, differing, size, coupled=False, seed=seed, block=number, purpose=_NOISE
        ):
            sides = here, there
            tick()
        scores = [score(points).detach().cpu().double().numpy() for points in sides]
        return {"with_it": scores[0], "without": scores[1]}

    found = in_blocks(gradients, run, runs, block, store, sampling.on_step)
    with_it, without = (np.concatenate([part[side] for part in found]) for side in ("with_it", "without"))
    if kind == AttackKind.SHADOW:
        with_it, without = _likelihood_ratios(with_it, without)
    half = runs // 2
    threshold = _best_threshold(with_it[:half], without[:half], delta, level)
    of_score = slice(half if kind == AttackKind.SHADOW else 0, None)  # the other scores are fixed
    scores = all_scores(with_it[of_score], without[of_score], level=1 - (1 - level) / 2)
    return audit(
        false_positives=int((without[half:] > threshold).sum()),
        negatives=runs - half,
        false_negatives=int((with_it[half:] <= threshold).sum()),
        positives=runs - half,
        delta=delta,
        level=level,
        scores=scores,
    )


def _canary(
    gradients: Gradients, run: NoisySGD, target: int, direction: Tensor, crafted: tuple[float, float]
) -> Differing:
    """Sample with gradients m (w - w_0) +- tilt u, as in `crafted_tilt`."""
    curvature, tilt = crafted

    def pull(sign: float) -> Callable[[Tensor], Tensor]:
        return lambda points: curvature * (points - gradients.start) + sign * tilt * direction

    return Differing(target, pull(1.0), pull(-1.0) if run.adjacency == "replace" else None)


def _likelihood_ratios(with_it: Array, without: Array) -> tuple[Array, Array]:
    half = len(with_it) // 2
    least = 1e-12 * (float(np.abs([with_it, without]).max()) or 1.0)
    fits = [(scores[:half].mean(), max(float(scores[:half].std()), least)) for scores in (with_it, without)]

    def ratio(scores: Array) -> Array:
        logs = [-(((scores - mean) / std) ** 2) / 2 - np.log(std) for mean, std in fits]
        return np.asarray(logs[0] - logs[1])

    return ratio(with_it), ratio(without)


def _best_threshold(with_it: Array, without: Array, delta: float, level: float) -> float:
    """Threshold with the largest lower bound for the learning runs and, among ties, the fewest errors."""
    thresholds = np.unique(np.concatenate([with_it, without]))
    missed = np.searchsorted(np.sort(with_it), thresholds, side="right")
    wrong = len(without) - np.searchsorted(np.sort(without), thresholds, side="right")
    limits = epsilon_limits(wrong, len(without), missed, len(with_it), delta=delta, level=level)
    best = np.lexsort((missed + wrong, -limits))[0]
    return float(thresholds[best])


class Others(StrEnum):
    """Behaviour of the samples that both data sets share.

    ``STILL``: zero gradient, or the least curvature if losses are strongly convex. ``PULL``: the gradient of
    the adjacent data's sample, which then does not stand out in a random batch. ``OUTWARD``: a push away from
    the middle of the domain, as hard as the assumption allows.
    """

    STILL = "still"
    PULL = "pull"
    OUTWARD = "outward"


class _Point(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(1))

    def forward(self, rows: Tensor) -> Tensor:
        return self.value.expand(rows.shape[0], -1)


def crafted_tilt(run: NoisySGD, assumption: Assumption | None) -> tuple[float, float]:
    """Curvature m and tilt of a crafted gradient m (w - w_0) +- tilt u, for a unit vector u.

    The gradient meets the assumption and the clip norm K. If losses are strongly convex, so is the canary's
    loss, whose gradient has norm K only at the ends of the domain. An `InputError` is raised if no such
    gradient has norm at most K on the domain.
    """
    m = 0.0 if assumption is None else least_curvature(described_assumption(assumption))
    tilt = run.clip_norm - m * run.diameter / 2 if m else run.clip_norm
    if not tilt > 0:
        raise InputError(
            f"A canary in strongly convex losses needs m * diameter / 2 < clip_norm={run.clip_norm:g}, got m={m:g}, "
            f"diameter={run.diameter:g}; give a smaller diameter or a larger clip_norm."
        )
    return m, tilt


def hardest(run: NoisySGD, assumption: Assumption, delta: float) -> Others:
    """Behaviour of the shared samples in the witness of the largest certified lower bound on epsilon."""
    found = lower_bound(run, assumption, delta=delta)
    if "outwards" in found.witness:
        return Others.OUTWARD
    shared = [abs(gradient) for _, gradient in found.losses.shared[-1]] if found.losses else []
    pulled = "all others at -K" in found.witness or min(shared, default=0.0) > run.clip_norm / 2
    return Others.PULL if pulled else Others.STILL


@teaches()
def worst_case(run: NoisySGD, assumption: Assumption, others: Others | str = Others.STILL) -> Workload:
    """Workload of one parameter for a canary, with losses that meet the assumption.

    `hardest` gives the worst behaviour ``others`` of the shared samples.

    Raises:
        InputError: the assumption allows no such losses, or ``others`` is unknown.
    """
    m, tilt = crafted_tilt(described_run("worst_case", run), described_assumption(assumption))
    push = steepest_push(assumption, run) if not m and isfinite(run.diameter) else 0.0
    others = choose_member("others", others, Others)
    if others == Others.OUTWARD and not push > 0:
        raise InputError(
            "Gradients that push outwards need a diameter and losses that may be nonconvex, got "
            f"diameter={run.diameter:g} and assumption={assumption!r}; choose others='still' or 'pull'."
        )
    reach = 0.0 if push in (0.0, inf) else run.clip_norm / push
    # Distinguishes workloads with equal fingerprints at 0.
    bend = f":{reach:.6g}" if others == Others.OUTWARD else ""
    return Workload(
        f"worst-case:{others}{bend}",
        _Point,
        _landscape(others, run.clip_norm, m, tilt, reach),
        torch.zeros(run.dataset_size, 1),
        torch.zeros(run.dataset_size, 1),
        remark="One parameter; gradients that an adversary crafted.",
    )


def _landscape(
    others: Others, clip_norm: float, m: float, tilt: float, reach: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """Summed loss of the shared samples at w, shape (rows, 1), with gradient m w, m w - tilt or the push."""
    if others == Others.OUTWARD:

        def loss(output: Tensor, _target: Tensor) -> Tensor:
            away = output.abs().sum(dim=1)
            if reach == 0:
                return -clip_norm * away.sum()
            near = output.square().sum(dim=1) / (2 * reach)
            return -clip_norm * torch.where(away <= reach, near, away - reach / 2).sum()

    else:
        slope = -tilt if others == Others.PULL else 0.0

        def loss(output: Tensor, _target: Tensor) -> Tensor:
            return m * output.square().sum() / 2 + slope * output.sum()

    return loss
