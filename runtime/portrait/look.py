"""Measurement of everything that belongs on the page of one network, in parts, within a budget of time."""

import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from math import isfinite
from time import monotonic
from typing import Any, Final, TypeVar, Unpack, cast

import numpy as np
import torch
from scipy.sparse.linalg import eigsh
from torch import Tensor, nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import PrivacyLoss, bound, estimate
from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.losses.assumptions import Assumption, Clipped, Tabulated
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.constants.certified import certified_side
from lastiterate.runtime.constants.pairs import measure_center
from lastiterate.runtime.constants.record import WorstCaseConstants, best_pairs, envelope_of
from lastiterate.runtime.constants.sampling import Draw, Sampling, Settings
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.engine import unwrapped
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.hessian import HessianOperator
from lastiterate.runtime.leaves import difference, leaf_norms, norm
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.portrait.record import AtRadius, LayerPortrait, Portrait, Spectrum
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run, project_onto_ball
from lastiterate.runtime.workloads.workload import Workload, described_workload

Result = TypeVar("Result")
Place = tuple[Array, Array]
"""Two points."""

_SHARES: Final = (1e-3, 1e-2, 10**-1.5, 0.1, 10**-0.5, 1.0)
"""Radii of the curve, as shares of the radius of the domain."""

_WIDEST: Final = 5.0
_CENTERS: Final = 20
"""Radius that stands for an unbounded domain; number of iterates around which the search begins."""

_FEWER: Final = {"screened": 200, "starts": 12, "iterations": 16, "rounds": 1}
_PAIRS: Final = (48, 24)
"""Settings of `Search.curved` and starts and steps of `Search.climb` on a ball of the curve."""

_LARGE: Final = 2**28
"""Entries of all screened points, up to which as many are used."""

_DENSE: Final = 400
_PROBES: Final = 24
"""Largest dimension in which a Hessian is computed as a matrix; random vectors of a trace in others."""

_NEAREST: Final = 1e-4
_LENGTHS: Final = 13
"""Shortest distance of the modulus, in radii, and number of distances at which each worst pair is measured."""

_PROBING: Final = 2**43
"""Purpose of the stream that draws the points of the modulus."""


class _Parts:
    """Parts of a portrait, which are computed in order while time is left."""

    def __init__(self, budget: float, parts: int, on_step: Callable[[int, int], None] | None) -> None:
        self.seconds: dict[str, float] = {}
        self.skipped: dict[str, str] = {}
        self._begun, self._budget, self._parts, self._on_step = monotonic(), budget, parts, on_step

    @property
    def late(self) -> bool:
        return monotonic() - self._begun > self._budget

    def skip(self, name: str, done: str = "") -> None:
        """Record that time ran out for a part, or for what follows ``done``."""
        self.skipped[name] = (
            f"{f'Only {done}: the' if done else 'The'} budget of {self._budget:g} s was used up; raise the budget."
        )

    def do(
        self, name: str, compute: Callable[[], Result], otherwise: Any = None, *, needed: bool = False
    ) -> Result:
        """Result of a part; unless it is needed, ``otherwise`` if time is up or an `InputError` is raised."""
        begun, found = monotonic(), otherwise
        if self.late and not needed:
            self.skip(name)
        else:
            try:
                found = compute()
            except InputError as error:
                if needed:
                    raise
                self.skipped[name] = str(error)
        self.seconds[name] = monotonic() - begun
        if self._on_step is not None:
            self._on_step(len(self.seconds), self._parts)
        return cast("Result", found)


@teaches()
@says_when_memory_runs_out
def look(
    workload: Workload,
    run: NoisySGD | None = None,
    assumption: Assumption | None = None,
    *,
    delta: float = 1e-5,
    lambdas: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
    budget: float = 600.0,
    command: str = "",
    **settings: Unpack[Settings],
) -> Portrait:
    """Measure all that belongs on the page of one network: found and proved constants, and what follows.

    Args:
        workload: network, loss and data. If it has more samples than the run, the first ones are used.
        run: run whose privacy is described; None for the run of appendix A.13 on all samples.
        assumption: assumption of the user on the losses, whose bound is shown, too.
        delta: delta of the privacy losses.
        lambdas: Hölder orders; order 1 is added.
        budget: seconds after which no further part begins. The search on the domain is always done.
        command: command that computes the portrait again; by default, a call of this function.
        **settings: fields of `Sampling`; points are drawn for the modulus only.

    Raises:
        InputError: as in `worst_case_constants`.
    """
    described_workload("look", workload)
    given, run = run is not None, paper_run(workload) if run is None else described_run("look", run)
    sampling = Sampling(centers=min(_CENTERS, run.steps + 1)).but(**settings)
    own = workload
    if run.dataset_size < workload.samples:
        own = replace(
            workload, inputs=workload.inputs[: run.dataset_size], targets=workload.targets[: run.dataset_size]
        )
    parts = _Parts(positive("budget", budget), 6, sampling.on_step)
    radius = run.diameter / 2 if isfinite(run.diameter) else _WIDEST
    orders, seed = tuple({*lambdas, 1.0}), sampling.seed
    quiet = sampling.but(on_step=None)
    found = parts.do("search", lambda: worst_case_constants(own, run, orders, **vars(quiet)), needed=True)
    with threads_of_torch(sampling.threads):
        gradients = quiet.gradients(own)
        numbers = parts.do("privacy", lambda: _numbers(found, run, assumption, delta), needed=True)
        worst = [(pair.place["x"], pair.place["y"]) for pair in found.searched if pair.constant]
        curve = parts.do("radii", lambda: _curve(own, gradients, radius, found, seed, parts, worst), ())
        spectra, top = parts.do("Hessian", lambda: _spectra(gradients, found, seed), ((), None))
        layers = parts.do("layers", lambda: _layers(own, quiet, gradients, worst, top, radius, parts), ())
        modulus = parts.do("modulus", lambda: _modulus(gradients, quiet, worst, radius))
        facts = _facts(workload, own, gradients, sampling)
        print_ = identify_workload(own, gradients)
    versions = {name: metadata.version(name) for name in ("lastiterate", "torch", "numpy")}
    return Portrait(
        workload=workload.name,
        run=run,
        given=given,
        delta=delta,
        facts=facts,
        constants=found,
        numbers=numbers,
        curve=curve,
        modulus=modulus,
        layers=layers,
        spectra=spectra,
        repeat={
            "command": command or f"li.look(workload, run, seed={seed}, dtype={sampling.dtype!r})",
            "seed": str(seed),
            "versions": ", ".join(f"{name} {one}" for name, one in versions.items()),
            "data": str(print_["data"])[:16],
        },
        seconds=parts.seconds,
        skipped=parts.skipped,
    )


def _facts(workload: Workload, own: Workload, gradients: Gradients, sampling: Sampling) -> dict[str, str]:
    frozen = sum(p.numel() for p in gradients.module.parameters() if not p.requires_grad)
    rows, targets = (
        f"{tuple(one.shape[1:]) or 'one number'}, {str(one.dtype).removeprefix('torch.')}"
        for one in (own.inputs, own.targets)
    )
    loss = own.loss
    device = sampling.device
    if gradients.device.type == "cuda":
        device = f"{device}, {torch.cuda.get_device_name(gradients.device)}"
    return {
        "network": f"{type(gradients.module).__name__} of {len(gradients.layers)} layers with parameters",
        "parameters": f"{gradients.dimension:,} trained" + f", {frozen:,} frozen" * bool(frozen),
        "loss": str(getattr(loss, "__name__", type(loss).__name__)),
        "samples": f"{own.samples:,}" + f" of {workload.samples:,}" * (own.samples < workload.samples),
        "input": rows,
        "target": targets,
        "derivatives": gradients.engine.words() or "The module is differentiated as it is, in batches.",
        "precision": f"{sampling.dtype}, assumed rounding error of a gradient {gradients.rounding:.2g} of its length",
        "device": f"{device}, {sampling.threads} CPU thread{'s' * (sampling.threads > 1)}, {platform.machine()}",
    }


def _numbers(
    found: WorstCaseConstants, run: NoisySGD, assumption: Assumption | None, delta: float
) -> tuple[tuple[str, PrivacyLoss], ...]:
    """Bounds from clipping, the user's assumption and proved constants, and the least estimate from found ones."""
    said: list[tuple[str, PrivacyLoss]] = [("clipping alone", bound(run, Clipped(), delta=delta))]
    if assumption is not None and assumption != Clipped():
        said.append(("the assumption of the run file", bound(run, assumption, delta=delta)))
    if found.bounded is not None and found.certified is not None:
        said.append(("proved constants", bound(run, found.certified.assumption(run), delta=delta)))
    if found.trusted:
        estimates = [estimate(run, found.holder(lam), delta=delta) for lam in reversed(found.lambdas)]
        said.append(("constants that were found", min(estimates, key=lambda one: one.epsilon)))
    return tuple(said)


def _searched(gradients: Gradients, radius: float, seed: int) -> tuple[float, Place]:
    """Largest smoothness found on a ball around the start, and the pair that attains it."""
    most = max(8, _LARGE // gradients.dimension)
    search = Search(gradients, gradients.start, 2 * radius, seed=seed)
    curved = search.curved(**{name: min(most, one) for name, one in _FEWER.items()})
    starts, steps = _PAIRS
    ends = search.climb(min(most, starts), min(most, steps), curved)
    (pair,) = best_pairs((1.0,), [ends])
    return pair.constant, (pair.place["x"], pair.place["y"])


def _proved(workload: Workload, radius: float, seed: int) -> tuple[float | None, str]:
    """Proved smoothness on the ball, None if unknown, and the reason why it is unknown or infinite."""
    constants, why = certified_side(workload, seed, 2 * radius)
    return (None if constants is None else constants.smoothness), why


def _curve(
    workload: Workload, gradients: Gradients, radius: float, known: WorstCaseConstants, seed: int,
    parts: _Parts, worst: list[Place],
) -> tuple[AtRadius, ...]:  # fmt: skip
    """Found and proved smoothness on balls; a pair in a ball is in larger balls, and a proof holds on smaller ones."""
    points: list[AtRadius] = []
    for share in _SHARES[:-1]:
        if parts.late:
            parts.skip("radii", f"{len(points)} of {len(_SHARES)} radii")
            break
        found, place = _searched(gradients, share * radius, seed)
        worst.append(place)
        points.append(AtRadius(share * radius, found, *_proved(workload, share * radius, seed)))
    order = known.lambdas.index(1.0)
    points.append(AtRadius(radius, known.found[order], known.upper[order], known.why))
    highest = np.maximum.accumulate([one.found for one in points])
    proved = [np.inf if one.certified is None else one.certified for one in points]
    lowest = np.minimum.accumulate(proved[::-1])[::-1]
    return tuple(
        replace(one, found=float(high), certified=float(low) if isfinite(low) else one.certified)
        for one, high, low in zip(points, highest, lowest, strict=True)
    )


def _spectra(
    gradients: Gradients, found: WorstCaseConstants, seed: int
) -> tuple[tuple[Spectrum, ...], Array | None]:
    """Spectra of the mean loss at the start and of the worst sample, and the top eigenvector of the latter."""
    first, _ = _spectrum(HessianOperator(gradients, gradients.start), "the mean loss at the start", seed)
    pair = found.searched[found.lambdas.index(1.0)]
    if pair.sample is None or not pair.constant:
        return (first,), None
    middle = torch.as_tensor((pair.place["x"] + pair.place["y"]) / 2).to(gradients.start)
    words = f"the loss of sample {pair.sample} at the worst point"
    second, top = _spectrum(HessianOperator(gradients, middle, pair.sample), words, seed)
    return (first, second), top


def _spectrum(operator: HessianOperator, of: str, seed: int) -> tuple[Spectrum, Array]:
    size = operator.shape[0]
    if size <= _DENSE:
        matrix = operator @ np.eye(size)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        trace, error = float(np.trace(matrix)), 0.0
    else:
        generator = np.random.default_rng(seed)
        values, vectors = eigsh(operator, k=2, which="BE", tol=1e-3, v0=generator.standard_normal(size))
        signs = np.sign(generator.standard_normal((size, _PROBES)))
        each = (signs * (operator @ signs)).sum(axis=0)
        trace, error = float(each.mean()), float(each.std(ddof=1) / _PROBES**0.5)
    top = int(np.abs(values).argmax())
    return Spectrum(of, float(values[0]), float(values[-1]), trace, error), vectors[:, top]


def _changes(gradients: Gradients, *place: Array | Tensor) -> tuple[Array, float]:
    """Change of each layer's block of every sample's gradient, (layers, samples), less rounding; the distance."""
    x, y = (torch.as_tensor(one).to(gradients.start)[None] for one in place)
    moved: list[Tensor] = []
    with torch.no_grad():
        for chunk in gradients.sample_chunks(weight=2):
            here, there = gradients.at(x, chunk), gradients.at(y, chunk)
            norms = leaf_norms(difference(here, there))
            floor = gradients.rounding * (norm(here) + norm(there))[0]
            blocks = [
                torch.stack([norms[k][0] for k in leaves]).norm(dim=0) for leaves in gradients.layers.values()
            ]
            moved.append((torch.stack(blocks) - floor).clamp(min=0.0))
    return torch.cat(moved, dim=1).cpu().double().numpy(), float((x - y).norm())


def _layers(
    workload: Workload, sampling: Sampling, gradients: Gradients, worst: Sequence[Place], top: Array | None,
    radius: float, parts: _Parts,
) -> tuple[LayerPortrait, ...]:  # fmt: skip
    ratios = []
    for place in worst:
        moved, distance = _changes(gradients, *place)
        ratios.append(moved / distance)
    most = np.max(ratios, axis=0) if ratios else np.zeros((len(gradients.layers), 1))
    squares = None if top is None else np.split(top**2, np.cumsum(gradients.sizes)[:-1])
    found: list[LayerPortrait] = []
    for k, (name, leaves) in enumerate(gradients.layers.items()):
        alone = None
        if len(gradients.layers) > 1 and not parts.late:
            with suppress(InputError):
                alone = _alone(workload, sampling, name, radius)
        elif parts.late:
            parts.skip("layers", f"{k} of {len(gradients.layers)} layers alone")
        share = None if squares is None else float(sum(squares[leaf].sum() for leaf in leaves))
        size = gradients.layer_sizes[name]
        kind = type(gradients.module.get_submodule("" if name == "(module)" else name)).__name__
        found.append(
            LayerPortrait(f"{name} {kind}", size, float(most[k].max()), int(most[k].argmax()), share, alone)
        )
    return tuple(found)


def _alone(workload: Workload, sampling: Sampling, layer: str, radius: float) -> AtRadius:
    """Smoothness on the domain if only one layer is trained."""

    def frozen() -> nn.Module:
        module = workload.module()
        for name, one in unwrapped(module).named_parameters():
            one.requires_grad_(one.requires_grad and (name.rpartition(".")[0] or "(module)") == layer)
        return module

    only = replace(workload, module=frozen)
    found, _ = _searched(sampling.gradients(only), radius, sampling.seed)
    return AtRadius(radius, found, *_proved(only, radius, sampling.seed))


def _modulus(gradients: Gradients, sampling: Sampling, worst: Sequence[Place], radius: float) -> Tabulated:
    """Largest changes found over distances, among drawn pairs, the worst ones, and shorter and longer ones there."""
    drawn = sampling.but(radius=radius, draw=Draw.LOG_UNIFORM)
    table = measure_center(gradients, gradients.start, np.inf, drawn, stream(sampling.seed, _PROBING))
    center, apart, more = gradients.start, 2 * radius * np.geomspace(_NEAREST, 1.0, _LENGTHS), []
    for x, y in worst:
        middle, away = (
            torch.as_tensor(one).to(center) for one in ((x + y) / 2, (x - y) / np.linalg.norm(x - y))
        )
        for length in (float(np.linalg.norm(x - y)), *apart):
            ends = (
                project_onto_ball(middle + sign * length / 2 * away, center, 2 * radius) for sign in (1, -1)
            )
            moved, distance = _changes(gradients, *ends)
            more.append((distance, float(np.linalg.norm(moved, axis=0).max())))
    distances, changes = np.array([one for one in more if one[0] >= _NEAREST * radius] or [(radius, 0.0)]).T
    every = np.concatenate([table.differences[Kind.SAMPLE] - table.floors, changes])
    joined = PairTable(np.concatenate([table.distances, distances]), {Kind.SAMPLE: every}, np.zeros(len(every)))
    return envelope_of(joined, Kind.SAMPLE, radius)
