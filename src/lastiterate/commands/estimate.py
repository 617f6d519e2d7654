"""``lastiterate estimate``: the Hölder constants of a network, and what they would mean for privacy."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands.completion import workloads
from lastiterate.commands.measuring import computing, from_checkpoint, require_torch, resuming
from lastiterate.commands.output import progress, say_json

if TYPE_CHECKING:
    from lastiterate.numeric.estimate import Estimate
    from lastiterate.numeric.losses.assumptions import Measured
    from lastiterate.runtime.constants.record import HolderEstimate
    from lastiterate.runtime.constants.worst_case_constants import WorstCaseConstants
    from lastiterate.runtime.workloads.workload import Workload

_ORDERS = (0.25, 0.5, 0.75, 1.0)
_TRAINING = ("steps", "step_size", "clip_norm", "noise_std", "diameter", "batch_size", "sampling")


@click.command()
@click.argument("workload", shell_complete=workloads)
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
@click.option("--draw", default="uniform", show_default=True, help="Uniform in the ball, or log-uniform radii.")
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
    help="Batches: full, cyclic, shuffled, without_replacement or poisson.",
)
@computing
@click.option(
    "--worst-case",
    "--closer",
    "worst_case",
    is_flag=True,
    help="Search for the worst pair, too, and give closed forms where known.",
)
@click.option(
    "--kind",
    type=click.Choice(["sample", "sample_clipped", "batch", "batch_clipped"]),
    default="sample",
    show_default=True,
    help="Gradient that --worst-case is about: of one sample or of the batch, clipped or not.",
)
@click.option("--layers", is_flag=True, help="Constants of every layer, too; they cost no gradient.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder or file of your data, for a workload that reads it.",
)
@from_checkpoint
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@resuming("initialisations")
def command(
    workload: str,
    lambdas: tuple[float, ...],
    worst_case: bool,
    kind: str,
    layers: bool,
    data: Path | None,
    checkpoint: Path | None,
    samples: int | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    r"""Measure the Hölder constants of WORKLOAD, which is builtin:NAME, hf:FOLDER or module:factory.

    The network is trained, points are drawn around every iterate, and the largest |g(x) - g(y)| / |x - y|^lambda
    is reported. That is a lower estimate of the true constant, so the privacy numbers beside it are estimates.
    Under torchrun several processes share the work, each on a GPU of its own; the numbers are those of one process.

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
      lastiterate estimate builtin:breast-cancer --worst-case
      lastiterate estimate builtin:cifar10-cnn --data ~/data --samples 200
      lastiterate estimate mine:factory --checkpoint net.pt
      lastiterate estimate hf:my_model --data tokens.parquet
      lastiterate estimate my_package.models:factory --lambda 0.5 --lambda 1 --device cuda --json
      torchrun --nproc-per-node 4 -m lastiterate estimate builtin:iris-mlp --device cuda
    """
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.constants.distributed import process_group
    from lastiterate.runtime.pair_table import Kind
    from lastiterate.runtime.workloads.loading import load_workload

    folder = resume or cache_folder("estimate")
    with process_group() as me:
        chosen = load_workload(workload, data, checkpoint)
        advised = {key: value for key, value in chosen.recommended.items() if _left_open(key)}
        options |= {"samples": samples, **advised}
        samples = options.pop("samples")
        if samples is not None:
            from lastiterate.runtime.workloads.workload import subset

            chosen = subset(chosen, samples, options["seed"])
        what = f"initialisations are finished and kept in {folder}, with the finished iterates of the one under way"
        with progress(f"{chosen.name}, {options['draw']} draw, initialisations", what) as told:
            found = measured(chosen, lambdas, options, folder, told, layers=layers)
        if me.rank:
            return
        look = _worst_case(chosen, found, options, kind, folder) if worst_case else None
    carried = [_carried(found, found.holder(lam)) for lam in found.lambdas] if found.trusted else []
    combine = layers and found.trusted and all(layer.measured[Kind.SAMPLE].kept for layer in found.layers)
    together = _carried(found, found.by_layer()) if combine else None
    if as_json:
        numbers = [
            {"lambda": lam} | number.as_dict() for lam, number in zip(found.lambdas, carried, strict=bool(carried))
        ]
        said = {"measurement": json.loads(found.to_json()), "carried": numbers}
        said |= {"layers_together": together.as_dict()} if together else {}
        said |= {} if found.trusted else {"untrusted": f"{found.untrusted}; {found.remedy}."}
        say_json(said | ({"worst_case": look.as_dict()} if look else {}), indent=2)
    else:
        from lastiterate.commands.estimate_tables import print_layers, print_measurement, print_worst_case

        print_measurement(found, carried, advised)
        if layers and found.trusted:
            print_layers(found, together)
        if look:
            print_worst_case(found, look)


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
    from lastiterate.runtime.constants.holder import Sampling, estimate_holder
    from lastiterate.runtime.training.descent import paper_run

    sampling = Sampling(**{key: value for key, value in options.items() if key not in _TRAINING})
    run = paper_run(workload, **{key: value for key, value in options.items() if key in _TRAINING})
    return estimate_holder(workload, run, tuple(lambdas), sampling, layers=layers, folder=folder, on_step=on_step)


def _carried(found: "HolderEstimate", measured: "Measured") -> "Estimate":
    """The conditional number in the setting of Figure 1, over as many steps as were trained."""
    from lastiterate.numeric.estimate import estimate
    from lastiterate.numeric.figures.chien_li_1 import SETTING, run_at

    return estimate(run_at(found.run.steps), measured, order=SETTING["alpha"])


def _worst_case(
    workload: "Workload", found: "HolderEstimate", options: Mapping[str, Any], kind: str, folder: Path
) -> "WorstCaseConstants":
    """Worst-case constants of the first initialisation that was measured; finished parts are kept and found again."""
    from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
    from lastiterate.runtime.pair_table import Kind
    from lastiterate.runtime.random_streams import seed_of

    kept = {key: options[key] for key in ("radius", "centers", "dtype", "device", "memory", "threads")}
    with progress(f"{workload.name}, worst-case constants, parts", f"parts are finished and kept in {folder}") as told:
        return worst_case_constants(
            workload,
            found.run,
            found.lambdas,
            kind=Kind(kind),
            seed=seed_of(options["seed"], 0),
            folder=folder,
            on_step=told,
            **kept,
        )
