"""Options and checks shared by the commands that train networks."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.runtime.workloads.workload import Workload


def computing(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where and how gradients are computed, the same for every command that trains."""
    options = (
        click.option("--device", default="cpu", show_default=True, help="Device: cpu, cuda or mps."),
        click.option(
            "--dtype",
            default="float64",
            show_default=True,
            help="Precision: float64, float32, or bfloat16 to search in.",
        ),
        click.option("--memory", type=int, help="Bytes that a chunk may take; if left out, what there is room for."),
        click.option("--threads", default=1, show_default=True, help="Threads on the CPU."),
        click.option("--seed", default=0, show_default=True, help="Seed of everything random."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def from_checkpoint(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that puts trained weights into a network, the same for every command that has one."""
    return click.option(
        "--checkpoint",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Weights to start from: a state_dict saved by torch, or safetensors. Nothing in the file is executed.",
    )(command)


def in_metric(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that measures in a diagonal metric, the same for every command that has one."""
    return click.option(
        "--metric",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Weights of the coordinates: the state_dict of an Adam saved by torch, or one tensor a parameter, by its "
        "name, as npz or safetensors. Nothing in the file is executed.",
    )(command)


def measured_workload(name: str, data: Path | None, checkpoint: Path | None, metric: Path | None) -> "Workload":
    """The workload of this name with these weights, in this metric.

    Raises:
        InputError: one of them cannot be had.
    """
    from lastiterate.runtime.workloads.loading import load_workload

    chosen = load_workload(name, data, checkpoint)
    if metric is None:
        return chosen
    from lastiterate.runtime.workloads.metric import in_metric, read_metric

    return in_metric(chosen, read_metric(metric, chosen))


def resuming(finished: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option that names the folder of finished parts."""
    return click.option(
        "--resume",
        type=click.Path(path_type=Path, file_okay=False),
        help=f"Folder of finished {finished}; the user's cache folder if left out.",
    )


def require_torch() -> None:
    """Refuse to train without torch.

    Raises:
        InputError: torch is missing.
    """
    if find_spec("torch") is None:
        raise InputError(
            "Training a network needs torch, got an installation without it; run pip install 'lastiterate[runtime]'."
        )


def run_of(path: Path) -> tuple["NoisySGD", "Assumption"]:
    """The run and the assumption of a run file; clipping alone, which holds always, where it has no [assumption].

    Raises:
        InputError: as `lastiterate.numeric.run_file.load_run`.
    """
    from lastiterate.numeric.run_file import described_tables, read_toml

    tables = read_toml(path)
    if "assumption" not in tables:
        click.echo(
            f"{path} has no [assumption], so nothing is assumed of the losses but that they are clipped.", err=True
        )
        tables["assumption"] = {"kind": "clipped"}
    return described_tables(tables, str(path))
