"""Networks of torch read layer by layer, and the constants of a workload."""

from collections.abc import Callable
from math import inf, isinf

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import softmax_regression
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.certified import certified_constants
from lastiterate.runtime.constants.curvature import top_curvature
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.networks import Residual, constants_of_network, layers_of
from lastiterate.runtime.workloads.workload import Workload


def _work(make: Callable[[], nn.Module], **more: object) -> Workload:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return Workload("mine", make, functional.cross_entropy, inputs, torch.arange(6) % 2, **more)  # type: ignore[arg-type]


def _frozen() -> nn.Module:
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    module[0].requires_grad_(requires_grad=False)
    return module


_NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(3, 2),
    "tanh": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)),
    "frozen": _frozen,
    "nested": lambda: nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(3, 4), nn.GELU()), nn.Linear(4, 2)),
    "twice": lambda: nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Sigmoid(), nn.Linear(4, 2), nn.Identity()),
    "residual": lambda: nn.Sequential(
        nn.Linear(3, 4), Residual(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 4)), nn.Tanh(), nn.Linear(4, 2)
    ),
    "residual of residuals": lambda: nn.Sequential(
        nn.Linear(3, 4), Residual(Residual(nn.Linear(4, 4), nn.Tanh()), Residual(nn.Linear(4, 4))), nn.Linear(4, 2)
    ),
    "residual at once": lambda: nn.Sequential(Residual(nn.Linear(3, 3), nn.Sigmoid()), nn.Linear(3, 2)),
}


@pytest.mark.parametrize("make", _NETWORKS.values(), ids=_NETWORKS)
def test_what_is_read_is_what_torch_computes(make: Callable[[], nn.Module]) -> None:
    """The curvature that torch finds is below what is certified, and not far; one sample at a time."""
    work = _work(make)
    gradients = Gradients(work, work.initial(0))
    found = top_curvature(gradients, gradients.start[None], iterations=40)
    certified = certified_constants(work, 0.0)
    assert found.value <= certified.smoothness * (1 + 1e-9) <= 4 * found.value
    radius, generator = 0.2, torch.Generator().manual_seed(0)
    away = torch.randn(200, gradients.dimension, generator=generator, dtype=torch.float64)
    points = gradients.start + radius * away / away.norm(dim=1, keepdim=True)
    wide = certified_constants(work, radius)
    assert certified.smoothness < wide.smoothness
    assert top_curvature(gradients, points).value <= wide.smoothness
    everything = constants_of_network(float(work.inputs.norm(dim=1).max()) * (1 + 1e-9))(work.initial(0), 2 * radius)
    assert wide.lipschitz <= everything.lipschitz
    assert top_curvature(gradients, points).value <= everything.smoothness


def test_outputs_are_those_of_the_module() -> None:
    """The layers that are read compute what the module does."""
    for make in _NETWORKS.values():
        module = make().double()
        layers = layers_of(module)
        assert not isinstance(layers, str)
        x = torch.randn(3, dtype=torch.float64)
        states = [x.numpy()]
        known: dict[str, Callable[[Tensor], Tensor]] = {
            "tanh": torch.tanh,
            "sigmoid": torch.sigmoid,
            "softplus": functional.softplus,
            "gelu": functional.gelu,
            "identity": lambda z: z,
        }
        for layer in layers:
            out = known[layer.phi.name](torch.tensor(layer.weight @ states[-1] + layer.bias)).numpy()  # type: ignore[operator]
            states.append(out + states[len(states) - layer.skip] if layer.skip else out)
        np.testing.assert_allclose(states[-1], module(x[None])[0].detach().numpy(), rtol=1e-10, atol=1e-12)


def test_a_head_is_softmax_regression_of_the_features_that_are_frozen() -> None:
    known = certified_constants(_work(_frozen), 0.1)
    assert known.smoothness <= softmax_regression(5**0.5).smoothness, "four features within 1, and the bias"


def test_kinks_are_said_and_raise_nothing() -> None:
    relu = certified_constants(_work(lambda: nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 2))), 0.5)
    assert isinf(relu.smoothness)
    assert relu.lipschitz < inf
    assert "a kink of relu of layer 0" in relu.statement
    pooled = constants_of_network(1.0)(nn.Sequential(nn.Linear(3, 4), nn.MaxPool1d(2), nn.Linear(2, 2)), 0.1)
    assert isinf(pooled.smoothness)
    assert "MaxPool1d has a kink" in pooled.statement
    assert isinf(constants_of_network(1.0)(nn.Linear(3, 2), inf).smoothness)
    for make in (lambda: nn.LeakyReLU(0.2), lambda: nn.Hardtanh(-2, 2), nn.ReLU6):
        assert isinf(certified_constants(_work(lambda make=make: nn.Sequential(nn.Linear(3, 2), make())), 9).smoothness)


def _hooked() -> nn.Module:
    module = nn.Sequential(nn.Linear(3, 2))
    module[0].register_forward_hook(lambda _module, _inputs, output: 2 * output)
    return module


def _shared() -> nn.Module:
    layer = nn.Linear(3, 3)
    return nn.Sequential(layer, nn.Tanh(), layer)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nn.Sequential(nn.Conv1d(3, 2, 1)), "got 0=Conv1d"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.GELU(approximate="tanh")), "default settings, got 1=GELU"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.Softplus(beta=2)), "default settings, got 1=Softplus"),
        (lambda: nn.Sequential(nn.Tanh(), nn.Linear(3, 2)), "a linear layer first, got 0=tanh"),
        (lambda: nn.Sequential(nn.Linear(3, 2), Residual(nn.Identity())), "A Residual needs a linear layer"),
        (_shared, "parameters of their own"),
        (_hooked, "default settings"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), "ParametrizedLinear"),
    ],
)
def test_what_cannot_be_read_is_named(make: Callable[[], nn.Module], said: str) -> None:
    with pytest.raises(InputError, match=said):
        certified_constants(_work(make), 0.1)


def test_another_loss_is_refused() -> None:
    tenth = Workload("mine", lambda: nn.Linear(1, 2), lambda o, y: 0.1 * functional.cross_entropy(o, y),
                     torch.ones(2, 1), torch.tensor([0, 1]))  # fmt: skip
    with pytest.raises(InputError, match="scale times cross_entropy"):
        certified_constants(tenth, 0.1)
    assert certified_constants(tenth, 0.1, scale=0.1).smoothness < 0.1
    one = Workload("mine", lambda: nn.Linear(1, 1),
                   lambda o, y: functional.binary_cross_entropy_with_logits(o[:, 0], y.to(o.dtype)),
                   torch.ones(2, 1), torch.tensor([0, 1]))  # fmt: skip
    assert certified_constants(one, 1e3, loss="logistic").smoothness == pytest.approx(0.5, rel=1e-12)


def test_the_estimate_shows_what_is_certified() -> None:
    work = _work(_NETWORKS["tanh"], constants=constants_of_network(5.0))
    run = NoisySGD(steps=3, step_size=0.05, noise_std=0.1, clip_norm=1.0, dataset_size=6, diameter=0.2)
    look = worst_case_constants(work, run, (1.0,), points=4)
    assert look.certified is not None
    assert look.bounded is not None
    assert look.searched[0].constant <= look.certified.smoothness
    assert look.curvature is not None
    assert look.curvature <= look.certified.smoothness


def test_small_balls_make_the_bound_smaller() -> None:
    module = _work(_NETWORKS["tanh"]).initial(0)
    sizes = [constants_of_network(2.0)(module, diameter).smoothness for diameter in (0.0, 0.1, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2] / 1.5
    layers = layers_of(module)
    assert not isinstance(layers, str)
    assert network_constants(layers, np.zeros((1, 3)), 0.05, input_radius=2.0).smoothness == sizes[1]
