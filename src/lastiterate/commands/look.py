"""The command ``lastiterate look``."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from lastiterate.commands.measuring import (
    computing,
    from_checkpoint,
    option,
    read_run_file,
    require_torch,
    resuming,
)
from lastiterate.commands.output import OutputFile, progress, say_json


@click.command()
@click.argument("name", metavar="WORKLOAD")
@click.option("--run", "run_file", type=click.Path(path_type=Path), help="Run file whose privacy is described.")
@click.option(
    "--out",
    "paths",
    type=OutputFile(),
    multiple=True,
    help="File to write: .html, .md or .json; repeat for more.",
)
@option("--delta", default=1e-5, help="Delta of the privacy losses.")
@option("--budget", default=600.0, help="Seconds after which no further part begins.")
@click.option(
    "--centers", type=int, show_default="20", help="Number of iterates around which the search begins."
)
@click.option("--samples", type=int, show_default="all", help="Number of randomly drawn samples to use.")
@computing
@click.option("--data", type=click.Path(path_type=Path), help="Your data, for a workload that reads data.")
@from_checkpoint
@click.option("--json", "as_json", is_flag=True, help="Print all results as JSON.")
@resuming
def command(
    name: str,
    run_file: Path | None,
    paths: tuple[Path, ...],
    samples: int | None,
    data: Path | None,
    checkpoint: Path | None,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> None:
    """Show all that can be measured and proved of WORKLOAD on one page.

    WORKLOAD is as for `estimate`. The page shows the constants that were found and proved on balls of increasing
    radius and for every layer, the modulus of continuity, the eigenvalues of Hessians, and the privacy loss of the
    run: a bound if it rests on proved constants, an estimate otherwise. Parts for which no time is left are named.
    """
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.portrait.look import look
    from lastiterate.runtime.portrait.record import check_forms
    from lastiterate.runtime.workloads.loading import load_workload
    from lastiterate.runtime.workloads.workload import subset

    check_forms(paths)
    run, assumption = (None, None) if run_file is None else read_run_file(run_file)
    workload = load_workload(name, data, checkpoint)
    if samples is not None:
        workload = subset(workload, samples, options["seed"])
    folder = resume or cache_folder("look")
    said = shlex.join(["lastiterate", *sys.argv[1:]])
    if options["centers"] is None:
        del options["centers"]
    kept = (
        f"parts of the page are finished; the search on the domain is kept in {folder}, and no file is written"
    )
    with progress(f"{workload.name}, parts of the page", kept) as told:
        found = look(workload, run, assumption, command=said, folder=folder, on_step=told, **options)
    found.save(*paths)
    if as_json:
        say_json(found.as_dict(), indent=2)
    else:
        click.echo(str(found.table()))
        for part, why in found.skipped.items():
            click.echo(f"Left out, {part}: {why}")
        for path in paths:
            click.echo(f"{path} is written.")
