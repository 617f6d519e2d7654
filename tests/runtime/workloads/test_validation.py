import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.leaves import flat
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.training.descent import paper_run, train
from lastiterate.runtime.workloads.loading import BUILTIN, load_workload
from lastiterate.runtime.workloads.workload import Workload

Loss = Callable[[Tensor, Tensor], Tensor]


class With(nn.Module):
    """A linear layer and something after it."""

    def __init__(self, after: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.after = after

    def forward(self, rows: Tensor) -> Tensor:
        return self.after(self.layer(rows))


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, rows: Tensor) -> Tensor:
        self.calls += 1
        return self.layer(rows)


def squares(out: Tensor, target: Tensor) -> Tensor:
    return (out - target).square().sum()


def workload_of(module: nn.Module, loss: Loss = squares, targets: Tensor | None = None) -> Workload:
    rows = torch.tensor([[1.0, 2.0], [-3.0, 0.5], [0.1, 0.2]])
    return Workload("theirs", lambda: module, loss, rows, torch.zeros(3, 2) if targets is None else targets)


def refuse(*_rows: Tensor) -> Tensor:
    raise ValueError("I do not like\nthese rows")


MODULES: list[tuple[nn.Module, str]] = [
    (
        With(refuse),
        r"a batch of one row, got ValueError: I do not like these rows at .*test_validation\.py:\d+ for .*float64",
    ),
    (nn.Linear(3, 2), r"inputs\[:1\] of shape=\(1, 2\)"),
    (nn.Embedding(5, 2), r"dtype=float64 .*give inputs that the module takes"),
    (With(lambda rows: rows - rows.mean(dim=0)), "different outputs for 3 rows together and one by one"),
    (With(lambda rows: rows + torch.rand_like(rows)), "two outputs for one row"),
    (With(lambda rows: nn.functional.dropout(rows.repeat(1, 32), 0.5)), "two outputs for one row"),
    (Counting(), "change of buffer=calls"),
    (nn.utils.parametrizations.spectral_norm(nn.Linear(2, 2)), "change of buffer="),
    (With(Tensor.detach), "must depend on a trained parameter"),
    (With(lambda rows: rows / 0), r"got loss=(inf|nan) for the first sample"),
    (
        nn.Sequential(nn.Linear(2, 4), nn.Unflatten(1, (2, 2)), nn.InstanceNorm1d(2, track_running_stats=True)),
        "2=Inst",
    ),
    (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, track_running_stats=False)).eval(), "1=BatchNorm1d"),
]


@pytest.mark.parametrize(("module", "said"), MODULES, ids=lambda value: value if isinstance(value, str) else "")
def test_modules_without_per_sample_gradients_are_refused(module: nn.Module, said: str) -> None:
    workload = workload_of(module)
    with pytest.raises(InputError, match=said) as refused:
        Gradients(workload, workload.initial(0))
    assert "\n" not in str(refused.value)
    assert "theirs" in str(refused.value) or "training mode" in str(refused.value)


LOSSES: list[tuple[Loss, str]] = [
    (lambda out, target: (out - target).square(), r"loss\.shape=\(1, 2\), float64"),
    (lambda out, target: (out - target).square().sum(dim=1), r"loss\.shape=\(1,\)"),
    (lambda out, _target: out.argmax().long(), r"loss\.shape=\(\), int64"),
    (lambda _out, _target: 3.0, "got float in"),  # type: ignore[dict-item, return-value, list-item]
    (lambda out, _target: out.sum() * math.nan, "loss=nan for the first sample"),
    (lambda out, _target: out.sum().exp() * math.inf, "loss=inf"),
    (lambda out, _target: (out.sum() * 0).sqrt(), "gradient must be finite"),
    (lambda out, _target: out.detach().sum(), "must depend on a trained parameter"),
    (
        lambda out, target: nn.functional.nll_loss(out, target),
        r"targets\[:1\] of shape=\(1, 2\) and dtype=float64",
    ),
    (refuse, "the output and the target of one row, got ValueError: I do not like"),
]


@pytest.mark.parametrize(("loss", "said"), LOSSES, ids=[said for _, said in LOSSES])
def test_losses_that_cannot_be_differentiated_are_refused(loss: Loss, said: str) -> None:
    workload = workload_of(nn.Linear(2, 2), loss)
    with pytest.raises(InputError, match=said) as refused:
        Gradients(workload, workload.initial(0))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (torch.zeros(3), r"targets\[:1\] of shape=\(1,\) and dtype=float64"),
        (torch.full((3,), 7), r"targets\[:1\] of shape=\(1,\) and dtype=int64"),
        (torch.tensor([0, 1, 2]), r"targets\[2:3\] of shape=\(1,\) and dtype=int64 \(2\)"),
        (torch.tensor([0, -1, 1]), r"targets\[1:2\] of shape=\(1,\) and dtype=int64 \(-1\)"),
    ],
)
def test_labels_of_another_dtype_or_out_of_range_are_refused(targets: Tensor, said: str) -> None:
    workload = workload_of(nn.Linear(2, 2), nn.functional.cross_entropy, targets)
    with pytest.raises(InputError, match=said + ".*shape, dtype and range that the loss takes"):
        Gradients(workload, workload.initial(0))


def test_a_module_in_the_place_of_its_factory_is_refused() -> None:
    with pytest.raises(InputError, match=r"got module=Linear, which is already a module; pass lambda: module"):
        Workload("theirs", nn.Linear(2, 2), squares, torch.ones(3, 2), torch.ones(3, 2))


def test_parameters_that_are_not_finite_are_refused() -> None:
    module = nn.Linear(2, 2)
    nn.init.constant_(module.bias, math.nan)
    workload = workload_of(module)
    with pytest.raises(InputError, match="finite initial parameters and buffers, got nan or inf in bias of"):
        Gradients(workload, workload.initial(0))


def test_a_gradient_that_vmap_computes_otherwise_is_computed_in_another_way() -> None:
    def doubled_by_vmap(rows: Tensor) -> Tensor:
        return rows * (2.0 if torch._C._functorch.maybe_current_level() else 1.0)

    workload = workload_of(With(doubled_by_vmap))
    gradients = Gradients(workload, workload.initial(0))
    assert "as it is: gradients differ from a plain backward pass" in gradients.engine.words()


def test_batch_norm_and_dropout_in_eval_mode_are_functions_of_one_sample() -> None:
    norm = nn.BatchNorm1d(2)
    norm.running_mean = torch.tensor([0.5, -1.0])
    module = nn.Sequential(nn.Linear(2, 2), norm, nn.Dropout(0.5), nn.InstanceNorm1d(2)).eval()[:3]
    workload = workload_of(module)
    gradients = Gradients(workload, workload.initial(0))
    found = flat(gradients.at(gradients.start[None]))[0]
    double = module.double()
    for i in range(3):
        loss = squares(double(workload.inputs[i : i + 1].double()), torch.zeros(1, 2))
        parts = torch.autograd.grad(loss, tuple(double.parameters()))
        torch.testing.assert_close(found[i], torch.cat([part.flatten() for part in parts]))


def test_token_ids_are_inputs_too() -> None:
    module = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 2))
    ids = torch.tensor([[0, 4], [1, 2]])
    workload = Workload("tokens", lambda: module, nn.functional.cross_entropy, ids, torch.tensor([0, 1]))
    gradients = Gradients(workload, workload.initial(0))
    assert flat(gradients.at(gradients.start[None])).shape == (1, 2, 5 * 3 + 14)


@pytest.mark.nightly
def test_the_probe_leaves_the_random_state_and_the_module_alone() -> None:
    for name in BUILTIN:
        workload = load_workload(f"builtin:{name}")
        if workload.samples > 2000:
            continue
        module = workload.initial(0)
        kept = [p.detach().clone().double() for p in module.parameters()]
        state = torch.get_rng_state()
        Gradients(workload, module, memory=2**32)
        assert torch.equal(state, torch.get_rng_state())
        for before, after in zip(kept, module.parameters(), strict=True):
            assert torch.equal(before, after)
            assert after.grad is None


def test_a_gradient_that_is_not_finite_ends_the_training() -> None:
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
    workload = Workload(
        "theirs",
        lambda: With(lambda out: out),
        lambda out, x: (out.sum(dim=1) / x.sum(dim=1)).sum(),
        rows,
        rows,
    )
    gradients = Gradients(workload, workload.initial(0))
    with pytest.raises(InputError, match="nan or inf after step=1; lower step_size, or remove samples"):
        train(gradients, gradients.start, paper_run(workload, steps=2), 0)


def test_the_optimiser_refuses_at_the_first_step_and_moves_nothing() -> None:
    module = With(lambda rows: rows + torch.rand_like(rows))
    before = [p.detach().clone() for p in module.parameters()]
    run = NoisySGD(2, 0.1, 0.01, 1.0, dataset_size=4, batch_size=2, sampling="cyclic", diameter=1.0)
    optimiser = ProjectedNoisySGD(module, squares, run)
    next(optimiser.batches())
    with pytest.raises(InputError, match="two outputs for one row"):
        optimiser.step(torch.ones(2, 2), torch.zeros(2, 2))
    assert all(torch.equal(*pair) for pair in zip(before, module.parameters(), strict=True))
    assert optimiser.done == 0
