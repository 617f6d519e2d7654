"""Samples of a loader: the same numbers in whatever order they come, or one sentence."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Convex
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants import worst_case_constants as worst_case
from lastiterate.runtime.constants.holder import constants_along_training, estimate_holder
from lastiterate.runtime.constants.refutation import refute
from lastiterate.runtime.constants.sampling import Sampling, input_set
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.streaming import read_samples
from lastiterate.runtime.workloads.workload import Workload

ROWS = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(30) % 3
DATA = TensorDataset(ROWS, LABELS)
RUN = NoisySGD(steps=3, step_size=0.1, noise_std=0.05, clip_norm=1.0, dataset_size=30, diameter=1.0)
LOSS = nn.functional.cross_entropy


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3))


def of_loader(loader: Any, samples: int | None = None) -> Workload:
    return Workload.of_loader("mine", network, LOSS, loader, samples=samples)


class Stream(IterableDataset[tuple[Tensor, int]]):
    """Samples that are made anew in every pass, by a function of the pass and the number, endlessly if asked."""

    def __init__(self, made: Callable[[int, int], tuple[Any, Any]], number: int | None = 10) -> None:
        self.made, self.number, self.passes = made, number, 0

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self.passes, k = self.passes + 1, 0
        while self.number is None or k < self.number:
            yield self.made(self.passes, k)
            k += 1


@pytest.mark.parametrize(
    "loader",
    [
        DataLoader(DATA, batch_size=7),
        DataLoader(DATA, batch_size=4, shuffle=True),
        DataLoader(DATA, batch_size=None, shuffle=True),
        DATA,
        [(row, int(label)) for row, label in DATA],
    ],
    ids=["batches", "shuffled", "unbatched", "dataset", "list"],
)
def test_every_order_and_batch_gives_the_same_samples(loader: Any) -> None:
    inputs, targets = read_samples(DataLoader(DATA, batch_size=30))
    found = read_samples(loader)
    assert torch.equal(found[0], inputs)
    assert torch.equal(found[1], targets)
    order = torch.cdist(inputs, ROWS).argmin(dim=1)
    assert sorted(order.tolist()) == list(range(30))
    assert torch.equal(inputs, ROWS[order])
    assert torch.equal(targets, LABELS[order])
    assert not torch.equal(inputs, ROWS)


def test_a_loader_may_write_to_its_batch_again_and_yield_an_empty_one() -> None:
    class Reused:
        def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
            row, label = torch.empty(4), torch.empty((), dtype=torch.long)
            for k in range(30):
                yield row.copy_(ROWS[k]), label.copy_(LABELS[k])

    expected = read_samples(DATA)
    assert all(map(torch.equal, read_samples(Reused()), expected))
    empty = lambda items: tuple(map(torch.stack, zip(*items, strict=True))) if items else (ROWS[:0], LABELS[:0])  # noqa: E731
    items: Any = [(ROWS[k], LABELS[k]) for k in range(30)]
    loader = DataLoader(items, batch_sampler=[[], [*range(9)], [], [*range(9, 30)]], collate_fn=empty)
    assert all(map(torch.equal, read_samples(loader), expected))


def test_a_loader_larger_than_memory_is_refused_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Stream(lambda _, k: (torch.full((1000,), float(k)), 0), 2000)
    monkeypatch.setattr("lastiterate.runtime.devices.free_memory", lambda _: 2.0**20)
    with pytest.raises(InputError, match=r"take 0\.00\d+ GiB of memory, got .* GiB free .*; give samples=N"):
        read_samples(long)
    assert len(read_samples(long, 20)[0]) == 20


@pytest.mark.nightly
@pytest.mark.usefixtures("short_refutation")
def test_all_measurements_are_those_of_the_same_samples_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit by bit."""
    for name, value in {"_STARTS": 8, "_CURVED": 2, "_SCREENED": 16, "_ITERATIONS": 6, "_BENDING": 4}.items():
        monkeypatch.setattr(worst_case, name, value)
    shuffled = of_loader(DataLoader(DATA, batch_size=8, shuffle=True))
    held = Workload("mine", network, LOSS, shuffled.inputs.clone(), shuffled.targets.clone())
    files = [tmp_path / f"{k}.pt" for k in range(2)]
    for k, file in enumerate(files):
        torch.save(held.initial(k).state_dict(), file)
    looks = [
        (
            estimate_holder(one, RUN, (0.5, 1.0), Sampling(inits=1, points=3)),
            constants_along_training(one, files, (1.0,), Sampling(points=3)).stages,
            refute(one, RUN, Convex(1e-3)),
            worst_case_constants(one, RUN, (1.0,), inputs=input_set("box:-3,3")).searched,
        )
        for one in (shuffled, held)
    ]
    assert looks[0] == looks[1]
    assert looks[0][2] is not None


def test_more_than_the_budget_comes_chunk_by_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    work = of_loader(TensorDataset(ROWS.repeat(20, 1), LABELS.repeat(20)))
    whole, small = (Gradients(work, work.initial(0), memory=memory) for memory in (2**28, 2**13))
    wide = small.rows()[0]
    assert wide.values.dtype is torch.float32, "left as it is, and where it is"
    assert whole.rows()[0].values.dtype is torch.float64
    assert torch.equal(wide[:], whole.rows()[0][:])
    asked: list[int] = []
    original = type(wide).__getitem__
    monkeypatch.setattr(
        type(wide),
        "__getitem__",
        lambda rows, at: asked.append(original(rows, at).shape[:1].numel()) or original(rows, at),
    )
    found = small.total(small.start)
    assert max(asked) < 100
    monkeypatch.undo()
    assert torch.allclose(found, whole.total(whole.start), rtol=1e-12)


def test_the_number_is_found_or_given() -> None:
    endless = Stream(lambda _pass, k: (torch.tensor([float(k)]), k % 2), None)
    assert read_samples(endless, samples=6)[0].flatten().sort().values.tolist() == [0, 1, 2, 3, 4, 5]
    assert of_loader(DATA, samples=12).samples == 12
    assert of_loader(DATA).samples == 30
    with pytest.raises(InputError, match=r"must yield 31 samples, got 30; give more"):
        read_samples(DATA, samples=31)


def test_equal_samples_stay_as_many_as_they_are() -> None:
    inputs, targets = read_samples([(np.array([1.0, k // 3]), k // 3) for k in range(6)])
    assert sorted(map(tuple, inputs.tolist())) == [(1.0, 0.0)] * 3 + [(1.0, 1.0)] * 3
    assert torch.equal(inputs[:, 1].long(), targets)


class Growing(Stream):
    """So many samples more in every pass, equal to one that was there, or less."""

    def __init__(self, step: int) -> None:
        super().__init__(lambda _pass, k: (torch.tensor([float(min(k, 9))]), 0))
        self.step = step

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self.number = 10 + self.step * self.passes
        return super().__iter__()


@pytest.mark.parametrize(
    "loader",
    [
        Stream(lambda at, k: (torch.tensor([float(k + at)]), 0)),
        Stream(lambda at, k: (torch.tensor([float(k) + 1e-7 * at * (k == 9)], dtype=torch.float64), 0)),
        Stream(lambda at, k: (torch.tensor([0.0 if at > 1 else float(k)]), 0)),
        Stream(lambda at, k: (torch.tensor([float(k - (at == 1 and k > 8))]), 0)),
        Growing(1),
        Growing(-1),
        Stream(lambda at, k: (torch.tensor([float(k // 2 if at == 1 else min(k, 7) // 2)]), 0)),
        DataLoader(
            DATA, batch_size=8, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(1)
        ),
        DataLoader(
            DATA, sampler=RandomSampler(DATA, replacement=True, generator=torch.Generator().manual_seed(1))
        ),
    ],
    ids=[
        "transformed",
        "one",
        "one thrice",
        "one twice",
        "one more",
        "one less",
        "multiplicities",
        "drop_last",
        "replacement",
    ],
)
def test_other_data_in_the_second_pass_are_noticed(loader: Any) -> None:
    with pytest.raises(
        InputError, match=r"the same \d+ samples in every pass, got different ones in the second"
    ):
        read_samples(loader)


class Broken(Dataset[int]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        raise FileNotFoundError("image 7")


@pytest.mark.parametrize(
    ("loader", "said"),
    [
        (5, "must be iterable, got int"),
        (
            ((row, label) for row, label in DATA),
            "iterable more than once, got generator, which is exhausted after one pass",
        ),
        ([], "at least one sample, got 0"),
        ([ROWS[0]], r"yield pairs \(inputs, targets\), got Tensor"),
        (DataLoader(TensorDataset(ROWS)), r"yield pairs \(inputs, targets\), got list of 1"),
        ([{"x": ROWS[0]}], r"yield pairs \(inputs, targets\), got dict"),
        ([(ROWS[0], "cat")], "yield tensors, got Tensor, str"),
        ([(ROWS[0], None)], "yield tensors, got Tensor, NoneType"),
        (
            [(ROWS[0], 0), (ROWS[0, :2], 0)],
            r"got inputs of float32 of shape \(2,\) after float32 of shape \(4,\); pad",
        ),
        ([(ROWS[0], 0), (ROWS[0], 0.5)], r"got targets of float32 of shape \(\) after int64"),
        ([(ROWS[0, :0], 0)], r"got inputs of float32 of shape \(0,\)"),
        (
            DataLoader(DATA, collate_fn=lambda _some: (ROWS[:2], LABELS[:1])),
            "one target per sample, got inputs.shape",
        ),
        (
            Broken(),
            r"without an error, got FileNotFoundError: image 7 at .*test_streaming.py:\d+ in a pass over it; correct",
        ),
        ([(ROWS[0] / 0, 0)], "finite data, got inputs with nan or inf"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(loader: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        of_loader(loader)
    assert str(caught.value).count(". ") == 0
