"""The command ``lastiterate bound``."""

import json
from pathlib import Path

import click

from lastiterate.commands.output import OutputFile, progress, say_json


@click.command()
@click.argument("run_file", type=click.Path(path_type=Path))
@click.option("--order", type=float, help="Order alpha > 1 of a Renyi bound.")
@click.option("--delta", type=float, help="Delta of an (epsilon, delta) bound.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--certificate", type=OutputFile(), help="Write a certificate of the bound to this file.")
def command(
    run_file: Path, order: float | None, delta: float | None, as_json: bool, certificate: Path | None
) -> None:
    """Bound the privacy loss of the last iterate of the run in RUN_FILE, rounded up."""
    from lastiterate.numeric.bound import bound
    from lastiterate.numeric.certificates.description import from_dyadic
    from lastiterate.numeric.explain import remarks, why_composition
    from lastiterate.numeric.rounding import printed_up
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
    click.echo(f"the last iterate is {found}, in both directions")
    what = "blocks" if found.route == "contraction" else "shifts"
    steps = f"{what} over steps {found.window[0]} to {found.window[1]}"
    if found.route.startswith("composition"):
        steps = f"all steps are charged ({why_composition(found.run)})"
    click.echo(f"by {found.route}: {steps}; claim {found.claim}")
    for name, words in remarks(run, delta).items():
        click.echo(f"{name}: {words}")
    number = found.mu if order is None and delta is None else found.epsilon
    if certified is not None and number is not None and certified > number * (1 + 1e-9):
        click.echo(f"certified: {printed_up(certified)} instead, by choices that the checker can verify")
    click.echo("assuming that")
    for statement in found.assumptions:
        click.echo(f"  - {statement}")
