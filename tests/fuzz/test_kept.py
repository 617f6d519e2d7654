"""What is kept on disk, damaged: noticed and made again, or refused in one sentence; never read as something else."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fuzzing import both, campaign, damaged
from processes import PYTEST, python

import lastiterate as li
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import Store
from lastiterate.numeric.sweeps import SweepPlan
from lastiterate.proofs_checks.cache import ReportCache
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.lock import lock_path, read_lock, write_lock
from lastiterate.symbolic import ledger

CLAIMS = ledger.claims()

_CLAIM = next(claim for claim in CLAIMS if claim.key == "chien_li/theorem_3_1/composition")
_PLAN = SweepPlan(
    li.NoisySGD(5, 0.1, 1.0, 1.0, 5), li.Smooth(1.0), {"noise_std": [1.0, 2.0, 3.0], "order": [2, 4]}
)


@pytest.mark.nightly
@both
def test_the_cache_of_reports(times: int, tmp_path: Path) -> None:
    """A damaged entry is either the same report still, or none at all, and then it is written anew."""
    cache, report = ReportCache(tmp_path), decide(_CLAIM)
    cache.write(_CLAIM, report)
    path = cache.address(_CLAIM)
    whole, kept = path.read_bytes(), cache.read(_CLAIM)
    assert kept is not None

    def check(data: bytes) -> None:
        path.write_bytes(data)
        assert cache.read(_CLAIM) in (None, kept)
        cache.write(_CLAIM, report)
        assert cache.read(_CLAIM) == kept

    campaign(250 * times, damaged(whole), check)
    assert list(tmp_path.iterdir()) == [path]


@both
def test_the_lock_file(times: int, tmp_path: Path) -> None:
    """Read as what it says, or refused: an entry that says something else is a drift, which `check` reports."""
    known = read_lock()
    few = dict(list(known.items())[:4])
    path = tmp_path / "lock.json"
    write_lock(few, path)
    whole = path.read_bytes()

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = read_lock(path)
        except InputError as error:
            assert "restore" in str(error)  # noqa: PT017
        else:
            assert all(entry.rejected >= 0 for entry in found.values())

    campaign(250 * times, damaged(whole), check)
    assert lock_path().is_file()


@both
def test_the_rows_of_a_sweep(times: int, tmp_path: Path) -> None:
    """A damaged row is computed again."""
    whole = li.sweep(_PLAN.run, _PLAN.assumption, _PLAN.axes, out=tmp_path / "out.csv")
    (path,) = (tmp_path / "out.csv.rows").glob("*/3.npz")
    row = path.read_bytes()

    def check(data: bytes) -> None:
        path.write_bytes(data)
        assert li.sweep(_PLAN.run, _PLAN.assumption, _PLAN.axes, out=tmp_path / "out.csv") == whole

    campaign(50 * times, damaged(row), check)


@both
def test_the_parts_of_an_estimate(times: int, tmp_path: Path) -> None:
    """A part comes back as it was written, or not at all."""
    store = Store(tmp_path, {"seed": 1})
    assert store.folder is not None
    arrays = {"ratio": np.linspace(0, 1, 7), "distance": np.ones((2, 3))}
    store.save("init-0", arrays)
    path = store.folder / "init-0.npz"
    whole = path.read_bytes()

    def check(data: bytes) -> None:
        path.write_bytes(data)
        found = store.load("init-0")
        if found is not None:
            assert found.keys() <= arrays.keys()
            assert all(np.array_equal(found[name], arrays[name]) for name in found)
        Store(tmp_path, {"seed": 1}).save("init-0", arrays)
        again = store.load("init-0")
        assert again is not None
        assert again.keys() == arrays.keys()

    campaign(200 * times, damaged(whole), check)
    (store.folder / "settings.json").write_bytes(b"\x00")
    Store(tmp_path, {"seed": 1})
    assert json.loads((store.folder / "settings.json").read_text()) == {"seed": 1}


@both
def test_checkpoints(times: int, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from lastiterate.runtime.checkpointing import read_checkpoint, write_checkpoint

    path = tmp_path / "state.pt"
    write_checkpoint(path, {"step": 3, "weights": torch.arange(3.0)})
    whole = path.read_bytes()

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = read_checkpoint(path)
        except InputError as error:
            assert "checkpoint" in str(error)  # noqa: PT017
        else:
            assert found["step"] == 3
            assert torch.equal(found["weights"], torch.arange(3.0))

    campaign(100 * times, damaged(whole), check)


@both
@pytest.mark.parametrize("name", ["net.pt", "net.safetensors"])
def test_trained_weights(name: str, times: int, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    from lastiterate.runtime.workloads.weights import read_weights

    weights, path = {"0.weight": torch.arange(6.0).reshape(2, 3), "0.bias": torch.ones(2)}, tmp_path / name
    (torch.save if name == "net.pt" else safetensors.save_file)(weights, path)

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            found = read_weights(path)
        except InputError as error:
            assert "checkpoint" in str(error)  # noqa: PT017
        else:
            assert name == "net.safetensors" or all(torch.equal(found[key], weights[key]) for key in weights)

    campaign(60 * times, damaged(path.read_bytes()), check)


def test_two_writers_of_one_cache_and_one_lock_file(tmp_path: Path) -> None:
    """Threads that write and read at once see whole files only."""
    from concurrent.futures import ThreadPoolExecutor

    report, path = decide(_CLAIM), tmp_path / "lock.json"
    known = dict(list(read_lock().items())[:3])
    write_lock(known, path)

    def work(number: int) -> bool:
        cache = ReportCache(tmp_path / "cache")
        cache.write(_CLAIM, replace(report, seconds=float(number)))
        write_lock(known, path)
        kept = cache.read(_CLAIM)
        return kept is not None and kept.key == _CLAIM.key and read_lock(path) == known

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["cache", "lock.json"]


@both
def test_modules_of_claims(times: int, tmp_path: Path) -> None:
    """Cut off anywhere: its tests fail or its import does, pytest goes on, and a whole module is decided beside it."""
    template = (Path(li.__file__).parent / "commands" / "claim.py.template").read_bytes()
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "whole.py").write_bytes(template)
    count = 5 * times
    for k in range(1, count):
        (tmp_path / "claims" / f"cut_{k}.py").write_bytes(template[: len(template) * k // count])
    command = ["-m", "pytest", "--lastiterate", "--import-mode=importlib", "-q", str(tmp_path)]
    command += ["-p", "lastiterate.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = python(*command, env=environment, cwd=tmp_path, libraries=PYTEST)
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert done.returncode in (0, 1, 2), done.stdout
