"""The search of ``lastiterate estimate``: run, said, kept, and computed anew."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lastiterate.commands.output import progress, say_json
from lastiterate.numeric.errors import count

if TYPE_CHECKING:
    from lastiterate.numeric.bound import Estimate
    from lastiterate.numeric.losses.assumptions import Measured
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.runtime.constants.worst_case_record import WorstCaseConstants
    from lastiterate.runtime.workloads.workload import Workload

TRAINING: Final = ("steps", "step_size", "clip_norm", "noise_std", "diameter", "batch_size", "sampling")
"""Options that are fields of the run."""


def searched(
    workload: "Workload", lambdas: Sequence[float], options: Mapping[str, Any], folder: Path
) -> "WorstCaseConstants":
    """The largest constants over the initialisations; finished parts are kept and found again."""
    from lastiterate.runtime.constants.input_sets import input_set
    from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
    from lastiterate.runtime.constants.worst_case_record import WorstCaseConstants
    from lastiterate.runtime.pair_table import Kind
    from lastiterate.runtime.random_streams import seed_of
    from lastiterate.runtime.training.descent import paper_run

    run = paper_run(workload, **{key: value for key, value in options.items() if key in TRAINING})
    same = ("points", "radius", "centers", "dtype", "device", "memory", "threads", "effort")
    inputs = None if options["inputs"] is None else input_set(options["inputs"])
    inits, seed, looks = count("inits", options["inits"]), count("seed", options["seed"], least=0), []
    with progress(
        f"{workload.name}, search, parts", f"parts of {workload.name} are finished and kept in {folder}"
    ) as told:
        for init in range(inits):
            look = worst_case_constants(
                workload,
                run,
                tuple(lambdas),
                kind=Kind(options["kind"]),
                inputs=inputs,
                seed=seed_of(seed, init),
                folder=folder,
                on_step=lambda done, parts, init=init: told(init * parts + done, inits * parts),  # type: ignore[misc]
                **{key: options[key] for key in same},
            )
            looks.append(look)
    return WorstCaseConstants.joined(looks)


def say_searched(
    look: "WorstCaseConstants", advised: Mapping[str, object], as_json: bool, *, metric: Path | None = None
) -> None:
    """Print what was searched; nothing follows from it for privacy where it is in a metric."""
    orders = [pair.lam for pair in look.searched]
    look = look if metric is None else replace(look, bounded=None)
    one_sample = metric is None and look.kind.startswith("sample") and all(look.found(k) for k in range(len(orders)))
    carried = [carried_over(look.run, look.holder(k)) for k in range(len(orders))] if one_sample else []
    if as_json:
        say_json({"search": look.as_dict(), "carried": by_order(orders, carried)}, indent=2)
    else:
        from lastiterate.commands.estimate_tables import print_search

        print_search(look, carried, advised, metric)


def say_rechecked(workload: "Workload", path: Path, as_json: bool) -> None:
    """Compute saved pairs anew, and end with status 1 if one does not hold."""
    from lastiterate.runtime.constants.saved_pairs import recheck

    rows = recheck(workload, path)
    if as_json:
        pairs = [
            {"lambda": r.lam, "said": r.said, "recomputed": r.found, "problem": r.problem, "holds": r.holds}
            for r in rows
        ]
        say_json({"rechecked": pairs}, indent=2)
    else:
        for row in rows:
            verdict = "holds" if row.holds else f"does not hold{': ' * bool(row.problem)}{row.problem}"
            click.echo(
                f"lambda {row.lam:g}: {row.said:.10g} said, {row.found:.10g} in float64, "
                f"{abs(row.found / row.said - 1):.1e} apart: {verdict}"
            )
    click.get_current_context().exit(0 if all(row.holds for row in rows) else 1)


def carried_over(run: "NoisySGD", measured: "Measured") -> "Estimate":
    """The conditional number in the setting of Figure 1, over as many steps as were trained."""
    from lastiterate.numeric.bound import estimate
    from lastiterate.numeric.published.theorems import SETTING, run_at

    return estimate(run_at(run.steps), measured, order=SETTING["alpha"])


def by_order(orders: Sequence[float], carried: Sequence["Estimate"]) -> list[dict[str, object]]:
    """Numbers that are carried over, each with its order."""
    return [{"lambda": lam} | number.as_dict() for lam, number in zip(orders, carried, strict=bool(carried))]
