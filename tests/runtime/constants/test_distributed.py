"""Several processes: the same numbers as one, one voice, and an end where one of them fails."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from processes import TORCH, python
from torch import nn

import lastiterate
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants import distributed
from lastiterate.runtime.constants.distributed import Team, in_turn, local_device, process_group, shared, team
from lastiterate.runtime.pair_table import Kind, PairTable
from lastiterate.runtime.workloads.workload import Workload

SOURCE = str(Path(lastiterate.__file__).parents[1])
THEIRS = """
import os
import torch
from torch import nn
from lastiterate.runtime.constants import worst_case_constants
from lastiterate.runtime.workloads.workload import Workload

for name in ("_STARTS", "_CURVED", "_SCREENED", "_ITERATIONS", "_BENDING"):  # a search of few starts and steps
    setattr(worst_case_constants, name, 6)

def network():
    rows = torch.arange(12.0).reshape(6, 2)
    loss = lambda out, y: (out.tanh() - y).square().sum()
    return Workload("theirs", lambda: nn.Linear(2, 1), loss, rows, rows[:, :1])

def broken():
    if os.environ["RANK"] == "1":
        raise ValueError("only here")
    return network()

def killed():
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), 9)
    return network()

def broken_everywhere():
    raise ValueError("everywhere")
"""
ARGUMENTS = ["--inits", "1", "--points", "3", "--steps", "6", "--layers", "--draw", "uniform", "--json"]


TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
FORKS = [
    "-c",
    """
import runpy
import signal
import sys
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

def run():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # of the launcher alone
    runpy.run_module("lastiterate", run_name="__main__", alter_sys=True)

here = {"rdzv_backend": "c10d", "rdzv_endpoint": "localhost:0", "max_restarts": 0, "start_method": "fork"}
elastic_launch(LaunchConfig(1, 1, int(sys.argv.pop(1)), **here), run)()
""",
]
"""What torchrun does, but each process is a fork that need not import torch again, some four seconds."""
STARTED = pytest.mark.parametrize(
    "start", [FORKS, pytest.param(TORCHRUN, marks=pytest.mark.nightly)], ids=["", "torchrun"]
)


def launched(
    folder: Path, *arguments: str, processes: int = 2, command: str = "estimate", start: list[str] = FORKS
) -> subprocess.CompletedProcess[str]:
    (folder / "theirs.py").write_text(THEIRS)
    given = os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    program = ["-m", "lastiterate"] if start is TORCHRUN else []
    return python(*start, str(processes), *program, command, *arguments, cwd=folder, env=given, libraries=TORCH)


@STARTED
@pytest.mark.skipif(sys.platform == "win32", reason="gloo over torchrun is for Linux and macOS")
def test_two_processes_give_what_one_gives_and_only_one_speaks(start: list[str], tmp_path: Path) -> None:
    both = launched(tmp_path, "theirs:network", *ARGUMENTS, "--resume", "kept", start=start)
    assert both.returncode == 0, both.stderr
    (tmp_path / "theirs.py").write_text(THEIRS)
    given = os.environ | {"PYTHONPATH": SOURCE}
    words = ["estimate", "theirs:network", *ARGUMENTS, "--resume", "alone"]
    alone = python("-m", "lastiterate", *words, cwd=tmp_path, env=given, libraries=TORCH)
    assert alone.returncode == 0, alone.stderr
    assert both.stdout == alone.stdout
    kept, expected = (sorted((tmp_path / name).rglob("init-*")) for name in ("kept", "alone"))
    assert [path.name for path in kept] == [f"init-0000-0{part}.npz" for part in range(7)]
    for mine, theirs in zip(kept, expected, strict=True):
        with np.load(mine) as found, np.load(theirs) as wanted:
            assert all(np.array_equal(found[name], wanted[name]) for name in wanted.files)


@pytest.mark.parametrize(
    ("factory", "said"),
    [("broken", "only here"), pytest.param("broken_everywhere", "everywhere", marks=pytest.mark.nightly)],
)
@STARTED
def test_one_that_fails_ends_all_with_its_message(factory: str, said: str, start: list[str], tmp_path: Path) -> None:
    """Whoever waited for the one that is gone would wait for a day."""
    ended = launched(tmp_path, f"theirs:{factory}", *ARGUMENTS, "--resume", "kept", start=start)
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert ended.stderr.count("error: The factory of a workload must return one") == 1
    assert said in ended.stderr


def test_a_table_is_what_its_columns_say() -> None:
    generator = np.random.default_rng(0)
    table = PairTable(
        generator.random(5),
        {kind: generator.random(5) for kind in Kind},
        generator.random(5),
        {kind: generator.random((5, 3)) for kind in Kind},
    )
    again = PairTable.of_columns(table.columns())
    assert np.array_equal(again.columns(), table.columns())
    for kind in Kind:
        assert np.array_equal(again.differences[kind], table.differences[kind])
        assert np.array_equal(again.blocks[kind], table.blocks[kind])
    parts = [PairTable.of_columns(table.columns()[rows]) for rows in (slice(0, 2), slice(2, 5))]
    assert np.array_equal(PairTable.join(parts).columns(), table.columns())


def test_alone_there_is_nothing_to_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with process_group() as me:
        assert me == team() == Team(0, 1)
    values = {"a": {"of": np.arange(3.0)}}
    assert shared(values) is values


def test_each_process_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert [local_device(name) for name in ("cuda", "cuda:1", "cpu")] == ["cuda:3", "cuda:1", "cpu"]
    monkeypatch.delenv("LOCAL_RANK")
    assert local_device("cuda") == "cuda"


def test_processes_that_do_not_find_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"WORLD_SIZE=2 .*start them with torchrun"), process_group():
        raise AssertionError


def test_one_that_waits_for_one_that_ended_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_off(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr(distributed, "team", lambda: Team(0, 2))
    monkeypatch.setattr(distributed.distributed, "all_gather_object", cut_off)
    with pytest.raises(InputError, match=r"rank=0 of 2 waiting for one that ended"):
        shared({})


@pytest.mark.skipif(sys.platform == "win32", reason="gloo over torchrun is for Linux and macOS")
@pytest.mark.parametrize("processes", [pytest.param(2, marks=pytest.mark.nightly), 3])
def test_several_processes_search_what_one_searches_and_go_on_with_what_is_kept(processes: int, tmp_path: Path) -> None:
    arguments = ["--inits", "1", "--steps", "3", "--lambda", "0.5", "--lambda", "1", "--inputs", "ball:3", "--json"]
    several = launched(tmp_path, "theirs:network", *arguments, "--resume", "kept", processes=processes)
    assert several.returncode == 0, several.stderr
    given = os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}
    words = ["-m", "lastiterate", "estimate", "theirs:network", *arguments]
    alone = python(*words, "--resume", "alone", cwd=tmp_path, env=given, libraries=TORCH)
    assert alone.returncode == 0, alone.stderr
    assert several.stdout == alone.stdout
    kept, expected = (sorted((tmp_path / name).rglob("*.npz")) for name in ("kept", "alone"))
    assert [path.name for path in kept] == [path.name for path in expected]
    assert {"curved-0.npz", "search-0.5-0.npz", "search-1.0-0.npz", "curvature.npz"} == {path.name for path in kept}
    for mine, theirs in zip(kept, expected, strict=True):
        with np.load(mine) as found, np.load(theirs) as wanted:
            assert all(np.array_equal(found[name], wanted[name]) for name in wanted.files), mine.name
    for path in kept[::2]:
        path.unlink()
    again = python(*words, "--resume", "kept", cwd=tmp_path, env=given, libraries=TORCH)
    assert again.stdout == alone.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="gloo over torchrun is for Linux and macOS")
def test_checkpoints_go_round_the_processes_too(tmp_path: Path) -> None:
    work = Workload(
        "net", lambda: nn.Linear(2, 1), lambda out, y: (out.tanh() - y).square().sum(), *2 * [torch.ones(6, 2)]
    )
    files = [str(tmp_path / f"{k}.pt") for k in range(3)]
    for k, file in enumerate(files):
        torch.save(work.initial(k).state_dict(), file)
    words = ["theirs:network", *files, "--points", "3", "--layers", "--json"]
    both = launched(tmp_path, *words, "--resume", "kept", command="checkpoints")
    assert both.returncode == 0, both.stderr
    given = os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}
    alone = python(
        "-m", "lastiterate", "checkpoints", *words, "--resume", "alone", cwd=tmp_path, env=given, libraries=TORCH
    )
    assert alone.returncode == 0, alone.stderr
    assert both.stdout == alone.stdout


def test_parts_go_round_and_later_phases_see_earlier_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str, tuple[str, ...]]] = []
    every: dict[str, dict[str, np.ndarray]] = {name: {"of": np.ones(1)} for name in "abcdefg"}

    def task(rank: int, name: str) -> Callable[[Mapping[str, Any]], dict[str, np.ndarray]]:
        return lambda found: seen.append((rank, name, tuple(sorted(found)))) or every[name]

    for rank in range(3):
        told: list[tuple[int, int]] = []
        monkeypatch.setattr(distributed, "team", lambda rank=rank: Team(rank, 3))
        monkeypatch.setattr(
            distributed, "shared", lambda own: {n: every[n] for n in ("abcd" if max(own) < "e" else "efg")}
        )
        phases = [{name: task(rank, name) for name in names} for names in ("abcd", "efg")]
        assert in_turn(phases, lambda *now, told=told: told.append(now)) == every
        assert told[-1][0] == told[-1][1] == len(told) - 1
    assert sorted(name for _, name, _ in seen) == list("abcdefg")
    assert {found for _, name, found in seen if name in "abcd"} == {()}
    assert {found for _, name, found in seen if name in "efg"} == {tuple("abcd")}
    assert sorted(Counter(rank for rank, _, _ in seen).values()) == [2, 2, 3]


@STARTED
def test_one_that_is_killed_ends_the_others(start: list[str], tmp_path: Path) -> None:
    ended = launched(tmp_path, "theirs:killed", *ARGUMENTS, "--resume", "kept", processes=3, start=start)
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert "exitcode: -9" in ended.stderr
    # Each of the others is ended, unless it has seen before that one is gone, and has said so.
    stopped = re.findall("closing signal SIGTERM|Terminating process .* via signal SIGTERM", ended.stderr)
    told = re.findall("error: What all processes found is needed", ended.stderr)
    assert len(stopped) <= 2 <= len(stopped) + len(told)
