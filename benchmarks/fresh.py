"""A piece of work in a Python process of its own, and all the memory that process took."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["in_a_process"]

_PEAK = """
import json, resource, sys
from pathlib import Path

def peak():
    "Most resident memory so far, MiB; ru_maxrss counts the parent before exec, VmHWM does not."
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:") / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
"""


def in_a_process(work: str, *arguments: str) -> dict[str, Any]:
    """The dictionary ``found`` that the work fills.

    Args:
        work: Python; it may call ``peak()``, and finds the arguments in ``sys.argv[1:]``.
        arguments: texts.
    """
    command = [sys.executable, "-c", f"{_PEAK}{work}\nprint(json.dumps(found))\n", *arguments]
    done = subprocess.run(  # noqa: S603
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True, timeout=600
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
