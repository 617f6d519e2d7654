"""Losses that an adversary who crafts every gradient would choose: the witnesses of `lower_bound`, as a workload.

A network of one parameter w, on the interval of the domain. The sample that differs pulls with +K against -K (the
canary of `lastiterate.runtime.attacks.attack`); what all the others do is chosen here. Where
steps are few or the domain is wide, nothing is worse than others that stand still; where an iterate reaches the ends
of the domain, others that push outwards as hard as the assumption allows carry an early difference to the end.

Source: Cebere, Bellet & Papernot 2024, whose adversary also shapes the loss landscape; `lastiterate.numeric.lower`.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from math import inf, isfinite

import torch
from torch import Tensor, nn

from lastiterate.numeric.arguments import teaches
from lastiterate.numeric.errors import InputError, count
from lastiterate.numeric.losses.assumptions import Assumption, described_assumption
from lastiterate.numeric.lower import lower_bound
from lastiterate.numeric.lower.losses import least_curvature, steepest_push
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.workloads.workload import Workload


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
        InputError: the assumption allows no such losses, or there is no such choice.
    """
    m, tilt = crafted_tilt(described_run("worst_case", run), described_assumption(assumption))
    push = steepest_push(assumption, run) if not m and isfinite(run.diameter) else 0.0
    if others not in tuple(Others):
        raise InputError(f"others needs one of {', '.join(Others)}, got others={others!r}; choose one of them.")
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
        _landscape(Others(others), run.clip_norm, m, tilt, reach),
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
