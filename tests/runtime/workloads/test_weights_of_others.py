"""Checkpoints as other programs write them: wrappers around each other, the old format, tied tensors, a prefix."""

from pathlib import Path

import pytest
import torch
from torch import nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.weights import put_in, read_weights


def _net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


def _same(path: Path, net: nn.Module, trained: nn.Module) -> None:
    put_in(read_weights(path), net, path)
    for name, values in net.state_dict().items():
        assert torch.equal(values, trained.state_dict()[name])


@pytest.mark.parametrize("prefix", ["_orig_mod.module.", "module._orig_mod.", "_module.module._orig_mod."])
def test_wrappers_may_be_around_each_other(tmp_path: Path, prefix: str) -> None:
    trained, path = _net(), tmp_path / "one.pt"
    torch.save(
        {"model": {prefix + name: values for name, values in trained.state_dict().items()}, "step": 1}, path
    )
    _same(path, _net(), trained)


@pytest.mark.parametrize("key", [None, "model_state"])
def test_the_format_of_before_torch_1_6_is_read(tmp_path: Path, key: str | None) -> None:
    trained, path = _net(), tmp_path / "old.pt"
    held = trained.state_dict() if key is None else {key: trained.state_dict(), "step": 3}
    torch.save(held, path, _use_new_zipfile_serialization=False)
    _same(path, _net(), trained)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="which is cut off or of another kind"):
        read_weights(path)


def test_a_tied_tensor_may_be_left_out(tmp_path: Path) -> None:
    def tied() -> nn.Module:
        made = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11, bias=False))
        made[1].weight = made[0].weight  # type: ignore[assignment]
        return made

    trained, path = tied(), tmp_path / "tied.pt"
    torch.save({"0.weight": trained.state_dict()["0.weight"]}, path)
    _same(path, tied(), trained)
    untied = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 11, bias=False))
    with pytest.raises(InputError, match=r"lacks 1\.weight"):
        put_in(read_weights(path), untied, path)


def test_a_prefix_of_all_names_is_named(tmp_path: Path) -> None:
    path = tmp_path / "last.ckpt"
    torch.save({"state_dict": {f"net.{name}": values for name, values in _net().state_dict().items()}}, path)
    with pytest.raises(InputError, match=r"every name has the prefix 'net\.': save only the state_dict of"):
        put_in(read_weights(path), _net(), path)
