"""Mutation testing of numeric/ and proofs_checks/engines.

A sample of cosmic-ray's mutants, each met by the tests that run its line:

    make mutants                                   a sample of 300, about an hour on two cores
    python -m benchmarks.mutation --sample 1000 --seed 1 --only numeric/balls.py

Every mutant is made in a copy of the tree of its own, so the checkout is never touched. What is finished is kept in the
cache folder and found again after an interruption. `MUTANTS.md` beside this file gets the share that is killed, with a
confidence interval, and every survivor.
"""

import ast
import hashlib
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import click
from attrs import evolve
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import MutationVisitor, mutate_and_test
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import MutationSpec, TestOutcome
from coverage import CoverageData
from platformdirs import user_cache_path
from rich.progress import track
from scipy.stats import binomtest

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("MUTANTS.md")
REASONS = Path(__file__).with_name("mutants.toml")
MUTATED = ("numeric", "proofs_checks/engines")
TESTS = ("tests/numeric", "tests/proofs_checks", "tests/symbolic", "tests/test_readme.py", "tests/test_doctests.py")
MOST_TESTS = 60
TIMEOUT = 240.0


@dataclass(frozen=True)
class Mutant:
    """One mutant and what became of it."""

    path: str
    line: int
    operator: str
    occurrence: int
    outcome: str
    diff: str


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout


def _pytest(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", *arguments]


def _copy(folder: Path) -> Path:
    """The tracked files, links kept, in a folder of their own; the virtual environment is linked."""
    listed = _git("ls-files", "-z")
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    return folder


def _environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}


def _covered(tree: Path, cache: Path) -> tuple[CoverageData, dict[str, float]]:
    """Which test runs which line, and how long each test takes; measured once for each state of the tree."""
    data, times = cache / "coverage", cache / "times.xml"
    if not (data.exists() and times.exists()):
        settings = "[run]\nbranch = True\nrelative_files = True\nsource =\n  " + "\n  ".join(MUTATED) + "\n"
        (tree / "measured.ini").write_text(settings)
        command = _pytest("-n", "auto", *TESTS, "--cov", "--cov-config=measured.ini", "--cov-context=test")
        command += ["--cov-report=term", "--junitxml=times.xml"]
        environment = _environment(tree) | {"COVERAGE_FILE": str(tree / "coverage")}
        subprocess.run(command, cwd=tree, env=environment, check=True)  # noqa: S603
        for found in (data, times):
            shutil.copy(tree / found.name, found)
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(times).iter("testcase"):  # noqa: S314, our own file
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        seconds[name] = float(case.get("time", "0"))
    covered = CoverageData(str(data))
    covered.read()
    return covered, seconds


def _tests_of(path: str, line: int, covered: CoverageData, seconds: Mapping[str, float]) -> list[str]:
    """The quickest tests that run the line; for a line that runs at import, those that run any line of the file."""
    by_line = covered.contexts_by_lineno(path)
    names = {name for name in by_line.get(line, []) if name}
    if not names:
        names = {name for found in by_line.values() for name in found if name}
    tests = {name.partition("|")[0] for name in names}
    return sorted(tests, key=lambda name: (seconds.get(name, 1.0), name))[:MOST_TESTS]


def _executed(source: str) -> str:
    """The code without annotations and docstrings: what a test could tell apart."""
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
    """Whether the mutant is a program, and changes what is executed."""
    source = (tree / spec.module_path).read_text()
    operator = get_operator(spec.operator_name)(**spec.operator_args)
    mutated = MutationVisitor.mutate_code(source, operator, spec.occurrence)
    try:
        return mutated is not None and _executed(mutated) != _executed(source)
    except SyntaxError:
        return False


def _drawn(tree: Path, only: Sequence[str], sample: int, seed: int) -> list[MutationSpec]:
    """A sample of the mutants that matter."""
    starts = [tree / name for name in only or MUTATED]
    files = [path for start in starts for path in ([start] if start.suffix else start.rglob("*.py"))]
    here = Path.cwd()
    os.chdir(tree)
    try:
        every = [item.mutations[0] for item in _all_work_items(sorted(path.relative_to(tree) for path in files), {})]
    finally:
        os.chdir(here)
    random.Random(seed).shuffle(every)  # noqa: S311
    matter = (spec for spec in every if _matters(spec, tree))
    return [spec for spec, _ in zip(matter, range(sample), strict=False)]


def _tried(spec: MutationSpec, tree: Path, covered: CoverageData, seconds: Mapping[str, float]) -> Mutant:
    path, line = str(spec.module_path), spec.start_pos[0]
    tests = _tests_of(path, line, covered, seconds)
    outcome, diff = "no test runs it", ""
    if tests:
        arguments = tree / "chosen-tests.txt"
        arguments.write_text("\n".join(tests) + "\n")
        command = _pytest("-x", "-p", "no:xdist", "-p", "no:cacheprovider", f"@{arguments}")
        script = f"cd {tree} && PYTHONPATH=src CI=true {shlex.join(command)}; code=$?; echo EXIT=$code; exit $code"
        result = mutate_and_test([evolve(spec, module_path=tree / path)], shlex.join(["bash", "-c", script]), TIMEOUT)
        outcome = "survived" if result.test_outcome is TestOutcome.SURVIVED else "killed"
        if outcome == "killed" and "EXIT=1" not in (result.output or "") and result.output != "timeout":
            # Not a failed test: the mutant cannot be imported, or the tests cannot be run at all. Without it they must.
            environment = _environment(tree)
            whole = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)  # noqa: S603
            outcome = "killed" if whole.returncode == 0 else "tests do not run"
        diff = "\n".join(
            row for row in (result.diff or "").splitlines() if row[:1] in "+-" and row[:3] not in ("+++", "---")
        )
    return Mutant(path, line, spec.operator_name.removeprefix("core/"), spec.occurrence, outcome, diff)


def _all(specs: Sequence[MutationSpec], cache: Path, jobs: int) -> Iterator[Mutant]:
    """Try every mutant, in as many trees side by side as there are jobs; finished ones are read back."""
    kept = cache / "mutants.jsonl"
    found = [Mutant(**json.loads(row)) for row in kept.read_text().splitlines()] if kept.exists() else []
    known = {(m.path, m.operator, m.occurrence): m for m in found}
    with TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            trees.put(_copy(Path(folder) / str(job)))
        first = trees.get()
        covered, seconds = _covered(first, cache)
        trees.put(first)

        def one(spec: MutationSpec) -> Mutant:
            key = (str(spec.module_path), spec.operator_name.removeprefix("core/"), spec.occurrence)
            if key in known:
                return known[key]
            tree = trees.get()
            try:
                return _tried(spec, tree, covered, seconds)
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


def _report(mutants: Sequence[Mutant], seed: int) -> str:
    reasons = {(r["path"], r["diff"]): r["reason"] for r in tomllib.loads(REASONS.read_text())["survivor"]}
    killed = [m for m in mutants if m.outcome == "killed"]
    harmless = [m for m in mutants if m.outcome != "killed" and (m.path, m.diff) in reasons]
    rest = [m for m in mutants if m.outcome != "killed" and (m.path, m.diff) not in reasons]
    counted = len(mutants) - len(harmless)
    interval = binomtest(len(killed), counted).proportion_ci(0.95, "exact")
    drawn = (
        f"Written by `make mutants` on {datetime.now(UTC):%Y-%m-%d}: {len(mutants)} of cosmic-ray's mutants of "
        f"{' and '.join(MUTATED)}, drawn with seed {seed}, without those that change only annotations or docstrings."
    )
    share = (
        f"Killed: {len(killed)} of {counted}, {len(killed) / counted:.1%} (95% interval {interval.low:.1%} to "
        f"{interval.high:.1%}), besides {len(harmless)} that are equivalent or harmless."
    )
    parts = ["# Mutants", drawn, share]
    if rest:
        parts += ["## Survivors", "\n".join(_table(rest))]
    if harmless:
        rows = [f"- {m.path}:{m.line}: {reasons[m.path, m.diff]}" for m in harmless]
        parts += ["## Equivalent or harmless", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


@click.command()
@click.option("--sample", default=300, show_default=True, help="Mutants to try.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draw.")
@click.option(
    "--only", multiple=True, help="A folder or a file; repeat for more. All that is tested this way if left out."
)
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="Mutants tried side by side.")
def main(sample: int, seed: int, only: tuple[str, ...], jobs: int) -> None:
    """Try a sample of mutants and write MUTANTS.md (with --only, print instead)."""
    files = _git("ls-files", "-s", *MUTATED, "tests")
    cache = user_cache_path("lastiterate") / "mutation" / hashlib.sha256(files.encode()).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        specs = _drawn(_copy(Path(folder)), only, sample, seed)
    written = _report(list(_all(specs, cache, jobs)), seed)
    if not only:
        RESULTS.write_text(written)
    print(written)


if __name__ == "__main__":
    main()
