"""Checkpoints as other programs write them: nested, wrapped, averaged, in several files, or with other objects."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.holder import checkpoints_in
from lastiterate.runtime.workloads.weights import put_in, read_weights, weights_for
from lastiterate.runtime.workloads.workload import Workload


def _net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


torch.manual_seed(7)
TRAINED = _net()
WEIGHTS: dict[str, Tensor] = dict(TRAINED.state_dict())
AVERAGED = {name: values + 1 for name, values in WEIGHTS.items()}


def _under(prefix: str, weights: dict[str, Tensor] = WEIGHTS) -> dict[str, Tensor]:
    return {prefix + name: values for name, values in weights.items()}


def _adam() -> dict[str, Any]:
    optimizer = torch.optim.Adam(TRAINED.parameters(), lr=0.0)
    TRAINED(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def _same(path: Path, net: nn.Module, trained: nn.Module = TRAINED) -> str:
    part, _, _ = weights_for(net, read_weights(path), path)
    put_in(read_weights(path), net, path)
    for name, values in net.state_dict().items():
        assert torch.equal(values, trained.state_dict()[name])
    return part


SINGLE: dict[str, tuple[object, str]] = {
    "a compiled network in a parallel one": (
        {"model": _under("_orig_mod.module."), "step": 1},
        "model._orig_mod.module",
    ),
    "the other way round": (_under("module._orig_mod."), "module._orig_mod"),
    "inner blocks are wrapped": (
        {f"0._orig_mod.{n[2:]}" if n[0] == "0" else n: v for n, v in WEIGHTS.items()},
        "",
    ),
    "lightning": (
        {
            "state_dict": {**_under("net."), "loss.weight": torch.ones(3)},
            "optimizer_states": [_adam()],
            "epoch": 2,
        },
        "state_dict.net",
    ),
    "any key, with the optimizer": ({"policy": WEIGHTS, "adam": _adam(), "reward": 0.5}, "policy"),
    "a moving average": (AveragedModel(TRAINED).state_dict(), "module"),
    "words beside the weights": ({**WEIGHTS, "arch": "mlp", "epoch": 3}, ""),
    "two sets that agree": (
        {"model": WEIGHTS, "ema": {name: one.clone() for name, one in WEIGHTS.items()}},
        "model",
    ),
}


@pytest.mark.parametrize(("held", "part"), SINGLE.values(), ids=SINGLE)
def test_the_weights_are_found_and_their_place_is_stated(tmp_path: Path, held: object, part: str) -> None:
    torch.save(held, tmp_path / "one.pt")
    assert _same(tmp_path / "one.pt", _net()) == part
    work = Workload("w", _net, nn.functional.cross_entropy, torch.ones(2, 4), torch.zeros(2, dtype=torch.int64))
    assert f"{part} in one.pt" if part else "of one.pt" in work.at_checkpoint(tmp_path / "one.pt").remark


SEVERAL: dict[str, tuple[object, str]] = {
    "an average": ({"model": WEIGHTS, "model_ema": AVERAGED}, "model, model_ema"),
    "a list": ({"model": WEIGHTS, "ema": {"decay": 0.9, "shadow": [*AVERAGED.values()]}}, "model, ema.shadow"),
    "names without dots": (
        {**_under("net."), **{f"ema.{name.replace('.', '')}": one for name, one in AVERAGED.items()}},
        "net, ema",
    ),
    "two networks": ({**_under("student."), **_under("teacher.", AVERAGED)}, "student, teacher"),
    "one inside": ({**WEIGHTS, **_under("module.", AVERAGED)}, "also has module.0.weight|several"),
}


@pytest.mark.parametrize(("held", "said"), SEVERAL.values(), ids=SEVERAL)
def test_one_of_two_sets_is_never_taken_in_silence(tmp_path: Path, held: object, said: str) -> None:
    torch.save(held, tmp_path / "one.pt")
    with pytest.raises(InputError, match=said):
        weights_for(_net(), read_weights(tmp_path / "one.pt"), tmp_path / "one.pt")


@pytest.mark.parametrize("key", [None, "model_state"])
def test_the_format_of_before_torch_1_6_is_read(tmp_path: Path, key: str | None) -> None:
    path = tmp_path / "old.pt"
    held = WEIGHTS if key is None else {key: WEIGHTS, "step": 3}
    torch.save(held, path, _use_new_zipfile_serialization=False)
    _same(path, _net())
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="which is cut off or of another kind"):
        read_weights(path)


@pytest.mark.parametrize("old", [False, True])
def test_a_foreign_object_is_named(tmp_path: Path, *, old: bool) -> None:
    held = {"model": WEIGHTS, "args": Namespace(lr=0.1)}
    torch.save(held, tmp_path / "one.pt", _use_new_zipfile_serialization=not old)
    with pytest.raises(InputError, match=r"only tensors, got checkpoint=\S+ with argparse\.Namespace, which"):
        read_weights(tmp_path / "one.pt")


def test_a_tied_tensor_may_be_left_out(tmp_path: Path) -> None:
    def tied() -> nn.Module:
        made = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11, bias=False))
        made[1].weight = made[0].weight  # type: ignore[assignment]
        return made

    trained, path = tied(), tmp_path / "tied.pt"
    for name in trained.state_dict():
        torch.save({name: trained.state_dict()[name]}, path)
        _same(path, tied(), trained)
    untied = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11, bias=False))
    with pytest.raises(InputError, match=r"lacks 0\.weight"):
        put_in(read_weights(path), untied, path)
    torch.save(untied.state_dict(), path)
    with pytest.raises(InputError, match=r"different 0\.weight and 1\.weight, which the network ties"):
        put_in(read_weights(path), tied(), path)


@pytest.mark.parametrize("kind", ["model.safetensors", "pytorch_model.bin"])
def test_weights_in_several_files_are_read(tmp_path: Path, kind: str) -> None:
    stem, end = kind.split(".")
    names = [f"{stem}-0000{k}-of-00002.{end}" for k in (1, 2)]
    for name, first in zip(names, "02", strict=True):
        held = {key: one for key, one in WEIGHTS.items() if key.startswith(first)}
        save_file(held, tmp_path / name) if end == "safetensors" else torch.save(held, tmp_path / name)
    index = tmp_path / f"{kind}.index.json"
    listed = {key: names[key.startswith("2")] for key in WEIGHTS}
    index.write_text(json.dumps({"weight_map": listed}))
    for path in (index, tmp_path):
        _same(path, _net())
    assert checkpoints_in([tmp_path]) == (index,)
    with pytest.raises(InputError, match=rf"give the index of all its files, {kind}\.index\.json"):
        put_in(read_weights(tmp_path / names[0]), _net(), tmp_path / names[0])
    index.write_text(json.dumps({"weight_map": {**listed, "3.bias": names[0]}}))
    with pytest.raises(InputError, match=r"must hold its weights, got .* without 3\.bias"):
        read_weights(index)
    for wrong in ({"weight_map": {"a": "../a.pt"}}, {"weight_map": {}}, [], {"weight_map": {"a": index.name}}):
        index.write_text(json.dumps(wrong))
        with pytest.raises(InputError, match="An index must list"):
            read_weights(index)
    index.write_text(json.dumps({"weight_map": listed}))
    (tmp_path / names[1]).unlink()
    with pytest.raises(InputError, match=f"must be a file.*{names[1]}"):
        read_weights(tmp_path)


def test_a_file_is_read_by_its_content(tmp_path: Path) -> None:
    torch.save(WEIGHTS, tmp_path / "one.safetensors")
    save_file(WEIGHTS, tmp_path / "one.pt")
    for name in ("one.safetensors", "one.pt"):
        _same(tmp_path / name, _net())


def test_one_byte_floats_are_read_and_tensors_without_numbers_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.pt"
    torch.save({name: one.to(torch.float8_e4m3fn) for name, one in WEIGHTS.items()}, path)
    weights_for(_net(), read_weights(path), path)
    for wrong in (WEIGHTS["0.weight"].to("meta"), WEIGHTS["0.weight"].to_sparse()):
        torch.save({**WEIGHTS, "0.weight": wrong}, path)
        with pytest.raises(InputError, match=r"dense numbers under each name, got 0\.weight"):
            read_weights(path)


def test_a_file_that_contains_itself_is_read_once(tmp_path: Path) -> None:
    held: dict[str, object] = {"model": WEIGHTS}
    held["all"] = held
    torch.save(held, tmp_path / "one.pt")
    assert _same(tmp_path / "one.pt", _net()) == "model"


def test_the_tensors_of_a_file_that_are_not_used_are_named(tmp_path: Path) -> None:
    others = {f"discriminator.{k}": torch.ones(k + 1) for k in range(5)}
    torch.save({"generator": WEIGHTS, **others}, tmp_path / "gan.pt")
    work = Workload(
        "net", _net, nn.functional.cross_entropy, torch.ones(2, 4), torch.zeros(2, dtype=torch.long)
    )
    said = work.at_checkpoint(tmp_path / "gan.pt").remark
    assert said.endswith(
        "Tensors of that file that are not used: 5, such as discriminator.0, discriminator.1, discriminator.2."
    ), said
