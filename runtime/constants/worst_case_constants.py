"""Worst-case constants of a workload from both sides: an adversarial search and a proof."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, partial
from math import inf, isfinite
from typing import Any, Final, Unpack

import numpy as np
import torch

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.rounding import printed_down
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.clock import Clock
from lastiterate.runtime.constants.certified import certified_holder, certified_side
from lastiterate.runtime.constants.kinks import Kinks
from lastiterate.runtime.constants.record import Jump, WorstCaseConstants, best_pairs, check_orders
from lastiterate.runtime.constants.sampling import InputSet, Sampling, Settings, choose_member
from lastiterate.runtime.constants.search import APART, Search
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.random_streams import seed_of
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.validation import jumps
from lastiterate.runtime.workloads.workload import Workload

_WIDEST: Final = 10.0
"""Diameter of the ball that is searched if the domain is unbounded."""

_STARTS: Final = 256
_CURVED: Final = 48
"""Largest number of drawn and of curved starts; networks with millions of parameters get fewer."""

_HELD_TOGETHER: Final = 128
"""Bytes of the memory budget for each entry of the drawn or curved starts; half of these bytes are for steps."""

_SCREENED: Final = 2000
_LOOKED_AT: Final = 2**25
"""Largest number of points screened for curvature, and of entries of all these points."""

_ITERATIONS: Final = 60
_BENDING: Final = 40
_FEWEST: Final = 8
_STEPPED: Final = 2**28
"""Maximum steps of a pair and of a curvature; minimum steps and screened points; entries in all steps."""

_SHORT: Final = (200, 8, 10, 1)
_COMPARED: Final = 2**20
"""Screened points, starts, steps and ascents of a short search; largest number of parameters for which initialisations
are compared."""

_CURVING: Final = 0.35
_PROOF: Final = 20.0
_SHORTENED: Final = (
    "The search was shortened to fit in {:g} s; with a larger budget, it may find larger constants."
)
"""Share of the time for the ascents of the curvature, seconds that a proof may take at least, and a sentence."""

_LARGE: Final = 10**7
"""Number of parameters above which there is only one ascent of the curvature."""


def steepest_start(workload: Workload, diameter: float, sampling: Sampling) -> tuple[int, str]:
    """Seed of the initialisation with the largest curvature in a short search, and a sentence that compares all.

    The sentence is empty if there is only one initialisation, as with a checkpoint, or the network is large.
    """
    curvatures: dict[int, float] = {}
    first = None
    for seed in (sampling.seed, *(seed_of(sampling.seed, part) for part in range(1, sampling.inits))):
        gradients = sampling.gradients(workload, seed)
        again = first is not None and torch.equal(first, gradients.start)
        if sampling.inits == 1 or gradients.dimension > _COMPARED or again:
            break
        first = gradients.start if first is None else first
        search = Search(gradients, gradients.start, diameter if isfinite(diameter) else _WIDEST, seed=seed)
        curvatures[seed] = float(search.curved(*_SHORT)["ratio"].max(initial=0.0))
    if len(curvatures) < 2:
        return sampling.seed, ""
    found = max(curvatures, key=lambda seed: curvatures[seed])
    listed = ", ".join(f"{printed_down(one, 4)} (seed {seed})" for seed, one in curvatures.items())
    return found, (
        f"A short search at {len(curvatures)} initialisations found the curvatures {listed}. All other numbers are for "
        f"the largest, that of seed {found}."
    )


@teaches()
@says_when_memory_runs_out
def worst_case_constants(
    workload: Workload,
    run: NoisySGD,
    lambdas: tuple[float, ...],
    *,
    kind: Kind = Kind.SAMPLE,
    inputs: InputSet | None = None,
    order: float = 2.0,
    budget: float = inf,
    **settings: Unpack[Settings],
) -> WorstCaseConstants:
    """Search for the worst constant of every order around one initialisation.

    Args:
        workload: network, loss and data.
        run: training run around whose iterates the search begins.
        lambdas: orders in (0, 1].
        kind: kind of per-sample gradient, clipped or not.
        inputs: set of inputs searched, with every label of the data; None for the data.
        order: Rényi order of the bound from certified constants.
        budget: seconds that the search and the proof may take. If they are too few, the search is shortened, and
            constants that are not proved in time are unknown.
        **settings: fields of `Sampling`; points are not drawn.

    Raises:
        InputError: as in `estimate_holder`, an unknown kind, or a set of inputs although the workload's
            inputs are not real.
    """
    described_run("A search on the domain", run, groups=True)
    time, asked = Clock(positive("budget", budget, finite=False)), check_orders(lambdas)
    sampling = Sampling().but(**settings)
    kind = choose_member("kind", kind, Kind)
    mixed = workload.layout is not None and workload.layout.mixed
    if inputs is not None and (mixed or not workload.inputs.is_floating_point()):
        got = "partly integer" if mixed else str(workload.inputs.dtype).removeprefix("torch.")
        raise InputError(
            f"A set of inputs to search needs floating-point data, got inputs={inputs} for {got} inputs; leave inputs "
            "out to search the data only."
        )
    clip_norm = run.clip_norm if kind is Kind.SAMPLE_CLIPPED else inf
    diameter = run.diameter if isfinite(run.diameter) else _WIDEST
    gradients, seed = sampling.gradients(workload), sampling.seed
    deciding = {"format": 13, "kind": str(kind), "inputs": str(inputs), "run": asdict(run)}
    deciding |= {} if budget == inf else {"budget": budget}
    deciding |= {name: sampling.deciding[name] for name in ("centers", "dtype", "seed")}
    store = Store(sampling.folder, identify_workload(workload, gradients) | deciding if sampling.folder else {})
    steps = max(_FEWEST, _STEPPED // gradients.dimension)
    room, large = gradients.memory // (_HELD_TOGETHER * gradients.dimension), gradients.dimension > _LARGE

    @cache
    def search() -> Search:
        return Search(
            gradients,
            gradients.start,
            diameter,
            clip_norm=clip_norm,
            around=train(gradients, gradients.start, run, seed, centers=sampling.centers),
            free=inputs,
            seed=seed,
        )

    def most_curved(_earlier: Mapping[str, Arrays]) -> Arrays:
        screened = min(_SCREENED, max(_FEWEST, _LOOKED_AT // gradients.dimension))
        starts = min(_CURVED, max(1, room // len(APART)))
        timed = search()._replace(time=time.part(_CURVING))
        return timed.curved(screened, starts, min(_BENDING, steps), **({"rounds": 1} if large else {}))

    def climbed(lams: tuple[float, ...], earlier: Mapping[str, Arrays]) -> Arrays:
        starts, iterations = min(_STARTS, max(1, room)), min(_ITERATIONS, steps)
        rest = time.part(len(lams) / (len(asked) - asked.index(lams[0]) + 2))
        return search()._replace(lams=lams, time=rest).climb(starts, iterations, earlier["curved"])

    together = [asked] if room >= _STARTS * len(asked) else [(lam,) for lam in asked]

    def jumping(earlier: Mapping[str, Arrays]) -> Arrays:
        ends = [earlier[f"search-{lams!r}"] for lams in together]
        if gradients.dtype == torch.float64:
            exact = gradients
        elif large:
            return {"changes": np.zeros(0)}
        else:
            exact = sampling.but(dtype="float64", memory=None).gradients(workload)
        kinks = Kinks(
            exact, exact.start, diameter, (1.0,), clip_norm, free=inputs, seed=seed, time=time.part(0.5)
        )
        return kinks.jumps(ends)

    tasks: dict[str, Any] = {"curved": most_curved} | {
        f"search-{lams!r}": partial(climbed, lams) for lams in together
    }
    tasks[f"jump-{asked!r}"] = jumping
    with threads_of_torch(sampling.threads):
        parts = sampling.compute(tasks, store, more=1)
    found = parts[f"jump-{asked!r}"]
    searched = best_pairs(asked, [parts[f"search-{lams!r}"] for lams in together], seed)
    told = sampling.on_step or (lambda _finished, _all: None)
    last = time.part(1.0, _PROOF)
    last.tell = lambda share: told(len(tasks) + share, len(tasks) + 1)
    certified, why = certified_side(workload, seed, run.diameter, inputs, last)
    told(len(tasks) + 1, len(tasks) + 1)
    if gradients.engine.own_backward:
        certified, why = None, "not known: the backward pass of the network is not that of its loss"
    jump = Jump.of(found, seed, certified_holder(certified, 0.0, run.diameter, clip_norm))
    short = any(part["short"].any() for part in parts.values() if "short" in part)
    outside = inputs is not None and not torch.equal(inputs.projected(workload.inputs), workload.inputs)
    certainly = certified and certified.any_sample and isfinite(certified.smoothness) and isfinite(run.diameter)
    return WorstCaseConstants(
        workload=workload.name,
        run=run,
        kind=kind,
        inputs=None if inputs is None else str(inputs),
        found=tuple(pair.constant for pair in searched),
        upper=tuple(certified_holder(certified, lam, run.diameter, clip_norm) for lam in asked),
        why=why,
        searched=searched,
        certified=certified,
        bounded=bound(run, certified.assumption(run), order=order)
        if certified and certainly and not outside
        else None,
        device=sampling.device,
        memory=gradients.memory,
        subset=workload.subset,
        jump=jump,
        remark=f"{workload.remark} {_SHORTENED.format(budget) * short} {jump or jumps(gradients.module)} "
        f"{gradients.engine.words()} "
        f"{f'Some samples of the data are outside {inputs}, so no bound for the run follows.' * outside}".strip(),
    )
