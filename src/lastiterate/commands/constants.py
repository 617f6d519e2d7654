"""Commands that measure the constants of a network: estimate and checkpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.options import command_of, not_given, require_torch
from lastiterate.commands.output import print_table, progress, say_json, say_text
from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.runtime.constants.record import AlongTraining, HolderEstimate, WorstCaseConstants
    from lastiterate.runtime.workloads.workload import Workload

_OF_SEARCH: Final = ("inputs", "kind", "save_pairs", "budget")
_OF_DRAWS: Final = ("points", "radius")
_OF_RUN: Final = ("steps", "step_size", "clip_norm", "noise_std", "diameter", "batch_size", "sampling")
"""Options of the search, options of drawn pairs, and options that are fields of the run."""
_INITS: Final = {True: 3, False: 20}
"""Number of initialisations that a search compares, and that draws measure."""


@command_of("estimate", inits={"show_default": f"{_INITS[True]}, or {_INITS[False]} with --draw"})
def estimate_command(
    name: str,
    lambdas: tuple[float, ...],
    recheck: Path | None,
    data: Path | None,
    checkpoint: Path | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    """Find the Hölder constants of WORKLOAD: builtin:NAME, hf:FOLDER or module:factory."""
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.workloads.loading import load_workload

    workload = load_workload(name, data, checkpoint)
    if recheck is not None:
        _recheck(workload, recheck, as_json)
        return
    chosen = _Chosen(workload, options)
    look = _search_worst if chosen.draw == "search" else _draw_pairs
    _say(look(chosen, lambdas, resume or cache_folder("estimate")), chosen, as_json)


class _Chosen:
    def __init__(self, workload: "Workload", options: Mapping[str, Any]) -> None:
        from lastiterate.runtime.workloads.workload import subset

        advice = {key: value for key, value in workload.recommended.items() if not_given(key)}
        self.draw = str(advice.get("draw", options["draw"]))
        searching = self.draw == "search"
        for key in _OF_DRAWS if searching else _OF_SEARCH:
            if not not_given(key):
                kind, other = (
                    ("drawn pairs", "add --draw uniform") if searching else ("the search", "leave one out")
                )
                raise InputError(f"--{key.replace('_', '-')} needs {kind}, got draw={self.draw}; {other}.")
        if searching and options["layers"]:
            raise InputError("--layers needs drawn pairs, got draw=search; add --draw uniform.")
        skipped = set(_OF_DRAWS) if searching else set()
        if options["device"] != "cpu":
            skipped.add("memory")
        self.advised = {key: value for key, value in advice.items() if key not in skipped}
        self.options = {**options, **self.advised}
        if self.options["inits"] is None:
            self.options["inits"] = _INITS[searching]
        samples = self.options.pop("samples")
        self.workload = workload if samples is None else subset(workload, samples, options["seed"])

    @property
    def run(self) -> "NoisySGD":
        """The training run."""
        from lastiterate.runtime.training.descent import paper_run

        return paper_run(self.workload, **{key: self.options[key] for key in _OF_RUN})

    def settings(self, *names: str) -> dict[str, Any]:
        """Settings of the measurement, with the options in ``names``."""
        return {
            key: self.options[key]
            for key in (*names, "centers", "dtype", "device", "memory", "threads", "seed")
        }


def _search_worst(chosen: _Chosen, lambdas: Sequence[float], folder: Path) -> "WorstCaseConstants":
    from lastiterate.runtime.constants.sampling import Sampling, input_set
    from lastiterate.runtime.constants.worst_case_constants import steepest_start, worst_case_constants
    from lastiterate.runtime.pair_table import Kind

    options, name = chosen.options, chosen.workload.name
    inputs = None if options["inputs"] is None else input_set(options["inputs"])
    with progress(f"{name}, search, parts", f"parts of {name} are finished and kept in {folder}") as told:
        run, settings = chosen.run, chosen.settings()
        sampling = Sampling(inits=options["inits"], **settings)
        settings["seed"], said = steepest_start(chosen.workload, run.diameter, sampling)
        found = worst_case_constants(
            chosen.workload,
            run,
            tuple(lambdas),
            kind=Kind(options["kind"]),
            inputs=inputs,
            folder=folder,
            on_step=told,
            budget=options["budget"],
            **settings,
        )
    return replace(found, remark=f"{said} {found.remark}".strip())


def _draw_pairs(chosen: _Chosen, lambdas: Sequence[float], folder: Path) -> "HolderEstimate":
    from lastiterate.runtime.constants.holder import estimate_holder

    name, layers = chosen.workload.name, chosen.options["layers"]
    settings = chosen.settings("inits", *_OF_DRAWS) | {"draw": chosen.draw, "folder": folder}
    with progress(
        f"{name}, {chosen.draw} draw, parts", f"parts of {name} are finished and kept in {folder}"
    ) as told:
        return estimate_holder(
            chosen.workload, chosen.run, tuple(lambdas), layers=layers, on_step=told, **settings
        )


def _say(found: "HolderEstimate | WorstCaseConstants", chosen: _Chosen, as_json: bool) -> None:
    from lastiterate.numeric.bound import estimate
    from lastiterate.numeric.published.theorems import SETTING, run_at
    from lastiterate.numeric.rounding import printed_up
    from lastiterate.runtime.constants.record import HolderEstimate, WorstCaseConstants
    from lastiterate.runtime.constants.saved_pairs import save_pairs
    from lastiterate.runtime.pair_table import Kind

    orders = found.lambdas if isinstance(found, HolderEstimate) else found.carried
    run, order = run_at(found.run.steps), SETTING["alpha"]  # as in Figure 1 of Chien & Li
    carried = [estimate(run, found.holder(lam), order=order) for lam in orders] if found.trusted else []
    said: dict[str, Any] = {}
    if isinstance(found, WorstCaseConstants):
        if chosen.options["save_pairs"] is not None:
            save_pairs(chosen.options["save_pairs"], found)
        said["search"] = found.as_dict()
    else:
        said["measurement"] = found.as_dict()
        if not found.trusted:
            said["untrusted"] = f"{found.untrusted}."
    if as_json:
        numbers = zip(orders, carried, strict=bool(carried))
        said["carried"] = [{"lambda": lam} | number.as_dict() for lam, number in numbers]
        say_json(said, indent=2)
        return
    table, epsilons = found.table(), [printed_up(one.epsilon, 4) for one in carried]
    table = table.beside("epsilon if L is true", epsilons + ["-"] * (len(table.rows) - len(epsilons)))
    say_text("estimate.txt.j2", table=table, found=found, carried=carried, advised=chosen.advised)
    if isinstance(found, HolderEstimate) and found.layers and found.trusted:
        headings = ("layer", "parameters", *(f"lambda {order:g}" for order in orders))
        cells = ((layer, layer.measured[Kind.SAMPLE]) for layer in found.layers)
        rows = ((one.name, str(one.size), *map(of.cell, range(len(orders)))) for one, of in cells)
        print_table("L of each layer's block of the per-sample gradient (lower estimates)", headings, rows)


def _recheck(workload: "Workload", path: Path, as_json: bool) -> None:
    from lastiterate.runtime.constants.saved_pairs import recheck

    rows = recheck(workload, path)
    if as_json:
        names = {"lambda": "lam", "recomputed": "found"}
        keys = ("lambda", "said", "recomputed", "distance", "problem", "holds")
        said = [{key: getattr(row, names.get(key, key)) for key in keys} for row in rows]
        say_json({"rechecked": said}, indent=2)
    else:
        say_text("recheck.txt.j2", rows=rows)
    click.get_current_context().exit(0 if all(row.holds for row in rows) else 1)


@command_of("checkpoints")
def checkpoints_command(
    workload: str,
    checkpoints: tuple[Path, ...],
    order: float,
    samples: int | None,
    layers: bool,
    data: Path | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    """Measure the Hölder constants of WORKLOAD at the CHECKPOINTS of a training run, in the order given."""
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.constants.holder import checkpoints_in, constants_along_training
    from lastiterate.runtime.constants.sampling import Sampling
    from lastiterate.runtime.workloads.loading import load_workload
    from lastiterate.runtime.workloads.workload import subset

    folder, found = resume or cache_folder("checkpoints"), checkpoints_in(checkpoints)
    sampling = Sampling(**options, folder=folder)
    chosen = load_workload(workload, data)
    chosen = chosen if samples is None else subset(chosen, samples, sampling.seed)
    with progress(f"{chosen.name}, checkpoints", f"checkpoints are measured and kept in {folder}") as told:
        settings = sampling.but(on_step=told)
        along = constants_along_training(chosen, found, (order,), settings, layers=layers)
    if as_json:
        say_json(asdict(along), indent=2)
    else:
        _print_stages(along)


def _print_stages(found: "AlongTraining") -> None:
    shared = commonpath([Path(stage.checkpoint).absolute().parent for stage in found.stages])
    rows = [
        (
            str(place),
            str(Path(stage.checkpoint).absolute().relative_to(shared)),
            "-" if stage.moved is None else f"{stage.moved:.4g}",
            "-" if stage.between is None else stage.between.cell(0),
            stage.around.cell(0),
        )
        for place, stage in enumerate(found.stages, start=1)
    ]
    title = f"{found.workload}: L along its training run, lambda {found.lambdas[0]:g} (lower estimates)"
    headings = ("", "checkpoint", "moved", "L from the previous", "L around it")
    print_table(title, headings, rows)
    names = found.stages[0].layers
    if names:
        by_layer = [(name, *(stage.layers[name].cell(0) for stage in found.stages)) for name in names]
        places = (str(place) for place in range(1, len(found.stages) + 1))
        print_table("L of each layer's block around each checkpoint", ("layer", *places), by_layer)
    say_text("checkpoints.txt.j2", found=found)
