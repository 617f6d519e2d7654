"""Constants in a diagonal metric: of quadratics, where they are known."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants import worst_case_constants as worst_case
from lastiterate.runtime.constants.holder import estimate_holder
from lastiterate.runtime.constants.sampling import Sampling
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.workload import Workload

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from adam_metric import Metric, in_metric, read_metric

_D = 4


class _Point(nn.Module):
    """The parameters themselves as the outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(_D))

    def forward(self, rows: Tensor) -> Tensor:
        return self.w.expand(len(rows), -1)


def _hessian(seed: int) -> Tensor:
    drawn = torch.randn(_D, _D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn @ drawn.T


def _quadratic(hessian: Tensor) -> Workload:
    rows = torch.zeros(1, 1)
    return Workload("quadratic", _Point, lambda out, _: (out @ hessian.to(out) * out).sum() / 2, rows, rows)


def _weights(seed: int) -> Tensor:
    return torch.exp(2 * torch.randn(_D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


def _run(workload: Workload, diameter: float = 1.0) -> NoisySGD:
    return NoisySGD(3, 1e-3, 1e-3, 1.0, workload.samples, diameter=diameter)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.sweep(1)
def test_the_constant_of_a_quadratic_is_the_eigenvalue_in_the_metric(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """lambda_max(A^-1/2 H A^-1/2); the search reaches it, draws stay below it, and no other metric gives it."""
    for name in ("_STARTS", "_CURVED", "_SCREENED", "_ITERATIONS", "_BENDING"):
        monkeypatch.setattr(worst_case, name, 16)  # which is enough for a quadratic
    hessian, a = _hessian(seed), _weights(seed + 10)
    truth = torch.linalg.eigvalsh(hessian / a.sqrt() / a.sqrt()[:, None])[-1].item()
    found = {}
    for name, weights in {"right": a, "squared": a**2, "inverse": 1 / a, "none": torch.ones(_D)}.items():
        work = in_metric(_quadratic(hessian), Metric({"w": weights}, name))
        found[name] = worst_case_constants(work, _run(work), (1.0,)).found[0]
    assert 0.98 * truth <= found["right"] <= truth * (1 + 1e-9)
    assert all(abs(found[name] / truth - 1) > 0.1 for name in ("squared", "inverse", "none"))
    work = in_metric(_quadratic(hessian), Metric({"w": a}, "right"))
    drawn = estimate_holder(work, _run(work), (1.0,), Sampling(inits=1, points=20))
    assert 0.1 * truth < drawn.constant(1.0) <= truth * (1 + 1e-9)
    assert "No epsilon" in drawn.remark


def test_distances_and_gradients_are_those_of_the_metric() -> None:
    hessian, a = _hessian(0), _weights(1)
    plain, work = _quadratic(hessian), in_metric(_quadratic(hessian), Metric({"w": a}, "a"))
    there, here = Gradients(work, work.initial(0)), Gradients(plain, plain.initial(0))
    torch.testing.assert_close(there.start, here.start * a.sqrt())
    torch.testing.assert_close(there.total(there.start), here.total(here.start) / a.sqrt())


def test_certified_constants_are_those_of_the_euclidean_norm_alone() -> None:
    known = in_metric(_quadratic(_hessian(0)), Metric({"w": _weights(0)}, "a")).certified(0, 1.0)
    assert known.statement == "not known: the constants of the network are proved in the Euclidean norm"


def _net() -> Workload:
    inputs = torch.randn(8, 3, generator=torch.Generator().manual_seed(1))
    make = lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))  # noqa: E731
    return Workload("net", make, functional.cross_entropy, inputs, torch.arange(8) % 2)


@pytest.mark.parametrize(("named", "nested", "amsgrad"), [(True, False, False), (False, True, True)])
def test_of_adam_it_is_what_its_steps_are_divided_by(
    tmp_path: Path, *, named: bool, nested: bool, amsgrad: bool
) -> None:
    work = _net()
    module = work.initial(0)
    given = module.named_parameters() if named else module.parameters()
    optimizer = torch.optim.Adam(given, lr=0.01, betas=(0.8, 0.9), eps=1e-3, amsgrad=amsgrad)
    for _ in range(4):
        before = [p.detach().clone() for p in module.parameters()]
        optimizer.zero_grad()
        work.loss(module(work.inputs), work.targets).backward()
        optimizer.step()
    state = optimizer.state_dict()
    torch.save({"optimizer": state} if nested else state, tmp_path / "adam.pt")
    metric = read_metric(tmp_path / "adam.pt", work)
    for k, (name, values) in enumerate(module.named_parameters()):
        mean = state["state"][k]["exp_avg"] / (1 - 0.8**4)
        torch.testing.assert_close((before[k] - values.detach()).double(), 0.01 * mean / metric.weights[name],
                                   rtol=1e-4, atol=1e-7)  # fmt: skip


def test_weights_are_read_by_name(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    work = _net()
    weights = {name: torch.rand(p.shape) + 0.1 for name, p in work.initial(0).named_parameters()}
    save_file(weights, tmp_path / "a.safetensors")
    torch.save(weights, tmp_path / "a.pt")
    for name in ("a.safetensors", "a.pt"):
        found = read_metric(tmp_path / name, work)
        assert found.source == name
        assert all(torch.equal(found.weights[key], values.double()) for key, values in weights.items())


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"w": [1.0] * 3}, r"got w=\(3,\) for \(4,\)"),
        ({"v": [1.0] * 4}, "got w=none"),
        ({"w": [1.0, 1.0, 0.0, 1.0]}, "finite positive weights, got w=0 in .*, with an eps"),
        ({"w": [1.0, 1.0, -2.0, 1.0]}, "finite positive weights, got w=-2 in .*; save the divisors"),
        ({"w": [1.0, 1.0, np.inf, 1.0]}, "finite positive weights, got w"),
        ({"w": [1j] * 4}, "finite positive weights, got w=complex numbers"),
    ],
)
def test_weights_that_are_none_are_refused(
    tmp_path: Path, weights: dict[str, list[complex]], said: str
) -> None:
    torch.save({name: torch.tensor(values) for name, values in weights.items()}, tmp_path / "a.pt")
    with pytest.raises(InputError, match=said):
        read_metric(tmp_path / "a.pt", _quadratic(_hessian(0)))


def test_states_that_are_none_are_refused(tmp_path: Path) -> None:
    work = _net()
    module = work.initial(0)
    groups = [{"params": [p]} for p in module.parameters()]
    alone = nn.Linear(1, 1)
    alone(torch.ones(1, 1)).sum().backward()
    other = torch.optim.Adam([alone.weight])
    several, sgd = torch.optim.Adam(groups), torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    for optimizer, said in (
        (several, "got 4 without names, in 4 groups"),
        (other, "got 1 without names, in 1 groups"),
        (sgd, "state of an Adam"),
    ):
        work.loss(module(work.inputs), work.targets).backward()
        optimizer.step()
        torch.save(optimizer.state_dict(), tmp_path / "state.pt")
        with pytest.raises(InputError, match=said):
            read_metric(tmp_path / "state.pt", work)
    state = torch.optim.Adam(module.parameters()).state_dict()
    state["state"] = {0: {"step": torch.ones(3), "exp_avg_sq": torch.ones(1)}}
    torch.save(state, tmp_path / "state.pt")
    with pytest.raises(InputError, match="state of an Adam"):
        read_metric(tmp_path / "state.pt", work)
    torch.save({"w": torch.ones(4)}, tmp_path / "whole.pt")
    for junk in (b"junk", (tmp_path / "whole.pt").read_bytes()[:100]):
        (tmp_path / "junk.pt").write_bytes(junk)
        with pytest.raises(InputError, match=r"A metric must be a complete file .* got metric="):
            read_metric(tmp_path / "junk.pt", work)
    torch.save({"w": nn.Linear(1, 1)}, tmp_path / "junk.pt")
    with pytest.raises(InputError, match=r"A metric must contain only tensors, got metric=.* never loaded"):
        read_metric(tmp_path / "junk.pt", work)
