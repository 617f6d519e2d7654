"""Files that all workers of a run share, made by the first that asks while the others wait; run files from texts."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.run_file import load_run


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The file or folder of this name in the temporary folder of the run, which ``make`` writes to a path."""
    base = factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with path.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            part = path.with_name(f"{name}.part")
            make(part)
            part.rename(path)
    return path


def parse_run(text: str) -> tuple[NoisySGD, Assumption]:
    """As `load_run`, from the text of a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.toml"
        path.write_bytes(text.encode(errors="surrogatepass"))
        return load_run(path)
