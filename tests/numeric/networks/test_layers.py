"""Weights that are shared: the maps that torch computes, and bounds that are attained."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
import torch
from torch.nn import functional

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.networks import constants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.layers import Layer, Sharing, average_pool, convolution
from lastiterate.numeric.networks.matrices import Spread, box
from lastiterate.numeric.rounding import exact, precision, upper

_CIRCLE = Sharing(5, (np.arange(5) + np.arange(3)[:, None])[None] % 5)
"""Three weights that go round five inputs."""


@pytest.mark.parametrize(
    ("shape", "kernel", "more"),
    [
        ((2, 7), (3,), {}),
        ((2, 7), (3,), {"stride": 2, "padding": 1}),
        ((3, 5, 6), (2, 3), {"stride": (2, 1), "padding": (0, 2), "dilation": (1, 2)}),
        ((4, 5, 5), (3, 3), {"groups": 2, "padding": 1}),
        ((2, 3, 4, 3), (2, 2, 2), {"padding": 1, "stride": 2}),
    ],
)
def test_a_convolution_is_that_of_torch(
    shape: tuple[int, ...], kernel: tuple[int, ...], more: dict[str, int]
) -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(4, shape[0] // more.get("groups", 1), *kernel))
    bias, h = rng.normal(size=4), rng.normal(size=shape)
    layer = convolution(weight, bias, shape, **more)  # type: ignore[arg-type]
    torchs = [functional.conv1d, functional.conv2d, functional.conv3d][len(kernel) - 1]
    wanted = torchs(torch.tensor(h)[None], torch.tensor(weight), torch.tensor(bias), **more)[0]  # type: ignore[operator]
    np.testing.assert_allclose(layer.affine(exact(0.0)).at(h.ravel())[0], wanted.ravel(), atol=1e-13)
    with precision():
        ball = layer.sharing.derivative(h.ravel(), box(np.zeros(h.size)), 4, weights=True, biases=True)  # type: ignore[union-attr]
    moved = np.concatenate([weight.reshape(4, -1), bias[:, None]], axis=1)
    np.testing.assert_allclose(ball.center @ moved.ravel(), wanted.ravel(), atol=1e-13)
    u = rng.normal(size=layer.outputs)
    by_weights = layer.sharing.weighed(u) @ h.ravel()  # type: ignore[union-attr]
    assert by_weights @ weight.ravel() == pytest.approx(u @ (layer.matrix @ h.ravel()), rel=1e-12)


def test_an_average_is_that_of_torch() -> None:
    h = torch.randn(2, 5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    layer = average_pool((2, 5, 6), (3, 2), stride=(1, 2), padding=(1, 0))
    wanted = functional.avg_pool2d(h[None], (3, 2), (1, 2), (1, 0)).ravel()
    np.testing.assert_allclose(layer.matrix @ h.numpy().ravel(), wanted, atol=1e-14)
    assert not layer.moves
    assert upper(layer.affine(exact(1.0)).still.radius) > 0, "a sixth is not a float"


def test_bounds_are_attained_on_a_circle() -> None:
    """A constant input stands in three columns, and weights that are equal meet it best."""
    h, weights = np.ones(5), np.ones((1, 3)) / sqrt(3)
    largest = np.linalg.norm(_CIRCLE.dense(weights) @ h) / sqrt(5)
    with precision():
        assert largest * (1 - 1e-12) <= upper(_CIRCLE.often) <= largest * (1 + 1e-12)
        layer = Layer(weights, [0.0], sharing=_CIRCLE)
        assert upper(layer.affine(exact(0.1)).radius) == pytest.approx(0.1 * largest, rel=1e-12)
        for each, total in ((np.full(5, np.inf), 0.2 * sqrt(5)), (0.2 * h, 1e9)):
            spread = Spread(each, exact(total))
            ball = _CIRCLE.derivative(h, spread, 1, weights=True, biases=False)
            moved = _CIRCLE.derivative(1.2 * h, box(0 * h), 1, weights=True, biases=False).center - ball.center
            off = np.linalg.norm(moved, 2)
            assert off * (1 - 1e-12) <= upper(ball.radius) <= off * (1 + 1e-12)


def test_a_shared_layer_has_the_constants_of_the_places_together() -> None:
    """One weight at two places, each with a class of its own: softmax regression on (x_0, -x_1) with one parameter."""
    layer = Layer([[0.0]], sharing=Sharing(2, np.array([[[0, 1]]])))
    known = network_constants([layer], [[3.0, -4.0]], 0.0)
    assert known.smoothness == pytest.approx(49 / 4, rel=1e-12)
    assert known.lipschitz == pytest.approx(7 / 2, rel=1e-12)


@pytest.mark.parametrize("few", [0, 600])
def test_the_mixed_term_of_shared_weights_is_attained(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two layers of one shared weight each on a circle, sure of the wrong label: the Hessian is all mixed."""
    monkeypatch.setattr(constants, "_FEW", few)
    first = Layer(np.zeros((1, 3)), sharing=_CIRCLE)
    second = Layer(np.zeros((1, 3)), sharing=_CIRCLE)
    head = Layer(
        np.concatenate([np.ones((1, 5)), np.zeros((1, 5))]), [0.0, 60.0], weight_moves=False, bias_moves=False
    )
    # V of both equal: loss = - sum of the entries of V_2 * V_1 * x, x = 1; sum = 5 (sum V_1) (sum V_2).
    known = network_constants([first, second, head], [np.ones(5)], 0.0)
    assert known.smoothness == pytest.approx(15.0, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Sharing(2, [[[2]]]), "from -1 to 1"),  # type: ignore[arg-type]
        (lambda: Sharing(2, [[[-2]]]), "from -1 to 1"),  # type: ignore[arg-type]
        (lambda: Sharing(2, [[[0.5]]]), "whole numbers"),  # type: ignore[arg-type]
        (lambda: Sharing(2, [[0, 1]]), r"shape \(1, 2\)"),  # type: ignore[arg-type]
        (lambda: Sharing(2, [[[0], [0]]]), "got an input twice"),  # type: ignore[arg-type]
        (lambda: Sharing(2, [[[0, 0]]]), "got an input twice"),  # type: ignore[arg-type]
        (lambda: Layer([[1.0, 1.0]], sharing=_CIRCLE), "3 terms"),
        (lambda: Layer([[1.0]], sharing="no"), "sharing='no'"),  # type: ignore[arg-type]
        (lambda: Layer([[1.0]], rounded=1), "rounded=1"),  # type: ignore[arg-type]
        (lambda: convolution([[[1.0]]], None, (2, 3)), "input channels / groups"),
        (lambda: convolution([[1.0]], None, (2, 3)), "3 dimensions"),
        (lambda: convolution([[[1.0] * 4]], None, (1, 3)), r"kernel=\(4,\) on shape=\(1, 3\)"),
        (lambda: convolution([[[1.0]]], None, (1, 3), stride=0), "stride=0"),
        (lambda: convolution([[1.0]], None, 3), "shape=3"),  # type: ignore[arg-type]
        (lambda: convolution([[[1.0]]], None, (1, 10**6)), "at most 16777216 entries"),
        (lambda: convolution([[[1.0]]], None, (1, 3), padding=(1, 1)), "padding needs one number, or 1"),
        (lambda: average_pool((1, 3), 4), r"kernel=\(4,\) on shape=\(1, 3\)"),
    ],
)
def test_bad_input(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
