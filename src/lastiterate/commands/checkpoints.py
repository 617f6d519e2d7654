"""``lastiterate checkpoints``: Hölder constants along a training, from the checkpoints that it saved."""

import sys
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands.completion import workloads
from lastiterate.commands.measuring import computing, in_metric, require_torch, resuming
from lastiterate.commands.output import OutputFile, progress, say_json

if TYPE_CHECKING:
    from lastiterate.runtime.constants.along_record import AlongTraining
    from lastiterate.runtime.constants.fit import Constants


@click.command()
@click.argument("workload", shell_complete=workloads)
@click.argument("checkpoints", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--lambda", "order", type=float, default=1.0, show_default=True, help="Hölder order in (0, 1].")
@click.option("--points", default=100, show_default=True, help="Points drawn around every checkpoint.")
@click.option("--radius", default=1.0, show_default=True, help="Radius of the ball they are drawn in.")
@click.option("--draw", default="uniform", show_default=True, help="Uniform in the ball, or log-uniform radii.")
@click.option("--samples", type=int, default=None, show_default="all", help="Random samples that stand for the data.")
@computing
@click.option("--layers", is_flag=True, help="Constants of every layer, too; they cost no gradient.")
@click.option("--data", type=click.Path(path_type=Path), default=None, help="Your data, for a workload that reads it.")
@in_metric
@click.option("--plot", type=OutputFile(".png"), help="Picture to write, .png, with its CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@resuming("checkpoints")
def command(
    workload: str,
    checkpoints: tuple[Path, ...],
    order: float,
    samples: int | None,
    layers: bool,
    data: Path | None,
    metric: Path | None,
    plot: Path | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    r"""Measure the Hölder constants of WORKLOAD at the CHECKPOINTS of its training, in their order.

    A checkpoint is a file of weights, as torch or safetensors saves them; a folder stands for those in it, by number.
    Around each, points are drawn in the same directions; and from each to the next the change of the gradients is
    divided by how far the training went. All constants are of per-sample gradients and lower estimates; with --metric
    lengths are weighted, a coordinate at a time, and gradients by the dual norm, as an Adam sees them. Under torchrun
    several processes share the checkpoints.

    \b
    Examples:
      lastiterate checkpoints builtin:iris-mlp-tanh step-0.pt step-100.pt step-200.pt
      lastiterate checkpoints mine:factory saved --layers --plot constants.png
      lastiterate checkpoints hf:my_model trainer_output --data tokens.parquet --samples 20 --points 10
    """
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.constants.along_training import checkpoints_in, constants_along_training
    from lastiterate.runtime.constants.distributed import process_group
    from lastiterate.runtime.constants.holder import Sampling
    from lastiterate.runtime.workloads.loading import load_workload
    from lastiterate.runtime.workloads.metric import read_metric
    from lastiterate.runtime.workloads.workload import subset

    sampling, found = Sampling(**options), checkpoints_in(checkpoints)
    folder = resume or cache_folder("checkpoints")
    with process_group() as me:
        chosen = load_workload(workload, data)
        chosen = chosen if samples is None else subset(chosen, samples, sampling.seed)
        weights = None if metric is None else read_metric(metric, chosen)
        with progress(f"{chosen.name}, checkpoints", f"checkpoints are measured and kept in {folder}") as told:
            along = constants_along_training(
                chosen, found, (order,), sampling, layers=layers, metric=weights, folder=folder, on_step=told
            )
    if me.rank:
        return
    files: tuple[Path, ...] = ()
    if plot is not None:
        from lastiterate.numeric.plotting import write_figure
        from lastiterate.runtime.constants.along_picture import figure

        files = write_figure(figure(along, order), plot.parent, plot.stem)
    if as_json:
        from dataclasses import asdict

        say_json(asdict(along) | {"files": [str(path) for path in files]}, indent=2)
        return
    _print(along)
    for path in files:
        click.echo(path)


def _print(found: "AlongTraining") -> None:
    """The constants at every checkpoint, those of its layers below, and what they are worth."""
    from rich.console import Console
    from rich.table import Table

    out, order = Console(file=sys.stdout, highlight=False, soft_wrap=True), f"lambda {found.lambdas[0]:g}"
    title = f"{found.workload}: L along its training, {order} (lower estimates)"
    shared = commonpath([Path(stage.checkpoint).absolute().parent for stage in found.stages])
    table = Table(title=title, title_justify="left")
    for heading in ("", "checkpoint", "moved", "L from the one before", "L around it"):
        table.add_column(heading, justify="left" if heading == "checkpoint" else "right")
    for place, stage in enumerate(found.stages, start=1):
        moved = "-" if stage.moved is None else f"{stage.moved:.4g}"
        name = str(Path(stage.checkpoint).absolute().relative_to(shared))
        table.add_row(str(place), name, moved, _cell(stage.between), _cell(stage.around))
    out.print(table)
    if found.stages[0].layers:
        by_layer = Table("layer", title="L of each layer's block around each checkpoint", title_justify="left")
        for place in range(len(found.stages)):
            by_layer.add_column(str(place + 1), justify="right")
        for name in found.stages[0].layers:
            by_layer.add_row(name, *(_cell(stage.layers[name]) for stage in found.stages))
        out.print(by_layer)
    out.print(
        f"Per-sample gradients, the largest over {found.samples} samples; {found.points} points in a ball of radius "
        f"{found.radius:g} around each checkpoint, in the same directions. The true constants are no smaller. "
        f"{found.remark}".rstrip()
    )


def _cell(constants: "Constants | None") -> str:
    return "-" if constants is None else constants.cell(0)
