"""One training with many canaries: what a single released model shows, beside the bound.

A coin for each canary decides how it takes part: which of two samples stands in its place ("replace"), or whether
it is there ("add_remove"). One run is trained, and only its last iterate is looked at (hidden-state threat model): each
canary has one score, and guesses at the coins are counted (`lastiterate.numeric.lower.one_run`). The canaries are the
last samples of the data, which the last batches of a cyclic run hold.

canary    Gradients +tilt u or -tilt u, with a unit direction u for each canary: its own part of the parameters, every
          m-th of them, with random signs, so that directions are orthogonal. The score is <W_0 - W_T, u>.
loss      Real samples: the score is the loss of the sample at W_T, less than that of the one in whose place it stands.

Source: Steinke, Nasr & Jagielski 2023; Cebere, Bellet & Papernot 2024 for crafted gradients.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, chance, count
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower.one_run import OneRun, one_run
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Store
from lastiterate.runtime.attacks.attack import Attack
from lastiterate.runtime.attacks.worst_case import crafted_tilt
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.adjacent import check_sample
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload, described_workload

_COINS: Final = 2**52
_SIGNS: Final = 2**53
"""The purposes of the streams that throw the coins and draw the signs of the directions."""


@teaches()
@says_when_memory_runs_out
def attack_once(
    workload: Workload,
    run: NoisySGD,
    kind: Attack | str = Attack.CANARY,
    *,
    canaries: int,
    delta: float,
    assumption: Assumption | None = None,
    level: float = 0.95,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> OneRun:
    """Train one run with canaries in it, and say what epsilon it must have at least.

    Args:
        workload: network, loss and data. Under "replace" a real sample is exchanged for one of those after the run's:
            loss needs as many samples more as there are canaries.
        run: the run; the bound to compare with is that of this very record.
        kind: canary or loss.
        canaries: how many of the run's samples are canaries, at least 2; of crafted ones no more than there are
            parameters.
        delta: of (epsilon, delta), small beside 1 / canaries: otherwise nothing can be shown.
        assumption: of the bound to compare with; a canary keeps to it. None is as good as any but strong convexity.
        level: confidence of all limits together.
        dtype: float32 or float64.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take, None for what the device has room for; it changes nothing
            but speed and the last bits.
        seed: of everything random, the coins among it, at least 0.
        folder: where the training is kept as far as it got, and the scores; None keeps nothing.
        on_step: called with (finished, all) steps.

    Returns:
        Lower confidence bounds; `OneRun.refutes` says what of a bound they refute.

    Raises:
        InputError: too few samples, parameters or canaries, or the parameters stop being finite.
    """
    described_workload("attack_once", workload)
    described_run("attack_once", run)
    if assumption is not None:
        described_assumption(assumption)
    if kind not in (Attack.CANARY, Attack.LOSS):
        raise InputError(f"One training needs kind canary or loss, got kind={kind!r}; choose one of them.")
    delta, level = chance("delta", delta), chance("level", level)
    if (canaries := count("canaries", canaries, least=2)) > run.dataset_size:
        raise InputError(
            f"canaries needs to be at most dataset_size={run.dataset_size}, got canaries={canaries}; plant fewer."
        )
    check_sample(workload, run, "canaries", canaries - 1, spare=False)
    exchanged = kind == Attack.LOSS and run.adjacency == "replace"
    if exchanged and workload.samples < run.dataset_size + canaries:
        raise InputError(
            f"Real canaries need a sample each to stand in their place, {run.dataset_size + canaries} in all, got "
            f"{workload.samples} samples in workload={workload.name}; plant fewer, or describe a run on fewer."
        )
    placed = {"dtype": dtype, "device": device, "memory": memory}
    whole = Gradients(workload, workload.initial(seed), **placed)  # type: ignore[arg-type]
    if kind == Attack.CANARY and whole.dimension < canaries:
        raise InputError(
            f"Crafted canaries need a parameter each, got canaries={canaries} for the {whole.dimension} parameters of "
            f"workload={workload.name}; plant fewer."
        )
    heads = stream(seed, _COINS).uniform(1, canaries)[0] < 0.5
    data = _data(workload, run, heads if exchanged else torch.ones_like(heads))
    gradients = _Planted(data, data.initial(seed), tried=False, **placed)
    gradients.first = run.dataset_size - canaries
    if run.adjacency == "add_remove":
        gradients.missing[gradients.first :] = ~heads
    if kind == Attack.CANARY:
        signs = torch.ones(canaries) if run.adjacency == "add_remove" else 2.0 * heads - 1
        gradients.crafted = _Crafted(gradients, signs, crafted_tilt(run, assumption), seed)
    if on_step is not None:
        gradients.on_total = _counting(on_step, run.steps)

    settings = identify_workload(workload, whole) | {
        "format": 2,
        "run": asdict(run),
        "kind": str(kind),
        "sample": list(crafted_tilt(run, assumption)) if kind == Attack.CANARY else "real",
        "canaries": canaries,
        "dtype": dtype,
        "seed": seed,
    }
    store = Store(folder, settings)

    path = None if store.folder is None else store.folder / "training.checkpoint"

    def trained() -> dict[str, Array]:
        last = train(gradients, gradients.start, run, seed, centers=2, checkpoint=path)[-1]
        if gradients.crafted is not None:
            scores = gradients.crafted.scores(last)
        else:
            scores = -_losses(whole, last, torch.arange(canaries) + gradients.first)
            if exchanged:
                scores = scores + _losses(whole, last, torch.arange(canaries) + run.dataset_size)
        return {"scores": scores.cpu().double().numpy()}

    scores = store.part("scores", trained)["scores"]
    if path is not None:
        path.unlink(missing_ok=True)
    if on_step is not None:
        on_step(run.steps, run.steps)
    return one_run(scores, heads.numpy(), delta=delta, adjacency=run.adjacency, level=level)


class _Crafted:
    """Canaries with gradients m (w - w_0) +- tilt u, and their directions u."""

    def __init__(self, gradients: Gradients, signs: Tensor, shape: tuple[float, float], seed: int) -> None:
        canaries = len(signs)
        self._start, self._signs = gradients.start, signs.to(gradients.start)
        self._curvature, self._tilt = shape
        owner = torch.arange(gradients.dimension) % canaries
        drawn = 2.0 * stream(seed, _SIGNS).integers(2, gradients.dimension) - 1
        sizes = torch.bincount(owner, minlength=canaries).double().sqrt()
        self._owner = owner.to(gradients.device)
        self._direction = (drawn / sizes[owner]).to(gradients.start)

    def total(self, point: Tensor, met: Tensor) -> Tensor:
        """Sum of the gradients of the canaries that are met, shape (dimension,)."""
        pull = torch.zeros_like(self._signs)
        pull[met] = self._tilt * self._signs[met]
        return len(met) * self._curvature * (point - self._start) + pull[self._owner] * self._direction

    def scores(self, point: Tensor) -> Tensor:
        """One score of each canary, shape (canaries,)."""
        moved = (self._start - point) * self._direction
        return torch.zeros_like(self._signs).index_add(0, self._owner, moved)


class _Planted(Gradients):
    """Gradients of data some of which may be missing, and the last of which are canaries.

    Attributes:
        first: index of the first canary.
        missing: whether a sample is missing, shape (samples,).
        crafted: the gradients of the canaries; None if they are real samples.
        on_total: called before each sum.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.first = self.samples
        self.missing = torch.zeros(self.samples, dtype=torch.bool)
        self.crafted: _Crafted | None = None
        self.on_total: Callable[[], None] = lambda: None

    def total(
        self,
        point: Tensor,
        clip_norm: float = inf,
        chosen: Tensor | None = None,
        *,
        stability: float | None = None,
        uneven: bool = False,
    ) -> Tensor:
        """Sum of the clipped gradients of the samples that take part."""
        self.on_total()
        met = torch.arange(self.samples) if chosen is None else chosen
        met = met[~self.missing[met]]
        if self.crafted is None:
            return super().total(point, clip_norm, met, stability=stability, uneven=uneven)
        planted = met >= self.first
        found = super().total(point, clip_norm, met[~planted], stability=stability, uneven=uneven)
        return found + self.crafted.total(point, (met[planted] - self.first).to(point.device))


def _data(workload: Workload, run: NoisySGD, own: Tensor) -> Workload:
    """The samples of the run, where the last ones are their own or stand aside for those after the run's."""
    n = run.dataset_size
    rows = torch.arange(n)
    rows[n - len(own) :] += torch.where(own, 0, len(own))
    return replace(workload, inputs=workload.inputs[rows], targets=workload.targets[rows])


@torch.no_grad()
def _losses(gradients: Gradients, point: Tensor, samples: Tensor) -> Tensor:
    """The losses of some samples at one point, shape (samples,)."""
    found = []
    for k in samples.tolist():
        row, wanted = (part[k] for part in gradients.rows())
        found.append(gradients.losses(point[None], row, wanted)[0])
    return torch.stack(found)


def _counting(on_step: Callable[[int, int], None], steps: int) -> Callable[[], None]:
    """Counter of the steps that begin."""
    begun = iter(range(steps))
    return lambda: on_step(next(begun, steps), steps)
