"""Tables of ``lastiterate estimate``, with a line on the nature of every number."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from lastiterate.commands.output import WIDTH
from lastiterate.numeric.published.theorems import SETTING, claimed_at
from lastiterate.numeric.rounding import printed_up
from lastiterate.runtime.pair_table import Kind

if TYPE_CHECKING:
    from lastiterate.numeric.bound import Estimate
    from lastiterate.runtime.constants.record import HolderEstimate
    from lastiterate.runtime.constants.worst_case_record import WorstCaseConstants
    from lastiterate.runtime.pair_table import Subset

_ALIKE = 0.8
"""Least over greatest distance from which on the constants of all orders are nearly one number."""
_WHICH_RUN = (
    f"Epsilon is an estimate, not a bound: Rényi order {SETTING['alpha']:g}, T = {{steps}}, setting of Figure 1 of "
    "Chien & Li (eta = 0.1, K = 2, n = 5, D = 1, noise 1), which is not the run that was measured."
)
_IN_METRIC = (
    "Lengths, the radius and the diameter are in the metric, gradients and the clip norm in its dual norm, and the run "
    "steps and adds its noise in the coordinates sqrt(a) w. There is no epsilon: the theory's noise is isotropic, and "
    "here that is noise of variance noise_std^2 / a in w, for an a that is fixed before the data are seen."
)


def print_measurement(
    found: "HolderEstimate", carried: Sequence["Estimate"], advised: Mapping[str, object], metric: Path | None = None
) -> None:
    """The constants, the conditional epsilons, and what both rest on; ``advised`` are options the workload set."""
    composition = claimed_at("composition", {**SETTING, "T": found.run.steps})
    table = found.table().beside(*_carried(carried, len(found.lambdas)))
    table = table.beside("composition", [f"{composition:.4f}"] * len(found.lambdas))
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    click.echo(str(table))
    print_circumstances(console, advised, found.subset)
    if metric is not None:
        console.print(_IN_METRIC)
    if not found.trusted:
        console.print(
            f"{found.untrusted}: there is no constant and no epsilon; {found.remedy}. {found.remark}".rstrip()
        )
        return
    if carried:
        console.print(f"{_WHICH_RUN.format(steps=found.run.steps)} It is conditional on {carried[-1].conditional_on}.")
    left_out = found.measured[Kind.SAMPLE].left_out
    console.print(
        f"{left_out} of {found.pairs} pairs were left out because rounding may dominate them ({found.dtype}); "
        f"pairs are {found.distances[0]:.3g} to {found.distances[1]:.3g} apart. {found.remark}".rstrip()
    )
    if len(found.lambdas) > 1 and found.distances[0] > _ALIKE * found.distances[1]:
        console.print("At nearly one distance all orders say the same; --draw log-uniform spreads the pairs.")


def _carried(carried: Sequence["Estimate"], orders: int) -> tuple[str, list[str]]:
    """The column of the conditional epsilons."""
    return "epsilon if L is true", [printed_up(one.epsilon, 4) for one in carried] or ["-"] * orders


def print_layers(found: "HolderEstimate", together: "Estimate | None", metric: Path | None) -> None:
    """The constants of every layer, and what they give together."""
    table = Table(title="L of each layer's block of the per-sample gradient (lower estimates)", title_justify="left")
    table.add_column("layer")
    for heading in ("parameters", *(f"lambda {lam:g}" for lam in found.lambdas)):
        table.add_column(heading, justify="right")
    for layer in found.layers:
        constants = layer.measured[Kind.SAMPLE]
        name = layer.name if metric is None else layer.name.removeprefix("network.")
        table.add_row(name, str(layer.size), *(constants.cell(k) for k in range(len(found.lambdas))))
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(table)
    if metric is not None:
        return
    if together is None:
        console.print("The layers do not combine: of some layer no pair could be trusted.")
        return
    console.print(
        f"All layers together, each with the order that suits it: epsilon {together.epsilon:.4f} in the same setting, "
        "if all these L are true. Against one order for all it can gain only where the orders of the layers differ."
    )


def print_search(
    look: "WorstCaseConstants", carried: Sequence["Estimate"], advised: Mapping[str, object], metric: Path | None = None
) -> None:
    """The constants from both sides, the conditional epsilons, and what all of it rests on."""
    composition = claimed_at("composition", {**SETTING, "T": look.run.steps})
    table = look.table().beside(*_carried(carried, len(look.searched)))
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH)
    click.echo(str(table))
    print_circumstances(console, advised, look.subset)
    reached = (
        "have no finite eigenvalues, or are too large" if look.curvature is None else f"reach {look.curvature:.4g}"
    )
    console.print(
        f"What is found are lower estimates: inits {look.inits}, effort {look.effort}. Per-sample Hessians along the "
        f"trajectory {reached}. The extrapolation is statistical and only about the pairs that are drawn."
    )
    if carried:
        console.print(
            f"{_WHICH_RUN.format(steps=look.run.steps)} Composition says {composition:.4f} there. It is conditional on "
            f"{carried[-1].conditional_on}."
        )
    elif metric is not None:
        console.print(_IN_METRIC)
    elif look.kind.startswith("sample"):
        console.print("Of some order no pair could be trusted: there is no epsilon; search in float64.")
    else:
        console.print("There is no epsilon: means of this batch say nothing of other data sets.")
    if look.side.reason:
        console.print(f"No finite constant is certified, {look.side.reason.rstrip('.')}.", markup=False)
    elif look.certified is not None:
        of = "every" if look.certified.any_sample else "for the samples at hand, with any label, every"
        console.print(
            f"Certified: {of} per-sample gradient is {printed_up(look.certified.smoothness, 4)}-Lipschitz and at most "
            f"{printed_up(look.certified.lipschitz, 4)} long ({look.certified.statement})."
        )
    if look.bounded is not None:
        console.print(f"Hence a bound for the run that was trained, T = {look.run.steps}: {look.bounded}.")
    if look.remark:
        console.print(look.remark, markup=False)


def print_circumstances(console: Console, advised: Mapping[str, object], subset: "Subset | None") -> None:
    """Options that the workload set, and which data were used."""
    if advised:
        said = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in advised.items())
        console.print(f"Recommended for this workload and used where you gave nothing: {said}.")
    if subset is not None:
        console.print(
            f"The data are {subset.samples} of {subset.of} samples, drawn with seed {subset.seed}: "
            "all others were neither trained on nor measured."
        )
