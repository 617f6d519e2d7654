import json
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor, nn

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.fingerprint import identify_workload
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.workloads.weights import read_weights
from lastiterate.runtime.workloads.workload import Workload


def network(hidden: int = 3) -> nn.Module:
    return nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))


WORK = Workload("theirs", network, nn.functional.cross_entropy, torch.ones(4, 2), torch.tensor([0, 1, 1, 0]))
ORDINARY = dict(network().state_dict())
RAN: list[str] = []


class Harmful:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return RAN.append, ("executed",)


def saved(what: object, folder: Path, name: str = "net.pt") -> Path:
    torch.save(what, folder / name)
    return folder / name


def state_of(workload: Workload, seed: int = 0) -> dict[str, Tensor]:
    return dict(workload.initial(seed).state_dict())


WRITTEN: dict[str, object] = {
    "plain": ORDINARY,
    "beside an optimiser": {"epoch": 3, "model_state_dict": ORDINARY, "optimizer": {"lr": 0.1}},
    "lightning": {"state_dict": ORDINARY},
    "parallel": {f"module.{name}": values for name, values in ORDINARY.items()},
    "opacus, compiled": {f"_module._orig_mod.{name}": values for name, values in ORDINARY.items()},
    "double": {name: values.double() for name, values in ORDINARY.items()},
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_every_seed_starts_at_the_saved_weights(written: object, tmp_path: Path) -> None:
    trained = WORK.at_checkpoint(saved(written, tmp_path))
    for seed in (0, 1):
        found = state_of(trained, seed)
        assert all(torch.equal(found[name], values) for name, values in ORDINARY.items())
    assert not all(torch.equal(a, b) for a, b in zip(state_of(WORK).values(), ORDINARY.values(), strict=True))
    assert "net.pt" in trained.remark


def test_safetensors_and_half_precision_are_read(tmp_path: Path) -> None:
    save_file({name: values.bfloat16() for name, values in ORDINARY.items()}, tmp_path / "net.safetensors")
    found = state_of(WORK.at_checkpoint(tmp_path / "net.safetensors"))
    assert all(torch.equal(found[name], values.bfloat16().float()) for name, values in ORDINARY.items())


def test_a_pickled_module_is_refused_and_not_executed(tmp_path: Path) -> None:
    for pickled in (network(), {**ORDINARY, "extra": Harmful()}, Harmful()):
        with pytest.raises(
            InputError, match=r"only tensors, got checkpoint=.* with \S+, .*never loaded; save it again"
        ):
            read_weights(saved(pickled, tmp_path))
    assert not RAN


def test_old_pickles_are_refused_and_not_executed(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    torch.save(Harmful(), path, _use_new_zipfile_serialization=False)
    with pytest.raises(InputError, match="never loaded"):
        read_weights(path)
    assert not RAN


CHANGED: list[tuple[dict[str, Tensor], str]] = [
    ({name: values for name, values in ORDINARY.items() if name != "2.bias"}, r"which lacks 2\.bias; build"),
    ({**ORDINARY, "3.bias": torch.ones(2)}, r"also has 3\.bias"),
    ({**ORDINARY, "2.bias": torch.ones(3)}, r"has 2\.bias \(3,\) real for \(2,\) real"),
    ({**ORDINARY, "2.bias": torch.ones(2, dtype=torch.int8)}, r"2\.bias \(2,\) whole for \(2,\) real"),
    (dict(network(5).state_dict()), r"0\.weight \(5, 2\) real for \(3, 2\) real"),
    (
        {f"layer{k}": torch.ones(1) for k in range(5)},
        r"lacks 0\.weight, also has layer0, lacks 0\.bias, also has layer1 and 5 more",
    ),
]


@pytest.mark.parametrize(("weights", "said"), CHANGED, ids=[said for _, said in CHANGED])
def test_weights_of_another_network_are_refused(weights: dict[str, Tensor], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        WORK.at_checkpoint(saved(weights, tmp_path)).initial(0)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(value: float, tmp_path: Path) -> None:
    weights = {**ORDINARY, "2.bias": torch.tensor([1.0, value])}
    with pytest.raises(InputError, match=r"nan or inf in 2\.bias of checkpoint="):
        WORK.at_checkpoint(saved(weights, tmp_path))


@pytest.mark.parametrize("name", ["net.pt", "net.safetensors"])
@pytest.mark.parametrize("content", [b"", b"hello\n", b"PK\x05\x06" + bytes(18), b"\x80\x02."])
def test_files_that_are_no_checkpoint_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="A checkpoint must") as refused:
        read_weights(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_the_state_of_an_optimiser_of_ours_is_told_apart(tmp_path: Path) -> None:
    run = NoisySGD(2, 0.1, 0.01, 1.0, dataset_size=4, diameter=1.0)
    ProjectedNoisySGD(network(), nn.functional.cross_entropy, run).save(tmp_path / "run.pt")
    with pytest.raises(InputError, match="load it into that optimiser and save its module"):
        read_weights(tmp_path / "run.pt")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.pt"):
        with pytest.raises(InputError, match="must be a file"):
            read_weights(path)


@pytest.mark.parametrize("other", [torch.ones(3), [torch.ones(2)], {}, {"a": 1}, {"a": {"b": []}}])
def test_what_is_not_tensors_by_name_is_refused(other: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must hold tensors by name"):
        read_weights(saved(other, tmp_path))


@given(cut=st.floats(0, 1), flipped=st.booleans())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_refused_or_harmless(cut: float, flipped: bool, tmp_path: Path) -> None:
    path = saved(ORDINARY, tmp_path)
    whole = bytearray(path.read_bytes())
    at = min(int(cut * len(whole)), len(whole) - 1)
    if flipped:
        whole[at] ^= 1 << (at % 8)
    path.write_bytes(whole if flipped else whole[:at])
    try:
        found = read_weights(path)
    except InputError:
        return
    assert flipped
    assert found.keys() == ORDINARY.keys()
    assert all(torch.equal(found[name], values) for name, values in ORDINARY.items())


def test_weights_that_differ_in_one_bit_are_told_apart(tmp_path: Path) -> None:
    nudged = {**ORDINARY, "2.bias": torch.nextafter(ORDINARY["2.bias"], torch.tensor(9.0))}
    two = [WORK.at_checkpoint(saved(weights, tmp_path, "net.pt")) for weights in (ORDINARY, nudged)]
    first, second = (identify_workload(work, Gradients(work, work.initial(0))) for work in two)
    assert first != second


def test_the_command_measures_one_initialisation_from_the_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "their_net.py").write_text(
        "import torch\nfrom torch import nn\nimport lastiterate as li\n\ndef factory():\n"
        "    return li.Workload('theirs', lambda: nn.Linear(2, 2), nn.functional.cross_entropy,\n"
        "                       torch.ones(4, 2), torch.tensor([0, 1, 1, 0]))\n"
    )
    path = saved(nn.Linear(2, 2).state_dict(), tmp_path)
    small = [
        "their_net:factory",
        "--steps",
        "2",
        "--points",
        "3",
        "--draw",
        "uniform",
        "--resume",
        str(tmp_path / "kept"),
        "--json",
    ]
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *small, "--checkpoint", str(path)])
    assert ended.value.code == 0
    said = json.loads(capsys.readouterr().out)["measurement"]
    assert said["inits"] == 1
    assert (
        said["remark"] == "Every run starts at the weights of net.pt, whose own training is not accounted for."
    )
    with ZipFile(path) as file:
        assert file.testzip() is None
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SystemExit) as ended:
        main(["estimate", *small, "--checkpoint", str(path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: A checkpoint must be")


def test_an_attack_on_crafted_losses_takes_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.toml"
    file.write_text("[run]\nsteps = 2\nstep_size = 0.1\nnoise_std = 1.0\nclip_norm = 1.0\ndataset_size = 5\n")
    with pytest.raises(SystemExit) as ended:
        main(["attack", str(file), "--delta", "1e-5", "--checkpoint", "net.pt"])
    assert ended.value.code == 2
    assert "add --workload" in capsys.readouterr().err
