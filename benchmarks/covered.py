"""Lines and branches of numeric/ and proofs_checks/engines that the tests run.

make coverage      the share of the branches, file by file; fails below 95%
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from xml.etree import ElementTree

import click
from coverage import CoverageData

__all__ = ["MEASURED", "Covered", "copied", "environment", "git", "pytest"]

ROOT = Path(__file__).parents[1]
MEASURED = ("numeric", "proofs_checks/engines")
TESTS = (
    "tests/numeric",
    "tests/proofs_checks",
    "tests/symbolic",
    "tests/test_readme.py",
    "tests/test_doctests.py",
)
LEAST_BRANCHES = 0.95


def pytest(*arguments: str) -> list[str]:
    """A command that runs these tests."""
    return [sys.executable, "-m", "pytest", "-q", *arguments]


def environment(tree: Path) -> dict[str, str]:
    """Variables under which the tests of a copy of the tree test that copy, and the same examples every time."""
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}


def git(*arguments: str) -> str:
    """The output of git in the checkout."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603, S607
    return done.stdout


def copied(folder: Path) -> Path:
    """The tracked files, links kept, in a folder of their own; the virtual environment is linked."""
    for name in filter(None, git("ls-files", "-z").split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    return folder


@dataclass(frozen=True)
class Covered:
    """One measurement, kept in a folder: the data of coverage.py, its report, and how long each test took."""

    folder: Path

    @classmethod
    def measured(cls, tree: Path, folder: Path) -> Self:
        """Run the tests of a copy of the tree once, unless the folder has the measurement already."""
        kept = ("coverage", "report.json", "times.xml")
        if not all((folder / name).exists() for name in kept):
            # No name here may begin with "coverage.": coverage.py would take it for a part of its data.
            settings = (
                "[run]\nbranch = True\nrelative_files = True\nsource =\n  " + "\n  ".join(MEASURED) + "\n"
            )
            (tree / "measured.ini").write_text(settings)
            command = pytest("-n", "auto", *TESTS, "--cov", "--cov-config=measured.ini", "--cov-context=test")
            command += ["--cov-report=json:report.json", "--junitxml=times.xml"]
            variables = environment(tree) | {"COVERAGE_FILE": str(tree / "coverage")}
            subprocess.run(command, cwd=tree, env=variables, check=True)  # noqa: S603
            for name in kept:
                shutil.copy(tree / name, folder / name)
        return cls(folder)

    @cached_property
    def _data(self) -> CoverageData:
        data = CoverageData(str(self.folder / "coverage"))
        data.read()
        return data

    @cached_property
    def _seconds(self) -> Mapping[str, float]:
        cases = ElementTree.parse(self.folder / "times.xml").iter("testcase")  # noqa: S314, our own file
        return {
            f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}": float(
                case.get("time", "0")
            )
            for case in cases
        }

    @cached_property
    def branches(self) -> Mapping[str, tuple[int, int]]:
        """The branches of each file: how many are taken by some test, and how many there are."""
        files = json.loads((self.folder / "report.json").read_text())["files"]
        return {
            name: (found["summary"]["covered_branches"], found["summary"]["num_branches"])
            for name, found in files.items()
        }

    @property
    def share(self) -> float:
        """The share of all branches that some test takes."""
        return sum(taken for taken, _ in self.branches.values()) / sum(
            every for _, every in self.branches.values()
        )

    def tests_of(self, path: str, line: int, most: int) -> list[str]:
        """Tests that run the line: of those in the file's own test file the quickest, and of all others the quickest.

        For a line that runs at import they are those that run any line of the file.
        """
        by_line = self._data.contexts_by_lineno(path)
        names = {name for name in by_line.get(line, []) if name}
        if not names:
            names = {name for found in by_line.values() for name in found if name}
        tests = {name.partition("|")[0] for name in names}
        own = f"tests/{Path(path).parent}/test_{Path(path).stem}.py::"
        quickest = sorted(tests, key=lambda name: (self._seconds.get(name, 1.0), name))
        own_tests, others = (
            [name for name in quickest if name.startswith(own) == mine] for mine in (True, False)
        )
        return own_tests[:most] + others[:most]


@click.command()
def main() -> None:
    """Print the share of branches that the tests take, file by file, the least covered first."""
    with TemporaryDirectory() as tree, TemporaryDirectory() as kept:
        covered = Covered.measured(copied(Path(tree)), Path(kept))
        rows = sorted(
            (taken / every, every - taken, name) for name, (taken, every) in covered.branches.items() if every
        )
    for share, missed, name in rows:
        click.echo(f"{share:7.1%}  {missed:3} missed  {name}")
    click.echo(f"{covered.share:.2%} of the branches of {' and '.join(MEASURED)} are taken")
    if covered.share < LEAST_BRANCHES:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
