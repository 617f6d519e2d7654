"""Interrupted and killed commands, as a user meets them: real processes and real signals."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from processes import TORCH, python

import lastiterate

NETWORK = """
import os
import signal
from pathlib import Path
import torch
from torch import nn
from lastiterate.runtime.workloads.workload import Workload

class Stopping(nn.Linear):
    def forward(self, rows):
        name, _, file = os.environ["STOP"].partition(" ")
        if file and list(Path("kept").rglob(file)):
            os.kill(os.getpid(), signal.Signals[name])
        return super().forward(rows)

def network():
    loss = lambda out, y: (out.tanh() - y).square().sum()
    return Workload("stopping", lambda: Stopping(2, 1), loss, torch.ones(3, 2), torch.zeros(3, 1))
"""
ARGUMENTS = [
    "estimate",
    "their_network:network",
    "--inits",
    "3",
    "--points",
    "2",
    "--steps",
    "12",
    "--draw",
    "uniform",
]
ARGUMENTS += ["--json"]


def command(folder: Path, kept: str, stop: str = "") -> subprocess.CompletedProcess[str]:
    """Measure a network that sends its own process a signal in the first pass after a file is there."""
    (folder / "their_network.py").write_text(NETWORK)
    source = str(Path(lastiterate.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "STOP": stop}
    return python(
        "-m", "lastiterate", *ARGUMENTS, "--resume", kept, cwd=folder, env=environment, libraries=TORCH
    )


@pytest.mark.nightly
def test_an_interrupted_and_a_killed_command_go_on_where_they_stopped(tmp_path: Path) -> None:
    interrupted = command(tmp_path, "kept", "SIGINT init-0000-12.npz")
    assert (interrupted.returncode, interrupted.stdout) == (130, "")
    assert interrupted.stderr.count("\n") == 1
    assert interrupted.stderr.startswith(
        "interrupted: 13 of 39 parts of stopping are finished and kept in kept"
    )
    assert interrupted.stderr.endswith("the same command resumes from there.\n")
    killed = command(tmp_path, "kept", "SIGKILL init-0001-12.npz")
    assert killed.returncode == -signal.SIGKILL
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("init-000[01]-*.npz")}
    assert len(before) == 26
    resumed, whole = command(tmp_path, "kept"), command(tmp_path, "whole")
    assert (resumed.returncode, whole.returncode) == (0, 0)
    assert resumed.stdout == whole.stdout
    assert {path: path.stat().st_mtime_ns for path in before} == before, (
        "what is finished is not measured again"
    )
    assert [path.name for path in sorted((tmp_path / "kept").rglob("init-*"))] == [
        f"init-000{init}-{part:02d}.npz" for init in range(3) for part in range(13)
    ]
