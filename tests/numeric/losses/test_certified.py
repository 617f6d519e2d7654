import re
from dataclasses import replace
from functools import partial
from math import inf, isinf, sqrt

import numpy as np
import pytest
import torch

from lastiterate.numeric.bound import bound
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.activations import SMOOTH
from lastiterate.numeric.losses.assumptions import (
    Clipped,
    ClippedConvex,
    Convex,
    Smooth,
    StronglyConvex,
    Tabulated,
)
from lastiterate.numeric.losses.certified import (
    LossConstants,
    logistic_regression,
    softmax_regression,
    two_layer,
)
from lastiterate.numeric.rounding import exact, precision
from lastiterate.numeric.run import NoisySGD


@pytest.mark.parametrize("name", SMOOTH)
def test_the_largest_slope_and_curvature_are_those_of_a_grid(name: str) -> None:
    phi = SMOOTH[name]
    with precision():
        grid = [exact(x / 64) for x in range(-2560, 2561)]
        found = [phi.derivatives(x, 3) for x in grid]
        for order, most in ((1, exact(phi.most[1])), (2, exact(phi.most[2]))):
            largest = max(abs(one[order]).upper() for one in found)
            assert largest * (1 - exact(1e-12)) <= most <= largest * (1 + exact(1e-3))
        assert all(abs(phi.value(x)) <= exact(phi.most[0]) for x in grid)
        assert SMOOTH["tanh"].most[2] == pytest.approx(4 / (3 * sqrt(3)), rel=1e-8)


def test_the_linear_constants_are_attained() -> None:
    """At w = 0 and two classes the Hessian of cross-entropy has the eigenvalue |x|^2 / 2, logistic loss |x|^2 / 4."""
    covariance = np.diag([0.5, 0.5]) - 0.25
    assert softmax_regression(3.0).smoothness == pytest.approx(
        9 * np.linalg.eigvalsh(covariance)[-1], rel=1e-12
    )
    assert logistic_regression(3.0).smoothness == 9 / 4
    assert softmax_regression(3.0).lipschitz == pytest.approx(3 * sqrt(2), rel=1e-12)
    assert softmax_regression(3.0).lipschitz > 3 * sqrt(2) * (1 - 1e-16)


def test_a_regulariser_adds_its_weight_and_needs_the_domain() -> None:
    here = logistic_regression(2.0, scale=0.5, l2=0.25, parameter_norm=4.0)
    assert (here.lipschitz, here.smoothness, here.strong_convexity) == (2.0, 0.75, 0.25)
    assert isinf(logistic_regression(2.0, l2=0.25).lipschitz)


def hessian_and_gradient(net: "torch.nn.Module", row: "torch.Tensor", label: int) -> tuple[float, float]:
    """Spectral norm of the Hessian of cross-entropy in all parameters, and norm of the gradient."""

    def loss(*parameters: "torch.Tensor") -> "torch.Tensor":
        named = dict(zip([name for name, _ in net.named_parameters()], parameters, strict=True))
        out = torch.func.functional_call(net, named, (row,))
        return torch.nn.functional.cross_entropy(out, torch.tensor([label]))

    values = tuple(p.detach() for p in net.parameters())
    blocks = torch.autograd.functional.hessian(loss, values)
    sizes = [v.numel() for v in values]
    hessian = torch.cat(
        [torch.cat([blocks[i][k].reshape(sizes[i], sizes[k]) for k in range(4)], 1) for i in range(4)]
    )
    gradient = torch.cat([g.reshape(-1) for g in torch.func.grad(loss, argnums=tuple(range(4)))(*values)])
    return torch.linalg.matrix_norm(hessian, 2).item(), gradient.norm().item()


def constants_of(net: "torch.nn.Module", row: "torch.Tensor", activation: str) -> LossConstants:
    """What is certified at the parameters of this network, for this row."""
    first = torch.cat([net[0].weight, net[0].bias[:, None]], 1)
    return two_layer(
        float(torch.cat([row, torch.ones(1, 1)], 1).norm()),
        first_norm=max(torch.linalg.matrix_norm(first, 2).item(), 1e-9),
        second_norm=torch.linalg.matrix_norm(net[2].weight, 2).item(),
        radius=1.0,
        hidden=len(first),
        activation=activation,
    )


@pytest.mark.parametrize("activation", SMOOTH)
def test_two_layers_bound_random_networks(activation: str) -> None:
    torch.manual_seed(0)
    nn = torch.nn
    kinds = {
        "identity": nn.Identity,
        "softplus": nn.Softplus,
        "tanh": nn.Tanh,
        "sigmoid": nn.Sigmoid,
        "gelu": nn.GELU,
    }
    make = kinds[activation]
    worst = 0.0
    for _ in range(20):
        net = torch.nn.Sequential(torch.nn.Linear(3, 5), make(), torch.nn.Linear(5, 3)).double()
        row = torch.randn(1, 3, dtype=torch.float64) * 2
        hessian, gradient = hessian_and_gradient(net, row, 1)
        found = constants_of(net, row, activation)
        assert gradient <= found.lipschitz
        worst = max(worst, hessian / found.smoothness)
    assert 0.02 < worst <= 1.0, "a bound, and not an absurd one"


@pytest.mark.parametrize(("size", "bias"), [(0.01, 30.0), (30.0, 0.0)])
def test_each_part_of_two_layers_is_needed(size: float, bias: float) -> None:
    """Sure of the wrong label, the bending of the network is all there is; undecided, its slope is."""
    net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net[2].weight[0, 0], net[2].weight[1, 0] = size, -size
        net[2].bias[1] = bias
    row = torch.full((1, 3), 10.0, dtype=torch.float64)
    hessian, gradient = hessian_and_gradient(net, row, 0)
    found = constants_of(net, row, "tanh")
    assert gradient <= found.lipschitz
    assert 0.85 * found.smoothness < hessian <= found.smoothness


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: logistic_regression(-1.0), "feature_norm=-1"),
        (lambda: logistic_regression(float("nan")), "feature_norm=nan"),
        (lambda: softmax_regression(1.0, l2=-0.1), "l2=-0.1"),
        (lambda: softmax_regression(1.0, l2=inf), "l2=inf"),
        (
            lambda: two_layer(1.0, first_norm=1.0, second_norm=1.0, radius=1.0, hidden=3, activation="relu"),
            "activation='relu'",
        ),
        (
            lambda: two_layer(1.0, first_norm=1.0, second_norm=1.0, radius=1.0, hidden=0, activation="tanh"),
            "hidden=0",
        ),
    ],
)
def test_bad_input(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("radius", "diameter"), [(0.5, 1.0 + 2.0**-52), (1e308, inf), (0.0, 5e-324), (2.0, 5.0)]
)
def test_constants_on_a_ball_prove_nothing_beyond_it(radius: float, diameter: float) -> None:
    known = _constants(3.0, 4.0, -inf, "", radius=radius)
    if radius:
        assert known.assumption(replace(_RUN, diameter=2 * min(radius, 1e307))) == Smooth(4.0)
    with pytest.raises(InputError, match=re.escape(f"got radius={radius!r} for diameter={diameter!r}; ")):
        known.assumption(replace(_RUN, diameter=diameter))
    assert replace(known, smoothness=inf).assumption(replace(_RUN, diameter=diameter)) == Clipped()


def test_constants_are_no_assumption_before_they_are_asked() -> None:
    with pytest.raises(InputError, match=r"got assumption=LossConstants; pass its assumption\(run\)\.$"):
        bound(_RUN, logistic_regression(1.0))  # type: ignore[arg-type]


def test_closed_forms_say_where_they_hold() -> None:
    assert logistic_regression(1.0, parameter_norm=0.5).radius == softmax_regression(1.0, l2=0.1).radius == inf
    assert logistic_regression(1.0, l2=0.1, parameter_norm=0.5).radius == 0.5, (
        "its Lipschitz constant needs |w|"
    )
    assert (
        two_layer(1.0, first_norm=3.0, second_norm=2.0, radius=9.0, hidden=3, activation="tanh").radius == 2.0
    )


def test_constants_of_the_samples_at_hand_prove_nothing_of_adjacent_data() -> None:
    with pytest.raises(
        InputError,
        match=r"every sample .*statement='of mine'; specify the possible inputs: constants_of_network",
    ):
        _constants(3.0, 4.0, -inf, "of mine", any_sample=False).assumption(_RUN)


_constants = partial(LossConstants, radius=inf, any_sample=True)
_RUN = NoisySGD(steps=3, step_size=0.5, noise_std=1.0, clip_norm=3.0, dataset_size=5)


def test_constants_prove_as_much_as_clipping_allows(subtests: pytest.Subtests) -> None:
    for constants, run, proved in [
        (_constants(3.0, 4.0, 0.5, ""), _RUN, StronglyConvex(4.0, 0.5)),
        (_constants(3.0, 4.0, 0.0, ""), _RUN, Convex(4.0)),
        (_constants(3.0, 4.0, -inf, ""), _RUN, Smooth(4.0)),
        (_constants(3.0, 4.0, -inf, "", linear_score=True), _RUN, Smooth(4.0)),
        # Clipping is at work:
        (_constants(3.1, 4.0, 0.5, ""), _RUN, ClippedConvex(4.0)),
        (_constants(3.1, 4.0, 0.0, ""), _RUN, ClippedConvex(4.0)),
        (_constants(3.1, 4.0, 0.0, "", linear_score=True), _RUN, Convex(4.0)),
        # One step is longer than 2 / L:
        (_constants(3.0, 4.1, 0.5, ""), _RUN, StronglyConvex(4.1, 0.5)),
        (_constants(3.0, 4.1, 0.0, "", linear_score=True), _RUN, Convex(4.1)),
        (_constants(3.0, 4.0, 0.5, ""), replace(_RUN, step_size=(0.5, 0.1, 0.5)), StronglyConvex(4.0, 0.5)),
    ]:
        with subtests.test(constants=constants, run=run, proved=proved):
            assert constants.assumption(run) == proved


def test_only_the_logistic_loss_without_a_regulariser_has_one_linear_score() -> None:
    assert logistic_regression(1.0).linear_score
    assert not logistic_regression(1.0, l2=0.1, parameter_norm=1.0).linear_score
    assert not softmax_regression(1.0).linear_score
    assert not two_layer(
        1.0, first_norm=1.0, second_norm=1.0, radius=1.0, hidden=3, activation="tanh"
    ).linear_score


def test_the_statement_names_the_loss_and_its_numbers() -> None:
    assert logistic_regression(2.0).statement == "logistic loss of features of norm at most 2"
    assert (
        softmax_regression(2.0, l2=0.5).statement
        == "softmax cross-entropy of features of norm at most 2, l2 = 0.5"
    )
    assert two_layer(
        2.0, first_norm=3.0, second_norm=4.0, radius=2.0, hidden=5, activation="gelu"
    ).statement == (
        "gelu network of two layers with softmax cross-entropy, features with the constant one of norm at most 2, on a "
        "domain with |(W1, b1)| <= 3, |W2| <= 4"
    )


def test_constants_that_are_infinite_prove_what_clipping_does() -> None:
    run = NoisySGD(5, 0.1, 1.0, 1.0, 10)
    assert _constants(1.0, inf, -inf, "a kink").assumption(run) == Clipped()
    short = _constants(0.25, inf, -inf, "a kink")
    assert short.assumption(run) == Clipped(), "the domain is unbounded"
    bounded = replace(run, diameter=2.0)
    assert short.assumption(bounded) == Tabulated((2.0,), (0.5,)), "no change is longer than 2 * 0.25"
    assert (
        bound(bounded, short.assumption(bounded), order=2).epsilon < bound(bounded, Clipped(), order=2).epsilon
    )
    for unfit in (replace(short, any_sample=False), replace(short, radius=0.5)):
        assert unfit.assumption(bounded) == Clipped()
    assert _constants(1.0, 2.0, -inf, "smooth").assumption(run) == Smooth(2.0)
