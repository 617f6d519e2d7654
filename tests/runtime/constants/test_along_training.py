"""Constants along a training: known ones are found around and between checkpoints, by layer, in order, and kept."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from known import Vector
from torch import Tensor

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import checkpoints_in, constants_along_training
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

_PLACES = (0.5, 2.0, 1.0)


def _quartic() -> Workload:
    """The loss s w^4 / 12 with s = 1 and s = 2; its slope is s w^3 / 3, and its change (x^2 + x y + y^2) / 3 a unit."""

    def loss(out: Tensor, row: Tensor) -> Tensor:
        return (row * out**4).sum() / 12

    rows = torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    return Workload("quartic", lambda: Vector(1), loss, rows, rows)


@pytest.fixture
def saved(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"w-{9 + i}.pt" for i in range(len(_PLACES))]
    for path, place in zip(paths, _PLACES, strict=True):
        torch.save({"value": torch.tensor([place], dtype=torch.float64)}, path)
    return paths


def test_the_constants_are_those_of_the_polynomial(saved: list[Path]) -> None:
    found = constants_along_training(_quartic(), saved, (0.5, 1.0), Sampling(points=200, radius=0.1))
    assert [stage.checkpoint for stage in found.stages] == [str(path) for path in saved]
    for stage, place in zip(found.stages, _PLACES, strict=True):
        most = 2 * (place**2 + place * (place + 0.1) + (place + 0.1) ** 2) / 3
        assert 0.98 * most < stage.around.constants[1] <= most
        assert stage.layers == {}
    first, *later = found.stages
    assert first.moved is first.between is None
    for stage, x, y in zip(later, _PLACES[1:], _PLACES, strict=False):
        assert stage.moved == pytest.approx(abs(x - y), rel=1e-15)
        assert stage.between is not None
        change = 2 * (x * x + x * y + y * y) / 3
        assert stage.between.constants[1] == pytest.approx(change, rel=1e-12)
        assert stage.between.constants[0] == pytest.approx(change * abs(x - y) ** 0.5, rel=1e-12)


def _trained(folder: Path) -> tuple[Workload, list[Path]]:
    """Checkpoints of Iris networks, each further from the last, with numbers that words would order otherwise."""
    work = load_workload("builtin:iris-mlp-tanh")
    module, paths = work.initial(0), []
    for k in range(3):
        for parameter in module.parameters():
            parameter.data.mul_(1.5)
        paths.append(folder / f"step-{10 ** (k + 1) // 5}.pt")
        torch.save(module.state_dict(), paths[-1])
    return work, paths


def test_layers_combine_to_the_whole_and_between_is_the_secant(tmp_path: Path) -> None:
    work, paths = _trained(tmp_path)
    found = constants_along_training(work, paths, (1.0,), Sampling(points=5), layers=True)
    for stage in found.stages:
        parts = [one.constants[0] for one in stage.layers.values()]
        assert list(stage.layers) == ["0", "2"]
        assert max(parts) <= stage.around.constants[0] <= np.linalg.norm(parts) * (1 + 1e-9)
    at = [Gradients(work, work.at_checkpoint(path).initial(0)) for path in paths[:2]]
    change = at[0].at(torch.stack([one.start for one in at]))
    lengths = torch.cat([leaf[0].flatten(1) - leaf[1].flatten(1) for leaf in change], dim=1).norm(dim=1)
    wanted = float(lengths.max() / torch.dist(at[0].start, at[1].start))
    assert found.stages[1].between is not None
    assert found.stages[1].between.constants[0] == pytest.approx(wanted, rel=1e-9)


def test_finished_checkpoints_are_kept_and_others_measured_anew(
    saved: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lastiterate.runtime.constants import holder as module

    measured, whole = [], module.measure_center

    def counted(gradients: Gradients, *rest: Any) -> Any:
        measured.append(float(gradients.start))
        return whole(gradients, *rest)

    monkeypatch.setattr(module, "measure_center", counted)
    told: list[tuple[int, int]] = []
    settings: dict[str, Any] = {"folder": tmp_path / "kept", "on_step": lambda *step: told.append(step)}
    first = constants_along_training(_quartic(), saved[:2], (1.0,), Sampling(points=9), **settings)
    assert told == [(0, 2), (1, 2), (2, 2)]
    again = constants_along_training(_quartic(), saved, (1.0,), Sampling(points=9), **settings)
    assert measured == list(_PLACES)
    assert again.stages[:2] == first.stages
    constants_along_training(_quartic(), saved, (1.0,), Sampling(points=9, radius=0.3), **settings)
    assert len(measured) == 6


def test_files_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("net-100.pt", "net-20.safetensors", "net-3.pth", "log.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in checkpoints_in([tmp_path])] == [
        "net-3.pth",
        "net-20.safetensors",
        "net-100.pt",
    ]
    runs = [tmp_path / "runs" / f"checkpoint-{step}" / "model.safetensors" for step in (1000, 500)]
    for path in runs:
        path.parent.mkdir(parents=True)
        path.touch()
    named = [tmp_path / "net-100.pt", tmp_path / "runs"]
    assert list(checkpoints_in(named)) == [named[0], runs[1], runs[0]]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"A folder of checkpoints needs files ending in .pt.* without any"):
        checkpoints_in([tmp_path / "empty"])


def test_one_checkpoint_and_missing_ones_are_refused(saved: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 2 checkpoints, got 1; for a single one"):
        constants_along_training(_quartic(), saved[:1], (1.0,))
    with pytest.raises(InputError, match="A checkpoint must be a file"):
        constants_along_training(_quartic(), [saved[0], tmp_path / "none.pt"], (1.0,))
    with pytest.raises(InputError, match="Checkpoints must be paths of files or folders, got checkpoint=3"):
        constants_along_training(_quartic(), [saved[0], 3], (1.0,))  # type: ignore[list-item]


def _run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["checkpoints", *arguments])
    assert not ended.value.code


def test_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "saved").mkdir()
    work, paths = _trained(tmp_path / "saved")
    found = constants_along_training(work, paths, (1.0,), Sampling(points=4), layers=True)
    same = (work.name, str(tmp_path / "saved"), "--points", "4", "--layers", "--resume", str(tmp_path / "kept"))
    _run(*same)
    told = capsys.readouterr().out
    for stage in found.stages:
        assert Path(stage.checkpoint).name in told
        assert stage.around.cell(0) in told
        assert all(one.cell(0) in told for one in stage.layers.values())
    assert "The true constants are at least as large" in told
    _run(*same, "--json")
    said = json.loads(capsys.readouterr().out)
    assert [stage["around"]["constants"] for stage in said["stages"]] == [
        [*s.around.constants] for s in found.stages
    ]
