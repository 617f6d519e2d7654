"""Faults planted in numeric/, the engines and the kernel, and who notices each of them.

    make faults                        every table tests/proofs_checks/faults_*.toml, about half an hour on two cores
    python -m benchmarks.faults numeric

A row is printed for every fault, and the score: how many `check` notices, and how many `check` or a test. It fails
where nobody notices one.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from os import cpu_count
from pathlib import Path
from tempfile import mkdtemp

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # where faults are planted

import planting

TABLES = planting.ROOT / "tests" / "proofs_checks"


@cache
def _tree() -> Path:
    """A copy of the sources for this process."""
    return planting.copy(Path(mkdtemp(prefix="planted-")))


def _met(fault: planting.Fault) -> str:
    with planting.planted(_tree(), fault):
        return planting.notice(_tree(), fault.by)


def _rows(faults: list[planting.Fault], said: list[str]) -> Iterator[str]:
    yield "| file | text | for | noticed by |\n|---|---|---|---|"
    for fault, words in zip(faults, said, strict=True):
        old, new = (" ".join(text.split()).replace("|", "\\|") for text in (fault.old, fault.new))
        yield f"| {fault.path} | `{new}` | `{old}` | {fault.by if words else '**nobody**'} |"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--jobs", default=cpu_count() or 1, show_default=True, help="Faults tried side by side.")
def main(names: tuple[str, ...], jobs: int) -> None:
    """Plant every fault of the tables of these NAMES, or of all, and print who notices it."""
    lost = 0
    for path in sorted(TABLES.glob("faults_*.toml")):
        name = path.stem.removeprefix("faults_")
        if names and name not in names:
            continue
        faults = planting.read(path)
        with ProcessPoolExecutor(jobs) as pool:
            said = list(pool.map(_met, faults))
        by_check = sum(bool(words) and fault.by_check for fault, words in zip(faults, said, strict=True))
        noticed = sum(map(bool, said))
        lost += len(faults) - noticed
        click.echo("\n".join(_rows(faults, said)))
        click.echo(
            f"\n{name}: {len(faults)} faults, `check` notices {by_check}, `check` or a test {noticed}\n",
            color=False,
        )
    if lost:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
