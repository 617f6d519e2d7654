import json
from pathlib import Path

import numpy as np
import pytest

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import Store


def test_parts_come_back_and_other_settings_do_not_see_them(tmp_path: Path) -> None:
    store = Store(tmp_path, {"seed": 1})
    assert store.load("a") is None
    store.save("a", {"x": np.arange(3.0), "y": np.zeros((0, 2))})
    again = Store(tmp_path, {"seed": 1}).load("a")
    assert again is not None
    assert again["x"].tolist() == [0, 1, 2]
    assert again["y"].shape == (0, 2)
    assert Store(tmp_path, {"seed": 2}).load("a") is None
    assert json.loads((store.folder / "settings.json").read_text()) == {"seed": 1}


@pytest.mark.parametrize("damage", [b"", b"PK no archive", None])
def test_a_damaged_part_is_not_there(tmp_path: Path, damage: bytes | None) -> None:
    store = Store(tmp_path, {})
    store.save("a", {"x": np.arange(300.0)})
    (path,) = store.folder.glob("*.npz")
    path.write_bytes(path.read_bytes()[:200] if damage is None else damage)
    assert store.load("a") is None


def test_a_part_that_numpy_would_read_as_a_shorter_one_is_not_there(tmp_path: Path) -> None:
    store = Store(tmp_path, {})
    store.save("a", {"x": np.arange(3000.0)})
    (path,) = store.folder.glob("*.npz")
    path.write_bytes(path.read_bytes().replace(b"(3000,)", b"(1000,)"))
    assert np.load(path)["x"].tolist() == list(range(1000))
    assert store.load("a") is None


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"need a folder that can be written to, got folder=.*file"):
        Store(tmp_path / "file", {})
