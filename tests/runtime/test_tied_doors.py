"""Every door that knows a network and its loss refuses what ties rows, under every assumption."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from recorded_sgd import RecordedSGD
from tied_losses import FREE, TIED, Case, made
from torch.utils.data import DataLoader, TensorDataset
from trainer_record import Record

import lastiterate as li
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.workloads.workload import Workload

RUN = li.NoisySGD(2, 0.1, 0.01, 1.0, 60, diameter=1.0)
FEWER = li.NoisySGD(2, 0.1, 0.01, 1.0, 59, diameter=1.0)
NAMES = ("weight", "ignored rows", "valid tokens", "weights of rows", "norm", "attention")
FEW = [case for case in TIED if case.name in NAMES]


def workload(case: Case) -> Workload:
    module, inputs, targets = made(case)
    return Workload("theirs", lambda: module, case.loss, inputs, targets)


def recorded(case: Case) -> Any:
    module, inputs, targets = made(case)
    return Record(RecordedSGD(module, case.loss, RUN, inputs, targets), li.Clipped(), delta=1e-5)


def stepped(case: Case) -> None:
    module, inputs, targets = made(case)
    optimiser = li.ProjectedNoisySGD(module, case.loss, RUN)
    for batch in optimiser.batches():
        optimiser.step(inputs[batch], targets[batch])
    assert optimiser.bound(li.Clipped(), delta=1e-5).tried.startswith("the loss of ")


def described(case: Case, assumption: Any = None, **private: Any) -> str:
    opacus = pytest.importorskip("opacus")
    import lastiterate.opacus  # noqa: F401

    module, inputs, targets = made(case)
    engine = opacus.PrivacyEngine(accountant="last_iterate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, *loss, loader = engine.make_private(
            module=module.train(), optimizer=torch.optim.SGD(module.parameters(), 0.1),
            data_loader=DataLoader(TensorDataset(inputs, targets), batch_size=20), noise_multiplier=4.0,
            max_grad_norm=1.0, **private,
        )  # fmt: skip
    how = {"module": model, "loss": loss[0] if loss else case.loss}
    engine.accountant.describe(optimizer, assumption or li.Clipped(), loader, **how)
    return str(engine.accountant.tried)


DOORS: dict[str, Callable[[Case], Any]] = {
    "describe": described,
    "describe, smooth": lambda case: described(case, li.Smooth(0.5)),
    "trainer": recorded,
    "optimiser": stepped,
    "estimate": lambda case: li.estimate_holder(workload(case), RUN, (1.0,), Sampling(inits=1, points=3)),
    "attack": lambda case: li.attack(workload(case), FEWER, "loss", delta=1e-3, runs=8),
    "drift": lambda case: li.measure_drift(workload(case), FEWER, li.Clipped(), pairs=4),
    "refute": lambda case: li.refute(workload(case), RUN, li.Smooth(1.0)),
}


@pytest.mark.parametrize("case", FEW, ids=lambda case: case.name)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses(door: str, case: Case) -> None:
    with pytest.raises(InputError, match=r"gradients of others; divide|does not depend on the other rows"):
        DOORS[door](case)


def test_what_is_right_goes_through() -> None:
    stepped(FREE[0])
    assert recorded(FREE[1]).bound is None
    assert described(FREE[0]) == "the loss of 16 rows together is the mean of their losses"
    dropping = Case("dropout", FREE[0].loss, module=lambda: torch.nn.Sequential(
        torch.nn.Linear(4, 3), torch.nn.Dropout(0.5)))  # fmt: skip
    assert described(dropping) == "the loss of 16 rows together is the mean of their losses"


def test_ghost_clipping_divides_by_no_weights() -> None:
    """Opacus takes the losses of the rows, which reduction="none" gives it with their weights, and their mean."""
    ghost = {"grad_sample_mode": "ghost", "criterion": TIED[0].loss}
    assert described(TIED[0], **ghost) == "the loss of 16 rows together is the mean of their losses"


def test_what_was_not_tried_says_so() -> None:
    assert "not tested on data" in li.bound(RUN, li.Clipped(), delta=1e-5).assumptions[0]


def test_closed_forms_and_certificates_refuse_what_ties_rows() -> None:
    for case in FEW[:2]:
        _, inputs, targets = made(case)
        data = li.ClippedRows(TensorDataset(inputs, targets), 1.0)
        with pytest.raises(InputError, match="gradients of others; divide by a fixed number"):
            li.assumption_of(torch.nn.Linear(4, 3, bias=False), case.loss, data, clip_norm=1.0)
        with pytest.raises(InputError, match="gradients of others; divide by a fixed number"):
            li.certified_constants(workload(case), 0.01)
