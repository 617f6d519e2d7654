"""Commands that train many runs of a run file: attack and drift."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastiterate.commands.options import command_of, read_run_file, require_torch
from lastiterate.commands.output import print_table, progress, say_json, say_text
from lastiterate.numeric.errors import InputError

if TYPE_CHECKING:
    from lastiterate.numeric.bound import Bound
    from lastiterate.numeric.losses.assumptions import Assumption
    from lastiterate.numeric.run import NoisySGD
    from lastiterate.runtime.attacks.drift import Drift
    from lastiterate.runtime.workloads.workload import Workload

    Bounds = list[tuple[str, Bound]]

_CLIPPING = "clipping alone"
_ROWS = 9
_LITTLE = 0.1
"""Share of the clip norm below which the effect of a sample is reported as too small."""


@command_of("attack")
def attack_command(
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
    """Attack the last iterate of the run in RUN_FILE, and compare the result with its certified upper bound."""
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.attacks.attack import attack, hardest, worst_case
    from lastiterate.runtime.devices import threads_of_torch
    from lastiterate.runtime.workloads.loading import load_workload

    run, assumption = read_run_file(run_file)
    if workload is not None and others is not None:
        raise InputError(
            f"others applies only to crafted losses, got others={others} and workload={workload}; leave one out."
        )
    if workload is None and (kind != "canary" or checkpoint is not None):
        raise InputError(f"kind={kind} with checkpoint={checkpoint} needs a network, got none; add --workload.")
    if workload is None:
        network = worst_case(run, assumption, hardest(run, assumption, delta) if others is None else others)
    else:
        network = load_workload(workload, checkpoint=checkpoint)
    bounds = _bounds(run, assumption, network, kind, delta, int(options["seed"]))
    folder = resume or cache_folder("attack")
    kept = f"steps are finished; those of whole blocks of runs are kept in {folder}"
    options |= {"delta": delta, "assumption": assumption, "folder": folder}
    with threads_of_torch(threads), progress(f"{kind} attack on {network.name}, steps", kept) as on_step:
        found = attack(network, run, kind, on_step=on_step, **options)
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
        texts = {"kind": kind, "found": found, "bounds": bounds, "refuted": refuted, "exceeded": exceeded}
        say_text("attack.txt.j2", network=network, clipping=_CLIPPING, **texts)
    return 1 if exceeded else 0


def _bounds(
    run: "NoisySGD", assumption: "Assumption", network: "Workload", kind: str, delta: float, seed: int
) -> "Bounds":
    from lastiterate.numeric.bound import bound
    from lastiterate.numeric.losses.assumptions import Clipped, StronglyConvex

    found: Bounds = []
    if assumption != Clipped():
        found.append(("the assumption of the file", bound(run, assumption, delta=delta)))
    if network.constants is not None:
        certified = network.certified(seed, run.diameter).assumption(run)
        # The loss of a canary is not strongly convex.
        crafted = kind == "canary" and isinstance(certified, StronglyConvex)
        if certified != Clipped() and not crafted:
            found.append(("constants in closed form", bound(run, certified, delta=delta)))
    return [*found, (_CLIPPING, bound(run, Clipped(), delta=delta))]


@command_of("drift")
def drift_command(
    run_file: Path,
    workload: str,
    checkpoint: Path | None,
    threads: int,
    as_json: bool,
    resume: Path | None,
    **options: Any,
) -> int:
    """Measure the distance between coupled runs of RUN_FILE whose data differ in one sample."""
    require_torch()
    from lastiterate.numeric.store import cache_folder
    from lastiterate.runtime.attacks.drift import measure_drift
    from lastiterate.runtime.devices import threads_of_torch
    from lastiterate.runtime.workloads.loading import load_workload

    run, assumption = read_run_file(run_file)
    network = load_workload(workload, checkpoint=checkpoint)
    folder = resume or cache_folder("drift")
    kept = f"steps of the pairs are finished; those of whole blocks are kept in {folder}"
    with threads_of_torch(threads), progress(f"{network.name}, steps of the pairs", kept) as on_step:
        found = measure_drift(network, run, assumption, folder=folder, on_step=on_step, **options)
    if as_json:
        say_json({"workload": network.name} | found.as_dict(), indent=2)
    else:
        _print_drift(network.name, found)
    return 1 if found.refuted else 0


def _print_drift(name: str, found: "Drift") -> None:
    from lastiterate.numeric.rounding import printed_up

    pairs, steps = found.coupled.distances.shape[1], found.coupled.run.steps
    rows = []
    for t in sorted({round(steps * k / (_ROWS - 1)) for k in range(1, _ROWS)} - {0}):
        tracked = (printed_up(float(one.distances[t]), 4) for one in found.tracked)
        rows.append((str(t), f"{found.coupled.greatest[t]:.4g}", *tracked))
    title = f"{name}: distance between coupled runs, and tracked distance D_t by assumption"
    headings = ("step", f"greatest of {pairs}", *(f"{one.name}, {one.rests}" for one in found.tracked))
    print_table(title, headings, rows)
    say_text("drift.txt.j2", name=name, found=found, little=_LITTLE)
