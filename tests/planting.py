"""Faults planted in a copy of the sources: small edits of the text, each met by what is to notice it.

A table is a TOML file with entries ``[[fault]]``: ``path``, ``old``, which stands there once, and ``new``; and
``by``, who is to notice: the key of a claim, which `check` then finds drifted from its lock, or a test. A fault is
planted in a copy of the files, whose claims and tests run in processes of their own.
"""

import os
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from processes import FOREIGN, python

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "src",
    "numeric",
    "proofs_checks",
    "runtime",
    "symbolic",
    "tests",
    "docs",
    "benchmarks",
    "examples",
    "pyproject.toml",
)
_DECIDE = """
import sys
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.lock import drifts, read_lock
from lastiterate.proofs_checks.selection import of_ledger
lock = read_lock()
for key in sys.argv[1:]:
    report, = map(decide, of_ledger(keys=(key,)))
    if drift := drifts([report], lock, complete=False):
        why = next((one.counterexample or one.detail for one in report.outcomes if one.grade is None), "")
        print(f"{drift[0]} {why}"[:400])
        sys.exit(3)
"""


@dataclass(frozen=True)
class Fault:
    """An edit of a file, and what is to notice it: a claim or a test."""

    path: str
    old: str
    new: str
    by: str

    @property
    def by_check(self) -> bool:
        """True if `check` is to notice it."""
        return not self.by.startswith("tests/")

    def edited(self) -> str:
        """The text of the file with the fault."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        found = text.count(self.old)
        assert found == 1, (
            f"{self.path} needs the text {self.old!r} once, got {found} times; plant the fault anew."
        )
        assert self.old != self.new
        return text.replace(self.old, self.new)


def read(table: Path) -> list[Fault]:
    """The faults of a table."""
    return [Fault(**entry) for entry in tomllib.loads(table.read_text(encoding="utf-8"))["fault"]]


def copy(folder: Path) -> Path:
    """A copy of what is imported and tested, compiled files included: links, which are replaced and not written."""
    for name in FOLDERS:
        subprocess.run(["cp", "-al", str(ROOT / name), str(folder)], check=True)  # noqa: S603, S607
    return folder


@contextmanager
def planted(tree: Path, fault: Fault) -> Iterator[None]:
    """The copy with the fault; afterwards it is as it was."""
    path, text = tree / fault.path, fault.edited()
    try:
        _replace(path, text)
        yield
    finally:
        _replace(path, (ROOT / fault.path).read_text(encoding="utf-8"))


def _replace(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def notice(tree: Path, *by: str) -> str:
    """The words of the claims or of the test about the copy; "" where they notice nothing."""
    env = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "CI": "true",
        "LASTITERATE_CACHE_DIR": str(tree / "cache"),
    }
    if by[0].startswith("tests/"):
        options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "", "--no-header", "--tb=line")
        done = python("-m", "pytest", *options, *by, cwd=tree, env=env, libraries=(*FOREIGN, "pytest"))
        said = [
            line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")) and "::" in line
        ]
        assert done.returncode == 0 or (done.returncode == 1 and said), (
            f"the tests do not run with the fault: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
        return "" if done.returncode == 0 else said[0]
    done = python("-c", _DECIDE, *by, cwd=tree, env=env, libraries=FOREIGN)
    assert done.returncode in (0, 3), f"the claims are not decided with the fault: {done.stderr[-2000:]}"
    return done.stdout.strip()


def meet(tree: Path, fault: Fault) -> None:
    """Fail unless what the fault names notices it."""
    with planted(tree, fault):
        said = notice(tree, fault.by)
    if not said:
        pytest.fail(f"{fault.by} does not notice that {fault.path} has {fault.new!r} for {fault.old!r}.")
