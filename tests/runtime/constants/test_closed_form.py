"""Constants of linear scores in closed form, against gradients by autograd, and what is refused."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import Convex, Smooth  # noqa: E402
from lastiterate.numeric.run import NoisySGD  # noqa: E402
from lastiterate.runtime.constants.certified import assumption_of  # noqa: E402
from lastiterate.runtime.constants.refutation import refute  # noqa: E402
from lastiterate.runtime.workloads.rows import ClippedRows  # noqa: E402
from lastiterate.runtime.workloads.workload import Workload  # noqa: E402

ROWS = 20 * torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
CLASSES = torch.arange(40) % 3


def scores() -> TensorDataset:
    return TensorDataset(ROWS, torch.linspace(0, 1, 40)[:, None])


@pytest.mark.parametrize(
    ("loss", "outputs", "per_square"),
    [
        (nn.BCEWithLogitsLoss(), 1, 0.25),
        (functional.mse_loss, 1, 2.0),
        (nn.HuberLoss(delta=0.3), 1, 1.0),
        (nn.SmoothL1Loss(beta=0.5), 1, 2.0),
        (nn.CrossEntropyLoss(label_smoothing=0.1), 3, 0.5),
    ],
)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.sweep(2)
def test_the_constant_holds_and_is_met(loss: Any, outputs: int, per_square: float, bias: bool) -> None:
    """The largest curvature, at the score where it is attained, is the constant for the longest row."""
    data = scores() if outputs == 1 else TensorDataset(ROWS, CLASSES)
    rows = ClippedRows(data, norm=2.0)
    found = assumption_of(nn.Linear(3, outputs, bias=bias), loss, DataLoader(rows, batch_size=4), clip_norm=100.0)
    assert type(found) is Convex
    square = per_square * (5 if bias else 4)
    assert pytest.approx(square, rel=1e-14) == found.L
    assert square <= found.L
    assert "to which every row is scaled down" in found.origin
    assert found.origin in found.statement
    if bias and outputs == 1:  # one attack a loss
        return
    inputs, targets = (torch.stack([torch.as_tensor(pair[k]) for pair in rows]) for k in (0, 1))
    workload = Workload("linear", lambda: nn.Linear(3, outputs, bias=bias), loss, inputs, targets)
    run = NoisySGD(1, 0.01, 1.0, 100.0, dataset_size=40, diameter=0.5)
    assert refute(workload, run, found) is None
    less = refute(workload, run, Convex(found.L * 0.6))
    assert less is not None
    assert less.constant <= found.L


def test_cross_entropy_that_is_clipped_is_smooth_alone() -> None:
    data = ClippedRows(TensorDataset(ROWS, CLASSES), norm=2.0)
    found = assumption_of(
        nn.Sequential(nn.Flatten(), nn.Linear(3, 3, bias=False)), nn.CrossEntropyLoss(), data, clip_norm=1
    )
    assert type(found) is Smooth
    assert found.L == 2.0


def test_rows_are_kept_within_their_norm_in_every_precision() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        rows = ClippedRows(TensorDataset(ROWS.to(dtype), torch.zeros(40)), norm=0.7)
        lengths = [float(row.double().norm()) for row, _ in rows]
        assert len(rows) == len(lengths) == 40
        assert 0.68 < min(lengths) <= max(lengths) <= 0.7
    short = ClippedRows(TensorDataset(ROWS, torch.zeros(40)), norm=1e3)
    assert torch.equal(short[3][0], ROWS[3])


def test_a_constant_of_the_data_says_so_and_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"got data=TensorDataset, .* ClippedRows\(data, norm\)"):
        assumption_of(nn.Linear(3, 1), nn.MSELoss(), scores(), clip_norm=1.0)
    found = assumption_of(nn.Linear(3, 1), nn.MSELoss(), scores(), clip_norm=1.0, read_rows=True)
    assert isinstance(found, Convex)
    assert pytest.approx(2 * (float(ROWS.norm(dim=1).max()) ** 2 + 1), rel=1e-6) == found.L
    assert "no public number" in found.origin
    assert found == Convex(found.L)


@pytest.mark.parametrize(
    ("module", "loss", "message"),
    [
        (
            nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)),
            nn.MSELoss(),
            "got module of Linear, Tanh, Linear",
        ),
        (nn.Linear(3, 2), nn.MSELoss(), "got loss=MSELoss of 2 outputs"),
        (nn.Linear(3, 1), nn.L1Loss(), "got loss=L1Loss of 1 outputs"),
        (nn.Linear(3, 1), nn.MSELoss(reduction="sum"), "unweighted means"),
        (nn.Linear(3, 1), nn.BCEWithLogitsLoss(pos_weight=torch.tensor(9.0)), "unweighted means"),
        (nn.Linear(3, 2), nn.CrossEntropyLoss(), "got weights of classes"),
        (nn.Linear(3, 1).requires_grad_(False), nn.MSELoss(), "got frozen="),
    ],
)
def test_where_there_is_no_closed_form_one_sentence_says_what_to_do(module: Any, loss: Any, message: str) -> None:
    with pytest.raises(InputError, match=message + ".*take Clipped"):
        assumption_of(module, loss, ClippedRows(scores(), 1.0), clip_norm=1.0)


def test_data_without_rows_are_told() -> None:
    for data in ([1, 2], [(torch.ones(2, dtype=torch.int64), 0)], [(torch.tensor([float("nan")]), 0)]):
        with pytest.raises(InputError, match="Rows"):
            ClippedRows(data, 1.0)[0]
    with pytest.raises(InputError, match="norm=0"):
        ClippedRows(scores(), 0.0)
    with pytest.raises(InputError, match="data with a length"):
        ClippedRows(iter(()), 1.0)


def test_several_scores_a_sample_have_no_closed_form() -> None:
    data = torch.utils.data.TensorDataset(torch.ones(4, 3, 2), torch.zeros(4, 3, 1))
    with pytest.raises(InputError, match=r"in_features=2 numbers, one score a sample, got a row of shape \(3, 2\)"):
        assumption_of(nn.Linear(2, 1), nn.MSELoss(), ClippedRows(data, 1.0), clip_norm=1.0)
    flattened = nn.Sequential(nn.Flatten(), nn.Linear(6, 1))
    flat = torch.utils.data.TensorDataset(torch.ones(4, 3, 2), torch.zeros(4, 1))
    assert assumption_of(flattened, nn.MSELoss(), ClippedRows(flat, 1.0), clip_norm=1.0).L >= 4
