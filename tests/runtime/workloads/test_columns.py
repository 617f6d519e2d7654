"""Files in place of the samples of any workload."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload

ROWS = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
LABELS = np.arange(6) % 2


def _work(**changed: Any) -> Workload:
    given = {"inputs": torch.zeros(2, 3), "targets": torch.zeros(2, dtype=torch.long)} | changed
    return Workload("own", lambda: nn.Linear(3, 2), nn.functional.cross_entropy, **given)


def _written(folder: Path, kind: str, columns: dict[str, Any]) -> Path:
    path = folder / f"rows.{kind}"
    if kind == "npz":
        np.savez(path, **columns)
    elif kind == "safetensors":
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(values) for name, values in columns.items()}, path)
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(
            pa.table({name: np.asarray(values).tolist() for name, values in columns.items()}), path
        )
    else:
        rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
        path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows))
    return path


@pytest.mark.parametrize("kind", ["npz", "safetensors", "parquet", "jsonl"])
def test_a_file_takes_the_place_of_the_samples(kind: str, tmp_path: Path) -> None:
    for columns in (
        {"x": ROWS, "label": LABELS},
        {"a": ROWS[:, 0], "b": ROWS[:, 1:], "y": LABELS},
    ):
        found = _work().on_file(_written(tmp_path, kind, columns))
        assert torch.equal(found.inputs, torch.from_numpy(ROWS))
        assert torch.equal(found.targets, torch.from_numpy(LABELS))
        assert found.remark == f"The samples are those of rows.{kind}."


def test_columns_have_the_names_of_several_inputs(tmp_path: Path) -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.last = nn.Embedding(4, 3), nn.Linear(3, 2)

        def forward(self, word: Tensor, rows: Tensor) -> Tensor:
            found: Tensor = self.last(self.table(word) + rows)
            return found

    def loss(output: Tensor, target: dict[str, Tensor]) -> Tensor:
        return (nn.functional.cross_entropy(output, target["labels"], reduction="none") * target["w"]).mean()

    words = {"word": torch.arange(4), "rows": torch.zeros(4, 3)}
    own: Any = {"labels": torch.zeros(4, dtype=torch.long), "w": torch.ones(4)}
    work = Workload("two", Two, loss, words, own)  # type: ignore[arg-type]
    columns = {"w": np.ones(6), "rows": ROWS, "text": ["a"] * 6, "labels": LABELS, "word": LABELS}
    found = work.on_file(_written(tmp_path, "jsonl", columns))
    assert found.inputs.shape == (6, 4)
    assert torch.equal(found.inputs[:, 1:].float(), torch.from_numpy(ROWS))
    gradients = Gradients(found, found.initial(0))
    assert gradients.samples == 6


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": ROWS}, "one for the targets, labels, got data=.* with x; rename"),
        ({"labels": LABELS}, "one for the targets, labels, got data=.* with labels; rename"),
        ({"x": ROWS, "labels": LABELS / 2}, "fractions in a column of whole numbers"),
        (
            {"x": ["a"] * 6, "labels": LABELS},
            "Data must be numbers, with rows of one length, in an undamaged file",
        ),
    ],
)
def test_other_columns_are_one_sentence(columns: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        _work().on_file(_written(tmp_path, "jsonl", columns))


def test_ragged_rows_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"x": [1.0, 2.0], "y": 0}\n{"x": [1.0], "y": 1}\n')
    with pytest.raises(InputError, match="Data must be numbers, with rows of one length"):
        _work().on_file(tmp_path / "rows.jsonl")
