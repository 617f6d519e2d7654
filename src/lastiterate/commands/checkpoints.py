"""The command ``lastiterate checkpoints``."""

from dataclasses import asdict
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands.measuring import (
    computing,
    option,
    print_table,
    require_torch,
    resuming,
)
from lastiterate.commands.output import progress, say_json

if TYPE_CHECKING:
    from lastiterate.runtime.constants.record import AlongTraining


@click.command()
@click.argument("workload")
@click.argument("checkpoints", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--lambda", "order", type=float, default=1.0, help="Hölder order in (0, 1].")
@option("--points", default=100, help="Points drawn around every checkpoint.")
@option("--radius", default=1.0, help="Radius of the ball from which the points are drawn.")
@option("--draw", default="uniform", help="Draw points uniformly in the ball, or with log-uniform radii.")
@click.option("--samples", type=int, show_default="all", help="Number of randomly drawn samples to use.")
@computing
@click.option("--layers", is_flag=True, help="Also measure every layer, without further gradients.")
@click.option("--data", type=click.Path(path_type=Path), help="Your data, for a workload that reads data.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@resuming
def command(
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
    """Measure the Hölder constants of WORKLOAD at the CHECKPOINTS of a training run, in the order given.

    A checkpoint is a file of weights saved by torch or safetensors; a folder stands for its checkpoints in
    numerical order. Points are drawn in the same directions around each checkpoint; between successive
    checkpoints, the change of the gradients is divided by the distance. All constants are lower estimates for
    per-sample gradients.
    """
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
        _print(along)


def _print(found: "AlongTraining") -> None:
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
    click.echo(
        f"L is the largest over {found.samples} per-sample gradients, from {found.points} points in a ball of radius "
        f"{found.radius:g} around each checkpoint, in the same directions. The true constants are at least as large. "
        f"{found.remark}".rstrip()
    )
