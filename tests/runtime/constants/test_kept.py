"""Finished parts of initialisations are kept and found again."""

from dataclasses import replace
from pathlib import Path

import known
import pytest
import torch

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.store import write_whole
from lastiterate.runtime.constants import holder
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.pair_table import PairTable
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.loading import load_workload

SMALL = Sampling(inits=2, points=30, dtype="float64")


def test_resumed_equals_uninterrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = load_workload("builtin:iris-mlp")
    run = paper_run(workload, steps=3)
    settings = replace(SMALL, inits=3, points=4)
    whole = estimate_holder(workload, run, (0.5, 1.0), settings)
    calls: list[int] = []
    real = holder.train

    def interrupted(
        gradients: Gradients, start: torch.Tensor, run: NoisySGD, seed: int, **kept: int
    ) -> torch.Tensor:
        calls.append(seed)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(gradients, start, run, seed, **kept)

    monkeypatch.setattr(holder, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        estimate_holder(workload, run, (0.5, 1.0), settings, folder=tmp_path)
    resumed = estimate_holder(workload, run, (0.5, 1.0), settings, folder=tmp_path)
    assert calls == [0, 1, 1, 2], "the finished initialisation is not measured again"
    assert resumed == whole
    estimate_holder(workload, run, (0.25,), settings, folder=tmp_path)
    assert len(calls) == 4, "another order costs no gradient"
    estimate_holder(workload, run, (0.5,), replace(settings, seed=1), folder=tmp_path)
    assert calls[4:] == [1_000_003, 1_000_004, 1_000_005], "another seed is another measurement"


@pytest.mark.parametrize("damaged", [False, True])
def test_the_iterates_of_an_interrupted_initialisation_are_kept(
    damaged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = load_workload("builtin:iris-mlp")
    run = paper_run(workload, steps=5)
    settings = replace(SMALL, inits=1, points=3)
    whole = estimate_holder(workload, run, (0.5, 1.0), settings, layers=True)
    measured: list[int] = []
    real = holder.measure_center

    def interrupted(*arguments: torch.Tensor, **options: object) -> PairTable:
        measured.append(1)
        if len(measured) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(holder, "measure_center", interrupted)
    with pytest.raises(KeyboardInterrupt):
        estimate_holder(workload, run, (0.5, 1.0), settings, layers=True, folder=tmp_path)
    kept = sorted(tmp_path.rglob("init-*.npz"))
    assert [path.name for path in kept] == [f"init-0000-0{part}.npz" for part in range(3)]
    if damaged:
        kept[1].write_bytes(kept[1].read_bytes()[:-30])
    assert estimate_holder(workload, run, (0.5, 1.0), settings, layers=True, folder=tmp_path) == whole
    assert len(measured) == 4 + (4 if damaged else 3)
    assert len(list(tmp_path.rglob("init-*"))) == 6, "the training that was kept is not needed any more"


def test_a_full_disk_is_one_sentence_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = known.quadratic([[1.0, 0.5]])
    run = paper_run(workload, steps=2)

    def full(path: Path, _data: bytes) -> None:
        if path.name == "init-0001-01.npz":
            raise OSError(28, "No space left on device")
        write_whole(path, _data)

    monkeypatch.setattr("lastiterate.numeric.store.write_whole", full)
    with pytest.raises(InputError, match=r"No space left on device.*repeat the command"):
        estimate_holder(workload, run, (1.0,), replace(SMALL, inits=2, points=2), folder=tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("init-*")) == [
        f"init-{name}.npz" for name in ("0000-00", "0000-01", "0000-02", "0001-00")
    ]


def test_a_damaged_file_is_measured_again(tmp_path: Path) -> None:
    workload = known.quadratic([[1.0, 0.5]])
    run = paper_run(workload, steps=2)
    settings = replace(SMALL, inits=1, points=2)
    first = estimate_holder(workload, run, (1.0,), settings, folder=tmp_path)
    file, *_ = tmp_path.rglob("init-*.npz")
    file.write_bytes(file.read_bytes()[:100])
    assert estimate_holder(workload, run, (1.0,), settings, folder=tmp_path) == first
    assert not list(tmp_path.rglob(".*")), "no temporary file is left"
