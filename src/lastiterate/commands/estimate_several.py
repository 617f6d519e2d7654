"""Several workloads of ``lastiterate estimate`` side by side."""

import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.output import WIDTH, say_json
from lastiterate.numeric.errors import InputError, Interrupted
from lastiterate.numeric.rounding import printed_down, printed_up

if TYPE_CHECKING:
    from lastiterate.runtime.constants.side_by_side import WorkloadConstants
    from lastiterate.runtime.workloads.workload import Workload

Settled = tuple["Workload", dict[str, Any], dict[str, object]]
"""A workload, the options that it is searched with, and those among them that it recommends."""

_ALONE: Final = ("checkpoint", "metric", "save_pairs", "layers")


def refuse_files(names: Sequence[str], table: Path | None, plot: Path | None) -> None:
    """Refuse files of several workloads where there is one, and two files of one name.

    Raises:
        InputError: so it is.
    """
    if len(names) == 1 and (table or plot):
        raise InputError("--csv and --plot need several workloads, got one; name others beside it, or use --json.")
    if table is not None and plot is not None and table == plot.with_suffix(".csv"):
        raise InputError(f"The picture writes a CSV of its own, got csv={table} beside plot={plot}; name another.")


def refuse_of_several(draw: str, given: Mapping[str, object]) -> None:
    """Refuse what is about one workload alone.

    Raises:
        InputError: such an option is given, or pairs are to be drawn.
    """
    alone = next((name for name in _ALONE if given.get(name)), None)
    if alone is not None:
        raise InputError(f"--{alone.replace('_', '-')} needs one workload, got several; measure that one alone.")
    if draw != "search":
        raise InputError(f"Several workloads are searched, got draw={draw}; measure one at a time.")


def side_by_side(
    settled: Sequence[Settled], lambdas: Sequence[float], folder: Path, *, first: bool
) -> tuple["WorkloadConstants", ...]:
    """Search one workload after the other; finished parts, and what they took, are kept and found again.

    ``first`` is whether this process speaks for all that share the work.
    """
    from numpy import array

    from lastiterate.commands.estimate_search import searched
    from lastiterate.numeric.store import Store
    from lastiterate.runtime.constants.side_by_side import WorkloadConstants

    rows: list[WorkloadConstants] = []
    for workload, options, advised in settled:
        began = monotonic()
        try:
            look = searched(workload, lambdas, options, folder)
        except Interrupted as error:
            raise Interrupted(f"{len(rows)} of {len(settled)} workloads are searched, and {error}") from None
        store = Store(folder if first else None, {"seconds": look.as_dict() | {"dtype": options["dtype"]}})
        took = store.part("seconds", lambda began=began: {"value": array(monotonic() - began)})["value"]  # type: ignore[misc]
        size = sum(p.numel() for p in workload.initial(0).parameters() if p.requires_grad)
        rows.append(WorkloadConstants.of(look, size, workload.samples, advised, float(took)))
    return tuple(rows)


def say_side_by_side(rows: Sequence["WorkloadConstants"], table: Path | None, plot: Path | None, as_json: bool) -> None:
    """Print the table, and write it and its picture where they are asked for."""
    from lastiterate.numeric.store import write_whole, writing
    from lastiterate.runtime.constants.side_by_side import as_csv, as_dicts

    files: list[Path] = []
    if table is not None:
        with writing("A table needs", f"csv={table}"):
            table.parent.mkdir(parents=True, exist_ok=True)
            write_whole(table, as_csv(rows).encode())
        files.append(table)
    if plot is not None:
        from lastiterate.numeric.plotting import write_figure
        from lastiterate.runtime.constants.side_by_side_picture import figure

        files += write_figure(figure(rows), plot.parent, plot.stem)
    if as_json:
        say_json({"side_by_side": as_dicts(rows), "files": [str(path) for path in files]}, indent=2)
        return
    _print(rows)
    for path in files:
        click.echo(path)


def _print(rows: Sequence["WorkloadConstants"]) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH)
    title = r"Hölder constants of per-sample gradients, \[found, certified]"
    table = Table(title=title, title_justify="left")
    for heading in ("workload", "parameters", "samples", *(f"lambda {lam:g}" for lam in rows[0].orders), "seconds"):
        table.add_column(heading, justify="left" if heading == "workload" else "right")
    for row in rows:
        both = (f"[{_low(a)}, {_high(b)}]" for a, b in zip(row.found, row.certified, strict=True))
        table.add_row(row.workload, f"{row.parameters:,}", str(row.samples), *both, f"{row.seconds:.1f}")
    out.print(table, markup=False)
    out.print(
        "What is found are lower estimates, each in the ball around that network's own initial parameters; what is "
        "certified are upper bounds."
    )
    for row in rows:
        if row.settings:
            said = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in row.settings.items())
            out.print(f"{row.workload} recommends {said}.")
        if row.why:
            out.print(f"No finite constant of {row.workload} is certified, {row.why.rstrip('.')}.", markup=False)


def _low(found: float) -> str:
    return printed_down(found, 4) if found else "none trusted"


def _high(certified: float | None) -> str:
    if certified is None:
        return "not known"
    return printed_up(certified, 4) if isfinite(certified) else "infinite"
