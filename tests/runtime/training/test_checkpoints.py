"""Checkpoints: bit by bit the same run, also in another process; whatever is not one of this run changes nothing."""

import signal
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch
from processes import TORCH, python
from torch import nn
from torch.nn.functional import mse_loss

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.checkpointing import read_checkpoint, write_checkpoint
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD

RUN = NoisySGD(5, 0.3, 0.1, 0.5, dataset_size=8, batch_size=4, sampling="shuffled", diameter=2.0)
GENERATOR = torch.Generator().manual_seed(1)
INPUTS, TARGETS = torch.randn(8, 3, generator=GENERATOR), torch.randn(8, 2, generator=GENERATOR)


def module(seed: int = 0) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(3, 2)


def made(start: int = 0, **changes: Any) -> ProjectedNoisySGD:
    return ProjectedNoisySGD(module(start), mse_loss, **({"run": RUN, "center": "origin", "seed": 4} | changes))


def trained(optimiser: ProjectedNoisySGD, until: int = 5) -> ProjectedNoisySGD:
    for batch in optimiser.batches():
        if optimiser.done == until:
            break
        optimiser.step(INPUTS[batch], TARGETS[batch])
    return optimiser


def parameters(optimiser: ProjectedNoisySGD) -> torch.Tensor:
    return optimiser.state_dict()["parameters"]


@pytest.mark.parametrize("center", ["initial", "origin"])
@pytest.mark.parametrize("done", [0, 2, 5])
def test_a_run_that_is_taken_up_is_the_same_bit_by_bit(tmp_path: Path, center: str, done: int) -> None:
    path = tmp_path / "checkpoint"
    trained(made(center=center), done).save(path)
    again = made(center=center, start=9)
    again.load(path)
    assert again.done == done
    trained(again)
    assert torch.equal(parameters(again), parameters(trained(made(center=center))))
    assert again.accounted() == again.run


def test_another_process_goes_on_and_a_kill_while_saving_leaves_the_old_file(tmp_path: Path) -> None:
    """The child trains two steps, saves, makes a third, and is killed by SIGKILL with half of the next file written."""
    path = tmp_path / "checkpoint"
    child = dedent(
        f"""
        import os, signal, sys
        from pathlib import Path
        sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[2])!r}]
        import torch
        torch.set_num_threads(1)
        from test_checkpoints import made, trained
        optimiser = trained(made(), 2)
        optimiser.save({str(path)!r})
        trained(optimiser, 3)
        opened = Path.open
        def dying(part, mode):
            file = opened(part, mode)
            class Half:
                def __enter__(self): return self
                def __exit__(self, *_): return None
                def write(self, data):
                    file.write(data[: len(data) // 2])
                    file.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
            return Half()
        Path.open = dying
        optimiser.save({str(path)!r})
        """
    )
    done = python("-c", child, libraries=TORCH)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2  # the half file lies beside the old one
    again = made(start=9)
    again.load(path)
    assert again.done == 2
    assert torch.equal(parameters(trained(again)), parameters(trained(made())))


def refused(optimiser: ProjectedNoisySGD, path: Path, said: str) -> None:
    before = optimiser.state_dict()
    before["parameters"] = before["parameters"].clone()
    with pytest.raises(InputError, match=said) as caught:
        optimiser.load(path)
    assert "\n" not in str(caught.value)
    after = optimiser.state_dict()
    assert after["done"] == before["done"]
    assert torch.equal(after["parameters"], before["parameters"])
    assert after["streams"] == before["streams"]


def test_a_file_that_is_cut_off_or_changed_in_one_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    trained(made(), 2).save(path)
    whole = path.read_bytes()
    optimiser = trained(made(), 1)
    for length in (0, 1, 20, 25, 60, 89, 90, 91, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused(optimiser, path, "another kind" if length < 25 else "damaged or cut off")
    for place in range(0, len(whole), 211):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        refused(optimiser, path, "another kind" if place < 25 else "damaged or cut off")
    path.write_bytes(whole)
    optimiser.load(path)
    assert optimiser.done == 2


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    optimiser = trained(made(), 1)
    refused(optimiser, tmp_path / "missing", "No such file")
    refused(optimiser, tmp_path, "Is a directory")
    torch.save(optimiser.state_dict(), tmp_path / "plain.pt")
    refused(optimiser, tmp_path / "plain.pt", "another kind")
    write_checkpoint(tmp_path / "other", {"done": 1})
    refused(optimiser, tmp_path / "other", "got done;")
    write_checkpoint(tmp_path / "list", [1, 2])  # type: ignore[arg-type]
    refused(optimiser, tmp_path / "list", "got list")
    write_checkpoint(tmp_path / "code", {"done": module()})
    refused(optimiser, tmp_path / "code", "only tensors and numbers")


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: made(run=replace(RUN, noise_std=0.2)), "run="),
        (lambda: made(run=replace(RUN, steps=6)), "run="),
        (lambda: ProjectedNoisySGD(module(), mse_loss, RUN, center="origin", seed=5), "seed=5"),
        (lambda: made(center="initial"), "center="),
        (lambda: ProjectedNoisySGD(nn.Linear(7, 1), mse_loss, RUN, center="origin", seed=4), "layout="),
        (
            lambda: ProjectedNoisySGD(nn.Linear(3, 2).double(), mse_loss, RUN, center="origin", seed=4),
            "float64",
        ),
        (
            lambda: ProjectedNoisySGD(nn.Sequential(nn.Linear(3, 2)), mse_loss, RUN, center="origin", seed=4),
            "layout=",
        ),
    ],
)
def test_checkpoints_of_another_run_or_model_are_refused(tmp_path: Path, other: Any, said: str) -> None:
    found = other()
    found.save(tmp_path / "checkpoint")
    refused(trained(made(), 1), tmp_path / "checkpoint", said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"done": -1}, "done=-1"),
        ({"done": 6}, "done=6"),
        ({"done": 1.0}, "done=1.0"),
        ({"done": True}, "done=True"),
        ({"streams": {}}, "streams="),
        ({"streams": {"noise": 0, "mask": 0}}, "random stream 'noise', got streams="),
        ({"streams": {"noise": torch.zeros(3)}}, "streams"),
        ({"streams": {"noise": "x"}}, "streams"),
        ({"streams": {"noise": -1}}, "streams"),
        ({"parameters": torch.full((8,), float("nan"))}, "finite parameters"),
        ({"parameters": [0.0] * 8}, "parameters="),
        ({"center": torch.zeros(7)}, "center="),
        ({"run": None}, "run=None"),
        ({"optimiser": "SGD"}, "optimiser=SGD"),
    ],
)
def test_states_that_were_tampered_with_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    write_checkpoint(tmp_path / "checkpoint", {**trained(made(), 2).state_dict(), **change})
    refused(trained(made(), 1), tmp_path / "checkpoint", said)


def test_saving_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory"):
        made().save(tmp_path / "no folder" / "checkpoint")
    with pytest.raises(InputError, match="No such file"):
        read_checkpoint(tmp_path / "nothing")
