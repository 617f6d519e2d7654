"""The command ``lastiterate drift``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands import measuring
from lastiterate.commands.measuring import computing, from_checkpoint, option, resuming
from lastiterate.commands.output import progress, say_json, say_text

if TYPE_CHECKING:
    from lastiterate.runtime.attacks.drift import Drift

_ROWS = 9
_LITTLE = 0.1
"""Share of the clip norm below which the effect of a sample is reported as too small."""


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--workload", required=True, help="Network: builtin:NAME or module:factory.")
@from_checkpoint
@option("--pairs", default=1000, help="Number of pairs of runs.")
@option("--replaced", default=0, help="Index of the sample that differs.")
@computing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@resuming
def command(
    run_file: Path,
    workload: str,
    checkpoint: Path | None,
    threads: int,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> int:
    """Measure the distance between coupled runs of RUN_FILE whose data differ in one sample.

    The runs of a pair share batches and noise. No pair may exceed the tracked distance D_t, computed under
    the assumption of the file, with constants in closed form if the loss has them, and under clipping alone.
    The exit status is 1 if a pair exceeds D_t. Later calls reuse finished pairs. The replacement is sample
    number dataset_size + 1 of the workload.
    """
    measuring.require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.attacks.drift import measure_drift
    from lastiterate.runtime.devices import threads_of_torch
    from lastiterate.runtime.workloads.loading import load_workload

    run, assumption = measuring.read_run_file(run_file)
    network = load_workload(workload, checkpoint=checkpoint)
    folder = resume or cache_folder("drift")
    kept = f"steps of the pairs are finished; those of whole blocks are kept in {folder}"
    with threads_of_torch(threads), progress(f"{network.name}, steps of the pairs", kept) as on_step:
        found = measure_drift(network, run, assumption, folder=folder, on_step=on_step, **options)
    if as_json:
        say_json(_as_dict(network.name, found), indent=2)
    else:
        _print(network.name, found)
    return 1 if found.refuted else 0


def _as_dict(name: str, found: "Drift") -> dict[str, object]:
    coupled = found.coupled
    return {
        "workload": name,
        "pairs": coupled.distances.shape[1],
        "replaced": coupled.replaced,
        "pull": coupled.pull,
        "greatest": coupled.greatest.tolist(),
        "tracked": [
            {"name": one.name, "kind": str(one.rests), "statement": one.statement, "excess": one.excess}
            | {"distances": one.distances.tolist()}
            for one in found.tracked
        ],
        "remark": found.remark,
    }


def _print(name: str, found: "Drift") -> None:
    from lastiterate.numeric.rounding import printed_up

    pairs, steps = found.coupled.distances.shape[1], found.coupled.run.steps
    rows = []
    for t in sorted({round(steps * k / (_ROWS - 1)) for k in range(1, _ROWS)} - {0}):
        tracked = (printed_up(float(one.distances[t]), 4) for one in found.tracked)
        rows.append((str(t), f"{found.coupled.greatest[t]:.4g}", *tracked))
    title = f"{name}: distance between coupled runs, and tracked distance D_t by assumption"
    headings = ("step", f"greatest of {pairs}", *(f"{one.name}, {one.rests}" for one in found.tracked))
    measuring.print_table(title, headings, rows)
    say_text("drift.txt.j2", name=name, found=found, little=_LITTLE)
