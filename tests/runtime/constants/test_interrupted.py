"""Interrupted and killed commands, as a user meets them: real processes and real signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lastiterate

SLOW = """
import time
import torch
from torch import nn
from lastiterate.runtime.workloads.workload import Workload

class Slow(nn.Linear):
    def forward(self, rows):
        time.sleep(0.005)
        return super().forward(rows)

def network():
    loss = lambda out, y: (out.tanh() - y).square().sum()
    return Workload("slow", lambda: Slow(2, 1), loss, torch.ones(3, 2), torch.zeros(3, 1))
"""
ARGUMENTS = ["estimate", "their_slow:network", "--inits", "3", "--points", "2", "--steps", "12", "--json"]


def command(folder: Path, kept: str, *words: str) -> subprocess.Popen[str]:
    (folder / "their_slow.py").write_text(SLOW)
    source = str(Path(lastiterate.__file__).parents[1])
    return subprocess.Popen(  # noqa: S603
        [sys.executable, *words, "-m", "lastiterate", *ARGUMENTS, "--resume", kept],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(folder: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not list(folder.rglob(pattern)):
        assert time.monotonic() < until
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_an_interrupted_and_a_killed_command_go_on_where_they_stopped(tmp_path: Path) -> None:
    whole = command(tmp_path, "whole")
    interrupted = command(tmp_path, "kept")
    wait_for(tmp_path / "kept", "init-0000.npz", interrupted)
    time.sleep(0.02)  # the count of finished ones follows the file
    interrupted.send_signal(signal.SIGINT)
    out, said = interrupted.communicate(timeout=60)
    assert (interrupted.returncode, out) == (130, "")
    assert said.count("\n") == 1
    assert said.startswith("interrupted: 1 of 3 initialisations are finished and kept in kept")
    assert said.endswith("the same command goes on from there.\n")
    killed = command(tmp_path, "kept")
    wait_for(tmp_path / "kept", "init-0001.npz", killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("init-000[01].npz")}
    resumed = command(tmp_path, "kept")
    found, _ = resumed.communicate(timeout=60)
    expected, _ = whole.communicate(timeout=60)
    assert (resumed.returncode, whole.returncode) == (0, 0)
    assert found == expected
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what is finished is not measured again"
    assert [path.name for path in sorted((tmp_path / "kept").rglob("init-*"))] == [
        f"init-000{init}.npz" for init in range(3)
    ]
