"""A closer look at one workload's constants: the worst pair found, curvature, extreme values, closed forms.

The draws of A.13 see typical pairs. Beside them stand an adversarial search (a lower estimate, usually far higher), the
top eigenvalue of per-sample Hessians along the trajectory (a lower estimate for order 1), an extrapolation by
extreme-value theory (a statistical estimate) and, where the loss has them, constants in closed form, which give a
bound and not an estimate.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf, isfinite

import torch

from lastiterate.numeric.bound import bound
from lastiterate.numeric.certified import LossConstants
from lastiterate.numeric.results import Bound, RenyiBound
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.curvature import top_curvature
from lastiterate.runtime.constants.extremes import Extrapolation, extrapolate
from lastiterate.runtime.constants.kinds import Kind
from lastiterate.runtime.constants.pairs import measure_pairs
from lastiterate.runtime.constants.reading import orders
from lastiterate.runtime.constants.sampling import Draw
from lastiterate.runtime.constants.search import Pair, search_pairs
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.memory import says_when_memory_runs_out
from lastiterate.runtime.training.descent import stream, train
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["CloserLook", "closer_look"]

_WIDEST = 10.0
"""Diameter of the ball that is searched where the domain is unbounded."""

_CURVED_POINTS = 8

_CLOSER = 2**43
"""The purpose of the stream that draws the points around the iterates."""


@dataclass(frozen=True)
class CloserLook:
    """What several methods say of one initialisation.

    Attributes:
        searched: for each order the worst pair found in the domain. Lower estimates.
        curvature: largest |eigenvalue| of a per-sample Hessian along the trajectory. A lower estimate, order 1.
        extremes: for each order the extrapolated constant. Statistical estimates.
        certified: constants in closed form on the domain, or None where none are known. Upper bounds.
        bounded: the bound that the certified constants give for the run, or None.
    """

    searched: tuple[Pair, ...]
    curvature: float
    extremes: tuple[Extrapolation, ...]
    certified: LossConstants | None
    bounded: Bound | RenyiBound | None

    def as_dict(self) -> dict[str, object]:
        """Everything, ready for JSON; what is infinite is null there."""
        kept = {
            "searched": [asdict(pair) for pair in self.searched],
            "curvature": self.curvature,
            "extremes": [asdict(one) for one in self.extremes],
            "certified": asdict(self.certified) if self.certified else None,
        }
        return _without_infinities(kept) | {"bounded": self.bounded.as_dict() if self.bounded else None}


@says_when_memory_runs_out
def closer_look(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    *,
    order: float = 2.0,
    points: int = 20,
    radius: float = 1.0,
    centers: int | None = None,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int = 256 * 2**20,
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
) -> CloserLook:
    """Look at one initialisation with every method.

    Args:
        workload: network, loss and data.
        run: the training run.
        lambdas: Hölder orders in (0, 1].
        order: Rényi order of the bound from certified constants.
        points: points drawn around every iterate that is kept, for the extrapolation.
        radius: radius of the ball that they are drawn in.
        centers: how many iterates are kept, evenly spaced; None for all of them.
        dtype: float32 or float64.
        device: a torch device name.
        memory: bytes that one chunk of gradients may take.
        seed: of everything random.
        on_step: called with (finished, all) parts.

    Raises:
        InputError: as `estimate_holder`.
    """
    asked = orders(lambdas)
    step = on_step or (lambda _done, _total: None)
    step(0, 4)
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    trajectory = train(gradients, gradients.start, run, seed, centers=centers)
    step(1, 4)
    diameter = run.diameter if isfinite(run.diameter) else _WIDEST
    searched = search_pairs(gradients, gradients.start, asked, diameter=diameter, seed=seed)
    step(2, 4)
    kept = len(trajectory.points)
    places = torch.linspace(0, kept - 1, min(_CURVED_POINTS, kept)).round().long()
    curvature = top_curvature(gradients, trajectory.points[places], seed=seed)
    step(3, 4)
    table = measure_pairs(
        gradients,
        trajectory.points,
        run.clip_norm,
        points=points,
        radius=radius,
        draw=Draw.LOG_UNIFORM,
        generator=stream(seed, purpose=_CLOSER),
    )
    extremes = tuple(extrapolate(table, Kind.SAMPLE, lam, seed=seed) for lam in asked)
    certified = workload.certified(seed, diameter) if workload.constants else None
    certainly = certified is not None and isfinite(certified.smoothness) and isfinite(run.diameter)
    found = bound(run, certified.assumption(run), order=order) if certified and certainly else None
    step(4, 4)
    return CloserLook(searched, curvature.value, extremes, certified, found)


def _without_infinities(value: object) -> dict[str, object]:
    def plain(part: object) -> object:
        if isinstance(part, dict):
            return {key: plain(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [plain(inner) for inner in part]
        return None if isinstance(part, float) and abs(part) == inf else part

    return {key: plain(inner) for key, inner in value.items()} if isinstance(value, dict) else {}
