"""Commands about the run in a file: bound, calibrate, forget, participation, compare and sweep."""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from lastiterate.commands.output import OutputFile, progress, say_json, say_result, say_text
from lastiterate.numeric.errors import InputError

_of_run: Final = click.argument("run_file", type=click.Path(path_type=Path))
_as_json: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _bounded(command: Callable[..., None]) -> Callable[..., None]:
    """Add the run file, the order or delta of the bounds, and --json."""
    order = click.option("--order", type=float, help="Order alpha > 1 of Renyi bounds.")
    delta = click.option("--delta", type=float, help="Delta of (epsilon, delta) bounds.")
    return _of_run(order(delta(_as_json(command))))


@click.command("bound")
@_bounded
@click.option("--certificate", type=OutputFile(), help="Write a certificate of the bound to this file.")
def bound_command(
    run_file: Path, order: float | None, delta: float | None, as_json: bool, certificate: Path | None
) -> None:
    """Bound the privacy loss of the last iterate of the run in RUN_FILE, rounded up."""
    from lastiterate.numeric.bound import bound
    from lastiterate.numeric.certificates.description import from_dyadic
    from lastiterate.numeric.explain import remarks, why_composition
    from lastiterate.numeric.run_file import load_run
    from lastiterate.numeric.store import write_whole

    run, assumption = load_run(run_file)
    certified = None
    with progress("bound"):
        found = bound(run, assumption, order=order, delta=delta)
        made = None if certificate is None else found.certificate(weaker=True)
    if certificate is not None and made is not None:
        certificate.parent.mkdir(parents=True, exist_ok=True)
        write_whole(certificate, f"{json.dumps(made)}\n".encode())
        certified = from_dyadic(made["claim"]["value"])
    if as_json:
        say_json(found.as_dict() | ({} if certified is None else {"certified": certified}))
        return
    charged = f"shifts over steps {found.window[0]} to {found.window[1]}"
    if found.route == "contraction":
        charged = charged.replace("shifts", "blocks")
    elif found.route.startswith("composition"):
        charged = f"all steps are charged ({why_composition(found.run)})"
    number = found.mu if order is None and delta is None else found.epsilon
    if certified is not None and (number is None or certified <= number * (1 + 1e-9)):
        certified = None  # the same number
    texts = {"charged": charged, "remarks": remarks(run, delta), "certified": certified}
    say_text("bound.txt.j2", found=found, **texts)


@click.command("calibrate")
@_bounded
@click.option("--epsilon", type=float, required=True, help="Target epsilon.")
@click.option(
    "--vary",
    default="noise_std",
    show_default=True,
    help="What to change: noise_std, steps, diameter or batch_size.",
)
def calibrate_command(run_file: Path, vary: str, as_json: bool, **target: Any) -> None:
    """Adjust one number of the run in RUN_FILE until the run just meets the target, erring on the safe side."""
    from lastiterate.numeric.calibrate import calibrate
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress(vary):
        found = calibrate(run, assumption, vary=vary, **target)
    say_result(found, str(found), as_json=as_json)


@click.command("forget")
@_bounded
@click.option("--steps", type=int, help="Clean steps, on the data without the sample.")
@click.option("--epsilon", type=float, help="Target epsilon: find the number of clean steps that meets it.")
@click.option("--retrained", is_flag=True, help="Apply the target to the comparison with a retrained model.")
@click.option("--step-size", type=float, help="Step size of the clean steps; by default that of the last step.")
@click.option("--noise-std", type=float, help="Noise of the clean steps; by default that of the last step.")
def forget_command(
    run_file: Path, steps: int | None, epsilon: float | None, retrained: bool, as_json: bool, **target: Any
) -> None:
    """Bound what the last iterate of the run in RUN_FILE reveals about a deleted sample after clean steps."""
    from lastiterate.numeric.forgetting import forgetting, steps_to_forget
    from lastiterate.numeric.run_file import load_run

    if (steps is None) == (epsilon is None):
        raise InputError(
            f"forget needs a number of steps or a target, got steps={steps}, epsilon={epsilon}; pass exactly one of "
            "--steps and --epsilon."
        )
    run, assumption = load_run(run_file)
    if epsilon is None:
        found = forgetting(run, assumption, steps or 0, **target)
    else:
        found = steps_to_forget(run, assumption, epsilon=epsilon, retrained=retrained, **target)
    say_result(found, str(found.table()), as_json=as_json)


def _numbers(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(
            f"The list needs whole numbers separated by commas, got {text!r}; write for example 3,4,20."
        ) from None


@click.command("participation")
@_bounded
@click.option(
    "--steps",
    type=_numbers,
    metavar="STEPS",
    help="Steps that use the sample, counted from 0, in increasing order, such as 3,4,20.",
)
@click.option("--position", type=int, help="Batch of an epoch that holds the sample, counted from 0.")
def participation_command(
    run_file: Path, order: float | None, delta: float | None, as_json: bool, **uses: Any
) -> None:
    """Bound what the last iterate of the run in RUN_FILE reveals about a sample, given the steps that use it.

    Without --steps and --position, the loss is bounded for the samples of every batch of an epoch: the
    worst, the 90 % quantile, the median and the best.
    """
    from lastiterate.numeric.participation import by_position, participation
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress("batches of an epoch"):
        every = all(one is None for one in uses.values())
        find: Any = by_position if every else partial(participation, **uses)
        found = find(run, assumption, order=order, delta=delta)
    say_result(found, str(found.table()), as_json=as_json)


@click.command("compare")
@_of_run
@click.option("--order", type=float, default=2.0, show_default=True, help="Order alpha > 1.")
@click.option(
    "--theorem", "name", help="Name of one theorem: show its verdict, the reason, and what is true instead."
)
@_as_json
def compare_command(run_file: Path, order: float, name: str | None, as_json: bool) -> None:
    """Show what each theorem claims for the run in RUN_FILE, with its verdict in the ledger.

    The first row is a certified lower bound; the last column is the ratio to this bound. The papers state
    Renyi divergences, so theorems are compared at an order; for an epsilon at a delta, use bound.
    """
    from lastiterate.numeric.compare import compare
    from lastiterate.numeric.run_file import load_run
    from lastiterate.proofs_checks.lock import read_lock
    from lastiterate.proofs_checks.stated import theorem

    run, assumption = load_run(run_file)
    if name is not None:
        stated = theorem(name, run, assumption, order=order)
        if as_json:
            say_json(asdict(stated))
        else:
            click.echo(str(stated))
        return
    with progress("theorems"):
        rows = compare(run, assumption, order=order)
    verdicts = {key: str(entry.verdict) for key, entry in read_lock().items()}
    if as_json:
        say_json([row.as_dict() | {"verdict": verdicts.get(row.claim)} for row in rows])
    else:
        click.echo(str(rows.table().beside("verdict", [verdicts.get(row.claim, "") for row in rows])))


@click.command("sweep")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--out", type=OutputFile(), required=True, help="Table to write, .csv.")
@click.option("--jobs", default=-1, show_default=True, help="Worker processes; -1 for one per core.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the file and the row count.")
def sweep_command(sweep_file: Path, out: Path, jobs: int, as_json: bool) -> None:
    """Bound every run of the grid in SWEEP_FILE.

    Computed rows are kept in the folder OUT.rows. An interrupted sweep continues from this folder, and a
    finished sweep returns at once. A refused row states the reason.
    """
    from lastiterate.numeric.sweeps import load_sweep, sweep

    plan = load_sweep(sweep_file)
    with progress("rows") as told:
        table = sweep(plan.run, plan.assumption, plan.axes, out=out, jobs=jobs, on_row=told)
    if as_json:
        say_json({"out": str(out), "rows": plan.rows, "refused": table.refused})
        return
    refused = f", {table.refused} of them without a number (see the error column)" if table.refused else ""
    click.echo(f"{out}: {plan.rows} rows{refused}")
