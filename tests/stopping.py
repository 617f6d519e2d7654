"""Commands that get a signal at a step of their own work, however fast or busy the machine is.

A step is a file below a folder that is opened for writing or renamed, or the progress of a row, a claim or an iterate.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from processes import SYMPY, python

_COMMAND = """
import os, signal, sys
from rich.progress import Progress

name, left, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def step():
    global left
    left -= 1
    if left == 0:
        os.killpg(0, signal.Signals[name])  # the whole group, as a terminal does

def seen(event, details):
    written = event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR)
    if (written or event == "os.rename") and str(details[0]).startswith(folder):
        step()

def counted(method):
    def method_and_step(*arguments, **options):
        method(*arguments, **options)
        step()
    return method_and_step

sys.addaudithook(seen)
Progress.advance, Progress.update = counted(Progress.advance), counted(Progress.update)
sys.argv = ["lastiterate", *sys.argv[4:]]
from lastiterate.__main__ import main
main()
"""


def stopped(
    signal: str,
    step: int,
    folder: Path,
    arguments: Sequence[str],
    libraries: Sequence[str] = SYMPY,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `lastiterate` with these arguments, and send it and its workers a signal at the given step in the folder.

    The call returns once no process holds the output any more, so a worker that is left behind makes it hang.
    """
    given = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    return python("-c", _COMMAND, signal, str(step), str(folder), *arguments, env=given, libraries=libraries)
