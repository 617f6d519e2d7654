import hashlib
import pickle
from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from pathlib import Path

import cifar
import numpy as np
import pytest
import torch
from cifar import NAME, images_of

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.record import HolderEstimate
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.workloads.hugging_face import import_torchvision
from lastiterate.runtime.workloads.loading import load_workload

pytestmark = pytest.mark.skipif(find_spec("torchvision") is None, reason="it is in the vision extra")

RECORDS = 3
"""Images in each of the five files that the tests write; the published ones have 10,000."""

Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture
def tiny() -> Data:
    """Random images and classes, five files of them."""
    random = np.random.default_rng(0)
    return random.integers(0, 256, (5, RECORDS, 3072), dtype=np.uint8), random.integers(0, 10, (5, RECORDS))


@pytest.fixture
def pickled(tiny: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    loader = import_torchvision("datasets").CIFAR10
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()

    def write(name: str, content: object) -> tuple[str, str]:
        text = pickle.dumps(content)
        (folder / name).write_bytes(text)
        return name, hashlib.md5(text, usedforsecurity=False).hexdigest()

    files = [
        write(f"data_batch_{i}", {"data": pixels, "labels": classes.tolist()})
        for i, (pixels, classes) in enumerate(zip(*tiny, strict=True), start=1)
    ]
    test = [write("test_batch", {"data": tiny[0][0], "labels": tiny[1][0].tolist()})]
    name, digest = write("batches.meta", {"label_names": [str(i) for i in range(10)]})
    monkeypatch.setattr(loader, "train_list", files)
    monkeypatch.setattr(loader, "test_list", test)
    monkeypatch.setattr(loader, "meta", {"filename": name, "key": "label_names", "md5": digest})
    return folder


@pytest.mark.parametrize("outer", [False, True])
def test_the_files_are_read_by_torchvision(pickled: Path, tiny: Data, outer: bool) -> None:
    images, classes = images_of(pickled.parent if outer else pickled)
    assert np.array_equal(images.numpy(), tiny[0].reshape(-1, 3, 32, 32))
    assert classes.tolist() == tiny[1].reshape(-1).tolist()


class Trap:
    """What a malicious pickle does: unpickling it makes a file."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (self.place,))


@pytest.mark.parametrize("file", ["data_batch_3", "test_batch", "batches.meta"])
def test_a_file_with_another_md5_is_never_unpickled(pickled: Path, tmp_path: Path, file: str) -> None:
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    pickle.loads(trap)  # noqa: S301 - ours, to see that it springs
    (tmp_path / "sprung").unlink()
    (pickled / file).write_bytes(trap)
    with pytest.raises(InputError, match="MD5 differs"):
        images_of(pickled)
    assert not (tmp_path / "sprung").exists()


def test_a_missing_pickled_file(pickled: Path) -> None:
    (pickled / "data_batch_5").unlink()
    with pytest.raises(InputError, match="one is missing"):
        images_of(pickled)


def test_published_md5s_are_what_guards_the_loader() -> None:
    loader = import_torchvision("datasets").CIFAR10
    digests = [digest for _, digest in loader.train_list + loader.test_list] + [loader.meta["md5"]]
    assert len(set(digests)) == 7
    assert all(len(digest) == 32 for digest in digests), "without an MD5 torchvision checks nothing"


def test_no_folder_or_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data FOLDER"):
        load_workload(NAME)
    with pytest.raises(InputError, match=f"got data={tmp_path} without it"):
        load_workload(NAME, tmp_path)


def test_the_network_takes_bytes_and_has_no_constants(pickled: Path) -> None:
    workload = load_workload(NAME, pickled)
    bytes_ = torch.tensor([0, 255], dtype=torch.uint8)
    torch.testing.assert_close(workload.initial(0)[0](bytes_), torch.tensor([-1.0, 1.0]))  # type: ignore[index]
    known = workload.certified(0, 0.1)
    assert known.smoothness == inf
    assert "a kink of ReLU" in known.statement


def _parts(network: torch.nn.Module, kind: type) -> list[torch.nn.Module]:
    return [part for part in network.modules() if isinstance(part, kind)]


@pytest.mark.nightly
def test_batched_gradients_equal_plain_ones(pickled: Path) -> None:
    workload = load_workload(NAME, pickled)
    network = workload.initial(0)
    assert not _parts(network, torch.nn.modules.batchnorm._BatchNorm)
    gradients = Gradients(workload, network, memory=2**31)
    points = torch.stack([gradients.start, gradients.start * 0.9])
    found = flat(gradients.at(points, slice(0, 2)))
    again = workload.initial(0).double()
    torch.nn.utils.vector_to_parameters(points[1], again.parameters())
    loss = workload.loss(again(workload.inputs[1:2]), workload.targets[1:2])
    plain = torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, list(again.parameters()))])
    torch.testing.assert_close(found[1, 1], plain, rtol=1e-9, atol=1e-12)


def test_the_command_measures_a_folder(
    pickled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [
        "--samples",
        "2",
        "--centers",
        "2",
        "--points",
        "1",
        "--steps",
        "1",
        "--inits",
        "1",
        "--draw",
        "uniform",
        "--json",
    ]
    with pytest.raises(SystemExit) as ended:
        main(["estimate", NAME, "--data", str(pickled), *few, "--resume", str(tmp_path / "kept")])
    assert ended.value.code == 0
    found = HolderEstimate.from_json(capsys.readouterr().out)
    assert found.subset is not None
    assert (found.pairs, found.subset.samples, found.subset.of) == (2, 2, 5 * RECORDS)
    assert "ReLU gradients jump" in found.remark


def test_without_torchvision_it_is_one_sentence(pickled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"pip install 'lastiterate\[runtime,vision\]'"):
        load_workload(NAME, pickled)
