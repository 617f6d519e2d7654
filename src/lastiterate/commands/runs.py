"""Commands about the run in a file: bound, calibrate, forget, participation, compare and sweep."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from lastiterate.commands.options import command_of
from lastiterate.commands.output import progress, say_json, say_result, say_text
from lastiterate.numeric.errors import InputError


@command_of("bound")
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


@command_of("calibrate")
def calibrate_command(run_file: Path, vary: str, as_json: bool, **target: Any) -> None:
    """Adjust one number of the run in RUN_FILE until the run just meets the target, erring on the safe side."""
    from lastiterate.numeric.calibrate import calibrate
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress(vary):
        found = calibrate(run, assumption, vary=vary, **target)
    say_result(found, str(found), as_json=as_json)


@command_of("forget")
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


@command_of("participation")
def participation_command(
    run_file: Path, order: float | None, delta: float | None, as_json: bool, **uses: Any
) -> None:
    """Bound what the last iterate of the run in RUN_FILE reveals about a sample, given the steps that use it."""
    from lastiterate.numeric.participation import by_position, participation
    from lastiterate.numeric.run_file import load_run

    run, assumption = load_run(run_file)
    with progress("batches of an epoch"):
        every = all(one is None for one in uses.values())
        find: Any = by_position if every else partial(participation, **uses)
        found = find(run, assumption, order=order, delta=delta)
    say_result(found, str(found.table()), as_json=as_json)


@command_of("compare")
def compare_command(run_file: Path, order: float, name: str | None, as_json: bool) -> None:
    """Show what each theorem claims for the run in RUN_FILE, with its verdict in the ledger."""
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


@command_of("sweep")
def sweep_command(sweep_file: Path, out: Path, jobs: int, as_json: bool) -> None:
    """Bound every run of the grid in SWEEP_FILE."""
    from lastiterate.numeric.sweeps import load_sweep, sweep

    plan = load_sweep(sweep_file)
    with progress("rows") as told:
        table = sweep(plan.run, plan.assumption, plan.axes, out=out, jobs=jobs, on_row=told)
    if as_json:
        say_json({"out": str(out), "rows": plan.rows, "refused": table.refused})
        return
    refused = f", {table.refused} of them without a number (see the error column)" if table.refused else ""
    click.echo(f"{out}: {plan.rows} rows{refused}")
