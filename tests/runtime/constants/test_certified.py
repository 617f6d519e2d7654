"""Proved constants of networks and of a workload."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isinf

import numpy as np
import pytest
import torch
from known import top_curvature
from torch import nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.certified import softmax_regression
from lastiterate.numeric.networks.centres import Detail
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime import graphs
from lastiterate.runtime.constants.certified import certified_constants
from lastiterate.runtime.constants.sampling import input_set
from lastiterate.runtime.constants.worst_case_constants import worst_case_constants
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.workloads.loading import BUILTIN
from lastiterate.runtime.workloads.networks import constants_of_network
from lastiterate.runtime.workloads.workload import Workload


def _work(make: Callable[[], nn.Module], shape: tuple[int, ...] = (3,), **more: object) -> Workload:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(6, *shape, generator=generator, dtype=torch.float64)
    return Workload("mine", make, functional.cross_entropy, inputs, torch.arange(6) % 2, **more)  # type: ignore[arg-type]


def _frozen() -> nn.Module:
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    module[0].requires_grad_(requires_grad=False)
    return module


def _drawn(norm: nn.Module) -> nn.Module:
    """A norm as it is after a training."""
    for values in (*norm.parameters(), *norm.buffers()):
        if values.is_floating_point():
            nn.init.uniform_(values, 0.5, 1.5)
    return norm


_NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(3, 2),
    "tanh": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)),
    "frozen": _frozen,
    "nested": lambda: nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(3, 4), nn.GELU()), nn.Linear(4, 2)),
    "twice": lambda: nn.Sequential(
        nn.Linear(3, 4), nn.Softplus(), nn.Sigmoid(), nn.Linear(4, 2), nn.Identity()
    ),
    "conv": lambda: nn.Sequential(
        nn.Conv1d(1, 2, 2, padding=1), nn.Tanh(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(4, 2)
    ),
    "conv in groups": lambda: nn.Sequential(
        nn.Conv2d(2, 4, (2, 3), stride=(1, 2), padding=1, groups=2, bias=False),
        nn.GELU(),
        nn.Conv2d(4, 4, 3, padding=2, dilation=2),
        nn.Sigmoid(),
        nn.AvgPool2d(3, stride=2, padding=1),
        nn.Flatten(),
        nn.Linear(8, 2),
    ),
    "batch norm": lambda: nn.Sequential(
        nn.Conv1d(1, 4, 2), _drawn(nn.BatchNorm1d(4)).eval(), nn.GELU(), nn.Flatten(), nn.Linear(12, 2)
    ),
    "frozen conv": lambda: nn.Sequential(
        nn.Conv2d(1, 2, 2).requires_grad_(requires_grad=False), nn.Tanh(), nn.Conv2d(2, 2, (2, 1)), nn.Flatten()
    ),
}
_SHAPES: dict[str, tuple[int, ...]] = {
    "conv": (1, 3), "conv in groups": (2, 3, 4), "frozen conv": (1, 3, 2), "batch norm": (1, 4)
}  # fmt: skip


@pytest.mark.parametrize("name", _NETWORKS)
@pytest.mark.sweep(3)
def test_what_is_certified_is_above_what_is_found(name: str) -> None:
    """The curvature that torch finds is below what is certified, and not far; one sample at a time."""
    shape = _SHAPES.get(name, (3,))
    work = _work(_NETWORKS[name], shape)
    gradients = Gradients(work, work.initial(0))
    found = top_curvature(gradients, gradients.start[None], iterations=40)
    certified = certified_constants(work, 0.0)
    assert found <= certified.smoothness * (1 + 1e-9) <= 1.01 * found
    radius, generator = 0.2, torch.Generator().manual_seed(0)
    away = torch.randn(200, gradients.dimension, generator=generator, dtype=torch.float64)
    points = gradients.start + radius * away / away.norm(dim=1, keepdim=True)
    wide = certified_constants(work, radius)
    assert certified.smoothness < wide.smoothness
    assert top_curvature(gradients, points) <= wide.smoothness
    reach = float(work.inputs.flatten(1).norm(dim=1).max()) * (1 + 1e-9)
    everything = constants_of_network(reach, shape=shape)(work.initial(0), 2 * radius)
    assert wide.lipschitz <= everything.lipschitz
    assert top_curvature(gradients, points) <= everything.smoothness


def test_a_head_is_softmax_regression_of_the_features_that_are_frozen() -> None:
    known = certified_constants(_work(_frozen), 0.1)
    assert known.smoothness <= softmax_regression(5**0.5).smoothness, "four features within 1, and the bias"


def test_kinks_are_said_and_raise_nothing() -> None:
    relu = certified_constants(_work(lambda: nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Linear(40, 2))), 0.5)
    assert isinf(relu.smoothness)
    assert relu.lipschitz < inf
    assert "a kink of relu of 1 may lie in the ball" in relu.statement
    pooled = constants_of_network(1.0)(nn.Sequential(nn.Linear(3, 4), nn.MaxPool1d(2), nn.Linear(2, 2)), 0.1)
    assert isinf(pooled.smoothness)
    assert pooled.statement.startswith("not known: max_pool")
    assert pooled.statement.endswith("of 1 has no rule and may have kinks, where entries are equal")
    assert isinf(constants_of_network(1.0)(nn.Linear(3, 2), inf).smoothness)
    for make in (lambda: nn.LeakyReLU(0.2), lambda: nn.Hardtanh(-2, 2), nn.ReLU6):
        assert isinf(
            certified_constants(_work(lambda make=make: nn.Sequential(nn.Linear(3, 2), make())), 9).smoothness
        )


def _hook(module: nn.Module) -> nn.Module:
    module.register_forward_hook(lambda _module, _inputs, output: 2 * output)
    return module


def _hooked() -> nn.Module:
    return nn.Sequential(_hook(nn.Linear(3, 2)))


def _shared() -> nn.Module:
    layer = nn.Linear(3, 3)
    return nn.Sequential(layer, nn.Tanh(), layer)


@pytest.mark.parametrize(
    "make",
    [
        _hooked,
        _shared,
        lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 2)),
        lambda: nn.Sequential(nn.Tanh(), nn.Linear(3, 2), nn.GELU(approximate="tanh")),
        lambda: nn.Sequential(nn.Linear(3, 4), nn.AvgPool1d(2, ceil_mode=True)),
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
    ],
)
def test_what_is_no_chain_of_layers_has_constants(make: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    work = _work(make)
    gradients = Gradients(work, work.initial(0))
    found = top_curvature(gradients, gradients.start[None], iterations=40)
    known = certified_constants(work, 0.0)
    assert found <= known.smoothness * (1 + 1e-9) <= 1.01 * found
    assert known.statement == "loss of mine, parameters within 0, for the samples and targets that were given"
    assert not known.any_sample


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.CELU()), "not known: celu of 1 has no rule"),
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.MaxPool1d(2)), "not known: max_pool2d_with_indices of 1"),
    ],
)
def test_what_has_no_rule_is_named(make: Callable[[], nn.Module], said: str) -> None:
    assert certified_constants(_work(make), 0.1).statement.startswith(said)


def test_many_samples_are_covered_by_a_ball() -> None:
    torch.manual_seed(0)
    work = _work(_NETWORKS["tanh"])
    several = replace(work, inputs=work.inputs.repeat(6, 1), targets=work.targets.repeat(6))
    each, together = (certified_constants(one, 0.1) for one in (work, several))
    assert each.smoothness < together.smoothness < 10 * each.smoothness
    assert each.statement == together.statement


def test_many_samples_have_no_larger_constants_than_every_input() -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
    rows, labels = torch.randn(40, 5, dtype=torch.float64), torch.randint(0, 3, (40,))
    work = Workload("many", lambda: layers, functional.cross_entropy, rows, labels)
    every = constants_of_network(float(rows.norm(dim=1).max()))(layers, 0.1)
    own = certified_constants(work, 0.05)
    assert own.smoothness <= (1 + 1e-9) * every.smoothness
    assert own.lipschitz <= (1 + 1e-9) * every.lipschitz
    assert (own.any_sample, every.any_sample) == (False, True)


def test_large_networks_have_constants_by_the_rules() -> None:
    """Derivatives in all entries, in products, and none: the bounds grow, and all of them hold."""
    torch.manual_seed(0)
    work = _work(lambda: nn.Sequential(nn.Linear(3, 9), nn.Tanh(), nn.Linear(9, 9), nn.Tanh(), nn.Linear(9, 2)))
    module, gradients = work.initial(0), Gradients(work, work.initial(0))
    found = []
    for detail in sorted(Detail, reverse=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(graphs, "_WORK", {one: 2**30 if one <= detail else 0 for one in Detail})
            bounds = graphs.constants_of_graph(module, work.loss, work.inputs[:2], work.targets[:2], [0.0, 0.1])
            found.append([one.smoothness for one in bounds])
    assert top_curvature(gradients, gradients.start[None]) <= certified_constants(work, 0.0).smoothness * (
        1 + 1e-9
    )
    assert np.all(np.diff(found, axis=0) >= -1e-9)
    assert found[1][0] < 3 * found[0][0]


def test_the_shape_of_inputs_is_needed() -> None:
    conv = nn.Conv2d(1, 4, 3)
    with pytest.raises(InputError, match="shape needs the sizes of one input, got shape=None"):
        constants_of_network(1.0)(conv, 0.1)
    with pytest.raises(
        InputError, match=r"inputs of a shape that fits, got shape=\(3, 9, 9\) and RuntimeError"
    ):
        constants_of_network(1.0, shape=(3, 9, 9))(conv, 0.1)
    with pytest.raises(InputError, match=r"one vector of outputs .*outputs of shape \(4, 7, 7\)"):
        constants_of_network(1.0, shape=(1, 9, 9))(conv, 0.1)


def test_built_in_workloads_have_constants_or_say_why_not() -> None:
    digits = BUILTIN["digits-cnn"]()
    known = digits.certified(0, 0.02)
    assert isinf(BUILTIN["iris-mlp"]().certified(0, 1.0).smoothness)
    few = replace(digits, inputs=digits.inputs[:3], targets=digits.targets[:3])
    gradients = Gradients(few, few.initial(0))
    found = top_curvature(gradients, gradients.start[None], iterations=30)
    given = certified_constants(few, 0.01).smoothness
    assert found <= given <= 3 * found
    assert given <= known.smoothness <= 200


def test_another_loss_is_refused() -> None:
    tenth = Workload("mine", lambda: nn.Linear(1, 2), lambda o, y: 0.1 * functional.cross_entropy(o, y),
                     torch.ones(2, 1), torch.tensor([0, 1]))  # fmt: skip
    assert certified_constants(tenth, 0.1).smoothness < 0.1
    with pytest.raises(InputError, match=r"scale times cross_entropy, .*the scale is 0\.1"):
        certified_constants(tenth, 0.1, input_radius=1.0)
    assert certified_constants(tenth, 0.1, input_radius=1.0, scale=0.1).smoothness < 0.3
    whole = replace(tenth, constants=constants_of_network(2.0))
    with pytest.raises(InputError, match=r"scale times cross_entropy, .*the scale is 0\.1"):
        whole.certified(0, 0.1)
    assert replace(whole, constants=constants_of_network(2.0, scale=0.1)).certified(0, 0.1).scale == 0.1
    one = Workload("mine", lambda: nn.Linear(1, 1),
                   lambda o, y: functional.binary_cross_entropy_with_logits(o[:, 0], y.to(o.dtype)),
                   torch.ones(2, 1), torch.tensor([0, 1]))  # fmt: skip
    assert certified_constants(one, 1e3).smoothness == pytest.approx(0.5, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.usefixtures("light_search")
def test_the_estimate_shows_what_is_certified() -> None:
    work = _work(_NETWORKS["tanh"], constants=constants_of_network(5.0))
    run = NoisySGD(steps=3, step_size=0.05, noise_std=0.1, clip_norm=1.0, dataset_size=6, diameter=0.2)
    look = worst_case_constants(work, run, (1.0,), points=4)
    assert look.certified is not None
    assert look.bounded is not None
    assert look.searched[0].constant <= look.certified.smoothness
    assert look.found[0] <= look.certified.smoothness


def test_a_bound_needs_constants_of_any_input_on_the_whole_domain() -> None:
    work = _work(_NETWORKS["tanh"])
    run = NoisySGD(steps=50, step_size=0.002, noise_std=0.2, clip_norm=100.0, dataset_size=6, diameter=0.002)
    for known in (certified_constants(work, 0.001), certified_constants(work, 0.001, input_radius=1.0)):
        with pytest.raises(
            InputError, match=r"every sample that adjacent data can contain, got .*constants_of_network"
        ):
            known.assumption(run)
    assert replace(work, constants=constants_of_network(5.0)).certified(0, 0.002).assumption(run).L > 0
    small = replace(work, constants=lambda module, _diameter: constants_of_network(5.0)(module, 0.002))
    with pytest.raises(
        InputError, match=r"ball of diameter=1\.0, got radius=0\.001 from workload=mine; return"
    ):
        small.certified(0, 1.0)
    with pytest.raises(InputError, match=r"got radius=0\.001 for diameter=1\.0; certify that ball"):
        constants_of_network(5.0)(work.initial(0), 0.002).assumption(replace(run, diameter=1.0))


def test_constants_of_shorter_inputs_than_those_of_the_data_are_refused() -> None:
    longest = float(_work(_NETWORKS["tanh"]).inputs.norm(dim=1).max())
    assert _work(_NETWORKS["tanh"], constants=constants_of_network(longest)).certified(0, 0.1).smoothness > 0
    with pytest.raises(
        InputError, match=rf"norm at most 0\.5, got a norm of {longest!r} in workload=mine; scale its inputs"
    ):
        _work(_NETWORKS["tanh"], constants=constants_of_network(0.5)).certified(0, 0.1)


@pytest.mark.nightly
@pytest.mark.usefixtures("short_search")
def test_no_bound_follows_from_a_set_of_inputs_that_the_data_leave() -> None:
    work = _work(_NETWORKS["tanh"])
    run = NoisySGD(steps=3, step_size=0.05, noise_std=0.1, clip_norm=1.0, dataset_size=6, diameter=0.2)
    wide, narrow = (
        worst_case_constants(work, run, (1.0,), inputs=input_set(s), points=4)
        for s in ("box:-9,9", "box:-.1,.1")
    )
    assert wide.bounded is not None
    assert "for every input of box:-9,9" in wide.certified.statement
    assert narrow.bounded is None
    assert "outside box:-0.1,0.1, so no bound" in narrow.remark


def test_small_balls_make_the_bound_smaller() -> None:
    module = _work(_NETWORKS["tanh"]).initial(0)
    sizes = [constants_of_network(2.0)(module, diameter).smoothness for diameter in (0.0, 0.1, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1] < sizes[2] / 1.5


def test_regressions_have_constants() -> None:
    line = Workload("line", lambda: nn.Linear(4, 1), nn.functional.mse_loss, torch.eye(4), torch.ones(4, 1))
    assert certified_constants(line, 0.1).smoothness == pytest.approx(4.0, rel=1e-6)
    with pytest.raises(
        InputError, match=r"loss needs 'cross_entropy' of one vector .*or 'logistic' of one output"
    ):
        certified_constants(line, 0.1, input_radius=1.0, loss="mse")
    with pytest.raises(InputError, match="must be scale times logistic, got"):
        certified_constants(line, 0.1, input_radius=1.0, loss="logistic")
