"""Samples of several tensors: the numbers are those of one tensor, or one sentence says what to do."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import Sampling, input_set
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.workloads.streaming import read_samples
from lastiterate.runtime.workloads.workload import Workload, subset

_GENERATOR = torch.Generator().manual_seed(0)
TOKENS = torch.randint(1, 9, (10, 5), generator=_GENERATOR)
MASK = torch.arange(5) < torch.randint(2, 6, (10, 1), generator=_GENERATOR)
SCALES = torch.rand(10, 1, generator=_GENERATOR)
LABELS = torch.arange(10) % 3
RUN = NoisySGD(steps=2, step_size=0.1, noise_std=0.05, clip_norm=1.0, dataset_size=10, diameter=1.0)
LOSS = nn.functional.cross_entropy


class ByName(nn.Module):
    """Mean of the embeddings of visible tokens, times a scale."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(9, 4), nn.Linear(4, 3)

    def forward(self, tokens: Tensor, mask: Tensor, scales: Tensor | None = None) -> Tensor:
        assert mask.dtype is torch.bool
        assert tokens.dtype is torch.int64
        kept = self.table(tokens) * mask[..., None]
        found: Tensor = self.last(torch.tanh(kept.sum(dim=1) / mask.sum(dim=1, keepdim=True)))
        return found if scales is None else found * scales


class OfOne(ByName):
    """The same on one tensor."""

    def forward(self, rows: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(rows[:, :5].long(), rows[:, 5:10] != 0, rows[:, 10:])


class OfDict(ByName):
    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:  # type: ignore[override]
        return {"logits": super().forward(**batch)}


DICT = {"tokens": TOKENS, "mask": MASK, "scales": SCALES}
ONE = Workload("one", OfOne, LOSS, torch.cat([TOKENS, MASK, SCALES], dim=1), LABELS)


def _gradients(work: Workload) -> Tensor:
    gradients = Gradients(work, work.initial(0))
    return flat(gradients.at(gradients.start[None]))[0]


@pytest.mark.parametrize(
    "work",
    [
        Workload("dict", ByName, LOSS, DICT, LABELS),  # type: ignore[arg-type]
        Workload("tuple", ByName, LOSS, (TOKENS, MASK, SCALES), LABELS),  # type: ignore[arg-type]
        Workload("batch", OfDict, lambda output, y: LOSS(output["logits"], y), DICT, LABELS),  # type: ignore[arg-type]
        Workload(
            "targets",
            ByName,
            lambda output, y: (LOSS(output, y["labels"], reduction="none") * y["weights"]).mean(),
            DICT,  # type: ignore[arg-type]
            {"labels": LABELS, "weights": torch.ones(10)},  # type: ignore[arg-type]
        ),
    ],
    ids=lambda work: work.name,
)
def test_several_tensors_give_the_gradients_of_one(work: Workload) -> None:
    assert torch.allclose(_gradients(work), _gradients(ONE))
    assert torch.allclose(_gradients(subset(work, 4, seed=1)), _gradients(subset(ONE, 4, seed=1)))
    found = estimate_holder(work, RUN, (1.0,), Sampling(inits=1, points=2)).constant(1.0)
    assert found == pytest.approx(estimate_holder(ONE, RUN, (1.0,), Sampling(inits=1, points=2)).constant(1.0))


def test_a_checkpoint_fits_the_module_of_the_parts(tmp_path: Any) -> None:
    torch.manual_seed(3)
    trained = ByName()
    torch.save(trained.state_dict(), tmp_path / "net.pt")
    work = Workload("dict", ByName, LOSS, DICT, LABELS).at_checkpoint(tmp_path / "net.pt")  # type: ignore[arg-type]
    assert torch.equal(work.initial(0).module.table.weight, trained.table.weight)  # type: ignore[union-attr, arg-type]


def test_a_search_over_inputs_needs_floats_alone() -> None:
    work = Workload("dict", ByName, LOSS, DICT, LABELS)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="for partly integer inputs"):
        worst_case_constants(work, RUN, (1.0,), inputs=input_set("box:0,9"))


@pytest.mark.parametrize("batch", [3, None])
def test_loaders_of_dicts_and_of_longer_tuples_are_read(batch: int | None) -> None:
    items = [{name: one[k] for name, one in DICT.items()} | {"labels": LABELS[k]} for k in range(10)]
    work = Workload.of_loader("dict", ByName, LOSS, DataLoader(items, batch_size=batch, shuffle=True))  # type: ignore[arg-type]
    wanted = _gradients(ONE)
    found = _gradients(work)
    assert torch.cdist(found, wanted).amin(dim=1).max() < 1e-6
    tuples: Any = DataLoader([tuple(item.values()) for item in items], batch_size=batch)  # type: ignore[arg-type]
    assert torch.allclose(_gradients(Workload.of_loader("tuple", ByName, LOSS, tuples)), found)
    named = Workload.of_loader(
        "first", ByName, LOSS, [(item["labels"], *[*item.values()][:3]) for item in items], targets=0
    )
    assert torch.allclose(_gradients(named), found)
    inputs, targets = read_samples(items, targets=["labels", "scales"])
    assert inputs.keys() == {"tokens", "mask"}
    assert targets.keys() == {"labels", "scales"}


@pytest.mark.parametrize(
    ("items", "targets", "said"),
    [
        ([{"x": SCALES[0], "z": 1}], None, "got dict of x, z; give targets=NAME"),
        ([{"x": SCALES[0], "z": 1}], "y", "got dict of x, z; give targets=NAME"),
        ([{"y": 1}], None, "got dict of y; give"),
        ([(1, 2, 3)], 5, "got tuple of 3; give"),
        ([{"x": SCALES[0], "text": "words", "y": 1}], None, "must yield tensors, got Tensor, str, int"),
        (
            [{"x": SCALES[0], name: SCALES[0], "y": 1} for name in "wz"],
            None,
            "the same tensors in every batch, got x, z",
        ),
        (
            [{"ids": TOKENS[0, :k], "x": 1.5, "y": 1} for k in (5, 3)],
            None,
            r"got ids of int64 of shape \(3,\) after .* by collate_fn",
        ),
    ],
)
def test_other_loaders_are_refused(items: list[Any], targets: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_samples(items, targets=targets)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "needs tensors of one length"),
        ({"a": TOKENS, "b": TOKENS[:3]}, "needs tensors of one length"),
        ({"a": TOKENS, "b": [1, 2]}, "needs tensors of one length"),
        ({"a": TOKENS + 2**53, "b": SCALES}, r"at most 2\^53"),
    ],
)
def test_parts_that_are_not_tensors_of_one_length_are_refused(inputs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Workload("net", ByName, LOSS, inputs, LABELS)
