"""``lastiterate estimate``: the Hölder constants of a network, and what they would mean for privacy."""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.numeric.errors import InputError, Interrupted

if TYPE_CHECKING:
    from lastiterate.numeric.results import Estimate
    from lastiterate.runtime.constants.closer import CloserLook
    from lastiterate.runtime.constants.record import HolderEstimate
    from lastiterate.runtime.workloads.workload import Workload

__all__ = ["command", "loaded", "measured"]

_ORDERS = (0.25, 0.5, 0.75, 1.0)
_TRAINING = ("steps", "step_size", "clip_norm", "noise_std", "diameter", "batch_size", "sampling")


@click.command()
@click.argument("workload")
@click.option(
    "--lambda",
    "lambdas",
    type=float,
    multiple=True,
    default=_ORDERS,
    show_default=True,
    help="Hölder order in (0, 1]; repeat for more. All orders share one pass.",
)
@click.option("--inits", default=20, show_default=True, help="Initialisations, each trained and measured.")
@click.option(
    "--centers",
    type=int,
    default=None,
    show_default="all",
    help="Iterates kept and measured, evenly spaced, the first and the last among them.",
)
@click.option("--points", default=100, show_default=True, help="Points drawn around every iterate that is measured.")
@click.option("--radius", default=1.0, show_default=True, help="Radius of the ball they are drawn in.")
@click.option("--draw", default="uniform", show_default=True, help="uniform in the ball, or log-uniform radii.")
@click.option("--steps", default=200, show_default=True, help="Training steps, and T of the privacy numbers.")
@click.option("--step-size", default=0.1, show_default=True, help="Learning rate of the training.")
@click.option("--clip-norm", default=1.0, show_default=True, help="Clip norm of the training.")
@click.option("--noise-std", default=1e-3, show_default=True, help="Noise added to the iterate in training.")
@click.option("--diameter", default=1.0, show_default=True, help="Diameter of the domain in training; inf for none.")
@click.option("--samples", type=int, default=None, show_default="all", help="Random samples that stand for the data.")
@click.option("--batch-size", type=int, default=None, show_default="all", help="Samples in a training step.")
@click.option(
    "--sampling",
    default="full",
    show_default=True,
    help="full, cyclic, shuffled, without_replacement or poisson batches.",
)
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or mps.")
@click.option("--dtype", default="float64", show_default=True, help="float64 or float32.")
@click.option("--memory", default=256 * 2**20, show_default=True, help="Bytes that one chunk may take.")
@click.option("--threads", default=1, show_default=True, help="Threads on the CPU.")
@click.option("--seed", default=0, show_default=True, help="Seed of everything random.")
@click.option("--closer", is_flag=True, help="Search for the worst pair, too, and give closed forms where known.")
@click.option("--layers", is_flag=True, help="Constants of every layer, too; they cost no gradient.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder of your data, for a workload that reads it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder of finished initialisations; the user's cache folder if left out.",
)
def command(
    workload: str,
    lambdas: tuple[float, ...],
    closer: bool,
    layers: bool,
    data: Path | None,
    samples: int | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    r"""Measure the Hölder constants of WORKLOAD, which is builtin:NAME or module:factory.

    The network is trained, points are drawn around every iterate, and the largest |g(x) - g(y)| / |x - y|^lambda
    is reported. That is a lower estimate of the true constant, so the privacy numbers beside it are estimates.
    Under torchrun several processes share the work, each on a GPU of its own; the numbers are those of one process.

    \b
    Examples:
      lastiterate estimate builtin:iris-mlp
      lastiterate estimate builtin:breast-cancer --closer
      lastiterate estimate my_package.models:factory --lambda 0.5 --lambda 1 --device cuda --json
      torchrun --nproc-per-node 4 -m lastiterate estimate builtin:iris-mlp --device cuda
    """
    _need_torch()
    from lastiterate.runtime.constants.distributed import process_group

    with process_group() as me:
        chosen = loaded(workload, data)
        advised = {key: value for key, value in chosen.recommended.items() if _left_open(key)}
        options |= {"samples": samples, **advised}
        samples = options.pop("samples")
        if samples is not None:
            from lastiterate.runtime.workloads.subset import subset

            chosen = subset(chosen, samples, options["seed"])
        found = measured(chosen, lambdas, options, resume, layers=layers)
        if me.rank:
            return
        look = _closer(chosen, found, options) if closer else None
    carried = [_carried(found, lam) for lam in found.lambdas] if found.trusted else []
    if as_json:
        numbers = [
            {"lambda": lam} | number.as_dict() for lam, number in zip(found.lambdas, carried, strict=bool(carried))
        ]
        said = {"measurement": json.loads(found.to_json()), "carried": numbers}
        said |= {} if found.trusted else {"untrusted": f"{found.untrusted}; {found.remedy}."}
        click.echo(json.dumps(said | ({"closer": look.as_dict()} if look else {}), indent=2))
    else:
        _print(found, carried, advised)
        if layers and found.trusted:
            _print_layers(found)
        if look:
            _print_closer(found, look)


def _left_open(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT


def loaded(name: str, data: Path | None = None) -> "Workload":
    """The workload called ``name``, with the user's data where it reads some.

    Raises:
        InputError: torch is missing, or there is no such workload or data.
    """
    _need_torch()
    from lastiterate.runtime.workloads.loading import load_workload

    return load_workload(name, data)


def _need_torch() -> None:
    if find_spec("torch") is None:
        raise InputError(
            "Measuring a network needs torch, got an installation without it; run pip install 'lastiterate[runtime]'."
        )


def measured(
    workload: "Workload",
    lambdas: Sequence[float],
    options: Mapping[str, Any],
    folder: Path | None = None,
    *,
    layers: bool = False,
) -> "HolderEstimate":
    """Measure a workload with a progress bar on stderr; finished initialisations are kept and found again.

    Args:
        workload: network, loss and data.
        lambdas: Hölder orders.
        options: fields of `lastiterate.runtime.constants.holder.Sampling` and of
            `lastiterate.runtime.training.descent.paper_run`.
        folder: where finished initialisations are kept; the user's cache folder if None.
        layers: whether to tell the layers apart.

    Raises:
        InputError: anything that cannot be measured.
    """
    from platformdirs import user_cache_path
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from lastiterate.runtime.constants.distributed import team
    from lastiterate.runtime.constants.holder import Sampling, estimate_holder
    from lastiterate.runtime.training.descent import paper_run

    sampling = Sampling(**{key: value for key, value in options.items() if key not in _TRAINING})
    run = paper_run(workload, **{key: value for key, value in options.items() if key in _TRAINING})
    folder = folder or user_cache_path("lastiterate") / "estimate"
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    silent = team().rank > 0 or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as progress:
        task = progress.add_task(f"{workload.name}, {sampling.draw} draw, initialisations", total=sampling.inits)
        try:
            return estimate_holder(
                workload,
                run,
                tuple(lambdas),
                sampling,
                layers=layers,
                folder=folder,
                on_step=lambda done, total: progress.update(task, completed=done, total=total),
            )
        except KeyboardInterrupt:
            done, total = (int(number or 0) for number in (progress.tasks[0].completed, progress.tasks[0].total))
            raise Interrupted(
                f"{done} of {total} initialisations are finished and kept in {folder}, with the finished iterates of "
                "the one under way"
            ) from None


def _carried(found: "HolderEstimate", lam: float) -> "Estimate":
    """The conditional number in the setting of Figure 1, over as many steps as were trained."""
    from lastiterate.numeric.bound import estimate
    from lastiterate.numeric.figures.chien_li_1 import SETTING
    from lastiterate.numeric.theorems import run_of

    return estimate(run_of({**SETTING, "T": found.run.steps}), found.holder(lam), order=SETTING["alpha"])


def _print(found: "HolderEstimate", carried: Sequence["Estimate"], advised: Mapping[str, object]) -> None:
    from rich.console import Console
    from rich.table import Table

    from lastiterate.numeric.figures.chien_li_1 import SETTING
    from lastiterate.numeric.theorems import EVALUATORS
    from lastiterate.runtime.constants.kinds import Kind

    composition = EVALUATORS["composition"]({**SETTING, "T": found.run.steps})
    table = Table(title=f"{found.workload}: measured Hölder constants (lower estimates)", title_justify="left")
    for heading in ("lambda", "L per sample", "L per batch", "epsilon if L is true", "composition"):
        table.add_column(heading, justify="right")
    for k, lam in enumerate(found.lambdas):
        table.add_row(
            f"{lam:g}",
            found.measured[Kind.SAMPLE].cell(k),
            found.measured[Kind.BATCH].cell(k),
            f"{carried[k].epsilon:.4f}" if carried else "-",
            f"{composition:.4f}",
        )
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(table)
    if advised:
        said = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in advised.items())
        console.print(f"Recommended for this workload and used where you gave nothing: {said}.")
    if found.subset is not None:
        console.print(
            f"The data are {found.subset.samples} of {found.subset.of} samples, drawn with seed {found.subset.seed}: "
            "all others were neither trained on nor measured."
        )
    if not carried:
        console.print(
            f"{found.untrusted}: there is no constant and no epsilon; {found.remedy}. {found.remark}".rstrip()
        )
        return
    console.print(
        f"Epsilon is an estimate, not a bound: Rényi order {SETTING['alpha']:g}, T = {found.run.steps}, setting of "
        f"Figure 1 of Chien & Li (eta = 0.1, K = 2, n = 5, D = 1, noise 1), which is not the run that was measured. "
        f"It is conditional on {carried[-1].conditional_on}.",
    )
    left_out = found.measured[Kind.SAMPLE].left_out
    console.print(
        f"{left_out} of {found.pairs} pairs were left out because rounding may dominate them ({found.dtype}); "
        f"pairs are {found.distances[0]:.3g} to {found.distances[1]:.3g} apart. {found.remark}".rstrip()
    )


def _print_layers(found: "HolderEstimate") -> None:
    from rich.console import Console
    from rich.table import Table

    from lastiterate.runtime.constants.kinds import Kind

    table = Table(title="L of each layer's block of the per-sample gradient (lower estimates)", title_justify="left")
    table.add_column("layer")
    for heading in ("parameters", *(f"lambda {lam:g}" for lam in found.lambdas)):
        table.add_column(heading, justify="right")
    for layer in found.layers:
        constants = layer.measured[Kind.SAMPLE]
        table.add_row(layer.name, str(layer.size), *(constants.cell(k) for k in range(len(found.lambdas))))
    Console(file=sys.stdout, highlight=False, soft_wrap=True).print(table)


def _closer(workload: "Workload", found: "HolderEstimate", options: Mapping[str, Any]) -> "CloserLook":
    from lastiterate.runtime.constants.closer import closer_look

    kept = {key: options[key] for key in ("radius", "centers", "dtype", "device", "memory", "seed")}
    return closer_look(workload, found.run, found.lambdas, **kept)


def _print_closer(found: "HolderEstimate", look: "CloserLook") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="A closer look at the first initialisation", title_justify="left")
    for heading in ("lambda", "worst pair found", "at distance", "extrapolated, 95%"):
        table.add_column(heading, justify="right")
    for pair, extreme in zip(look.searched, look.extremes, strict=True):
        interval = f"{extreme.low:.4g} to {extreme.high:.4g}"
        table.add_row(f"{pair.lam:g}", f"{pair.constant:.4g}", f"{pair.distance:.3g}", interval)
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(table)
    console.print(
        f"Per-sample Hessians along the trajectory reach {look.curvature:.4g}. Worst pairs and curvature are lower "
        "estimates; the extrapolation is statistical and only about the pairs that are drawn."
    )
    if look.certified is None:
        console.print(f"No constants of {found.workload} are known in closed form.")
        return
    console.print(
        f"Certified: every per-sample gradient is {look.certified.smoothness:.4g}-Lipschitz and at most "
        f"{look.certified.lipschitz:.4g} long ({look.certified.statement})."
    )
    if look.bounded is not None:
        console.print(f"Hence a bound for the run that was measured, T = {found.run.steps}: {look.bounded}.")
