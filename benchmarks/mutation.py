"""Mutation testing of numeric/ and proofs_checks/engines.

A sample of cosmic-ray's mutants, each met by the tests that run its line:

    make mutants                                   a sample of 300, about an hour on two cores
    python -m benchmarks.mutation --sample 1000 --seed 1 --only numeric/rounding.py

Every mutant is made in a separate copy of the tree, so the checkout is never changed. Finished mutants are kept in the
cache folder and found again after an interruption. `MUTANTS.md` beside this file gets the share that is killed, with a
confidence interval, and every survivor.
"""

import ast
import hashlib
import json
import os
import random
import shlex
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import click
from attrs import evolve
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import MutationVisitor, mutate_and_test
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import MutationSpec, TestOutcome
from platformdirs import user_cache_path
from rich.progress import track
from scipy.stats import binomtest

from benchmarks.covered import MEASURED, Covered, copied, environment, git, pytest

RESULTS = Path(__file__).with_name("MUTANTS.md")
REASONS = Path(__file__).with_name("mutants.toml")
MOST_TESTS = 60
TIMEOUT = 240.0
LEAST_KILLED = 0.9


@dataclass(frozen=True)
class Mutant:
    """One mutant and what became of it."""

    path: str
    line: int
    operator: str
    occurrence: int
    outcome: str
    diff: str


def _executed(source: str) -> str:
    """The code without annotations and docstrings, which no test can distinguish."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(0)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(0)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return ast.dump(tree)


def _matters(spec: MutationSpec, tree: Path) -> bool:
    """Tell whether the mutant is valid code and changes what is executed."""
    source = (tree / spec.module_path).read_text()
    operator = get_operator(spec.operator_name)(**spec.operator_args)
    mutated = MutationVisitor.mutate_code(source, operator, spec.occurrence)
    try:
        return mutated is not None and _executed(mutated) != _executed(source)
    except SyntaxError:
        return False


def _drawn(tree: Path, only: Sequence[str], sample: int, seed: int) -> list[MutationSpec]:
    """A sample of the mutants that matter."""
    starts = [tree / name for name in only or MEASURED]
    files = [path for start in starts for path in ([start] if start.suffix else start.rglob("*.py"))]
    here = Path.cwd()
    os.chdir(tree)
    try:
        every = [
            item.mutations[0] for item in _all_work_items(sorted(path.relative_to(tree) for path in files), {})
        ]
    finally:
        os.chdir(here)
    random.Random(seed).shuffle(every)  # noqa: S311
    matter = (spec for spec in every if _matters(spec, tree))
    return [spec for spec, _ in zip(matter, range(sample), strict=False)]


def _tried(spec: MutationSpec, tree: Path, covered: Covered) -> Mutant:
    path, line = str(spec.module_path), spec.start_pos[0]
    tests = covered.tests_of(path, line, MOST_TESTS)
    outcome, diff = "no test runs it", ""
    if tests:
        arguments = tree / "chosen-tests.txt"
        arguments.write_text("\n".join(tests) + "\n")
        command = pytest("-x", "-p", "no:xdist", "-p", "no:cacheprovider", f"@{arguments}")
        script = (
            f"cd {tree} && PYTHONPATH=src CI=true {shlex.join(command)}; code=$?; echo EXIT=$code; exit $code"
        )
        result = mutate_and_test(
            [evolve(spec, module_path=tree / path)], shlex.join(["bash", "-c", script]), TIMEOUT
        )
        outcome = "survived" if result.test_outcome is TestOutcome.SURVIVED else "killed"
        if outcome == "killed" and "EXIT=1" not in (result.output or "") and result.output != "timeout":
            # Not a failed test: the mutant cannot be imported, or the tests cannot be run at all. Without it they must.
            whole = subprocess.run(command, cwd=tree, env=environment(tree), capture_output=True, check=False)  # noqa: S603
            outcome = "killed" if whole.returncode == 0 else "tests do not run"
        diff = "\n".join(
            row for row in (result.diff or "").splitlines() if row[:1] in "+-" and row[:3] not in ("+++", "---")
        )
    return Mutant(path, line, spec.operator_name.removeprefix("core/"), spec.occurrence, outcome, diff)


def _all(specs: Sequence[MutationSpec], covered: Covered, cache: Path, jobs: int) -> Iterator[Mutant]:
    """Try every mutant, in as many trees side by side as there are jobs; finished ones are read back."""
    kept = cache / "mutants.jsonl"
    found = [Mutant(**json.loads(row)) for row in kept.read_text().splitlines()] if kept.exists() else []
    known = {(m.path, m.operator, m.occurrence): m for m in found}
    with TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            trees.put(copied(Path(folder) / str(job)))

        def one(spec: MutationSpec) -> Mutant:
            key = (str(spec.module_path), spec.operator_name.removeprefix("core/"), spec.occurrence)
            if key in known:
                return known[key]
            tree = trees.get()
            try:
                return _tried(spec, tree, covered)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(jobs) as pool, kept.open("a") as file:
            for mutant in track(pool.map(one, specs), "mutants", total=len(specs)):
                if (mutant.path, mutant.operator, mutant.occurrence) not in known:
                    file.write(json.dumps(asdict(mutant)) + "\n")
                    file.flush()
                yield mutant


def _table(mutants: Sequence[Mutant]) -> list[str]:
    rows = ["| where | operator | change |", "|---|---|---|"]
    for m in sorted(mutants, key=lambda m: (m.path, m.line)):
        change = " → ".join(f"`{row[1:].strip()}`" for row in m.diff.splitlines()).replace("|", "\\|")
        rows.append(f"| {m.path}:{m.line} | {m.operator} | {change} |")
    return rows


def _share(part: int, whole: int) -> str:
    interval = binomtest(part, whole).proportion_ci(0.95, "exact")
    return f"{part} of {whole}, {part / whole:.1%} (95% interval {interval.low:.1%} to {interval.high:.1%})"


def _report(mutants: Sequence[Mutant], covered: Covered, seed: int) -> tuple[str, float]:
    """The report, and the share that was killed of those that change what the package does."""
    known = {(one["path"], one["diff"]): one for one in tomllib.loads(REASONS.read_text())["survivor"]}
    alive = [m for m in mutants if m.outcome != "killed"]
    harmless = [m for m in alive if "reason" in known.get((m.path, m.diff), {})]
    met = [m for m in alive if "test" in known.get((m.path, m.diff), {})]
    rest = [m for m in alive if (m.path, m.diff) not in known]
    killed, matter = len(mutants) - len(alive), len(mutants) - len(harmless)
    parts = [
        "# Mutants",
        (
            f"Written by `make mutants` on {datetime.now(UTC):%Y-%m-%d}: {len(mutants)} of cosmic-ray's mutants of "
            f"{' and '.join(MEASURED)}, drawn with seed {seed}, but none that changes only annotations or docstrings."
        ),
        (
            f"Killed: {_share(killed, len(mutants))}. {len(harmless)} survivors are equivalent or harmless; "
            f"of all other mutants {_share(killed, matter)} were killed. "
            f"For {len(met)} survivors a test has been written since."
        ),
        f"The same tests take {covered.share:.1%} of the branches.",
    ]
    if rest:
        parts += ["## Survivors", "\n".join(_table(rest))]
    for title, some, field in (
        ("Met by a test since", met, "test"),
        ("Equivalent or harmless", harmless, "reason"),
    ):
        if some:
            parts += [
                f"## {title}",
                "\n".join(f"- {m.path}:{m.line}: {known[m.path, m.diff][field]}" for m in some),
            ]
    return "\n\n".join(parts) + "\n", killed / matter


@click.command()
@click.option("--sample", default=300, show_default=True, help="Mutants to try.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option(
    "--only",
    multiple=True,
    help="A folder or a file; repeat for more. All that is tested this way if left out.",
)
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Mutants tried side by side.")
def main(sample: int, seed: int, only: tuple[str, ...], jobs: int) -> None:
    """Try a sample of mutants and write MUTANTS.md, or with --only print it; fails below 90% of what matters."""
    files = git("ls-files", "-s", *MEASURED, "tests")
    cache = user_cache_path("lastiterate") / "mutation" / hashlib.sha256(files.encode()).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        specs = _drawn(tree, only, sample, seed)
        covered = Covered.measured(tree, cache)
    mutants = list(_all(specs, covered, cache, jobs))
    written, share = _report(mutants, covered, seed)
    if not only:
        RESULTS.write_text(written)
    click.echo(written)
    if share < LEAST_KILLED:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
