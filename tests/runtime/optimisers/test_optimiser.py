from dataclasses import replace
from pathlib import Path

import pytest
import torch
from recorded_sgd import RecordedSGD
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.training.descent import train
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

RUN = NoisySGD(6, 0.5, 0.05, 0.3, dataset_size=150, batch_size=30, sampling="shuffled", diameter=1.0)
SCHEMES = ["full", "cyclic", "shuffled", "without_replacement", "poisson"]


def iris() -> Workload:
    return load_workload("builtin:iris-mlp-tanh")


def run_on(optimiser: ProjectedNoisySGD, workload: Workload, steps: int | None = None) -> None:
    for t, batch in enumerate(optimiser.batches()):
        if t == steps:
            return
        optimiser.step(workload.inputs[batch], workload.targets[batch])


@pytest.mark.parametrize("sampling", SCHEMES)
def test_it_is_the_trainer_that_is_accounted_for(sampling: str) -> None:
    workload = iris()
    run = replace(
        RUN, sampling=sampling, batch_size=None if sampling == "full" else 30, adjacency="", weight_decay=0.5
    )
    gradients = Gradients(workload, workload.initial(0))
    module = workload.initial(0).double()
    optimiser = ProjectedNoisySGD(module, workload.loss, run, seed=4)
    run_on(optimiser, workload)
    point = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
    torch.testing.assert_close(
        point, train(gradients, gradients.start, run, seed=4)[-1], rtol=1e-12, atol=1e-14
    )
    assert optimiser.accounted() == run


def test_what_has_been_run_is_what_is_accounted_for() -> None:
    workload = iris()
    run = NoisySGD(5, [0.1, 0.2, 0.3, 0.4, 0.5], 0.1, 1.0, dataset_size=150, diameter=1.0)
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, run)
    with pytest.raises(InputError, match="done=0"):
        optimiser.accounted()
    run_on(optimiser, workload, steps=3)
    done = optimiser.accounted()
    assert (done.steps, done.step_size) == (3, (0.1, 0.2, 0.3))
    assert bound(done, Clipped(), delta=1e-5).epsilon > 0


def test_a_resumed_run_is_the_same_bit_by_bit(tmp_path: Path) -> None:
    workload = iris()
    whole = workload.initial(0).double()
    run_on(ProjectedNoisySGD(whole, workload.loss, RUN, seed=1), workload)
    first = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, RUN, seed=1)
    run_on(first, workload, steps=2)
    torch.save(first.state_dict(), tmp_path / "checkpoint.pt")
    module = workload.initial(7).double()
    second = ProjectedNoisySGD(module, workload.loss, RUN, seed=1)
    second.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True))
    assert second.done == 2
    run_on(second, workload)
    assert all(torch.equal(p, q) for p, q in zip(module.parameters(), whole.parameters(), strict=True))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extra": 1}, "extra"),
        ({"seed": 2}, "seed=2"),
        ({"run": {}}, "run={}"),
        ({"parameters": torch.zeros(3)}, r"parameters=\(3,\)"),
    ],
)
def test_a_checkpoint_of_something_else_changes_nothing(change: dict[str, object], said: str) -> None:
    workload = iris()
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, RUN)
    run_on(optimiser, workload, steps=1)
    before = optimiser.state_dict()
    with pytest.raises(InputError, match=said):
        optimiser.load_state_dict({**before, **change})
    after = optimiser.state_dict()
    assert after["done"] == before["done"]
    assert torch.equal(after["parameters"], before["parameters"])


def test_wrong_steps_are_refused() -> None:
    workload = iris()
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, replace(RUN, steps=1))
    with pytest.raises(InputError, match="none was drawn for step=1"):
        optimiser.step(workload.inputs[:30], workload.targets[:30])
    next(optimiser.batches())
    with pytest.raises(InputError, match="got 29 inputs and 29 targets"):
        optimiser.step(workload.inputs[:29], workload.targets[:29])
    with pytest.raises(InputError, match="got 30 inputs and 29 targets"):
        optimiser.step(workload.inputs[:30], workload.targets[:29])
    optimiser.step(workload.inputs[:30], workload.targets[:30])
    with pytest.raises(InputError, match="steps=1"):
        optimiser.step(workload.inputs[:30], workload.targets[:30])
    with pytest.raises(InputError, match="BatchNorm1d"):
        ProjectedNoisySGD(nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)), cross_entropy, RUN)
    with pytest.raises(InputError, match="parameters to train"):
        ProjectedNoisySGD(nn.Flatten(), cross_entropy, RUN)


def test_a_step_that_diverges_changes_nothing() -> None:
    workload = iris()
    module = workload.initial(0).double()
    optimiser = ProjectedNoisySGD(module, workload.loss, NoisySGD(2, 0.5, 1e308, 0.3, dataset_size=150))
    before, parameters = optimiser.state_dict(), [one.clone() for one in module.parameters()]
    with pytest.raises(InputError, match="nan or inf after step=1; lower step_size"):
        run_on(optimiser, workload)
    assert all(map(torch.equal, module.parameters(), parameters))
    assert [optimiser.state_dict()[name] for name in ("done", "streams")] == [before["done"], before["streams"]]


def test_a_checkpoint_of_another_domain_is_refused() -> None:
    optimiser = ProjectedNoisySGD(iris().initial(0).double(), cross_entropy, RUN, center="origin")
    state = optimiser.state_dict()
    state["center"] = state["center"] + 1
    with pytest.raises(InputError, match="needs the domain of this optimiser"):
        optimiser.load_state_dict(state)


def test_a_module_may_be_moved_between_steps_but_not_made_random() -> None:
    workload = iris()
    module = nn.Sequential(workload.initial(0), nn.Dropout(0.5).eval())
    optimiser = ProjectedNoisySGD(module, workload.loss, RUN)
    run_on(optimiser, workload, steps=1)
    module.double()
    for t, batch in enumerate(optimiser.batches()):
        if t == 1:
            module.train()
            with pytest.raises(InputError, match="Dropout in training mode"):
                optimiser.step(workload.inputs[batch], workload.targets[batch])
            return
        optimiser.step(workload.inputs[batch], workload.targets[batch])
        assert point_of(module).dtype is torch.float64


def around(center: object, diameter: float = 0.5, **changes: object) -> tuple[ProjectedNoisySGD, torch.Tensor]:
    workload = iris()
    module = workload.initial(0).double()
    run = replace(RUN, diameter=diameter, noise_std=0.2)
    return ProjectedNoisySGD(module, workload.loss, run, center=center, **changes), point_of(module)  # type: ignore[arg-type]


def point_of(module: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()])


def test_double_clipping_stays_in_the_ball_around_the_origin_and_starts_inside() -> None:
    """DPSGD-DC of Liang et al.: |theta| <= D, of diameter 2 D; the parameters it came with lie outside."""
    optimiser, start = around("origin", diameter=2 * 0.25)
    assert float(start.norm()) == pytest.approx(0.25, rel=1e-12)
    assert float(point_of(iris().initial(0)).norm()) > 1
    lengths = []
    workload = iris()
    for batch in optimiser.batches():
        optimiser.step(workload.inputs[batch], workload.targets[batch])
        lengths.append(float(optimiser.state_dict()["parameters"].norm()))
    assert max(lengths) <= 0.25
    assert max(lengths) > 0.25 * (1 - 1e-12)
    assert optimiser.accounted() == optimiser.run


def test_the_account_does_not_depend_on_where_the_ball_lies() -> None:
    bounds = set()
    for center in ("initial", "origin"):
        optimiser, _ = around(center)
        run_on(optimiser, iris())
        assert optimiser.accounted() == replace(RUN, diameter=0.5, noise_std=0.2)
        bounds.add(bound(optimiser.accounted(), Clipped(), delta=1e-5).epsilon)
        middle = optimiser.state_dict()["center"]
        assert float((optimiser.state_dict()["parameters"] - middle).norm()) <= 0.25
    assert len(bounds) == 1


def test_without_a_domain_the_center_does_not_matter() -> None:
    ends = []
    for center in ("initial", "origin"):
        optimiser, _ = around(center, diameter=float("inf"))
        run_on(optimiser, iris())
        ends.append(optimiser.state_dict()["parameters"])
    assert torch.equal(*ends)


@pytest.mark.parametrize("center", ["centre", torch.zeros(515), None])
def test_a_wrong_center_is_refused(center: object) -> None:
    with pytest.raises(InputError, match="center needs 'initial' or 'origin', got center="):
        around(center)


@pytest.mark.parametrize("sampling", SCHEMES)
def test_rows_that_the_run_did_not_draw_are_refused(sampling: str) -> None:
    """Batches of a loader that shuffles by itself once were accounted as drawn by the run."""
    workload, made = iris(), 0
    run = replace(RUN, sampling=sampling, batch_size=None if sampling == "full" else 30, adjacency="", steps=12)
    optimiser = ProjectedNoisySGD(workload.initial(0).double(), workload.loss, run, seed=1)
    with pytest.raises(InputError, match=r"needs the (batch|rows) that the run drew"):  # noqa: PT012
        for made, _ in enumerate(optimiser.batches()):
            rows = torch.randperm(150, generator=torch.Generator().manual_seed(made))[: run.batch]
            optimiser.step(workload.inputs[rows], workload.targets[rows])
    assert made <= run.batches + 1


def test_a_row_that_changes_is_told_by_every_bit_and_a_resumed_run_goes_on() -> None:
    workload = iris()
    optimiser = ProjectedNoisySGD(
        workload.initial(0).double(), workload.loss, replace(RUN, sampling="cyclic", steps=8)
    )
    drawn = list(optimiser.batches())  # all at once, as a loader does that works ahead
    for batch in drawn[:5]:
        optimiser.step(workload.inputs[batch], workload.targets[batch])
    other = workload.inputs.clone()
    other[7] += 1e-6
    with pytest.raises(InputError, match="a different row for sample=7 in step=6"):
        optimiser.step(other[drawn[5]], workload.targets[drawn[5]])
    held = optimiser.state_dict()
    run_on(optimiser, workload)
    optimiser.load_state_dict(held)
    run_on(optimiser, workload)
    assert optimiser.done == 8


class _Uncopied(nn.Linear):
    def __deepcopy__(self, memo: object) -> nn.Module:
        raise RuntimeError("no copies")


def test_a_module_that_cannot_be_copied_or_has_no_shapes_is_one_sentence() -> None:
    rows, zeros = torch.eye(4, 3), torch.zeros(4, 1)
    run = NoisySGD(1, 0.1, 0.01, 1.0, dataset_size=4, diameter=1.0)
    optimiser = ProjectedNoisySGD(_Uncopied(3, 1), mse_loss, run)
    for batch in optimiser.batches():
        optimiser.step(rows[batch], zeros[batch])
    with pytest.raises(
        InputError, match=r"a copy of the module, got RuntimeError: no copies .*bound\(accounted\(\), "
    ):
        optimiser.bound(Clipped(), delta=1e-5)
    assert bound(optimiser.accounted(), Clipped(), delta=1e-5).epsilon > 0
    with pytest.raises(InputError, match="a copy of the module, got RuntimeError: no copies"):
        RecordedSGD(_Uncopied(3, 1), mse_loss, run, rows, zeros)
    with pytest.raises(InputError, match="got the lazy weight; specify its sizes"):
        ProjectedNoisySGD(nn.LazyLinear(1), mse_loss, run)


def _moving(diameter: float, *, nesterov: bool, noise_std: float = 1e-12) -> tuple[ProjectedNoisySGD, Workload]:
    run = NoisySGD(
        5, 0.5, noise_std, 100.0, dataset_size=150, diameter=diameter, momentum=0.8, nesterov=nesterov
    )
    workload = iris()
    return ProjectedNoisySGD(workload.initial(0).double(), workload.loss, run), workload


def _torch(workload: Workload, *, nesterov: bool) -> list[torch.Tensor]:
    module, found = workload.initial(0).double(), list[torch.Tensor]()
    other = torch.optim.SGD(module.parameters(), lr=0.5, momentum=0.8, nesterov=nesterov)
    for _ in range(5):
        other.zero_grad()
        workload.loss(module(workload.inputs.double()), workload.targets).backward()
        other.step()
        found.append(torch.cat([p.detach().reshape(-1) for p in module.parameters()]))
    return found


@pytest.mark.parametrize("nesterov", [False, True])
def test_without_a_projection_the_iterates_are_those_of_torch(nesterov: bool) -> None:
    """With Nesterov's method, PyTorch keeps the points at which gradients are taken."""
    optimiser, workload = _moving(float("inf"), nesterov=nesterov)
    for point in _torch(workload, nesterov=nesterov):
        run_on(optimiser, workload, steps=1)
        ahead = optimiser._point() + 0.8 * nesterov * (optimiser._point() - optimiser._previous)
        torch.testing.assert_close(ahead, point, rtol=1e-6, atol=1e-8)


def test_with_a_projection_the_velocity_is_that_of_the_projected_iterates() -> None:
    optimiser, workload = _moving(0.2, nesterov=False)
    last = optimiser._point()
    gradients = Gradients(workload, workload.initial(0))
    before = last
    for _ in range(5):
        run_on(optimiser, workload, steps=1)
        moved = last + 0.8 * (last - before) - 0.5 * gradients.total(last, 100.0) / 150
        away = moved - optimiser._center
        inside = optimiser._center + away * min(1.0, 0.1 / float(away.norm()))
        torch.testing.assert_close(optimiser._point(), inside, rtol=1e-6, atol=1e-8)
        before, last = last, optimiser._point()
    assert not torch.allclose(last, _torch(workload, nesterov=False)[-1], atol=1e-3)


@pytest.mark.parametrize("nesterov", [False, True])
def test_a_resumed_run_with_momentum_is_the_same_bit_by_bit(nesterov: bool, tmp_path: Path) -> None:
    whole, workload = _moving(0.2, nesterov=nesterov, noise_std=0.1)
    run_on(whole, workload)
    first, second = (_moving(0.2, nesterov=nesterov, noise_std=0.1)[0] for _ in range(2))
    run_on(first, workload, steps=2)
    first.save(tmp_path / "checkpoint.pt")
    second.load(tmp_path / "checkpoint.pt")
    run_on(second, workload)
    assert torch.equal(whole._point(), second._point())
    assert second.bound(Clipped(), delta=1e-5).run == whole.run


def test_a_recorded_run_has_momentum() -> None:
    workload = iris()
    run = NoisySGD(3, 0.5, 0.1, 1.0, dataset_size=150, diameter=0.2, momentum=0.8)
    ours = workload.initial(0).double()
    run_on(ProjectedNoisySGD(ours, workload.loss, run), workload)
    module = workload.initial(0).double()
    rows, targets = workload.inputs.double(), workload.targets
    optimiser = RecordedSGD(module, workload.loss, run, rows, targets)
    for batch in optimiser.batch_sampler():
        optimiser.zero_grad()
        workload.loss(module(rows[batch]), targets[batch]).backward()
        optimiser.step()
    assert torch.equal(optimiser._point(), torch.cat([p.detach().reshape(-1) for p in ours.parameters()]))
