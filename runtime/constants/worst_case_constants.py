"""Worst-case constants of a workload: the worst pair found, curvature, extreme values, closed forms.

The draws of A.13 see typical pairs. Beside them stand an adversarial search (a lower estimate, usually far higher), the
top eigenvalue of per-sample Hessians along the trajectory (a lower estimate for order 1), an extrapolation by
extreme-value theory (a statistical estimate) and, where the loss has them, constants in closed form, which give a
bound and not an estimate.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from math import inf, isfinite, nan
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.constants.curvature import curvature_along
from lastiterate.runtime.constants.curvature_ascent import CurvedPairs, curved_pairs
from lastiterate.runtime.constants.extreme_value import Extrapolation, extrapolate
from lastiterate.runtime.constants.fit import orders, trusted
from lastiterate.runtime.constants.pairs import Around, Draw, measure_pairs
from lastiterate.runtime.constants.search import Found, Pair, best_pairs, search_one
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import fingerprint
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.workload import Workload

_WIDEST: Final = 10.0
"""Diameter of the ball that is searched where the domain is unbounded."""

_WORST_CASE: Final = 2**43
"""The purpose of the stream that draws the points around the iterates, and which samples they are tried with."""

_MEAN_STARTS: Final = 8
"""Starts of a search for the mean over all samples, each of which costs as much as one a sample."""

_STARTS: Final = 64
_SCREENED: Final = 2000
_STARTED: Final = 2**25
"""Numbers that the starts of a search may have together: a network with millions of parameters gets fewer."""

_SEEN: Final = 100_000
"""About how many (point, sample) pairs the extrapolation looks at: iterates are thinned for it."""

_MOST_SAMPLES: Final = 256
_BLOCKS: Final = 100
_IN_A_BLOCK: Final = 4


@dataclass(frozen=True)
class WorstCaseConstants:
    """Constants of one initialisation by several methods.

    Attributes:
        kind: which gradient the search and the extrapolation are about.
        searched: for each order the worst pair found in the domain. Lower estimates.
        curvature: largest |eigenvalue| of a per-sample Hessian along the trajectory (of unclipped gradients), or None
            where second derivatives are not finite. A lower estimate, order 1.
        extremes: for each order the extrapolated constant, or None where too few pairs could be trusted. Statistical
            estimates, from at most 256 of the samples.
        certified: constants in closed form on the domain, or None where none are known. Upper bounds.
        bounded: the bound that the certified constants give for the run, or None.
    """

    kind: Kind
    searched: tuple[Pair, ...]
    curvature: float | None
    extremes: tuple[Extrapolation | None, ...]
    certified: LossConstants | None
    bounded: Bound | None

    def as_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "kind": str(self.kind),
            "searched": [asdict(pair) for pair in self.searched],
            "curvature": self.curvature,
            "extremes": [asdict(one) if one else None for one in self.extremes],
            "certified": asdict(self.certified) if self.certified else None,
            "bounded": self.bounded.as_dict() if self.bounded else None,
        }


@says_when_memory_runs_out
def worst_case_constants(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    *,
    kind: Kind = Kind.SAMPLE,
    order: float = 2.0,
    points: int = 20,
    radius: float = 1.0,
    centers: int | None = None,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int = 256 * 2**20,
    threads: int = 1,
    seed: int = 0,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> WorstCaseConstants:
    """Look at one initialisation with every method.

    The kind says which gradient the search and the extrapolation are about: of one sample or of the batch, clipped or
    not. The order is the Rényi order of the bound from certified constants. The extrapolation draws so many points in
    the ball of the radius around an iterate, more where few iterates are kept. Finished parts (the search of one order,
    the curvature, the drawn pairs) are kept in ``folder`` and looked for there; ``on_step`` is called with (finished,
    all) parts. All else is as in `lastiterate.runtime.constants.holder.Sampling`; the seed is of one initialisation.

    Raises:
        InputError: as `estimate_holder`, or there is no such kind.
    """
    asked = orders(lambdas)
    if kind not in tuple(Kind):
        raise InputError(f"The kind must be one of {', '.join(Kind)}, got kind={kind}; choose one of them.")
    kind = Kind(kind)
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, device=device, memory=memory)
    settings = {
        "format": 4,
        "worst_case": {"kind": str(kind), "points": points, "radius": radius, "centers": centers, "seed": seed},
        "dtype": dtype,
        "device": device,
        "run": asdict(run),
    }
    store = Store(folder, fingerprint(workload, gradients) | settings)
    done, tell = 0, on_step or (lambda _done, _parts: None)
    tell(0, len(asked) + 2)

    def step(name: str, compute: Callable[[], Arrays]) -> Arrays:
        nonlocal done
        found = store.part(name, compute)
        done += 1
        tell(done, len(asked) + 2)
        return found

    diameter = run.diameter if isfinite(run.diameter) else _WIDEST

    @cache
    def iterates() -> Tensor:
        return train(gradients, gradients.start, run, seed, centers=centers)

    batch = kind in (Kind.BATCH, Kind.BATCH_CLIPPED)

    @cache
    def most_curved() -> CurvedPairs:
        screened = min(_SCREENED, max(_STARTS, _STARTED // gradients.dimension))
        return curved_pairs(
            gradients, gradients.start, diameter=diameter, around=iterates(), screened=screened, seed=seed
        )

    def search(lam: float) -> Arrays:
        found = search_one(
            gradients,
            gradients.start,
            lam,
            diameter=diameter,
            clip_norm=run.clip_norm if kind in (Kind.SAMPLE_CLIPPED, Kind.BATCH_CLIPPED) else inf,
            batch=batch,
            around=iterates(),
            also=None if batch else most_curved(),
            starts=min(_MEAN_STARTS if batch else _STARTS, max(1, _STARTED // gradients.dimension)),
            seed=seed,
        )
        return asdict(found)

    def drawn() -> Arrays:
        """Pairs around some of the iterates, with some of the samples."""
        generator = stream(seed, purpose=_WORST_CASE)
        most = workload.samples if batch else _MOST_SAMPLES
        chosen = torch.randperm(workload.samples, generator=generator)[:most].sort().values
        some = replace(workload, inputs=workload.inputs[chosen], targets=workload.targets[chosen])
        at_most = max(_SEEN // (len(chosen) * points), -(-_IN_A_BLOCK * _BLOCKS // points))
        places = torch.linspace(0, len(iterates()) - 1, min(at_most, len(iterates()))).round().long()
        table = measure_pairs(
            Gradients(some, some.initial(seed), dtype=dtype, device=device, memory=memory, tried=False),
            iterates()[places],
            run.clip_norm,
            Around(max(points, -(-_IN_A_BLOCK * _BLOCKS // len(places))), radius, Draw.LOG_UNIFORM),
            generator,
        )
        return {"distances": table.distances, "floors": table.floors} | {
            str(k): v for k, v in table.differences.items()
        }

    with threads_of_torch(threads):
        found = [Found(**step(f"search-{lam!r}", partial(search, lam))) for lam in asked]
        curved = step("curvature", lambda: {"value": _curvature(gradients, iterates(), seed)})
        kept = step("pairs", drawn)
    table = PairTable(kept["distances"], {one: kept[one] for one in Kind}, kept["floors"])
    enough = np.count_nonzero(trusted(table, kind)) >= _BLOCKS
    extremes = tuple(extrapolate(table, kind, lam, blocks=_BLOCKS, seed=seed) if enough else None for lam in asked)
    certified = workload.certified(seed, diameter) if workload.constants else None
    certainly = certified is not None and isfinite(certified.smoothness) and isfinite(run.diameter)
    bounded = bound(run, certified.assumption(run), order=order) if certified and certainly else None
    value = float(curved["value"])
    return WorstCaseConstants(
        kind, best_pairs(asked, found), value if isfinite(value) else None, extremes, certified, bounded
    )


def _curvature(gradients: Gradients, iterates: Tensor, seed: int) -> NDArray[np.float64]:
    """The largest |eigenvalue| along the trajectory; nan where second derivatives are not finite."""
    try:
        return np.array(curvature_along(gradients, iterates, seed=seed).value)
    except InputError:
        return np.array(nan)
