"""The command ``lastiterate look``."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from lastiterate.commands.options import command_of, not_given, read_run_file, require_torch
from lastiterate.commands.output import progress, say_json


@command_of("look")
def command(
    name: str, run_file: Path | None, out: tuple[Path, ...], samples: int | None, data: Path | None,
    checkpoint: Path | None, as_json: bool, resume: Path | None, **options: Any,
) -> None:  # fmt: skip
    """Show what is found and proved of WORKLOAD on one page."""
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.portrait.look import look
    from lastiterate.runtime.portrait.record import check_forms
    from lastiterate.runtime.workloads.loading import load_workload
    from lastiterate.runtime.workloads.workload import subset

    check_forms(out)
    run, assumption = (None, None) if run_file is None else read_run_file(run_file)
    workload = load_workload(name, data, checkpoint)
    workload = workload if samples is None else subset(workload, samples, options["seed"])
    options = {key: value for key, value in options.items() if not not_given(key)}
    options |= {"folder": resume or cache_folder("look"), "command": shlex.join(["lastiterate", *sys.argv[1:]])}
    kept = f"parts of the page are finished; no file is written, and the search is kept in {options['folder']}"
    with progress(f"{workload.name}, parts of the page", kept) as on_step:
        found = look(workload, run, assumption, on_step=on_step, **options)
    found.save(*out)
    if as_json:
        say_json(found.as_dict(), indent=2)
    else:
        click.echo("\n".join([str(found), *(f"{path} is written." for path in out)]))
