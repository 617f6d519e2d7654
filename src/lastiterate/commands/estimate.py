"""``lastiterate estimate``: the Hölder constants of a network, and what they would mean for privacy."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands.completion import workloads
from lastiterate.commands.measuring import (
    computing,
    from_checkpoint,
    in_metric,
    measured_workload,
    require_torch,
    resuming,
)
from lastiterate.commands.output import OutputFile, progress, say_json
from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.runtime.constants.record import HolderEstimate
    from lastiterate.runtime.workloads.workload import Workload

_ORDERS = (0.25, 0.5, 0.75, 1.0)
_DRAWN = {"inits": 20, "points": 100}
_SEARCHED = {"inits": 1, "points": 20}
_SEARCH_ONLY = ("effort", "inputs", "kind", "save_pairs")


@click.command()
@click.argument("names", metavar="WORKLOAD...", nargs=-1, required=True, shell_complete=workloads)
@click.option(
    "--lambda",
    "lambdas",
    type=float,
    multiple=True,
    default=_ORDERS,
    show_default=True,
    help="Hölder order in (0, 1]; repeat for more. All orders share one pass.",
)
@click.option(
    "--draw",
    type=click.Choice(["search", "uniform", "log-uniform"]),
    default="search",
    show_default=True,
    help="Search for the worst pair; or draw pairs as the paper does, uniform in the ball or with log-uniform radii.",
)
@click.option(
    "--effort",
    default=1,
    show_default=True,
    help="Rounds of the search: each costs as much as the first, and none finds less.",
)
@click.option(
    "--inputs",
    default=None,
    show_default="the data",
    help="Inputs that are searched, too, with every label: box:LOW,HIGH for every entry, or ball:RADIUS.",
)
@click.option(
    "--kind",
    type=click.Choice(["sample", "sample_clipped", "batch", "batch_clipped"]),
    default="sample",
    show_default=True,
    help="Gradient that is searched: of one sample or of the batch, clipped or not.",
)
@click.option("--save-pairs", type=OutputFile(), help="File to keep the worst pairs in.")
@click.option(
    "--recheck",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of saved pairs: compute them anew in float64, and nothing else; exit status 1 if one does not hold.",
)
@click.option(
    "--inits", type=int, default=None, show_default="20 drawn, 1 searched", help="Initialisations, each trained."
)
@click.option(
    "--centers",
    type=int,
    default=None,
    show_default="all",
    help="Iterates kept and measured, evenly spaced, the first and the last among them.",
)
@click.option(
    "--points",
    type=int,
    default=None,
    show_default="100 drawn, 20 searched",
    help="Points drawn around every iterate that is measured.",
)
@click.option(
    "--radius", default=1.0, show_default=True, help="Radius of the ball they are drawn in, not of the domain."
)
@click.option("--steps", default=200, show_default=True, help="Training steps, and T of the privacy numbers.")
@click.option("--step-size", default=0.1, show_default=True, help="Learning rate of the training.")
@click.option("--clip-norm", default=1.0, show_default=True, help="Clip norm of the training.")
@click.option("--noise-std", default=1e-3, show_default=True, help="Noise added to the iterate in training.")
@click.option(
    "--diameter", default=1.0, show_default=True, help="Diameter of the domain, twice its radius; inf for none."
)
@click.option("--samples", type=int, default=None, show_default="all", help="Random samples that stand for the data.")
@click.option("--batch-size", type=int, default=None, show_default="all", help="Samples in a training step.")
@click.option(
    "--sampling",
    default="full",
    show_default=True,
    help="Batches: full, cyclic, shuffled, without_replacement or poisson.",
)
@computing
@click.option("--layers", is_flag=True, help="Constants of every layer, too, of drawn pairs; they cost no gradient.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder or file of your data, for a workload that reads it.",
)
@from_checkpoint
@in_metric
@click.option("--csv", "table", type=OutputFile(), help="File for the table of several.")
@click.option("--plot", type=OutputFile(".png"), help="Picture of several, .png, with its CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@resuming("initialisations")
def command(
    names: tuple[str, ...],
    lambdas: tuple[float, ...],
    effort: int,
    inputs: str | None,
    kind: str,
    save_pairs: Path | None,
    recheck: Path | None,
    layers: bool,
    data: Path | None,
    checkpoint: Path | None,
    metric: Path | None,
    table: Path | None,
    plot: Path | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    r"""Find the Hölder constants of WORKLOAD from both sides, which is builtin:NAME, hf:FOLDER or module:factory.

    The network is trained, and around its iterates and in the ball of the domain the largest
    |g(x) - g(y)| / |x - y|^lambda is searched for. That is a lower estimate of the true constant, so the privacy
    numbers beside it are estimates; beside it stands the certified constant, or why there is none. A round of the
    search takes seconds an order on a network of a few hundred parameters, minutes for all on builtin:digits-cnn.
    With --draw pairs are drawn around every iterate, as in the paper: a lower estimate that is far smaller. Several
    workloads are searched one after the other and stand side by side in one table. With --metric lengths are weighted,
    a coordinate at a time, and gradients by the dual norm, as an Adam sees them. Under
    torchrun several processes share the work, each on a GPU of its own; the numbers are those of one process.

    A module:factory is a function of yours that returns a lastiterate.Workload: network, loss of one sample, data. With
    --checkpoint there is one initialisation, those weights, where --inits is left out.

    hf:FOLDER is a classifier that Hugging Face's save_pretrained wrote; --data names a file with input_ids,
    attention_mask and labels (safetensors, npz, parquet or jsonl). Nothing of it runs.

    Built in: iris-mlp, iris-mlp-tanh, iris-mlp-gelu, iris-softmax, breast-cancer, digits-cnn, minilm (a pretrained
    transformer); and on your copy of CIFAR-10, which --data names: cifar10-cnn, cifar10-resnet18. Large ones come with
    settings of their own for what you leave open, and say which.

    \b
    Examples:
      lastiterate estimate builtin:iris-mlp
      lastiterate estimate builtin:digits-cnn --inputs box:0,1 --save-pairs pairs.safetensors
      lastiterate estimate builtin:digits-cnn --recheck pairs.safetensors
      lastiterate estimate builtin:cifar10-cnn --data ~/data --samples 200
      lastiterate estimate mine:factory --checkpoint net.pt
      lastiterate estimate hf:my_model --data tokens.parquet
      lastiterate estimate builtin:iris-mlp-tanh builtin:iris-mlp-gelu --plot both.png
      lastiterate estimate mine:factory --metric adam.pt
      lastiterate estimate my_package.models:factory --lambda 0.5 --lambda 1 --device cuda --json
      torchrun --nproc-per-node 4 -m lastiterate estimate builtin:iris-mlp --device cuda
    """
    require_torch()
    from lastiterate.commands.estimate_search import say_rechecked, say_searched, searched
    from lastiterate.commands.estimate_several import refuse_files, refuse_of_several, say_side_by_side, side_by_side
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.constants import saved_pairs
    from lastiterate.runtime.constants.distributed import process_group

    refuse_files(names, table, plot)
    if recheck is not None:
        if len(names) > 1:
            raise InputError(f"--recheck needs one workload, got {len(names)}; name the one of the pairs.")
        say_rechecked(measured_workload(names[0], data, checkpoint, metric), recheck, as_json)
        return
    searching = {"effort": effort, "kind": kind, "inputs": inputs}
    folder = resume or cache_folder("estimate")
    with process_group() as me:
        loaded = [measured_workload(name, data, checkpoint, metric) for name in names]
        settled = [_settled(one, options, layers) for one in loaded]
        if len(settled) > 1:
            given = {"checkpoint": checkpoint, "metric": metric, "save_pairs": save_pairs, "layers": layers}
            for _, own, _ in settled:
                refuse_of_several(own["draw"], given)
            several = [(one, own | searching, advised) for one, own, advised in settled]
            rows = side_by_side(several, lambdas, folder, first=me.rank == 0)
            if me.rank == 0:
                say_side_by_side(rows, table, plot, as_json)
            return
        chosen, options, advised = settled[0]
        if options["draw"] == "search":
            look = searched(chosen, lambdas, options | searching, folder)
            if me.rank == 0 and save_pairs is not None:
                saved_pairs.save_pairs(save_pairs, look)
            if me.rank == 0:
                say_searched(look, advised, as_json, metric=metric)
            return
        what = f"initialisations are finished and kept in {folder}, with the finished iterates of the one under way"
        with progress(f"{chosen.name}, {options['draw']} draw, initialisations", what) as told:
            found = measured(chosen, lambdas, options, folder, told, layers=layers)
        if not me.rank:
            _say_drawn(found, advised, as_json, layers, metric)


def _settled(
    chosen: "Workload", options: Mapping[str, Any], layers: bool
) -> tuple["Workload", dict[str, Any], dict[str, object]]:
    """The workload, perhaps a subset, with what is left open as it recommends, and what that is."""
    from lastiterate.runtime.workloads.workload import subset

    draw = str(chosen.recommended.get("draw", "search") if _left_open("draw") else options["draw"])
    _refuse_other_options(draw, layers)
    advised = {
        key: value
        for key, value in chosen.recommended.items()
        if _left_open(key)
        and not (draw == "search" and key in _SEARCHED)
        and not (key == "memory" and options["device"] != "cpu")
    }
    usual = {key: value for key, value in (_SEARCHED if draw == "search" else _DRAWN).items() if options[key] is None}
    own = {**options, **usual, **advised, "draw": draw}
    samples = own.pop("samples")
    return chosen if samples is None else subset(chosen, samples, own["seed"]), own, advised


def _refuse_other_options(draw: str, layers: bool) -> None:
    """Refuse options of the search where pairs are drawn, and of the draws where they are searched."""
    given = [f"--{name.replace('_', '-')}" for name in _SEARCH_ONLY if not _left_open(name)]
    if draw != "search" and given:
        raise InputError(f"{given[0]} needs the search, got draw={draw}; leave one of the two out.")
    if draw == "search" and layers:
        raise InputError("--layers needs drawn pairs, got draw=search; add --draw uniform.")


def _say_drawn(
    found: "HolderEstimate", advised: Mapping[str, object], as_json: bool, layers: bool, metric: Path | None
) -> None:
    """Print what was drawn."""
    from lastiterate.commands.estimate_search import by_order, carried_over
    from lastiterate.runtime.pair_table import Kind

    plain = found.trusted and metric is None
    carried = [carried_over(found.run, found.holder(lam)) for lam in found.lambdas] if plain else []
    combine = layers and plain and all(layer.measured[Kind.SAMPLE].kept for layer in found.layers)
    together = carried_over(found.run, found.by_layer()) if combine else None
    if as_json:
        said = {"measurement": json.loads(found.to_json()), "carried": by_order(found.lambdas, carried)}
        said |= {"layers_together": together.as_dict()} if together else {}
        said |= {} if found.trusted else {"untrusted": f"{found.untrusted}; {found.remedy}."}
        say_json(said, indent=2)
    else:
        from lastiterate.commands.estimate_tables import print_layers, print_measurement

        print_measurement(found, carried, advised, metric)
        if layers and found.trusted:
            print_layers(found, together, metric)


def _left_open(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT


def measured(
    workload: "Workload",
    lambdas: Sequence[float],
    options: Mapping[str, Any],
    folder: Path,
    on_step: Callable[[int, int], None],
    *,
    layers: bool = False,
) -> "HolderEstimate":
    """Measure a workload; finished initialisations are kept in ``folder`` and found again.

    The options are fields of `lastiterate.runtime.constants.holder.Sampling` and of
    `lastiterate.runtime.training.descent.paper_run`; ``on_step`` is called with (finished, all) initialisations.

    Raises:
        InputError: anything that cannot be measured.
    """
    from lastiterate.commands.estimate_search import TRAINING
    from lastiterate.runtime.constants.holder import Sampling, estimate_holder
    from lastiterate.runtime.training.descent import paper_run

    sampling = Sampling(**{key: value for key, value in options.items() if key not in TRAINING})
    run = paper_run(workload, **{key: value for key, value in options.items() if key in TRAINING})
    return estimate_holder(workload, run, tuple(lambdas), sampling, layers=layers, folder=folder, on_step=on_step)
