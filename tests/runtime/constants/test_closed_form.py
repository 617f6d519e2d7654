"""Constants of linear scores in closed form, against gradients by autograd, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset  # noqa: E402

from lastiterate.numeric.errors import InputError  # noqa: E402
from lastiterate.numeric.losses.assumptions import ClippedConvex, Convex  # noqa: E402
from lastiterate.numeric.run import NoisySGD  # noqa: E402
from lastiterate.runtime.constants.closed_form import ClippedRows, assumption_of  # noqa: E402
from lastiterate.runtime.constants.refutation import refute  # noqa: E402
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
    found = assumption_of(nn.Linear(3, outputs, bias=bias), loss, rows, clip_norm=100.0)
    assert type(found) is Convex
    square = per_square * (5 if bias else 4)
    assert pytest.approx(square, rel=1e-14) == found.L
    assert square <= found.L
    assert "every row is scaled down to 2" in found.origin
    assert found.origin in found.statement
    if bias and outputs == 1:  # one attack a loss
        return
    inputs, targets = (
        torch.stack([torch.as_tensor(pair[k]) for pair in map(rows.__getitem__, range(40))]) for k in (0, 1)
    )
    workload = Workload("linear", lambda: nn.Linear(3, outputs, bias=bias), loss, inputs, targets)
    run = NoisySGD(1, 0.01, 1.0, 100.0, dataset_size=40, diameter=0.5)
    assert refute(workload, run, found) is None
    less = refute(workload, run, Convex(found.L * 0.6))
    assert less is not None
    assert less.constant <= found.L


def test_cross_entropy_that_is_clipped_can_expand() -> None:
    data = ClippedRows(TensorDataset(ROWS, CLASSES), norm=2.0)
    found = assumption_of(
        nn.Sequential(nn.Flatten(), nn.Linear(3, 3, bias=False)), nn.CrossEntropyLoss(), data, clip_norm=1
    )
    assert type(found) is ClippedConvex
    assert found.L == 2.0


def test_rows_are_kept_within_their_norm_in_every_precision() -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        rows = ClippedRows(TensorDataset(ROWS.to(dtype), torch.zeros(40)), norm=0.7)
        lengths = [float(row.double().norm()) for row, _ in map(rows.__getitem__, range(40))]
        assert len(rows) == len(lengths) == 40
        assert 0.68 < min(lengths) <= max(lengths) <= 0.7
    small = ClippedRows(
        TensorDataset(1e-6 + torch.zeros(3, 10**4, dtype=torch.float16), torch.zeros(3)), norm=5e-5
    )
    assert 0 < float(small[0][0].double().norm()) <= 5e-5
    short = ClippedRows(TensorDataset(ROWS, torch.zeros(40)), norm=1e3)
    assert torch.equal(short[3][0], ROWS[3])


@pytest.mark.parametrize(
    ("module", "loss", "message"),
    [
        (
            nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)),
            nn.MSELoss(),
            "got Linear, Tanh, Linear, rows",
        ),
        (nn.Linear(3, 2), nn.MSELoss(), "for one output"),
        (nn.Linear(3, 1), nn.MSELoss, "got Linear, .*, MSELoss"),
        (nn.Linear(3, 1), nn.L1Loss(), "got Linear, .*, L1Loss"),
        (nn.Linear(3, 1), nn.SmoothL1Loss(beta=0.0), "got Linear, .*, SmoothL1Loss"),
        (nn.Linear(3, 1), nn.MSELoss(reduction="sum"), "the unweighted mean"),
        (nn.Linear(3, 1), nn.BCEWithLogitsLoss(pos_weight=torch.tensor(9.0)), "the unweighted mean"),
        (nn.Linear(3, 2), nn.CrossEntropyLoss(), "cross entropy of classes"),
        (nn.Linear(3, 1).requires_grad_(False), nn.MSELoss(), "all its parameters trained"),
        (nn.utils.weight_norm(nn.Linear(3, 1)), nn.MSELoss(), "needs unmodified layers"),
    ],
)
def test_where_there_is_no_closed_form_one_sentence_says_what_to_do(
    module: Any, loss: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message + ".*use Clipped"):
        assumption_of(module, loss, ClippedRows(scores(), 1.0), clip_norm=1.0)


def test_rows_that_are_scaled_up_again_have_no_bound() -> None:
    class Scaled(Dataset[Any]):
        dataset = ClippedRows(scores(), 1.0)

        def __len__(self) -> int:
            return 40

        def __getitem__(self, k: int) -> Any:
            return 9 * self.dataset[k][0], self.dataset[k][1]

    class Longer(ClippedRows):
        def __getitem__(self, index: int) -> Any:
            return 9 * super().__getitem__(index)[0], torch.ones(1)

    loader = DataLoader(
        ClippedRows(scores(), 1.0), collate_fn=lambda items: [(9 * row, label) for row, label in items]
    )
    for data in (scores(), Scaled(), Longer(scores(), 1.0), Subset(Scaled(), [0, 1]), loader, 3):
        with pytest.raises(
            InputError, match=r"a bound on every possible row, got data=\w+; wrap .*ClippedRows\(data"
        ):
            assumption_of(nn.Linear(3, 1), nn.MSELoss(), data, clip_norm=1.0)  # type: ignore[arg-type]


def test_targets_that_torch_spreads_over_the_batch_are_refused() -> None:
    data = ClippedRows(TensorDataset(ROWS, torch.zeros(40)), 1.0)
    with pytest.raises(InputError, match=r"targets of shape \(1,\), .* and targets of shape \(\)"):
        assumption_of(nn.Linear(3, 1), nn.MSELoss(), data, clip_norm=1.0)


@pytest.mark.parametrize(
    "items", [[], 3 * [(ROWS[0], "a")], 3 * [(ROWS[0], None)], [(ROWS[0], 0), (ROWS[0, :2], 0)]]
)
def test_data_that_make_no_batch_are_one_sentence(items: Any) -> None:
    with pytest.raises(InputError, match=r"needs a Dataset of pairs of tensors, got \w+Error: "):
        assumption_of(nn.Linear(3, 1), nn.MSELoss(), ClippedRows(items, 1.0), clip_norm=1.0)


def test_rows_without_a_length_are_refused() -> None:
    for data in ([1, 2], [(torch.ones(2, dtype=torch.int64), 0)], [(torch.tensor([float("nan")]), 0)]):
        with pytest.raises(InputError, match="finite real inputs"):
            ClippedRows(data, 1.0)[0]
    with pytest.raises(InputError, match="norm=0"):
        ClippedRows(scores(), 0.0)
    with pytest.raises(InputError, match="data with a length"):
        ClippedRows(iter(()), 1.0)
    with pytest.raises(InputError, match="clip_norm=nan"):
        assumption_of(
            nn.Linear(3, 2), nn.CrossEntropyLoss(), ClippedRows(scores(), 1.0), clip_norm=float("nan")
        )


@pytest.mark.parametrize("flat", [[], [nn.Flatten(1, 1)]])
@pytest.mark.parametrize("scores_of_a_row", [1, 3])
def test_rows_that_are_not_flat_have_no_closed_form(flat: list[nn.Module], scores_of_a_row: int) -> None:
    """Torch spreads targets over the outputs of other rows: outputs of shape (4, 1, 1) meet targets of shape (4, 1)."""
    data = TensorDataset(torch.ones(4, scores_of_a_row, 2), torch.zeros(4, 1))
    with pytest.raises(
        InputError, match=rf"rows of in_features numbers, .* rows of shape \({scores_of_a_row}, 2\)"
    ):
        assumption_of(
            nn.Sequential(*flat, nn.Linear(2, 1)), nn.MSELoss(), ClippedRows(data, 1.0), clip_norm=1.0
        )


def test_rows_are_flattened() -> None:
    flattened = nn.Sequential(nn.Flatten(), nn.Linear(6, 1))
    flat = TensorDataset(torch.ones(4, 3, 2), torch.zeros(4, 1))
    assert assumption_of(flattened, nn.MSELoss(), ClippedRows(flat, 1.0), clip_norm=1.0).L >= 4


def _scale_rows(_layer: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(10 * one for one in given)


def _hooked(layer: nn.Linear) -> nn.Module:
    layer.register_forward_pre_hook(_scale_rows)
    return layer


def _scaling_its_output(layer: nn.Linear) -> nn.Module:
    layer.register_forward_hook(lambda _layer, _given, scores: 10 * scores)
    return layer


def _with_another_forward(layer: nn.Linear) -> nn.Module:
    vars(layer)["forward"] = lambda rows: 10 * functional.linear(rows, layer.weight)
    return layer


def _in_a_hooked_sequence(layer: nn.Linear) -> nn.Module:
    return _hooked(nn.Sequential(layer))  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [_hooked, _scaling_its_output, _with_another_forward, _in_a_hooked_sequence])
def test_a_layer_that_computes_something_else_has_no_closed_form(
    change: Callable[[nn.Linear], nn.Module],
) -> None:
    """Its constant would be a hundred times too small."""
    layer, rows = nn.Linear(3, 1, bias=False), ClippedRows(scores(), 1.0)
    assert assumption_of(layer, nn.MSELoss(), rows, clip_norm=1.0) == Convex(2.0)
    with pytest.raises(InputError, match="needs unmodified layers"):
        assumption_of(change(layer), nn.MSELoss(), rows, clip_norm=1.0)


def test_a_loss_that_computes_something_else_has_no_closed_form() -> None:
    loss = nn.MSELoss()
    vars(loss)["forward"] = lambda given, wanted: 10 * functional.mse_loss(given, wanted)
    with pytest.raises(InputError, match="needs unmodified layers"):
        assumption_of(nn.Linear(3, 1), loss, ClippedRows(scores(), 1.0), clip_norm=1.0)
