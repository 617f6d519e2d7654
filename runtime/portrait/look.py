"""Measurement of everything that belongs on the page of one network, in parts, within a budget of time."""

import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from importlib import metadata
from itertools import pairwise
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any, Final, Unpack

import numpy as np
import torch
from scipy.sparse.linalg import eigsh
from torch import nn

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.bound import PrivacyLoss, bound, estimate
from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.losses.assumptions import Assumption, Clipped
from lastiterate.numeric.run import NoisySGD, described_run
from lastiterate.runtime.attacks.attack import attack
from lastiterate.runtime.attacks.drift import measure_drift
from lastiterate.runtime.clock import Clock
from lastiterate.runtime.constants.certified import certified_side
from lastiterate.runtime.constants.holder import constants_along_training
from lastiterate.runtime.constants.pairs import measure_between, measure_center
from lastiterate.runtime.constants.record import WorstCaseConstants, WorstPair, best_pairs, improves, read_off
from lastiterate.runtime.constants.sampling import Sampling, Settings
from lastiterate.runtime.constants.search import Search
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.devices import says_when_memory_runs_out, threads_of_torch
from lastiterate.runtime.engine import unwrapped
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.hessian import HessianOperator
from lastiterate.runtime.leaves import difference, leaf_norms, norm
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.portrait.record import Portrait
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import paper_run, project_onto_ball, spread_iterates, train
from lastiterate.runtime.workloads.workload import Workload, described_workload, subset

_SHARES: Final = (1e-3, 1e-2, 10**-1.5, 0.1, 10**-0.5)
_APART: Final = np.geomspace(1e-4, 1.0, 13)
"""Radii of the curve, and distances at which the worst pairs are measured, as shares of those of the domain."""

_WIDEST: Final = 5.0
_CENTERS: Final = 20
"""Radius that stands for an unbounded domain; number of iterates around which the search begins."""

_FEWER: Final = {"screened": 200, "starts": 12, "iterations": 16, "rounds": 1}
_SEARCHING: Final = 0.4
_LATER: Final = 8
_PROOF: Final = 4.0
"""Share of the budget for the search on the domain; balls of the curve whose time is left for what follows; seconds
that a proof may take at least."""

_PAIRS: Final = (48, 24)
_LARGE: Final = 2**28
"""Settings of `Search.curved` and `Search.climb` on a ball of the curve; entries of points, which limit them."""

_STAGES: Final = 6
_POINTS: Final = 20
_ALONG: Final = 2**43
"""Number of iterates along a training, points drawn around each, and purpose of the stream that draws them."""

_DENSE: Final = 400
_PROBES: Final = 24
"""Largest dimension in which a Hessian is computed as a matrix; random vectors for its trace in others."""

Data = dict[str, Any]
"""Plain data of a `Portrait`."""


class _Parts:
    """Parts of a portrait, which are computed in order while time is left."""

    def __init__(self, budget: float, number: int, on_step: Callable[[float, int], None] | None) -> None:
        self.seconds, self.skipped = dict[str, float](), dict[str, str]()
        self.time, self._number, self._on_step = Clock(budget), number, on_step or (lambda _done, _all: None)

    def late(self, name: str, done: str = "nothing is measured") -> bool:
        """True if time is up, which is then recorded as the reason why a part ends here."""
        over = self.time.late()
        if over:
            self.skipped[name] = (
                f"{done}, as the budget of {self.time.seconds:g} s is used up; raise the budget."
            )
        return over

    def tell(self, done: float, number: int) -> None:
        """Tell how much of the present part is finished."""
        self._on_step(len(self.seconds) + done / number, self._number)

    def step(self, done: float, number: int) -> None:
        """Tell how much of the present part is finished, and end it by an `InputError` if time is up."""
        self.tell(done, number)
        if self.late("now"):
            raise InputError(self.skipped.pop("now"))

    def do(self, name: str, compute: Callable[[], Any], otherwise: Any = None, *, needed: bool = False) -> Any:
        """Result of a part; unless it is needed, ``otherwise`` if time is up or an `InputError` is raised."""
        begun, found = monotonic(), otherwise
        self.tell(0, 1)
        try:
            if needed or not self.late(name):
                found = compute()
        except InputError as error:
            if needed:
                raise
            self.skipped[name] = str(error)
        self.seconds[name] = monotonic() - begun
        self.tell(0, 1)
        return found


@teaches()
@says_when_memory_runs_out
def look(
    workload: Workload,
    run: NoisySGD | None = None,
    assumption: Assumption | None = None,
    *,
    delta: float = 1e-5,
    lambdas: Sequence[float] = (0.25, 0.5, 0.75, 1.0),
    checkpoints: Sequence[Path] = (),
    runs: int = 200,
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
        checkpoints: checkpoints of a training run; without them, the run itself is measured.
        runs: number of coupled pairs of runs, and of attacked runs on each side, if a run is given.
        budget: seconds in all. If they are too few, searches are shortened, and no further part begins when they are
            over. A short search on the domain is always done.
        command: command that computes the portrait again; by default, a call of this function.
        **settings: fields of `Sampling`; others are as the workload recommends.

    Raises:
        InputError: as in `worst_case_constants`.
    """
    described_workload("look", workload)
    given, advice = run is not None, dict[str, Any](workload.recommended)
    advised: Any = {name: advice[name] for name in ("dtype", "centers") if name in advice}
    sampling = Sampling(centers=_CENTERS).but(**advised).but(**settings)
    if run is None:
        if workload.subset is None and "samples" in advice:
            workload = subset(workload, advice["samples"], sampling.seed)
        advised = {one.name: advice[one.name] for one in fields(NoisySGD) if one.name in advice}
        run = paper_run(workload, **advised)
    described_run("look", run)
    quiet, seed, own = sampling.but(on_step=None), sampling.seed, workload
    if run.dataset_size < workload.samples:
        rows = slice(run.dataset_size)
        own = replace(workload, inputs=workload.inputs[rows], targets=workload.targets[rows])
    parts = _Parts(positive("budget", budget), 9 if given else 7, sampling.on_step)
    radius = run.diameter / 2 if isfinite(run.diameter) else _WIDEST
    orders = tuple({*lambdas, 1.0})
    timed: dict[str, Any] = {"budget": _SEARCHING * budget} | vars(quiet) | {"on_step": parts.tell}
    found = parts.do("search", lambda: worst_case_constants(own, run, orders, **timed), needed=True)
    numbers = parts.do("privacy", lambda: _numbers(found, run, assumption, delta), needed=True)
    worst = [pair for pair in found.searched if pair.constant]
    with threads_of_torch(sampling.threads):
        gradients = quiet.gradients(own)
        curve = parts.do("radii", lambda: _curve(own, gradients, radius, found, worst, seed, parts), [])
        spectra, top = parts.do("Hessian", lambda: _spectra(gradients, found, seed), ([], None))
        changes = parts.do("changes", lambda: _changes_of(gradients, worst, radius, parts), [])
        layers = parts.do("layers", lambda: _layers(own, quiet, gradients, changes, top, radius, parts), [])
        points = parts.time.part(1 / 2).fitting(_POINTS, 2, lambda: _STAGES * own.samples * gradients.pace)
        near = quiet.but(points=points, radius=radius)
        stages, needed = (lambda: _training(own, gradients, run, checkpoints, near)), bool(checkpoints)
        training = parts.do("training", stages, [], needed=needed)
        drift, audit = None, None
        if given:
            pairs, replaced = _with_spare(workload, run, found)
            timed = vars(quiet) | {"on_step": parts.step}
            more = {"pairs": runs, "replaced": replaced, **timed}
            drift = parts.do("drift", lambda: measure_drift(pairs, run, assumption or Clipped(), **more), None)
            timed |= {"delta": delta, "runs": runs, "assumption": assumption}
            audit = parts.do("audit", lambda: attack(own, run, **timed), None)
        prints = identify_workload(own, gradients)
    far = [(distance, moved) for moved, distance in changes if distance >= radius * _APART[0]]
    steps = sorted((distance, float(np.linalg.norm(moved, axis=0).max())) for distance, moved in far)
    versions = [f"{name} {metadata.version(name)}" for name in ("lastiterate", "torch", "numpy")]
    return Portrait(
        {"workload": workload.name, "given": given, "delta": delta, "run": asdict(run), "numbers": numbers}
        | {"facts": _facts(workload, own, gradients, sampling), "constants": found.as_dict(), "curve": curve}
        | {"modulus": [*zip(*np.maximum.accumulate(steps or [(radius, 0.0)]).T.tolist(), strict=True)]}
        | {"training": training, "drift": drift and drift.as_dict(), "audit": audit and audit.as_dict()}
        | {"layers": layers, "spectra": spectra, "seconds": parts.seconds, "skipped": parts.skipped}
        | {"repeat": {"command": command or f"li.look(workload, run, {seed=})", "seed": seed}}
        | {"versions": ", ".join([*versions, f"Python {platform.python_version()}"]), "data": prints["data"]}
    )


def _facts(workload: Workload, own: Workload, gradients: Gradients, sampling: Sampling) -> dict[str, str]:
    frozen = sum(p.numel() for p in gradients.module.parameters() if not p.requires_grad)
    rows = [f"{str(one.dtype)[6:]} of shape {tuple(one.shape[1:])}" for one in (own.inputs, own.targets)]
    return {
        "network": f"{type(gradients.module).__name__}, {len(gradients.layers)} layers with trained parameters",
        "parameters": f"{gradients.dimension:,} trained, {frozen:,} frozen",
        "loss": str(getattr(own.loss, "__name__", type(own.loss).__name__)),
        "samples": f"{own.samples:,} of {workload.samples:,}; inputs {rows[0]}; targets {rows[1]}",
        "derivatives": gradients.engine.words() or "The module is differentiated as it is, in batches.",
        "precision": f"{sampling.dtype}; assumed rounding error of a gradient {gradients.rounding:.2g} of its length",
        "device": f"{sampling.device}, {sampling.threads} CPU threads, {platform.machine()}",
    }


def _numbers(
    found: WorstCaseConstants, run: NoisySGD, assumption: Assumption | None, delta: float
) -> list[Data]:
    """Bounds from clipping, the user's assumption and proved constants, and the least estimate from found ones."""
    said: list[tuple[str, PrivacyLoss]] = [("clipping alone", bound(run, Clipped(), delta=delta))]
    if assumption not in (None, Clipped()):
        said.append(("the assumption of the run file", bound(run, assumption, delta=delta)))
    if found.bounded is not None and found.certified is not None:
        said.append(("proved constants", bound(run, found.certified.assumption(run), delta=delta)))
    if found.trusted:
        estimates = [estimate(run, found.holder(lam), delta=delta) for lam in reversed(found.carried)]
        said.append(("constants that were found", min(estimates, key=lambda one: one.epsilon)))
    return [{"under": name} | number.as_dict() for name, number in said]


def _at_radius(
    workload: Workload, gradients: Gradients, radius: float, seed: int, parts: _Parts, name: str, share: float
) -> tuple[Data, WorstPair]:
    """Smoothness found and proved on a ball around the start, in a share of the time, and the pair that was found."""
    most, time = max(8, _LARGE // gradients.dimension), parts.time.part(share)
    search = Search(gradients, gradients.start, 2 * radius, seed=seed, time=time.part(1 / 2))
    curved = search._replace(time=time.part(1 / 4)).curved(
        **{name: min(most, one) for name, one in _FEWER.items()}
    )
    ends = search.climb(min(most, _PAIRS[0]), min(most, _PAIRS[1]), curved)
    (pair,) = best_pairs((1.0,), [ends])
    if curved["short"].any() or ends["short"].any():
        parts.skipped[name] = f"searches were shortened to fit in {parts.time.seconds:g} s; raise the budget."
    constants, why = certified_side(workload, seed, 2 * radius, time=time.part(1.0, _PROOF))
    proved = None if constants is None else constants.smoothness
    return {"radius": radius, "found": pair.constant, "certified": proved, "why": why}, pair


def _curve(
    workload: Workload, gradients: Gradients, radius: float, known: WorstCaseConstants, worst: list[WorstPair],
    seed: int, parts: _Parts,
) -> list[Data]:  # fmt: skip
    """Smoothness on balls; a pair in a ball is in all larger balls, and a proof holds on all smaller ones."""
    curve: list[Data] = []
    for k, share in enumerate(_SHARES):
        if parts.late("radii", f"{k} of {len(_SHARES)} smaller balls are measured"):
            break
        here, pair = _at_radius(
            workload, gradients, share * radius, seed, parts, "radii", 1 / (len(_SHARES) - k + _LATER)
        )
        parts.tell(k + 1, len(_SHARES))
        curve.append(here)
        worst += [pair] if pair.constant else []
    order = known.lambdas.index(1.0)
    whole = {"found": known.found[order], "certified": known.upper[order], "why": known.why}
    curve.append({"radius": radius} | whole)
    for less, more in pairwise(curve):
        more["found"] = max(less["found"], more["found"])
    for less, more in reversed([*pairwise(curve)]):
        proved = [one["certified"] for one in (less, more) if one["certified"] is not None]
        less["certified"] = min(proved, default=None)
    for one in reversed(curve):
        finite = one["certified"] is not None and isfinite(one["certified"])
        one["improves"] = finite and improves(known.run, one["certified"], one["radius"])
        if one["improves"]:
            break
    return curve


def _spectra(gradients: Gradients, found: WorstCaseConstants, seed: int) -> tuple[list[Data], Array | None]:
    """Spectra of the mean loss at the start and of the worst sample, and the top eigenvector of the latter."""
    (pair,) = (one for one in found.searched if one.lam == 1)
    middle = torch.as_tensor((pair.place["x"] + pair.place["y"]) / 2).to(gradients.start)
    words = f"the loss of sample {pair.sample} at the worst point"
    first, _ = _spectrum(HessianOperator(gradients, gradients.start), seed)
    second, top = _spectrum(HessianOperator(gradients, middle, pair.sample), seed)
    return [{"of": "the mean loss at the start"} | first, {"of": words} | second], top


def _spectrum(operator: HessianOperator, seed: int) -> tuple[Data, Array]:
    size, generator, error = operator.shape[0], np.random.default_rng(seed), 0.0
    if size <= _DENSE:
        matrix = operator @ np.eye(size)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        trace = float(values.sum())
    else:
        values, vectors = eigsh(operator, k=2, which="BE", tol=1e-3, v0=generator.standard_normal(size))
        signs = np.sign(generator.standard_normal((size, _PROBES)))
        each = (signs * (operator @ signs)).sum(axis=0)
        trace, error = float(each.mean()), float(each.std(ddof=1) / _PROBES**0.5)
    top = vectors[:, int(np.abs(values).argmax())]
    return {"least": float(values[0]), "greatest": float(values[-1]), "trace": trace, "error": error}, top


@torch.no_grad()
def _changes_of(
    gradients: Gradients, worst: Sequence[WorstPair], radius: float, parts: _Parts
) -> list[tuple[Array, float]]:
    """Changes of all blocks of all samples' gradients, (layers, samples), less rounding, and distances.

    Each of the worst pairs is measured at its own distance and at others, around the same midpoint.
    """
    found: list[tuple[Array, float]] = []
    leaves, time = gradients.layers.values(), parts.time.part(1 / 3)
    for pair in worst:
        if found and time.late():
            break
        x, y = (torch.as_tensor(pair.place[name]).to(gradients.start)[None] for name in "xy")
        for length in (pair.distance, *(2 * radius * _APART)):
            ends = [(x + y) / 2 + sign * length / 2 * (x - y) / (x - y).norm() for sign in (1, -1)]
            ends = [project_onto_ball(end, gradients.start, 2 * radius) for end in ends]
            moved = []
            for chunk in gradients.sample_chunks(weight=2):
                here, there = (gradients.at(end, chunk) for end in ends)
                norms, floor = (
                    leaf_norms(difference(here, there)),
                    gradients.rounding * (norm(here) + norm(there)),
                )
                blocks = [torch.stack([norms[k][0] for k in block]).norm(dim=0) for block in leaves]
                moved.append((torch.stack(blocks) - floor).clamp(min=0.0).cpu().double())
            found.append((torch.cat(moved, dim=1).numpy(), float((ends[0] - ends[1]).norm())))
    return found


def _training(
    workload: Workload, gradients: Gradients, run: NoisySGD, checkpoints: Sequence[Path], sampling: Sampling
) -> list[Data]:
    """Smoothness around and between checkpoints or iterates of the run, among drawn points."""
    if checkpoints:
        stages = constants_along_training(workload, checkpoints, (1.0,), sampling).stages
        shown = [(stage.checkpoint, stage.around, stage.between, stage.moved) for stage in stages]
    else:
        points, shown = train(gradients, gradients.start, run, sampling.seed, centers=_STAGES), []
        for k, step in enumerate(spread_iterates(run.steps, _STAGES)):
            draws = stream(sampling.seed, purpose=_ALONG).part(k)
            tables = [measure_center(gradients, points[k], run.clip_norm, sampling, draws)]
            tables += [measure_between(gradients, points[k], points[k - 1], run.clip_norm)] if k else []
            around, *before = [read_off(table, Kind.SAMPLE, (1.0,)) for table in tables]
            moved = float(tables[1].distances[0]) if k else None
            shown.append((f"step {step}", around, before[0] if before else None, moved))
    return [
        {"at": at, "around": around.constants[0], "moved": moved, "between": between and between.constants[0]}
        for at, around, between, moved in shown
    ]


def _with_spare(workload: Workload, run: NoisySGD, found: WorstCaseConstants) -> tuple[Workload, int]:
    """Workload with a sample that replaces another, by default a copy of the worst one, and which is replaced."""
    (worst,) = (pair.sample or 0 for pair in found.searched if pair.lam == 1)
    if workload.samples > run.dataset_size or run.adjacency != "replace":
        return workload, 0
    rows = [*range(workload.samples), worst]
    return replace(workload, inputs=workload.inputs[rows], targets=workload.targets[rows]), int(worst == 0)


def _layers(
    workload: Workload, sampling: Sampling, gradients: Gradients, changes: Sequence[tuple[Array, float]],
    top: Array | None, radius: float, parts: _Parts,
) -> list[Data]:  # fmt: skip
    ratios = [moved / distance for moved, distance in changes if distance]
    most = np.max(ratios, axis=0) if ratios else np.zeros((len(gradients.layers), 1))
    ends = np.cumsum(gradients.sizes)[:-1]
    squares = None if top is None else [part.sum() for part in np.split(top**2, ends)]
    layers: list[Data] = []
    for k, (name, leaves) in enumerate(gradients.layers.items()):
        alone = None
        if len(gradients.layers) > 1 and not parts.late("layers", f"{k} layers are measured alone"):
            with suppress(InputError):
                only = replace(workload, module=partial(_frozen_but, workload.module, leaves))
                made, rest = sampling.gradients(only), len(gradients.layers) - k
                alone, _ = _at_radius(only, made, radius, sampling.seed, parts, "layers", 1 / (rest + 1))
        share = None if squares is None else float(sum(squares[leaf] for leaf in leaves))
        kind = type(gradients.module.get_submodule("" if name == "(module)" else name)).__name__
        found = {"found": float(most[k].max()), "worst": int(most[k].argmax()), "share": share, "alone": alone}
        layers.append({"name": f"{name} {kind}", "size": gradients.layer_sizes[name]} | found)
    return layers


def _frozen_but(made: Callable[[], nn.Module], leaves: Sequence[int]) -> nn.Module:
    module = made()
    for k, one in enumerate([one for one in unwrapped(module).parameters() if one.requires_grad]):
        one.requires_grad_(k in leaves)
    return module
