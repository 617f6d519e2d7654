"""Worst-case constants of a workload from both sides: the worst pair found, curvature, and what is proved.

The draws of A.13 see typical pairs. Beside them stand an adversarial search (a lower estimate, usually far higher), the
top eigenvalue of per-sample Hessians along the trajectory (a lower estimate for order 1) and, where they are proved,
upper bounds, which give a bound and not an estimate.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache, partial
from math import inf, isfinite, nan
from typing import Final, Unpack

import numpy as np
import torch
from torch import Tensor

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, count, teaches
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.constants.certified import certified_holder, certified_side
from lastiterate.runtime.constants.curvature import top_curvature
from lastiterate.runtime.constants.distributed import in_turn
from lastiterate.runtime.constants.record import BATCH, CLIPPED, WorstCaseConstants, best_pairs, check_orders
from lastiterate.runtime.constants.sampling import InputSet, Sampling, Settings, choose_member
from lastiterate.runtime.constants.search import APART, Search
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload

_WIDEST: Final = 10.0
"""Diameter of the ball that is searched where the domain is unbounded."""

_MEAN_STARTS: Final = 8
"""Starts of a search for the mean over all samples, each of which costs as much as one a sample."""

_STARTS: Final = 256
_CURVED: Final = 48
"""Starts: a network with millions of parameters gets fewer."""

_HELD_TOGETHER: Final = 128
"""Bytes of the memory budget for every number of the drawn starts, and of the curved ones: half of it is for steps."""

_SCREENED: Final = 2000
_LOOKED_AT: Final = 2**25
"""Points that are screened for curvature, and numbers that they may have together."""

_ITERATIONS: Final = 60
_BENDING: Final = 40
_FEWEST: Final = 8
_STEPPED: Final = 2**28
"""Steps of a pair and of a curvature at most, steps and screened points at least, and numbers that all steps have."""

_SEEN: Final = 10_000
"""About how many (point, sample) pairs along the trajectory the curvature is of, at ``_FEWEST`` points or more."""

_LARGE: Final = 10**7
"""Networks with more parameters are searched alone: minutes, where the curvature would take an hour."""


@teaches()
@says_when_memory_runs_out
def worst_case_constants(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    *,
    kind: Kind = Kind.SAMPLE,
    inputs: InputSet | None = None,
    effort: int = 1,
    order: float = 2.0,
    **settings: Unpack[Settings],
) -> WorstCaseConstants:
    """Look at one initialisation with every method.

    Finished parts are kept and found again; the processes that torchrun started share them, and all return the same.

    Args:
        workload: network, loss and data.
        run: the training run, around whose iterates the search begins.
        lambdas: orders in (0, 1].
        kind: which gradient the search is about: of one sample or of the batch, clipped or not.
        inputs: set in which the input ascends, too, and every label of the data is tried; None for the data.
        effort: rounds of the search: each costs as much as the first, and what is found never gets less.
        order: the Rényi order of the bound from certified constants.
        **settings: fields of `Sampling`; points are not drawn, and the seed is of the one initialisation.

    Raises:
        InputError: as `estimate_holder`, or there is no such kind, or a set of inputs where it cannot be.
    """
    asked, sampling = check_orders(lambdas), Sampling().but(**settings)
    kind, rounds = choose_member("kind", kind, Kind), range(count("effort", effort))
    batch = kind in BATCH
    if inputs is not None and (batch or not workload.inputs.is_floating_point()):
        raise InputError(
            f"A set of inputs needs per-sample gradients and inputs of real numbers, got inputs={inputs} for "
            f"kind={kind} and {str(workload.inputs.dtype).removeprefix('torch.')} inputs; search the data."
        )
    gradients, seed = sampling.gradients(workload), sampling.seed
    deciding = {"format": 8, "kind": str(kind), "inputs": str(inputs), "run": asdict(run)}
    deciding |= {name: sampling.deciding[name] for name in ("centers", "dtype", "seed")}
    store = Store(sampling.folder, identify_workload(workload, gradients) | deciding if sampling.folder else {})
    steps = max(_FEWEST, _STEPPED // gradients.dimension)
    room, large = gradients.memory // (_HELD_TOGETHER * gradients.dimension), gradients.dimension > _LARGE

    @cache
    def iterates() -> Tensor:
        return train(gradients, gradients.start, run, seed, centers=sampling.centers)

    @cache
    def search() -> Search:
        return Search(
            gradients,
            gradients.start,
            run.diameter if isfinite(run.diameter) else _WIDEST,
            clip_norm=run.clip_norm if kind in CLIPPED else inf,
            batch=batch,
            around=iterates(),
            free=inputs,
            seed=seed,
        )

    def most_curved(part: int, _earlier: Mapping[str, Arrays]) -> Arrays:
        screened = min(_SCREENED, max(_FEWEST, _LOOKED_AT // gradients.dimension))
        starts = min(_CURVED, max(1, room // len(APART)))
        bending = min(_BENDING, steps)
        return search()._replace(part=part).curved(screened, starts, bending, **({"rounds": 1} if large else {}))

    def climbed(lam: float, part: int, earlier: Mapping[str, Arrays]) -> Arrays:
        starts = min(_MEAN_STARTS if batch else _STARTS, max(1, room))
        also = None if batch else earlier[f"curved-{part}"]
        return search()._replace(lam=lam, part=part).climb(starts, min(_ITERATIONS, steps), also)

    def curvature(_earlier: Mapping[str, Arrays]) -> Arrays:
        """The largest |eigenvalue| along the trajectory; nan where second derivatives are not finite."""
        if large:
            return {"value": np.array(nan)}
        rows, targets = gradients.rows()
        near = gradients if inputs is None else gradients.on(rows.through(inputs.projected, gradients.memory), targets)
        most = min(len(iterates()), max(_SEEN // gradients.samples, _FEWEST))
        places = torch.linspace(0, len(iterates()) - 1, most).round().long()
        try:
            return {"value": np.array(top_curvature(near, iterates()[places], seed=seed))}
        except InputError:
            return {"value": np.array(nan)}

    first: dict[str, Callable[[Mapping[str, Arrays]], Arrays]] = {"curvature": curvature}
    first |= {} if batch else {f"curved-{part}": partial(most_curved, part) for part in rounds}
    then = {_name(lam, part): partial(climbed, lam, part) for lam in asked for part in rounds}
    with threads_of_torch(sampling.threads):
        parts = in_turn([first, then], sampling.tell, store)
    ends = [{name: np.concatenate([parts[_name(lam, part)][name] for part in rounds]) for name in parts[_name(lam, 0)]}
            for lam in asked]  # fmt: skip
    searched = best_pairs(asked, ends, seed)
    curved = float(parts["curvature"]["value"]) if isfinite(parts["curvature"]["value"]) else None
    certified, why = certified_side(workload, seed, run.diameter, inputs)
    clip_norm = run.clip_norm if kind in CLIPPED else inf
    outside = inputs is not None and not inputs.holds(workload.inputs)
    certainly = certified and certified.any_sample and isfinite(certified.smoothness) and isfinite(run.diameter)
    of_one = curved if curved and kind is Kind.SAMPLE else 0.0
    return WorstCaseConstants(
        workload=workload.name,
        run=run,
        kind=kind,
        inputs=None if inputs is None else str(inputs),
        effort=effort,
        inits=1,
        found=tuple(max(pair.constant, of_one if pair.lam == 1 else 0.0) for pair in searched),
        upper=tuple(certified_holder(certified, lam, run.diameter, clip_norm) for lam in asked),
        why=why,
        searched=searched,
        curvature=curved,
        certified=certified,
        bounded=bound(run, certified.assumption(run), order=order) if certified and certainly and not outside else None,
        device=sampling.device,
        memory=gradients.memory,
        subset=workload.subset,
        remark=f"{workload.remark} {jumps(gradients.module)} "
        f"{f'Some samples of the data are outside of {inputs}: no bound of the run follows.' * outside}".strip(),
    )


def _name(lam: float, part: int) -> str:
    return f"search-{lam!r}-{part}"
