"""Curvature against an independent implementation, curvlinops (Dangel et al.), which knows nothing of this package."""

import pytest
import torch
from known import top_curvature
from torch import nn

from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import load_workload
from lastiterate.runtime.workloads.workload import Workload

curvlinops = pytest.importorskip("curvlinops")


def small() -> Workload:
    """A network of 27 parameters on 12 flowers of Iris."""
    iris = load_workload("builtin:iris-mlp-tanh")

    def network() -> nn.Module:
        return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3))

    return Workload("small", network, nn.functional.cross_entropy, iris.inputs[::13], iris.targets[::13])


def peer(module: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> float:
    """The largest |eigenvalue| of the Hessian of the mean cross-entropy."""
    parameters = list(module.parameters())
    operator = curvlinops.HessianLinearOperator(
        module, nn.CrossEntropyLoss(), parameters, [(inputs, targets)], check_deterministic=False
    )
    dense = operator @ torch.eye(operator.shape[1], dtype=torch.float64)
    return float(torch.linalg.eigvalsh((dense + dense.T) / 2).abs().max())


def test_the_top_eigenvalue_of_every_sample() -> None:
    workload = small()
    gradients = Gradients(workload, workload.initial(0))
    found = top_curvature(gradients, gradients.start[None], iterations=gradients.dimension)
    module = workload.initial(0).double()
    values = []
    for k in range(workload.samples):
        wanted = peer(module, workload.inputs[k : k + 1].double(), workload.targets[k : k + 1])
        own = {"samples": torch.tensor([k]), "iterations": gradients.dimension}
        values.append(top_curvature(gradients, gradients.start[None], **own))
        assert values[-1] == pytest.approx(wanted, rel=1e-6)
    assert found == max(values)


def test_the_top_eigenvalue_of_the_batch_as_one_sample() -> None:
    workload = small()
    together = Workload(
        "batch",
        lambda: nn.Sequential(nn.Flatten(0, 1), *workload.module().children()),  # type: ignore[arg-type]
        lambda out, target: nn.functional.cross_entropy(out, target[0]),
        workload.inputs[None],
        workload.targets[None],
    )
    gradients = Gradients(together, together.initial(0))
    found = top_curvature(gradients, gradients.start[None])
    wanted = peer(workload.initial(0).double(), workload.inputs.double(), workload.targets)
    assert found == pytest.approx(wanted, rel=1e-6)
