"""The loss of several rows is the mean, or the sum, of those of the rows alone, or the loss is refused."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from tied_losses import FREE, TIED, Case, Mixing, made
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.independence import refuse_tied_rows
from lastiterate.runtime.workloads.rows import Rows, some_rows, telling_rows
from lastiterate.runtime.workloads.workload import Workload

SUMS = {
    "sum", "sum of weighted", "sum over a constant", "shifted", "sum of ignored", "tokens over a constant",
    "sum of squares",
}  # fmt: skip
"""Sums of their rows: where gradients are read off a pass of the batch, they grow with the number of rows."""


def tried(case: Case, *, dtype: torch.dtype = torch.float64, **how: object) -> str:
    module, *data = made(case)
    rows = (Rows(values, torch.device("cpu"), dtype) for values in data)
    return refuse_tied_rows("theirs", module.to(dtype), case.loss, *rows, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("case", TIED, ids=lambda case: case.name)
def test_what_ties_rows_is_refused_with_a_pair(case: Case, batched: bool) -> None:
    with pytest.raises(InputError) as refused:
        tried(case, batched=batched)
    said = str(refused.value)
    assert "\n" not in said
    if isinstance(made(case)[0], Mixing):
        assert "does not depend on the other rows" in said
        return
    assert "workload=theirs" in said
    assert re.search(r"for (row \d+|a row of label \d+) and (row \d+|a row of label \d+) of", said)
    assert "reduction='none'" in said


@pytest.mark.parametrize("case", FREE, ids=lambda case: case.name)
def test_what_ties_no_rows_is_let_through(case: Case) -> None:
    assert "rows together is the mean or the sum of their losses" in tried(case)
    assert "rows together is the mean or the sum of their losses" in tried(case, dtype=torch.float32)
    if case.name not in SUMS:
        assert "rows together is the mean of their losses" in tried(case, batched=True)


@pytest.mark.parametrize("case", [one for one in FREE if one.name in SUMS], ids=lambda case: case.name)
def test_sums_that_a_pass_of_the_batch_scales_are_refused(case: Case) -> None:
    """Opacus takes the batch times its slope for the gradient of a row: that of a sum grows with the batch."""
    with pytest.raises(InputError, match=r"must be the mean of the losses "):
        tried(case, batched=True)


def test_rare_rows_are_among_those_that_are_tried() -> None:
    labels = torch.zeros(5000, dtype=torch.long)
    labels[[17, 4321]] = torch.tensor([1, -100])
    assert {17, 4321} <= set(telling_rows(torch.zeros(5000, 2), labels))
    tokens = torch.ones(5000, 8, dtype=torch.long)
    tokens[1234, 3:] = 0
    assert 1234 in telling_rows(torch.zeros(5000, 2), tokens)
    assert 1234 in telling_rows(tokens, torch.zeros(5000))  # padding of the inputs
    weights = torch.stack([torch.randn(5000), torch.ones(5000)], dim=1)
    weights[2222, 1] = 3.0
    assert 2222 in telling_rows(torch.zeros(5000, 2), weights)


class Listed(torch.utils.data.Dataset[tuple[Tensor, int]]):
    """A data set that hands out no more than one item at a time."""

    def __len__(self) -> int:
        return 3000

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.zeros(2), int(index == 1777)


class Labelled(Listed):
    """One that knows its labels."""

    targets = [0] * 2999 + [1]


def test_rare_rows_of_a_data_set_are_read() -> None:
    tensors = torch.utils.data.TensorDataset(torch.zeros(3000, 2), (torch.arange(3000) == 1777).long())
    for data in (Listed(), tensors, torch.utils.data.Subset(tensors, range(1, 3000))):
        assert int(some_rows(data)[1].sum()) == 1
    assert len(some_rows(Labelled())[1]) <= 530


def test_a_loss_of_one_row_at_a_time_or_a_random_one_is_not_tried() -> None:
    def one(output: Tensor, target: Tensor) -> Tensor:
        assert len(target) == 1
        return nn.functional.cross_entropy(output, target)

    assert tried(Case("one", one)) == "the loss takes one row at a time"
    with pytest.raises(InputError, match="of several rows, got AssertionError"):
        tried(Case("one", one), batched=True)
    noisy = Case("noise", lambda out, y: nn.functional.cross_entropy(nn.functional.dropout(out, 0.5), y))
    assert "the loss is random" in tried(noisy, batched=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_workload_of_tied_rows_is_refused_wherever_gradients_are_made(dtype: str) -> None:
    from lastiterate.runtime.gradients import Gradients

    for case in (TIED[0], TIED[5], TIED[6]):
        module, inputs, targets = made(case)
        workload = Workload(case.name, lambda module=module: module, case.loss, inputs, targets)
        with pytest.raises(
            InputError, match=f"of workload={case.name} and .* others; divide by a fixed number"
        ):
            Gradients(workload, workload.initial(0), dtype=dtype)


class _TwoOutputs(nn.Module):
    """Scores of the rows, or whole or random numbers, and a second tensor of the scores."""

    def __init__(self, mixes: bool, first: str = "scores") -> None:
        super().__init__()
        self.linear, self.mixes, self.first = nn.Linear(5, 3), mixes, first

    def forward(self, rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        scores = self.linear(rows)
        first = {"scores": scores, "whole": torch.arange(len(rows)), "random": torch.rand(len(rows), 1)}[
            self.first
        ]
        return first, {"hidden": scores - scores.mean(dim=0) if self.mixes else scores}


@pytest.mark.parametrize("first", ["scores", "whole", "random"])
@pytest.mark.parametrize("mixes", [False, True])
def test_every_output_of_a_module_is_tried(mixes: bool, first: str) -> None:
    inputs, targets = torch.randn(8, 5), torch.arange(8) % 3
    loss = lambda outputs, target: nn.functional.cross_entropy(outputs[1]["hidden"], target)  # noqa: E731
    held = [Rows(values, torch.device("cpu"), torch.float64) for values in (inputs, targets)]
    module = _TwoOutputs(mixes, first).double()
    if mixes:
        with pytest.raises(InputError, match="does not depend on the other rows"):
            refuse_tied_rows("theirs", module, loss, *held)
    else:
        refuse_tied_rows("theirs", module, loss, *held)


@dataclass
class Output:
    logits: Tensor
    loss: Tensor | None = None


class Shaped(nn.Module):
    """A linear layer whose output is put in a form."""

    def __init__(self, form: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.last, self.form = nn.Linear(4, 3), form

    def forward(self, rows: Tensor) -> Any:
        return self.form(self.last(rows))


FORMS: dict[str, tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]] = {
    "dataclass": (Output, lambda out: out.logits),
    "None": (lambda one: (one, None), lambda out: out[0]),
    "numbers": (lambda one: {"logits": [one], "aux": 0.0}, lambda out: out["logits"][0]),
    "dictionary": (lambda one: {"logits": one}, lambda out: out["logits"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_losses_of_outputs_in_any_form_are_tested(form: str) -> None:
    torch.manual_seed(0)
    put, taken = FORMS[form]
    data = [Rows(one, torch.device("cpu"), torch.float64) for one in (torch.randn(8, 4), torch.arange(8) % 3)]
    weighted = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    module = Shaped(put).double()
    with pytest.raises(InputError, match=r"must be the mean or the sum of the losses"):
        refuse_tied_rows("theirs", module, lambda out, y: weighted(taken(out), y), *data)
    said = refuse_tied_rows("theirs", module, lambda out, y: nn.functional.cross_entropy(taken(out), y), *data)
    assert said == "the loss of 8 rows together is the mean or the sum of their losses"
