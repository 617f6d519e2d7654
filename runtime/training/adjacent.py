"""Many parallel runs on a data set and on adjacent data, in which a sample is replaced or missing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import seed_of, stream
from lastiterate.runtime.replay import Replayed
from lastiterate.runtime.training.batches import draw_batches_of_many
from lastiterate.runtime.training.descent import project_onto_ball
from lastiterate.runtime.workloads.workload import Workload

_BATCHES = 2**54
"""Purpose of the stream that draws the batches of parallel runs."""

_MOST_RUNS = 2**14
_ENTRIES_AT_ONCE = 2**24
_ENTRIES_TO_BE_FAST = 2**21
_ENTRIES_OF_A_MINUTE = 2**33


@dataclass(frozen=True)
class Differing:
    """The sample in which two data sets differ.

    Attributes:
        index: index of the sample in the data.
        here: map from points, shape (points, dimension), to the sample's clipped gradients on the data.
        there: the same map for the replacement in the adjacent data; None if the sample is missing there.
        stand_in: index of the replacement, -1 for none; None for crafted gradients.
    """

    index: int
    here: Callable[[Tensor], Tensor]
    there: Callable[[Tensor], Tensor] | None
    stand_in: int | None = None


def check_sample(workload: Workload, run: NoisySGD, name: str, index: int, *, spare: bool) -> None:
    """Refuse an index outside of the data, or too few samples; ``spare`` requires one more sample."""
    needed = run.dataset_size + spare
    if workload.samples < needed:
        why = ", one of them to replace another" if spare else ""
        raise InputError(
            f"A run with dataset_size={run.dataset_size} needs {needed} samples{why}, got {workload.samples} samples "
            f"in workload={workload.name}; describe a run on fewer samples."
        )
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < run.dataset_size:
        raise InputError(
            f"{name} needs an index below dataset_size={run.dataset_size}, got {name}={index!r}; count from 0."
        )


def real_sample(gradients: Gradients, run: NoisySGD, index: int) -> Differing:
    """Sample of the workload that is replaced by the last sample, or missing, in the adjacent data."""

    def of(sample: int) -> Callable[[Tensor], Tensor]:
        chosen = torch.tensor([sample]).to(gradients.device)
        return lambda points: gradients.totals(points, run.clip_norm, chosen)

    if run.adjacency != "replace":
        return Differing(index, of(index), None, stand_in=-1)
    return Differing(index, of(index), of(gradients.samples - 1), stand_in=gradients.samples - 1)


def in_blocks(
    gradients: Gradients,
    run: NoisySGD,
    pairs: int,
    compute: Callable[[int, int, Callable[[], None]], Arrays],
    store: Store,
    on_step: Callable[[int, int], None] | None,
) -> list[Arrays]:
    """Compute arrays for many pairs of runs, block by block; finished blocks are stored.

    ``compute`` takes the index of a block, its number of pairs, and a function to call after each step;
    ``on_step`` takes the number of finished steps and of all steps.
    """
    sizes = _block_sizes(gradients, run, pairs)
    found, finished = [], 0

    def tick(steps: int = 1) -> None:
        nonlocal finished
        finished += steps
        if on_step is not None:
            on_step(finished, len(sizes) * run.steps)

    for block, size in enumerate(sizes):
        name = f"block-{block:04d}-{size}"
        part = store.load(name)
        if part is not None:
            tick(run.steps)
        else:
            part = compute(block, size, tick)
            store.save(name, part)
        found.append(part)
    return found


def _block_sizes(gradients: Gradients, run: NoisySGD, pairs: int) -> list[int]:
    """Number of pairs in each block: a minute's work for one core, and the same on every machine."""
    step = run.batch * gradients.dimension
    wanted = max(_ENTRIES_TO_BE_FAST // step, _ENTRIES_OF_A_MINUTE // (run.steps * step))
    size = max(1, min(wanted, _ENTRIES_AT_ONCE // max(step, run.dataset_size), _MOST_RUNS))
    return [min(size, pairs - first) for first in range(0, pairs, size)]


@torch.no_grad()
def adjacent_runs(
    gradients: Gradients,
    run: NoisySGD,
    differing: Differing,
    pairs: int,
    *,
    coupled: bool,
    seed: int,
    block: int,
    purpose: int,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Iterates on the data and on the adjacent data after every step, each of shape (pairs, dimension).

    Runs begin at ``gradients.start``. The data are the first ``run.dataset_size`` samples of ``gradients``.
    The runs of a pair share batches and noise if ``coupled``; otherwise they are independent. The noise is
    drawn from the stream of ``purpose``, separately for each ``block`` of pairs.
    """
    mixed = seed_of(seed, block)
    noise, drawn = stream(mixed, purpose), stream(mixed, _BATCHES)
    runs = pairs if coupled else 2 * pairs
    points = gradients.start.repeat(2 * pairs, 1)

    def moved_on(points: Tensor, chosen: Tensor, moved: Tensor, step_size: float, noise_std: float) -> Tensor:
        sums = _sums(gradients, run, differing, points, chosen)
        moved = moved.repeat(2, 1) if coupled else moved
        decayed = (1 - step_size * run.weight_decay) * points
        points = decayed - step_size / run.batch * sums + noise_std * moved
        return project_onto_ball(points, gradients.start, run.diameter)

    step = Replayed(moved_on) if gradients.little(2 * pairs * run.batch) else moved_on
    for t, chosen in enumerate(draw_batches_of_many(run, runs, drawn, points.device)):
        moved = noise.normals(runs, gradients.dimension, points)
        constants = run.step_size_at(t), run.noise_std_at(t)
        points = step(
            points, chosen.repeat(2, 1) if coupled and chosen.ndim == 2 else chosen, moved, *constants
        )
        if not bool(torch.isfinite(points).all()):
            raise InputError(
                f"Runs need finite parameters, got nan or inf after step={t + 1}; lower step_size."
            )
        yield points[:pairs], points[pairs:]


def _sums(gradients: Gradients, run: NoisySGD, differing: Differing, points: Tensor, chosen: Tensor) -> Tensor:
    """Sums of clipped gradients over the batches; the first half of ``points`` is from runs on the data."""
    pairs = len(points) // 2
    if chosen.ndim == 1:
        others = chosen[chosen != differing.index]
        met = torch.ones(()) if len(others) < len(chosen) else None
    elif differing.stand_in is not None:
        there = chosen[pairs:].masked_fill(chosen[pairs:] == differing.index, differing.stand_in)
        return gradients.totals(points, run.clip_norm, torch.cat([chosen[:pairs], there]))
    else:
        others = chosen.masked_fill(chosen == differing.index, -1)
        met = (chosen == differing.index).any(dim=1, keepdim=True).to(points)
    sums = gradients.totals(points, run.clip_norm, others)
    for side, gradient in ((slice(pairs), differing.here), (slice(pairs, None), differing.there)):
        if met is not None and gradient is not None:
            sums[side] += gradient(points[side]) * (met[side] if met.ndim else met)
    return sums
