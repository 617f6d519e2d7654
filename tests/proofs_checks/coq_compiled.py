"""Compiled copies of proofs_checks/coq for tests; a test that needs one is skipped where Coq is not installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

COQ = Path(__file__).parents[2] / "proofs_checks" / "coq"


def make(folder: Path, target: str) -> str:
    """Make a target in a copy of the sources; what it prints."""
    done = subprocess.run(  # noqa: S603
        ["make", target],  # noqa: S607
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if "apt-get install" in done.stderr or "are written for Coq" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def copy(folder: Path) -> None:
    """Copy the sources to a folder."""
    if not shutil.which("coqc"):
        pytest.skip("coqc is not installed: apt-get install coq and the packages that `make coq` names")
    shutil.copytree(COQ, folder, ignore=shutil.ignore_patterns("*.vo*", "*.glob", ".*", "Makefile.coq*"))


def printed(built: Path, folder: Path, text: str) -> str:
    """What Coq prints for a text that uses the compiled rules."""
    (folder / "asked.v").write_text(text, encoding="utf-8")
    done = subprocess.run(  # noqa: S603
        ["coqc", "-q", "-Q", str(built), "lastiterate", "-w", "none", "asked.v"],  # noqa: S607
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
