"""What a cast to a real dtype would change in silence is refused, wherever a network comes in."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from recorded_sgd import RecordedSGD
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

import lastiterate as li
from lastiterate.numeric.errors import InputError
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.workloads.networks import constants_of_network
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.workload import Workload

RUN = li.NoisySGD(2, 0.1, 0.01, 1.0, 10, diameter=1.0)
FEWER = li.NoisySGD(2, 0.1, 0.01, 1.0, 9, diameter=1.0)
ROWS, LABELS = torch.linspace(-1, 1, 30).reshape(10, 3), torch.arange(10) % 2


class Fourier(nn.Module):
    """A layer with a complex weight, or a complex buffer."""

    def __init__(self, *, buffer: bool = False) -> None:
        super().__init__()
        weight = torch.complex(torch.ones(3, 2), torch.ones(3, 2))
        self.scale = nn.Parameter(torch.ones(()))
        if buffer:
            self.register_buffer("w", weight)
        else:
            self.w = nn.Parameter(weight)

    def forward(self, rows: Tensor) -> Tensor:
        return self.scale * (rows.to(self.w.dtype) @ self.w).abs()


def workload(**how: bool) -> Workload:
    return Workload("theirs", lambda: Fourier(**how), cross_entropy, ROWS, LABELS)


DOORS: dict[str, Callable[[], Any]] = {
    "estimate": lambda: li.estimate_holder(workload(), RUN, (1.0,), Sampling(inits=1, points=3)),
    "a buffer": lambda: workload(buffer=True).initial(0),
    "refute": lambda: li.refute(workload(), RUN, li.Smooth(1.0)),
    "attack": lambda: li.attack(workload(), FEWER, "loss", delta=1e-3, runs=8),
    "drift": lambda: li.measure_drift(workload(), FEWER, li.Clipped(), pairs=4),
    "optimiser": lambda: li.ProjectedNoisySGD(Fourier(), cross_entropy, RUN),
    "trainer": lambda: RecordedSGD(Fourier(), cross_entropy, RUN, ROWS, LABELS),
    "certified": lambda: constants_of_network(1.0)(nn.Sequential(nn.Linear(3, 2, dtype=torch.complex64)), 0.1),
    "inputs": lambda: Workload(
        "theirs", lambda: nn.Linear(3, 2), cross_entropy, ROWS.to(torch.complex64), LABELS
    ),
    "targets": lambda: Workload(
        "theirs", lambda: nn.Linear(3, 2), cross_entropy, ROWS, LABELS.to(torch.complex64)
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_complex_numbers_are_refused(door: str) -> None:
    with pytest.raises(
        InputError, match=r"needs real numbers, .* got .* of complex64; store torch\.view_as_real"
    ) as said:
        DOORS[door]()
    assert "\n" not in str(said.value)


def test_a_checkpoint_with_complex_numbers_is_refused(tmp_path: Any) -> None:
    torch.save(Fourier().state_dict(), tmp_path / "weights.pt")
    with pytest.raises(InputError, match="complex"):
        workload().at_checkpoint(tmp_path / "weights.pt").initial(0)


def test_complex_parameters_are_refused_by_opacus_accounts() -> None:
    from opacus_training import Training

    training = Training()
    training.optimizer.param_groups[0]["params"].append(nn.Parameter(torch.ones(2, dtype=torch.complex64)))
    with pytest.raises(InputError, match=r"needs real numbers, .* got parameters of complex64"):
        training.described(li.Clipped())


SMALL = torch.linspace(0, 1, 10, dtype=torch.float64)[:, None]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (1e300 * (1 + SMALL), torch.float32),
        (1e-300 * SMALL, torch.float32),
        (1.7e9 + 3 * SMALL, torch.float32),
        ((1.7e18 + 1e2 * SMALL).long() + torch.arange(10)[:, None], torch.float64),
        (2**30 + torch.arange(10)[:, None], torch.float32),
    ],
)
def test_data_that_a_precision_does_not_hold_are_refused(values: Tensor, dtype: torch.dtype) -> None:
    with pytest.raises(
        InputError, match="a precision that represents them and keeps rows distinct, got dtype=float"
    ):
        Rows(values, torch.device("cpu"), dtype)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (SMALL, torch.float32),
        (1.7e9 + 3 * SMALL, torch.float64),
        (1e6 + 100 * SMALL, torch.float32),
        (0.1 + 1e-17 * torch.arange(10, dtype=torch.float64)[:, None], torch.float32),
        (torch.arange(10)[:, None] * 2**40, torch.float32),
        (torch.arange(10), torch.float32),
        (torch.full((4, 2), 2.0**60).long(), torch.float64),
    ],
)
def test_data_that_it_holds_are_taken(values: Tensor, dtype: torch.dtype) -> None:
    assert len(Rows(values, torch.device("cpu"), dtype)) == len(values)


def test_a_loss_with_tensors_of_single_precision_runs_in_double() -> None:
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 9.0]), reduction="sum")
    weighed = Workload("weighed", lambda: nn.Linear(3, 2), loss, ROWS, LABELS)
    plain = Workload("plain", lambda: nn.Linear(3, 2), cross_entropy, ROWS, LABELS)
    double, single, other = (
        li.estimate_holder(one, RUN, (1.0,), Sampling(inits=1, points=3, dtype=dtype)).constant(1.0)
        for one, dtype in ((weighed, "float64"), (weighed, "float32"), (plain, "float64"))
    )
    assert double == pytest.approx(single, rel=0.01)
    assert double > 4 * other
    held = Workload("held", lambda: nn.Linear(3, 2), lambda z, y: cross_entropy(z, y, loss.weight, reduction="sum"),
                    ROWS, LABELS)  # fmt: skip
    with pytest.raises(InputError, match="need the dtype of the output, float64, or give dtype float32"):
        li.estimate_holder(held, RUN, (1.0,), Sampling(inits=1, points=3))
