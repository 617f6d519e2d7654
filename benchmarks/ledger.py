"""How long ``lastiterate check`` takes from scratch, with all cores."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.table import Limit

__all__ = ["check"]


def check() -> list[Limit]:
    """One run without the cache, in a process of its own; empty where the command does not run."""
    command = [str(Path(sys.executable).with_name("lastiterate")), "check", "--no-cache"]
    start = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    seconds = perf_counter() - start
    lines = done.stdout.strip().splitlines()
    if done.returncode not in (0, 1) or not lines:
        return []
    return [Limit("`lastiterate check --no-cache`", seconds, "s", 60.0, lines[-1])]
