"""Attacks on the last iterate: what a privacy bound must survive.

Many runs are trained on the data and on the adjacent ones, each with noise and batches of its own, and only their last
iterates are looked at (hidden-state threat model). Half of the runs teach the attack, the other half are counted. All
scores are looked at, too, those of the runs that teach left out where the score itself is learned (shadow). Half of the
doubt is for the counts, a quarter for the AUC and a quarter for the trade-off curve.

canary    The gradient of the sample that differs is always +K u on the one data set and -K u on the other (add_remove:
          nothing), u a direction drawn once; the score is <W_T - W_0, u>. Cebere, Bellet & Papernot 2024. A linear
          loss has such gradients; it meets every assumption but strong convexity, for which it is bent
          (`crafted_tilt`). A ball narrower than the noise, about sigma sqrt(d T) long, shrinks the score.
loss      A real sample; the score is its loss at W_T, small where it was seen. Yeom et al. 2018.
shadow    The same loss, by the likelihood ratio of the Gaussians fitted to the runs that teach: it also uses that the
          loss is more, or less, spread where the sample was seen. Carlini et al. 2022.

A bound holds for every W_0 that does not depend on the sample that differs, so the adversary may choose it: a crafted
start fits all samples but one, so that the loss of that one at W_T tells most. The sample that takes its place under
"replace" is fitted, too: half of the distance of a crafted canary is seen. Annamalai et al. 2024.

In one training with many canaries a coin for each decides which of two samples stands in its place ("replace"), or
whether it is there ("add_remove"), and guesses at the coins are counted (`lastiterate.numeric.lower.one_run`). The
canaries are the last samples of the data, which the last batches of a cyclic run hold. Each crafted one has parameters
of its own, so that directions are orthogonal; the score of a real one is its loss at W_T, less than that of the sample
in whose place it stands. Steinke, Nasr & Jagielski 2023.

Without a workload every gradient is crafted, as the witnesses of `lower_bound` are, of one parameter on the interval of
the domain. The sample that differs pulls with +K against -K. Where steps are few or the domain is wide, nothing is
worse than others that stand still; where an iterate reaches the ends of the domain, others that push outwards as hard
as the assumption allows carry an early difference to the end.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
from math import inf, isfinite
from typing import Any, Final, Unpack

import numpy as np
import torch
from torch import Tensor, nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count, teaches
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.lower.audit import Audit, all_scores, audit, epsilon_limits
from lastiterate.numeric.lower.gradients import least_curvature, steepest_push
from lastiterate.numeric.lower.one_run import OneRun, one_run
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Store
from lastiterate.runtime.constants.sampling import Sampling, Settings, choose_member
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import clip_factor
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.adjacent import Differing, adjacent_runs, check_sample, in_blocks, real_sample
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload, described_workload

_NOISE: Final = 2**44
_DIRECTION: Final = 2**45
"""The purposes of the streams that draw the noise of the runs and the direction of the canary."""

_COINS: Final = 2**52
_SIGNS: Final = 2**53
"""The purposes of the streams that draw the coins of many canaries and the signs of their directions."""

_STEPS: Final = 1000
_RATE: Final = 0.05
_LONG: Final = 2.0
"""Steps of Adam, their size, and the clip norms that the sample's gradient is as long as where it is left alone."""


class AttackKind(StrEnum):
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
    kind: AttackKind | str = AttackKind.CANARY,
    *,
    delta: float,
    assumption: Assumption | None = None,
    runs: int = 500,
    target: int | None = None,
    initialisation: Initialisation | str = Initialisation.DRAWN,
    level: float = 0.95,
    **settings: Unpack[Settings],
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
        initialisation: drawn, as the workload makes its module, or crafted from there so that the sample stands out.
        level: confidence of all limits together.
        **settings: fields of `lastiterate.runtime.constants.sampling.Sampling`; blocks of runs are kept.

    Returns:
        Lower confidence bounds; `Audit.refutes` says what of a bound an attack refutes.

    Raises:
        InputError: too few runs or samples, no such sample, or the parameters stop being finite.
    """
    _refuse_other_records("attack", workload, run, assumption)
    if (runs := count("runs", runs)) < 4:
        raise InputError(f"runs needs at least 4, two to learn from and two to count, got runs={runs}; give more.")
    kind, initialisation = (
        choose_member("kind", kind, AttackKind),
        choose_member("initialisation", initialisation, Initialisation),
    )
    delta, level = chance("delta", delta), chance("level", level)
    if target is None:
        target = (run.steps - 1) % run.batches * run.batch if run.scheme.fixed else 0
    check_sample(workload, run, "target", target, spare=kind != AttackKind.CANARY and run.adjacency == "replace")
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
        "format": 3,
        "run": asdict(run),
        "sample": list(crafted_tilt(run, assumption)) if kind == AttackKind.CANARY else "real",
        "target": target,
        "dtype": sampling.dtype,
        "seed": seed,
    }
    if initialisation == Initialisation.CRAFTED:
        deciding |= {"initialisation": str(initialisation)}
    store = Store(sampling.folder, deciding)
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

    found = in_blocks(gradients, run, runs, block, store, sampling.on_step)
    with_it, without = (np.concatenate([part[side] for part in found]) for side in ("with_it", "without"))
    if kind == AttackKind.SHADOW:
        with_it, without = _likelihood_ratios(with_it, without)
    half = runs // 2
    threshold = _best_threshold(with_it[:half], without[:half], delta, level)
    of_score = slice(half if kind == AttackKind.SHADOW else 0, None)  # the other scores were fixed before any run
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


def _refuse_other_records(door: str, workload: Workload, run: NoisySGD, assumption: Assumption | None) -> None:
    described_workload(door, workload)
    described_run(door, run)
    if assumption is not None:
        described_assumption(assumption)


def _canary(
    gradients: Gradients, run: NoisySGD, target: int, direction: Tensor, crafted: tuple[float, float]
) -> Differing:
    """Gradients m (w - w_0) +- tilt u; without curvature constant ones, as long as the clip norm."""
    curvature, tilt = crafted

    def pull(sign: float) -> Callable[[Tensor], Tensor]:
        return lambda points: curvature * (points - gradients.start) + sign * tilt * direction

    return Differing(target, pull(1.0), pull(-1.0) if run.adjacency == "replace" else None)


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


def crafted_workload(workload: Workload, run: NoisySGD, target: int, sampling: Sampling) -> Workload:
    """The workload whose network starts at `crafted_start`, whatever its seed."""
    start = crafted_start(sampling.gradients(workload), run, target).cpu()

    def made() -> nn.Module:
        found = workload.initial(sampling.seed).to(start.dtype)
        nn.utils.vector_to_parameters(start, (p for p in found.parameters() if p.requires_grad))
        return found

    return replace(workload, module=made)


def crafted_start(gradients: Gradients, run: NoisySGD, target: int) -> Tensor:
    """Parameters, from ``gradients.start`` on, at which the sample ``target`` is missed and the others are fitted.

    They depend on what the adversary knows: the data that the two runs have in common, the sample and its substitute.

    Returns:
        Shape (dimension,).
    """
    others = [k for k in range(run.dataset_size) if k != target]
    weight = max(1, len(others))
    spare = [gradients.samples - 1] if gradients.samples > run.dataset_size else []
    own, fitted = (torch.tensor(chosen).to(gradients.device) for chosen in ([target], [*others, *spare]))
    weights = torch.tensor([1.0] * len(others) + [float(weight)] * len(spare)).to(gradients.start)
    point = gradients.start.clone().requires_grad_(True)
    adam = torch.optim.Adam([point], lr=_RATE)
    for _ in range(_STEPS):
        here = point.detach()
        slope = gradients.total(here, run.clip_norm, fitted, weights=weights)
        pull = gradients.total(here, chosen=own)
        length = torch.linalg.vector_norm(pull)
        short = length < _LONG * run.clip_norm
        slope = slope - torch.where(short, weight * clip_factor(length, run.clip_norm), 0.0) * pull
        point.grad = slope / weight
        adam.step()
    return point.detach()


@teaches()
@says_when_memory_runs_out
def attack_once(
    workload: Workload,
    run: NoisySGD,
    kind: AttackKind | str = AttackKind.CANARY,
    *,
    canaries: int,
    delta: float,
    assumption: Assumption | None = None,
    level: float = 0.95,
    **settings: Unpack[Settings],
) -> OneRun:
    """Train one run with canaries in it, and say what epsilon it must have at least.

    Arguments are those of `attack`; the training is kept as far as it got. The kind is canary or loss. At least 2 of
    the run's samples are canaries, and of crafted ones no more than there are parameters. Delta must be small beside
    1 / canaries: otherwise nothing can be shown. Under "replace" a real sample is exchanged for one of those after the
    run's: loss needs as many samples more as there are canaries.

    Returns:
        Lower confidence bounds; `OneRun.refutes` says what of a bound they refute.

    Raises:
        InputError: too few samples, parameters or canaries, or the parameters stop being finite.
    """
    _refuse_other_records("attack_once", workload, run, assumption)
    if choose_member("kind", kind, AttackKind) == AttackKind.SHADOW:
        raise InputError("One training needs kind canary or loss, got kind=shadow; choose one of them.")
    delta, level = chance("delta", delta), chance("level", level)
    if (canaries := count("canaries", canaries, least=2)) > run.dataset_size:
        raise InputError(
            f"canaries needs to be at most dataset_size={run.dataset_size}, got canaries={canaries}; plant fewer."
        )
    check_sample(workload, run, "canaries", canaries - 1, spare=False)
    exchanged = kind == AttackKind.LOSS and run.adjacency == "replace"
    if exchanged and workload.samples < run.dataset_size + canaries:
        raise InputError(
            f"Real canaries need a sample each to stand in their place, {run.dataset_size + canaries} in all, got "
            f"{workload.samples} samples in workload={workload.name}; plant fewer, or describe a run on fewer."
        )
    sampling = Sampling(**settings)
    whole, seed = sampling.gradients(workload), sampling.seed
    if kind == AttackKind.CANARY and whole.dimension < canaries:
        raise InputError(
            f"Crafted canaries need a parameter each, got canaries={canaries} for the {whole.dimension} parameters of "
            f"workload={workload.name}; plant fewer."
        )
    heads = stream(seed, _COINS).uniform(1, canaries)[0] < 0.5
    rows = torch.arange(run.dataset_size)  # the last ones are canaries, which may stand aside for those after the run's
    if exchanged:
        rows[-canaries:] += torch.where(heads, 0, canaries)
    data = replace(workload, inputs=workload.inputs[rows], targets=workload.targets[rows])
    placed: dict[str, Any] = {"dtype": sampling.dtype, "device": str(whole.device), "memory": sampling.memory}
    gradients = _Planted(data, data.initial(seed), tried=False, **placed)
    first = run.dataset_size - canaries
    if run.adjacency == "add_remove":
        gradients.missing[first:] = ~heads
    if kind == AttackKind.CANARY:
        signs = torch.ones(canaries) if run.adjacency == "add_remove" else 2.0 * heads - 1
        gradients.craft(signs, crafted_tilt(run, assumption), seed)
    begun = iter(range(run.steps))
    gradients.on_total = lambda: sampling.tell(next(begun, run.steps), run.steps)
    deciding = identify_workload(workload, whole) | {
        "format": 2,
        "run": asdict(run),
        "kind": str(kind),
        "sample": list(crafted_tilt(run, assumption)) if kind == AttackKind.CANARY else "real",
        "canaries": canaries,
        "dtype": sampling.dtype,
        "seed": seed,
    }
    store = Store(sampling.folder, deciding)
    path = store.folder and store.folder / "training.checkpoint"

    def trained() -> dict[str, Array]:
        last = train(gradients, gradients.start, run, seed, centers=2, checkpoint=path)[-1]
        if kind == AttackKind.CANARY:
            scores = gradients.scores(last)
        else:
            scores = -_losses(whole, last, range(first, first + canaries))
            if exchanged:
                scores = scores + _losses(whole, last, range(run.dataset_size, run.dataset_size + canaries))
        return {"scores": scores.cpu().double().numpy()}

    scores = store.part("scores", trained)["scores"]
    if path is not None:
        path.unlink(missing_ok=True)
    sampling.tell(run.steps, run.steps)
    return one_run(scores, heads.numpy(), delta=delta, adjacency=run.adjacency, level=level)


class _Planted(Gradients):
    """Gradients of data some of which may be missing, and the last of which may be crafted: m (w - w_0) +- tilt u.

    Attributes:
        missing: whether a sample is missing, shape (samples,).
        signs: of the crafted samples, shape (canaries,).
        on_total: called before each sum.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.missing, self.signs = torch.zeros(self.samples, dtype=torch.bool), self.start[:0]
        self.on_total: Callable[[], None] = lambda: None

    def craft(self, signs: Tensor, crafted: tuple[float, float], seed: int) -> None:
        """Put crafted gradients in the place of the last samples, each with a direction u of its own."""
        self.signs, (self._curvature, self._tilt) = signs.to(self.start), crafted
        owner = torch.arange(self.dimension) % len(signs)
        drawn = 2.0 * stream(seed, _SIGNS).integers(2, self.dimension) - 1
        sizes = torch.bincount(owner, minlength=len(signs)).double().sqrt()
        self._owner, self._directions = owner.to(self.device), (drawn / sizes[owner]).to(self.start)

    def total(self, point: Tensor, clip_norm: float = inf, chosen: Tensor | None = None, **how: Any) -> Tensor:
        """Sum of the clipped gradients of the samples that take part."""
        self.on_total()
        met = torch.arange(self.samples) if chosen is None else chosen
        met = met[~self.missing[met]]
        first = self.samples - len(self.signs)
        found = super().total(point, clip_norm, met[met < first], **how)
        if not len(self.signs):
            return found
        planted = (met[met >= first] - first).to(point.device)
        pull = torch.zeros_like(self.signs)
        pull[planted] = self._tilt * self.signs[planted]
        curved = len(planted) * self._curvature * (point - self.start)
        return found + curved + pull[self._owner] * self._directions

    def scores(self, point: Tensor) -> Tensor:
        """One score of each crafted sample, shape (canaries,)."""
        return torch.zeros_like(self.signs).index_add(0, self._owner, (self.start - point) * self._directions)


@torch.no_grad()
def _losses(gradients: Gradients, point: Tensor, samples: range) -> Tensor:
    """The losses of some samples at one point, shape (samples,)."""
    rows = [[part[k] for part in gradients.rows()] for k in samples]
    return torch.stack([gradients.losses(point[None], *row)[0] for row in rows])


class Others(StrEnum):
    """Behaviour of the samples that both data sets share.

    ``STILL``: no gradient, or that of the least curvature where losses are strongly convex.
    ``PULL``: all pull one way, with the sample of the adjacent data, so that a random batch without the canary looks
    like one with that sample.
    ``OUTWARD``: they push away from the middle of the domain as hard as the assumption allows.
    """

    STILL = "still"
    PULL = "pull"
    OUTWARD = "outward"


class _Point(nn.Module):
    """A network that is its parameters, which start at 0."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(dimension))

    def forward(self, rows: Tensor) -> Tensor:
        return self.value.expand(rows.shape[0], -1)


def crafted_tilt(run: NoisySGD, assumption: Assumption | None) -> tuple[float, float]:
    """Curvature m and tilt of a crafted gradient m (w - w_0) +- tilt u that meets the assumption and the clip norm.

    Every loss of a strongly convex run must be strongly convex, the canary's too: a constant gradient would be a
    run that its bound does not speak of. So it is K long at the ends of the domain only.

    Raises:
        InputError: strongly convex losses of which no gradient fits into the clip norm on the whole domain.
    """
    m = 0.0 if assumption is None else least_curvature(assumption)
    tilt = run.clip_norm - m * run.diameter / 2 if m else run.clip_norm
    if not tilt > 0:
        raise InputError(
            f"A canary in strongly convex losses needs m * diameter / 2 < clip_norm={run.clip_norm:g}, got m={m:g}, "
            f"diameter={run.diameter:g}; give a smaller diameter or a larger clip_norm."
        )
    return m, tilt


def hardest(run: NoisySGD, assumption: Assumption, delta: float) -> Others:
    """Behaviour of the others in the run with the greatest certified lower bound of epsilon at ``delta``.

    >>> from lastiterate.numeric.losses.assumptions import Smooth
    >>> run = NoisySGD(5, 1.0, 1.0, 1.0, dataset_size=4, batch_size=1, sampling="without_replacement")
    >>> str(hardest(run, Smooth(1.0), delta=1e-2))
    'pull'
    """
    found = lower_bound(run, assumption, delta=delta)
    if "outwards" in found.witness:
        return Others.OUTWARD
    shared = [abs(gradient) for _, gradient in found.losses.shared[-1]] if found.losses else []
    pulled = "all others at -K" in found.witness or min(shared, default=0.0) > run.clip_norm / 2
    return Others.PULL if pulled else Others.STILL


@teaches()
def worst_case(
    run: NoisySGD, assumption: Assumption, others: Others | str = Others.STILL, dimension: int = 1
) -> Workload:
    """A workload that meets the assumption, for a canary.

    Args:
        run: the run; the domain is an interval of its diameter, or a ball.
        assumption: what is assumed of the losses.
        others: what the others do; `hardest` says what is worst.
        dimension: number of parameters; more than one are for as many canaries in one training, others that are still.

    Raises:
        InputError: the assumption allows no such losses, or the choice does not exist.
    """
    m, tilt = crafted_tilt(described_run("worst_case", run), described_assumption(assumption))
    push = steepest_push(assumption, run) if not m and isfinite(run.diameter) else 0.0
    others = choose_member("others", others, Others)
    if (dimension := count("dimension", dimension)) > 1 and others != Others.STILL:
        raise InputError(
            f"Others that pull or push do so in one dimension, got others={others} and dimension={dimension}; choose "
            "others='still'."
        )
    if others == Others.OUTWARD and not push > 0:
        raise InputError(
            f"Gradients that push outwards need a diameter and losses that need not be convex, got "
            f"diameter={run.diameter:g} and assumption={assumption!r}; choose others='still' or 'pull'."
        )
    reach = 0.0 if push in (0.0, inf) else run.clip_norm / push
    bend = f":{reach:.6g}" if others == Others.OUTWARD else ""  # the name tells apart what a fingerprint at 0 does not
    return Workload(
        f"worst-case:{others}{bend}",
        partial(_Point, dimension),
        _landscape(others, run.clip_norm, m, tilt, reach),
        torch.zeros(run.dataset_size, 1),
        torch.zeros(run.dataset_size, 1),
        remark=f"Parameters: {dimension}; gradients that an adversary crafted.",
    )


def _landscape(
    others: Others, clip_norm: float, m: float, tilt: float, reach: float
) -> Callable[[Tensor, Tensor], Tensor]:
    """Sum of the losses of shared samples at w = output, of shape (rows, 1); gradients m w, m w + tilt, or the push."""
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
