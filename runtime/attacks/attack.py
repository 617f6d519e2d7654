"""Attacks on the last iterate: what a privacy bound must survive.

Many runs are trained on the data and on the adjacent ones, each with noise and batches of its own, and only their last
iterates are looked at (hidden-state threat model). Half of the runs teach the attack, the other half are counted. All
scores are looked at, too, those of the runs that teach left out where the score itself is learned (shadow). Half of the
doubt is for the counts, a quarter for the AUC and a quarter for the trade-off curve.

canary    The sample that differs is a worst case: its gradient is always +K u on the one data set and -K u on the
          other (add_remove: nothing), u a direction drawn once. The score is <W_T - W_0, u>. Gradient crafting of
          Cebere, Bellet & Papernot 2024; a linear loss has such gradients. It meets every assumption but strong
          convexity, for which it is bent (`crafted_tilt`). On linear losses no attack is stronger; where the domain is
          small or other losses react, one that shapes those too can be (`lastiterate.runtime.attacks.worst_case`). In
          d dimensions the noise is about sigma sqrt(d T) long, and a ball that is narrower than that shrinks the score.
loss      A real sample; the score is its loss at W_T, small where it was seen. Yeom et al. 2018.
shadow    The same loss, by the likelihood ratio of the Gaussians fitted to the runs that teach: it also uses that the
          loss is more, or less, spread where the sample was seen. Carlini et al. 2022.
"""

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower.audit import Audit, audit, epsilon_limits
from lastiterate.numeric.lower.scores import all_scores
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Store
from lastiterate.runtime.attacks.initialisation import crafted_start
from lastiterate.runtime.attacks.worst_case import crafted_tilt
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.adjacent import Differing, adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.workloads.workload import Workload, described_workload

_NOISE: Final = 2**44
_DIRECTION: Final = 2**45
"""The purposes of the streams that draw the noise of the runs and the direction of the canary."""


class Attack(StrEnum):
    """The attacks; see the module."""

    CANARY = "canary"
    LOSS = "loss"
    SHADOW = "shadow"


class Initialisation(StrEnum):
    """Initial parameters of the runs: as drawn, or as an adversary would choose them."""

    DRAWN = "drawn"
    CRAFTED = "crafted"


@teaches()
@says_when_memory_runs_out
def attack(
    workload: Workload,
    run: NoisySGD,
    kind: Attack | str = Attack.CANARY,
    *,
    delta: float,
    assumption: Assumption | None = None,
    runs: int = 500,
    target: int | None = None,
    initialisation: Initialisation | str = Initialisation.DRAWN,
    level: float = 0.95,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Audit:
    """Attack a run and say what epsilon it must have at least.

    Args:
        workload: network, loss and data. Under "replace" a real sample is exchanged for the workload's last one, so
            that loss and shadow need one sample more than the run.
        run: the run; the bound to compare with is that of this very record.
        kind: the attack.
        delta: of (epsilon, delta).
        assumption: of the bound to compare with; a canary keeps to it. None is as good as any but strong convexity.
        runs: runs on each of the two data sets; half of them are counted, and all have scores.
        target: index of the sample that differs; None for the first one in the batch of the last step of a cyclic run,
            where it costs most, and 0 in any other.
        initialisation: drawn, as the workload makes its module, or crafted from there so that the sample stands out
            (`lastiterate.runtime.attacks.initialisation`): bounds hold for every initial point.
        level: confidence of all limits together.
        dtype: float32 or float64.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take, None for what the device has room for; it changes nothing
            but speed and the last bits.
        seed: of everything random, at least 0.
        folder: where finished runs are kept and looked for, many at a time; None keeps nothing.
        on_step: called with (finished, all) steps, first with those found in ``folder``.

    Returns:
        Lower confidence bounds; `Audit.refutes` says what of a bound an attack refutes.

    Raises:
        InputError: too few runs or samples, no such sample, or the parameters stop being finite.
    """
    described_workload("attack", workload)
    described_run("attack", run)
    if assumption is not None:
        described_assumption(assumption)
    if (runs := count("runs", runs)) < 4:
        raise InputError(f"runs needs at least 4, two to learn from and two to count, got runs={runs}; give more.")
    if kind not in tuple(Attack):
        raise InputError(f"kind needs one of {', '.join(Attack)}, got kind={kind!r}; choose one of them.")
    if initialisation not in tuple(Initialisation):
        raise InputError(
            f"initialisation needs {' or '.join(Initialisation)}, got initialisation={initialisation!r}; choose one."
        )
    delta, level = chance("delta", delta), chance("level", level)
    if target is None:
        target = (run.steps - 1) % run.batches * run.batch if run.scheme.fixed else 0
    check_sample(workload, run, "target", target, spare=kind != Attack.CANARY and run.adjacency == "replace")
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    if kind == Attack.CANARY:
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

    settings = identify_workload(workload, gradients) | {
        "format": 3,
        "run": asdict(run),
        "sample": list(crafted_tilt(run, assumption)) if kind == Attack.CANARY else "real",
        "target": target,
        "dtype": dtype,
        "seed": seed,
    }
    if initialisation == Initialisation.CRAFTED:
        settings |= {"initialisation": str(initialisation)}
    store = Store(folder, settings)
    if initialisation == Initialisation.CRAFTED:
        start = store.part("start", lambda: {"start": crafted_start(gradients, run, target).cpu().double().numpy()})
        gradients.start = torch.as_tensor(start["start"]).to(gradients.start)

    def block(number: int, size: int, tick: Callable[[], None]) -> dict[str, Array]:
        sides = (gradients.start[None], gradients.start[None])
        for here, there in adjacent_runs(
            gradients, run, differing, size, coupled=False, seed=seed, block=number, purpose=_NOISE
        ):
            sides = here, there
            tick()
        scores = [score(points).detach().cpu().double().numpy() for points in sides]
        return {"with_it": scores[0], "without": scores[1]}

    found = in_blocks(gradients, run, runs, block, store, on_step)
    with_it, without = (np.concatenate([part[side] for part in found]) for side in ("with_it", "without"))
    if kind == Attack.SHADOW:
        with_it, without = _likelihood_ratios(with_it, without)
    half = runs // 2
    threshold = _best_threshold(with_it[:half], without[:half], delta, level)
    of_score = slice(half if kind == Attack.SHADOW else 0, None)  # the other scores were fixed before any run
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
    """Gradients m (w - w_0) +- tilt u; without curvature constant ones, as long as the clip norm."""
    curvature, tilt = crafted

    def pull(points: Tensor, sign: float) -> Tensor:
        return curvature * (points - gradients.start) + sign * tilt * direction

    there = (lambda points: pull(points, -1.0)) if run.adjacency == "replace" else None
    return Differing(target, lambda points: pull(points, 1.0), there)


def _likelihood_ratios(with_it: Array, without: Array) -> tuple[Array, Array]:
    """Log likelihood ratio of Gaussians fitted to the first half of each."""
    half = len(with_it) // 2
    least = 1e-12 * (float(np.abs([with_it, without]).max()) or 1.0)
    fits = [(scores[:half].mean(), max(float(scores[:half].std()), least)) for scores in (with_it, without)]

    def ratio(scores: Array) -> Array:
        logs = [-(((scores - mean) / std) ** 2) / 2 - np.log(std) for mean, std in fits]
        return np.asarray(logs[0] - logs[1])

    return ratio(with_it), ratio(without)


def _best_threshold(with_it: Array, without: Array, delta: float, level: float) -> float:
    """The threshold with the largest lower bound on the runs that teach; where none is above 0, with fewest errors."""
    thresholds = np.unique(np.concatenate([with_it, without]))
    missed = np.searchsorted(np.sort(with_it), thresholds, side="right")
    wrong = len(without) - np.searchsorted(np.sort(without), thresholds, side="right")
    limits = epsilon_limits(wrong, len(without), missed, len(with_it), delta=delta, level=level)
    best = np.lexsort((missed + wrong, -limits))[0]
    return float(thresholds[best])
