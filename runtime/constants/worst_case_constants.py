"""Worst-case constants of a workload: the worst pair found, curvature, extreme values, closed forms.

The draws of A.13 see typical pairs. Beside them stand an adversarial search (a lower estimate, usually far higher), the
top eigenvalue of per-sample Hessians along the trajectory (a lower estimate for order 1), an extrapolation by
extreme-value theory (a statistical estimate) and, where they are proved, upper bounds, which give a bound and not an
estimate.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache, partial
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.constants.both_sides import certified_side
from lastiterate.runtime.constants.curvature import curvature_along
from lastiterate.runtime.constants.curvature_ascent import CurvedPairs, climb_until_agreed
from lastiterate.runtime.constants.distributed import in_turn, local_device
from lastiterate.runtime.constants.extreme_value import extrapolate
from lastiterate.runtime.constants.fit import orders, trusted
from lastiterate.runtime.constants.input_sets import InputSet
from lastiterate.runtime.constants.pairs import Around, Draw, measure_pairs
from lastiterate.runtime.constants.search import APART, Found, best_pairs, search_one, witnesses
from lastiterate.runtime.constants.worst_case_record import BATCH, CLIPPED, WorstCaseConstants
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import spread_iterates, train
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload

_WIDEST: Final = 10.0
"""Diameter of the ball that is searched where the domain is unbounded."""

_WORST_CASE: Final = 2**43
"""The purpose of the stream that draws the points around the iterates, and which samples they are tried with."""

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

_SEEN: Final = 100_000
"""About how many (point, sample) pairs the extrapolation looks at: iterates are thinned for it."""

_MOST_SAMPLES: Final = 256
_BLOCKS: Final = 100
_IN_A_BLOCK: Final = 4
_LARGE: Final = 10**7
"""Networks with more parameters are searched alone: minutes, where curvature and extrapolation would take an hour."""

_Parts = Mapping[str, Arrays]
_Task = Callable[[_Parts], Arrays]


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
    points: int = 20,
    radius: float = 1.0,
    centers: int | None = None,
    dtype: str = "float64",
    device: str = "cpu",
    memory: int | None = None,
    threads: int = 1,
    seed: int = 0,
    folder: Path | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> WorstCaseConstants:
    """Look at one initialisation with every method.

    The kind says which gradient the search and the extrapolation are about: of one sample or of the batch, clipped or
    not. Where a set of inputs is given, the input ascends, too, and every label of the data is tried. The effort is
    the number of rounds of the search: each costs as much as the first, and what is found never gets less. The order
    is the Rényi order of the bound from certified constants. The extrapolation draws so many points in the ball of the
    radius around an iterate, more where few iterates are kept. Finished parts (the ascents of curvature, a round of
    the search for one order, the curvature, the drawn pairs) are kept in ``folder`` and looked for there; ``on_step``
    is called with (finished, all) parts of this process: those that torchrun started share them, and all return the
    same. With dtype ``bfloat16`` the training, the ascents of curvature and all but the last ascents of pairs are in
    that, and all that is said is of float64. All else is as in `lastiterate.runtime.constants.holder.Sampling`; the
    seed is of one initialisation.

    Raises:
        InputError: as `estimate_holder`, or there is no such kind, or a set of inputs where it cannot be.
    """
    asked = orders(lambdas)
    if kind not in tuple(Kind):
        raise InputError(f"The kind must be one of {', '.join(Kind)}, got kind={kind}; choose one of them.")
    kind, rounds = Kind(kind), range(count("effort", effort))
    points, radius = count("points", points), positive("radius", radius)
    batch = kind in BATCH
    if inputs is not None and (batch or not workload.inputs.is_floating_point()):
        raise InputError(
            f"A set of inputs needs per-sample gradients and inputs of real numbers, got inputs={inputs} for "
            f"kind={kind} and {str(workload.inputs.dtype).removeprefix('torch.')} inputs; search the data."
        )
    spread_iterates(run.steps, centers)  # refused before anything is kept
    place: dict[str, Any] = {"device": local_device(device), "memory": memory}
    gradients = Gradients(workload, workload.initial(seed), dtype=dtype, **place)
    rough, dtype = dtype == "bfloat16", "float64" if dtype == "bfloat16" else dtype
    exact = Gradients(workload, workload.initial(seed), dtype=dtype, **place) if rough else gradients
    settings = {
        "format": 7,
        "worst_case": {"kind": str(kind), "points": points, "radius": radius, "centers": centers, "seed": seed},
        "inputs": str(inputs),
        "dtype": "bfloat16" if rough else dtype,
        "run": asdict(run),
    }
    store = Store(folder, {} if folder is None else identify_workload(workload, gradients) | settings)
    diameter = run.diameter if isfinite(run.diameter) else _WIDEST
    steps = max(_FEWEST, _STEPPED // gradients.dimension)
    room, large = gradients.memory // (_HELD_TOGETHER * gradients.dimension), gradients.dimension > _LARGE

    @cache
    def iterates() -> Tensor:
        return train(gradients, gradients.start, run, seed, centers=centers)

    @cache
    def near() -> Gradients:
        """The data, or the nearest inputs of the set that is searched."""
        rows, targets = exact.rows()
        return exact if inputs is None else exact.on(rows.through(inputs.projected, exact.memory), targets)

    def most_curved(part: int, _earlier: _Parts) -> Arrays:
        found = climb_until_agreed(
            gradients,
            gradients.start,
            **({"rounds": 1} if large else {}),
            diameter=diameter,
            around=iterates(),
            free=inputs,
            screened=min(_SCREENED, max(_FEWEST, _LOOKED_AT // gradients.dimension)),
            starts=min(_CURVED, max(1, room // len(APART))),
            iterations=min(_BENDING, steps),
            seed=seed,
            part=part,
        )
        return found.arrays()

    def search(lam: float, part: int, earlier: _Parts) -> Arrays:
        found = search_one(
            gradients,
            gradients.start,
            lam,
            diameter=diameter,
            clip_norm=run.clip_norm if kind in CLIPPED else inf,
            batch=batch,
            around=iterates(),
            also=None if batch else CurvedPairs.of_arrays(earlier[f"curved-{part}"], gradients.start),
            free=inputs,
            exact=exact if rough else None,
            starts=min(_MEAN_STARTS if batch else _STARTS, max(1, room)),
            iterations=min(_ITERATIONS, steps),
            seed=seed,
            part=part,
        )
        return asdict(found)

    def curvature(_earlier: _Parts) -> Arrays:
        return {"value": np.array(nan) if large else _curvature(near(), iterates().to(exact.start), seed)}

    def drawn(_earlier: _Parts) -> Arrays:
        """Pairs around some of the iterates, with some of the samples."""
        generator = stream(seed, purpose=_WORST_CASE)
        most = workload.samples if batch else _MOST_SAMPLES
        chosen = generator.permutation(workload.samples)[:most].sort().values
        some = workload
        if len(chosen) < workload.samples or inputs is not None:
            rows = workload.inputs[chosen]
            rows = rows if inputs is None else inputs.projected(rows)
            some = replace(workload, inputs=rows, targets=workload.targets[chosen])
        at_most = max(_SEEN // (len(chosen) * points), -(-_IN_A_BLOCK * _BLOCKS // points))
        places = torch.linspace(0, len(iterates()) - 1, min(at_most, len(iterates()))).round().long()
        table = measure_pairs(
            Gradients(some, some.initial(seed), dtype=dtype, tried=False, **place),
            iterates()[places].to(exact.start),
            run.clip_norm,
            Around(
                points if large else max(points, -(-_IN_A_BLOCK * _BLOCKS // len(places))), radius, Draw.LOG_UNIFORM
            ),
            generator,
        )
        return {"distances": table.distances, "floors": table.floors} | {
            str(k): v for k, v in table.differences.items()
        }

    first: dict[str, _Task] = {} if batch else {f"curved-{part}": partial(most_curved, part) for part in rounds}
    first |= {"curvature": curvature, "pairs": drawn}
    then: dict[str, _Task] = {_name(lam, part): partial(search, lam, part) for lam in asked for part in rounds}
    phases = [{name: partial(_kept, store, name, task) for name, task in tasks.items()} for tasks in (first, then)]
    with threads_of_torch(threads):
        parts = in_turn(phases, on_step or (lambda _done, _parts: None))
    found = [Found.joined([Found(**parts[_name(lam, part)]) for part in rounds]) for lam in asked]
    kept = parts["pairs"]
    table = PairTable(kept["distances"], {one: kept[one] for one in Kind}, kept["floors"])
    enough = np.count_nonzero(trusted(table, kind)) >= _BLOCKS
    extremes = tuple(extrapolate(table, kind, lam, blocks=_BLOCKS, seed=seed) if enough else None for lam in asked)
    side = certified_side(workload, seed, run.diameter, inputs)
    known = side.constants
    outside = inputs is not None and not inputs.holds(workload.inputs)
    certainly = known is not None and known.any_sample and isfinite(known.smoothness) and isfinite(run.diameter)
    value = float(parts["curvature"]["value"])
    return WorstCaseConstants(
        workload=workload.name,
        run=run,
        kind=kind,
        inputs=None if inputs is None else str(inputs),
        effort=effort,
        inits=1,
        searched=best_pairs(asked, found),
        curvature=value if isfinite(value) else None,
        extremes=extremes,
        side=side,
        bounded=bound(run, known.assumption(run), order=order) if known and certainly and not outside else None,
        device=device,
        memory=gradients.memory,
        seeds=(seed,) * len(asked),
        witnesses=witnesses(asked, found),
        subset=workload.subset,
        remark=f"{workload.remark} {jumps(gradients.module)} "
        f"{f'Some samples of the data are outside of {inputs}: no bound of the run follows.' * outside}".strip(),
    )


def _name(lam: float, part: int) -> str:
    return f"search-{lam!r}-{part}"


def _kept(store: Store, name: str, task: _Task, earlier: _Parts) -> Arrays:
    """The part, found, or else computed from earlier ones and kept."""
    return store.part(name, partial(task, earlier))


def _curvature(gradients: Gradients, iterates: Tensor, seed: int) -> NDArray[np.float64]:
    """The largest |eigenvalue| along the trajectory; nan where second derivatives are not finite."""
    try:
        return np.array(curvature_along(gradients, iterates, seed=seed).value)
    except InputError:
        return np.array(nan)
