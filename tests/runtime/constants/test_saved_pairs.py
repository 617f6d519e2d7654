"""Saved pairs: computed anew by other code they agree, and whatever is changed in a file is found."""

import json
from pathlib import Path

import known
import numpy as np
import pytest
import safetensors
import safetensors.numpy
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants import saved_pairs as module
from lastiterate.runtime.constants import worst_case_constants as searching
from lastiterate.runtime.constants.sampling import input_set
from lastiterate.runtime.constants.saved_pairs import recheck, save_pairs
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.pair_table import Kind
from lastiterate.runtime.training.descent import paper_run
from lastiterate.runtime.workloads.workload import Workload

GENERATOR = torch.Generator().manual_seed(3)
WORK = Workload(
    "small",
    lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)),
    nn.functional.cross_entropy,
    torch.randn(6, 3, generator=GENERATOR, dtype=torch.float64),
    torch.tensor([0, 1, 2, 0, 1, 2]),
)


KEPT: dict[str, bytes] = {}
"""Files that were saved, by the options of the search."""


@pytest.fixture(autouse=True)
def _few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved need not be the worst pair there is."""
    for name, few in (
        ("_STARTS", 8),
        ("_CURVED", 2),
        ("_SCREENED", 8),
        ("_LOOKED_AT", 1),
        ("_ITERATIONS", 12),
        ("_BENDING", 4),
    ):
        monkeypatch.setattr(searching, name, few)


def saved(path: Path, **options: object) -> Path:
    if str(options) not in KEPT:
        run = paper_run(WORK, steps=2, clip_norm=0.5)
        save_pairs(path, worst_case_constants(WORK, run, (0.5, 1.0), **options))  # type: ignore[arg-type]
        KEPT[str(options)] = path.read_bytes()
    path.write_bytes(KEPT[str(options)])
    return path


def changed(path: Path, name: str, change: float, **said: object) -> Path:
    """The same file with a change of one array and of what is said, and a checksum that fits."""
    with safetensors.safe_open(path, framework="numpy") as file:
        old = json.loads(file.metadata()[module._KEY])
        arrays = {key: file.get_tensor(key) for key in module._NAMES}
    arrays[name] = arrays[name] + np.asarray(change, dtype=arrays[name].dtype)
    del old["check"]
    new = old | said
    text = json.dumps(new | {"check": module._check(new, arrays)})
    path.write_bytes(safetensors.numpy.save(arrays, metadata={module._KEY: text}))
    return path


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [*((kind, "float64") for kind in Kind), (Kind.SAMPLE, "float32")],
)
@pytest.mark.sweep(1)
def test_pairs_hold_when_they_are_computed_anew(kind: Kind, dtype: str, tmp_path: Path) -> None:
    rows = recheck(WORK, saved(tmp_path / "pairs", kind=kind, dtype=dtype))
    assert [row.lam for row in rows] == [0.5, 1.0]
    assert all(row.holds for row in rows)
    for row in rows:
        assert row.found == pytest.approx(row.said, rel=1e-6 if dtype == "float64" else 2e-3)


@pytest.mark.nightly
def test_free_inputs_hold_and_stay_in_their_set(tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs", inputs=input_set("box:-2,2"))
    assert all(row.holds for row in recheck(WORK, path))
    (row, *_) = recheck(WORK, changed(path, "inputs", 0.01))
    assert row.problem == "the input lies outside the searched set"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("x", -1e-3, ""),
        (
            "x",
            1.0,
            "a point lies outside the domain around the weights of this network; give the search's --checkpoint",
        ),
        ("inputs", 1e-9, "the sample differs from the one in the data"),
        ("targets", 1, "the sample differs from the one in the data"),
    ],
)
def test_other_pairs_are_found_wanting(name: str, change: float, problem: str, tmp_path: Path) -> None:
    rows = recheck(WORK, changed(saved(tmp_path / "pairs"), name, change))
    assert not any(row.holds for row in rows)
    assert {row.problem for row in rows} == {problem}


def test_a_constant_that_is_said_too_large_does_not_hold(tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs")
    with safetensors.safe_open(path, framework="numpy") as file:
        pairs = json.loads(file.metadata()[module._KEY])["pairs"]
    more = [pair | {"constant": pair["constant"] * 1.001} for pair in pairs]
    rows = recheck(WORK, changed(path, "x", 0.0, pairs=more))
    assert [row.holds for row in rows] == [False, False]


@pytest.mark.parametrize("place", [0.02, 0.5, 0.9])
def test_a_damaged_file_is_one_sentence(place: float, tmp_path: Path) -> None:
    path = saved(tmp_path / "pairs")
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged or another kind of file"):
        recheck(WORK, path)
    path.write_bytes(bytes(data)[:-9])
    with pytest.raises(InputError, match="damaged or another kind of file"):
        recheck(WORK, path)


def test_a_foreign_file_is_one_sentence(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"x": np.zeros(3)}, tmp_path / "net.safetensors")
    (tmp_path / "text").write_text("pairs")
    for name in ("net.safetensors", "text"):
        with pytest.raises(InputError, match="damaged or another kind of file"):
            recheck(WORK, tmp_path / name)
    with pytest.raises(InputError, match="check it"):
        recheck(WORK, tmp_path / "none")
    path = saved(tmp_path / "pairs")
    with pytest.raises(InputError, match="from small for workload=quadratic"):
        recheck(known.quadratic([[1.0, 0.5]]), path)
    wider = Workload("small", lambda: nn.Linear(3, 3), WORK.loss, WORK.inputs, WORK.targets)
    with pytest.raises(InputError, match="for 12 parameters"):
        recheck(wider, path)


def test_nothing_to_save_is_one_sentence(tmp_path: Path) -> None:
    work = known.linear()
    with pytest.raises(InputError, match="got none for workload=linear"):
        save_pairs(tmp_path / "pairs", worst_case_constants(work, paper_run(work, steps=2), (1.0,)))
    assert not list(tmp_path.iterdir())
