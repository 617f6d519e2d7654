"""``lastiterate attack``: train a run many times, attack it, and put the result next to its bound."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastiterate.commands.completion import workloads
from lastiterate.commands.measuring import computing, from_checkpoint, require_torch, resuming, run_of
from lastiterate.commands.output import progress, say_json

if TYPE_CHECKING:
    from lastiterate.numeric.bound import Bound
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.lower.audit import Audit
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.runtime.workloads.workload import Workload

    Bounds = list[tuple[str, Bound]]
    Refuted = dict[str, tuple[str, ...]]

_EXAMPLES = """\b
Examples:
  lastiterate attack run.toml --delta 1e-5
  lastiterate attack run.toml --delta 1e-5 --workload builtin:iris-mlp --runs 2000
  lastiterate attack run.toml --delta 1e-5 --workload my_models:factory --kind shadow --json
"""
_CLIPPING = "clipping alone"


@click.command(epilog=_EXAMPLES)
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--delta", type=float, required=True, help="Delta of (epsilon, delta), in (0, 1).")
@click.option(
    "--workload",
    shell_complete=workloads,
    help="Network: builtin:NAME or module:factory; crafted losses of one parameter if left out.",
)
@from_checkpoint
@click.option("--kind", default="canary", show_default=True, help="Attack: canary, loss or shadow.")
@click.option("--others", help="Crafted losses of all other samples, if no --workload: still, pull or outward.")
@click.option(
    "--runs",
    default=500,
    show_default=True,
    help="Runs on each of the two data sets; half are counted, all have scores.",
)
@click.option("--target", type=int, help="Index of the sample that differs; one that costs most if left out.")
@click.option("--level", default=0.95, show_default=True, help="Confidence of all lower bounds together.")
@computing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@resuming("runs")
def command(
    run_file: Path,
    delta: float,
    workload: str | None,
    checkpoint: Path | None,
    kind: str,
    others: str | None,
    as_json: bool,
    resume: Path | None,
    threads: int,
    **options: Any,
) -> int:
    """Attack the last iterate of the run in RUN_FILE, and compare with its certified upper bound.

    The run is trained many times on the data and on the adjacent ones. What an attacker gets right gives a lower bound
    of epsilon with confidence, and of mu of Gaussian differential privacy, which refutes a bound with a mu alone; next
    to it stand the bounds under the assumption of the file and under clipping alone, and what of them is refuted.
    Exit status 1 if any is. Finished runs are kept: an interrupted attack goes on, and
    one with more --runs adds to them.

    canary: a sample with the worst gradients. loss: a real sample, by its loss. shadow: its loss, by likelihood ratio.
    Without --workload the gradients of all samples are crafted, the worst that the assumption allows.
    """
    from lastiterate.numeric.errors import InputError

    require_torch()
    from lastiterate.runtime.attacks.worst_case import hardest, worst_case
    from lastiterate.runtime.workloads.loading import load_workload

    run, assumption = run_of(run_file)
    if workload is None and kind != "canary":
        raise InputError(f"kind={kind} needs the real samples of a workload, got none; give --workload, or use canary.")
    if workload is not None and others is not None:
        raise InputError(f"others is about crafted losses, got others={others} and workload={workload}; leave one out.")
    if workload is None and checkpoint is not None:
        raise InputError(f"A checkpoint needs its network, got checkpoint={checkpoint}; give --workload, too.")
    if workload is None:
        network = worst_case(run, assumption, hardest(run, assumption, delta) if others is None else others)
    else:
        network = load_workload(workload, checkpoint=checkpoint)
    bounds = _bounds(run, assumption, network, kind, delta, int(options["seed"]))

    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.attacks.attack import attack
    from lastiterate.runtime.devices import threads_of_torch

    folder = resume or cache_folder("attack")
    kept = f"steps are finished, those of whole blocks of runs kept in {folder}"
    with threads_of_torch(threads), progress(f"{kind} attack on {network.name}, steps", kept) as on_step:
        found = attack(
            network,
            run,
            kind,
            delta=delta,
            assumption=assumption,
            folder=folder,
            on_step=on_step,
            **options,
        )
    refuted = {name: found.refutes(bound) for name, bound in bounds}
    exceeded = [name for name, what in refuted.items() if what]
    if as_json:
        said = {"workload": network.name, "kind": kind, "runs": options["runs"], "attack": found.as_dict()}
        numbers = [
            {"under": name} | bound.as_dict() | {"exceeded": name in exceeded, "refuted": list(refuted[name])}
            for name, bound in bounds
        ]
        say_json(said | {"bounds": numbers}, indent=2)
    else:
        _print(network, kind, found, bounds, refuted)
    return 1 if exceeded else 0


def _bounds(
    run: "NoisySGD", assumption: "Assumption", network: "Workload", kind: str, delta: float, seed: int
) -> "Bounds":
    """The bound under the assumption of the file, under constants in closed form where known, and clipping alone."""
    from lastiterate.numeric.bound import bound
    from lastiterate.numeric.losses.assumptions import Clipped, StronglyConvex

    found: Bounds = []
    if assumption != Clipped():
        found.append(("the assumption of the file", bound(run, assumption, delta=delta)))
    if network.constants is not None:
        certified = network.certified(seed, run.diameter).assumption(run)
        crafted = kind == "canary" and isinstance(certified, StronglyConvex)  # a canary is not one of those losses
        if certified != Clipped() and not crafted:
            found.append(("constants in closed form", bound(run, certified, delta=delta)))
    return [*found, (_CLIPPING, bound(run, Clipped(), delta=delta))]


def _print(network: "Workload", kind: str, found: "Audit", bounds: "Bounds", refuted: "Refuted") -> None:
    from lastiterate.numeric.rounding import printed_down, printed_up

    click.echo(
        f"{kind} attack on {network.name}, delta = {found.delta:g}: of {found.positives} runs with the sample "
        f"{found.false_negatives} were missed, of {found.negatives} without {found.false_positives} were accused"
    )
    click.echo(f"epsilon  {found.observed:10.6g}  from these rates, Liang et al. 2026, (20): an estimate")
    click.echo(f"at least {printed_down(found.epsilon):>10}  with {found.level:.4g} confidence")
    if found.scores is not None and any(bound.mu is not None for _name, bound in bounds):
        click.echo(
            f"at least {printed_down(found.gaussian_epsilon):>10}  if mu-GDP holds: mu is at least "
            f"{printed_down(found.mu)} by all scores (AUC {found.scores.auc:.4g}), at the same confidence"
        )
    for name, bound in bounds:
        by = f"; refuted by {' and '.join(refuted[name])}" if refuted[name] else ""
        gdp = "" if bound.mu is None else f" (mu at most {printed_up(bound.mu)})"
        click.echo(f"at most  {printed_up(bound.epsilon):>10}  under {name}: {bound.assumptions[0]}{gdp}{by}")
    exceeded = [name for name, what in refuted.items() if what]
    if _CLIPPING in exceeded:
        click.echo(
            f"The attack exceeds a bound that assumes nothing of the losses. With chance {1 - found.level:.4g} that is "
            "bad luck: repeat with another --seed. If it stays, distrust this package, and report it."
        )
    elif exceeded:
        click.echo(
            f"The attack exceeds the bound under {' and under '.join(exceeded)}. Distrust that first: the losses of "
            f"{network.name} hardly meet it. The bound under clipping alone stands."
        )
