"""Certified constants of networks against the largest eigenvalues of Hessians that a search finds."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf, sqrt

import numpy as np
import pytest
import torch
from flint import arb
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.activations import SMOOTH, Activation, activation
from lastiterate.numeric.losses.certified import logistic_regression, softmax_regression
from lastiterate.numeric.networks import constants
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.networks.derivatives import Hessian, derivatives
from lastiterate.numeric.networks.layers import Layer, average_pool, convolution
from lastiterate.numeric.networks.outputs import LOSSES
from lastiterate.numeric.rounding import exact, precision

_NAMES = ("tanh", "sigmoid", "softplus", "gelu")
_TORCH: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": lambda x: torch.log1p(torch.exp(x)),
    "gelu": torch.nn.functional.gelu,
    "identity": lambda x: x,
}
_RADII = (0.0, 0.01, 0.1, 1.0)
_ROUNDING = 1 + 1e-9


def random_network(
    seed: int, depth: int | None = None, *, whole: bool = False
) -> tuple[list[Layer], np.ndarray]:
    """A network of random shape and weights, and an input; a random part of it is frozen unless it is ``whole``."""
    rng = np.random.default_rng(seed)
    depth = depth or 1 + seed % 4
    width = int(rng.integers(2, 7))
    widths = [int(rng.integers(2, 5)), *[width] * (depth - 1), int(rng.integers(2, 4))]
    first = 0 if whole or seed % 3 else int(rng.integers(0, depth))
    name = _NAMES[int(rng.integers(4))]
    layers = [
        Layer(
            rng.normal(size=(widths[k + 1], widths[k])) * rng.uniform(0.5, 1.5) / sqrt(widths[k]),
            rng.normal(size=widths[k + 1]) * 0.5,
            name if k < depth - 1 else "identity",
            weight_moves=k >= first,
            bias_moves=k >= first and not (k == first and seed % 5 == 4 and k < depth - 1),
        )
        for k in range(depth)
    ]
    return layers, rng.normal(size=widths[0])


def random_architecture(seed: int) -> tuple[list[Layer], np.ndarray]:
    """One of twenty-six: dense ones of one to four layers, and convolutions with averages."""
    if seed < 20:
        return random_network(seed)
    rng = np.random.default_rng(seed)
    name = _NAMES[seed % 4]
    return random_convolutions(rng, name, groups=1 + seed % 3 // 2)


def random_convolutions(
    rng: np.random.Generator, name: str, *, groups: int = 1, single: bool = False
) -> tuple[list[Layer], np.ndarray]:
    """A convolution in two dimensions and one in one, averages between, and a dense head; or the first and the head."""
    square = convolution(
        rng.normal(size=(2, 1, 2, 3)) / 2, rng.normal(size=2), (1, 3, 4), padding=(1, 0), activation=name
    )
    pooled = average_pool((2, 4, 2), (2, 1), padding=(0, 0))
    shared = convolution(
        rng.normal(size=(2, 2 // groups, 3)) / 2, None if groups > 1 else rng.normal(size=2), (2, 4), padding=1,
        groups=groups, activation=name,
    )  # fmt: skip
    between = [] if single else [pooled, shared]
    head = Layer(rng.normal(size=(3, 16 if single else 8)) / 3, rng.normal(size=3))
    return [square, *between, head], rng.normal(size=12)


def centre(layers: list[Layer]) -> Tensor:
    """The a trained parameter, in one vector."""
    parts = [np.ravel(part) for layer in layers for part, moves in _parts(layer) if moves]
    return torch.tensor(np.concatenate(parts))


def _parts(layer: Layer) -> list[tuple[np.ndarray, bool]]:
    return [(np.asarray(layer.weight), layer.weight_moves), (np.asarray(layer.bias), layer.bias_moves)]


def loss_of(layers: list[Layer]) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Cross-entropy of the network as torch computes it, from the a trained parameter, an input and a label."""

    def loss(w: Tensor, x: Tensor, label: Tensor) -> Tensor:
        states, used = [x], 0
        for layer in layers:
            values = []
            for part, moves in _parts(layer):
                if moves:
                    values.append(w[used : used + part.size].reshape(part.shape))
                    used += part.size
                else:
                    values.append(torch.tensor(part))
            out = _activated(layer, _applied(layer, *values, states[-1]))
            states.append(out)
        return torch.logsumexp(states[-1], 0) - (states[-1] * label).sum()

    return loss


def _activated(layer: Layer, a: Tensor) -> Tensor:
    """phi(a) as torch computes it."""
    return _TORCH[layer.phi.name](a)


def _applied(layer: Layer, weight: Tensor, bias: Tensor, h: Tensor) -> Tensor:
    """W h + b, where the weights are shared by windows of h."""
    if layer.sharing is None:
        return weight @ h + bias
    windows = torch.cat([h, torch.zeros(1, dtype=h.dtype)])[torch.tensor(layer.sharing.meets)]
    channels = weight.reshape(layer.sharing.groups, -1, layer.sharing.terms) @ windows
    return (channels.reshape(len(bias), -1) + bias[:, None]).reshape(-1)


def found(
    layers: list[Layer],
    x: np.ndarray,
    radius: float,
    *,
    near: float = 0.0,
    points: int = 6,
    steps: int = 6,
    seed: int = 0,
) -> tuple[float, float]:
    """The longest gradient and the largest |eigenvalue| of a Hessian that an ascent finds over (w, x, y)."""
    loss, start = loss_of(layers), centre(layers)
    labels = torch.eye(layers[-1].outputs, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)

    def within(z: Tensor, reach: float) -> Tensor:
        return z * (reach / z.norm(dim=1, keepdim=True).clamp(min=1e-300)).clamp(max=1)

    count = points * len(labels)
    w = within(torch.randn(count, len(start), generator=generator, dtype=torch.float64) * 9, radius)
    inputs = within(torch.randn(count, len(x), generator=generator, dtype=torch.float64) * 9, near)
    y = labels.repeat(points, 1)
    gradient, hessian = (torch.func.vmap(f(loss)) for f in (torch.func.grad, torch.func.hessian))
    steepest = largest = 0.0
    for _ in range(steps):
        w, inputs = w.detach().requires_grad_(), inputs.detach().requires_grad_()
        at = (start + w, torch.tensor(x) + inputs, y)
        values = torch.linalg.eigvalsh(hessian(*at)).abs().amax(dim=1)
        largest = max(largest, values.max().item())
        steepest = max(steepest, gradient(*at).norm(dim=1).max().item())
        if steps > 1:
            up = torch.autograd.grad(values.sum(), (w, inputs), allow_unused=True)
            w, inputs = (
                within(z + (0 if g is None else reach * within(g * 1e9, 0.5)), reach)
                for z, g, reach in ((w, up[0], radius), (inputs, up[1], near))
            )
    return steepest, largest


def _never_exceeded(patch: pytest.MonkeyPatch, seed: int, points: int, steps: int) -> int:
    layers, x = random_architecture(seed)
    tried = 0
    for radius in _RADII:
        for near in (0.0, 0.3 if seed % 2 else 2.0):
            at = x if near < 1 else np.zeros_like(x)
            certified = []
            for few in (0, 600):  # by the lengths of the layers' parts alone, and with the Hessian as a matrix
                patch.setattr(constants, "_FEW", few)
                certified.append(network_constants(layers, [at], radius, input_radius=near))
            gradient, hessian = found(layers, at, radius, near=near, points=points, steps=steps, seed=seed)
            assert gradient <= certified[0].lipschitz * _ROUNDING
            assert hessian <= certified[1].smoothness * _ROUNDING
            assert certified[1].smoothness <= certified[0].smoothness
            tried += points * steps * layers[-1].outputs
    return tried


def test_no_constant_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(_never_exceeded(monkeypatch, seed, 3, 3) for seed in range(4)) >= 200


@pytest.mark.nightly
def test_no_constant_is_exceeded_by_many_adversaries(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(_never_exceeded(monkeypatch, seed, 20, 12) for seed in range(26)) >= 100_000


@pytest.mark.parametrize(
    ("depth", "radius", "most"),
    [(1, 0, 1.001), (2, 0, 1.001), (2, 0.1, 4), (3, 0, 1.001), (3, 0.01, 1.5), (3, 0.1, 8)],
)
@pytest.mark.sweep(1)
def test_constants_are_not_much_too_large(depth: int, radius: float, most: float) -> None:
    ratios = []
    for seed in range(8):
        layers, x = random_network(seed, depth, whole=True)
        hessian = found(layers, x, radius, points=4, steps=8 if radius else 1)[1]
        ratios.append(network_constants(layers, [x], radius).smoothness / hessian)
    assert min(ratios) * _ROUNDING >= 1
    assert max(ratios) <= most, ratios


@pytest.mark.parametrize("seed", range(26))
@pytest.mark.sweep(8)
def test_at_the_centre_the_constant_is_the_largest_eigenvalue(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers, x = random_architecture(seed)
    largest = found(layers, x, 0.0, points=1, steps=1)[1]
    assert largest == pytest.approx(network_constants(layers, [x], 0.0).smoothness, rel=1e-9)
    monkeypatch.setattr(constants, "_FEW", 0)
    assert largest <= network_constants(layers, [x], 0.0).smoothness <= 5 * largest


@pytest.mark.parametrize("seed", range(26))
@pytest.mark.sweep(8)
def test_the_ball_of_hessians_holds_them(seed: int) -> None:
    """At random points on the sphere of the parameters, with matrices and not eigenvalues alone."""
    layers, x = random_architecture(seed)
    radius, rng = 0.05, np.random.default_rng(seed)
    ordered = torch.tensor(np.concatenate(_by_channel(layers)))
    hessian = torch.func.hessian(loss_of(layers))
    with precision():
        reach, near = exact(radius), exact(0.1)
        at = derivatives(layers, [layer.affine(reach) for layer in layers], reach, x, near)
        loss = LOSSES["cross_entropy"](*at.outputs)
        ball = Hessian(layers, at, loss)
        for y, gradient in enumerate(loss.gradients):
            inside = ball.of(gradient)
            label = torch.eye(len(loss.gradients), dtype=torch.float64)[y]
            for _ in range(3):
                away, aside = rng.normal(size=len(ordered)), rng.normal(size=len(x))
                w = centre(layers) + torch.tensor(away * radius / np.linalg.norm(away))
                true = hessian(w, torch.tensor(x + aside * 0.1 / np.linalg.norm(aside)), label)[ordered][
                    :, ordered
                ]
                assert (
                    np.linalg.norm(true.numpy() - inside.center, 2) <= float(inside.radius.upper()) * _ROUNDING
                )


def _by_channel(layers: list[Layer]) -> list[np.ndarray]:
    """Places of the parameters in the order of channels, the bias of each behind its weights."""
    places, used = [], 0
    for layer in layers:
        rows = []
        for part, moves in _parts(layer):
            if moves:
                rows.append(used + np.arange(part.size).reshape(len(part), -1))
                used += part.size
        places += [np.concatenate(rows, axis=1).ravel()] if rows else []
    return places


def test_one_layer_has_the_constants_in_closed_form() -> None:
    layer = Layer([[0.5, -1.0], [2.0, 0.0], [0.0, 1.0]], [0.0, 1.0, 0.5])
    wide = network_constants([layer], [[0.6, 0.8]], 1e6)
    closed = softmax_regression(sqrt(2))
    assert wide.smoothness == pytest.approx(closed.smoothness, rel=1e-12)
    assert wide.lipschitz == pytest.approx(closed.lipschitz, rel=1e-12)
    one = network_constants([Layer([[0.5, -1.0]])], [[3.0, 4.0]], 1e3, loss="logistic", scale=0.5)
    assert one.smoothness == pytest.approx(logistic_regression(5.0, scale=0.5).smoothness, rel=1e-12)
    assert one.lipschitz == pytest.approx(logistic_regression(5.0, scale=0.5).lipschitz, rel=1e-12)
    ball = network_constants([layer], np.zeros((1, 2)), 1e6, input_radius=1.0)
    assert ball.smoothness == pytest.approx(closed.smoothness, rel=1e-12)


def test_the_statement_names_the_inputs_that_are_covered_and_a_bound_needs_all_that_there_may_be() -> None:
    layer = Layer(np.zeros((2, 2)), [0.0, 0.0])
    of = partial(network_constants, [layer], radius=0.5)
    given, near = of([[1.0, 0.0]]), of([[1.0, 0.0]], input_radius=1.0)
    short, box = (
        of([[0.0, 0.0]], input_radius=1.0),
        of([[1.0, 0.0]], input_radius=1.0, inputs="every input of mine"),
    )
    for known, said, any_sample in [
        (given, "for the samples that were given, and no others", False),
        (near, "for every input within 1 of one of the samples", False),
        (short, "for every input of norm at most 1", True),
        (box, "for every input of mine", True),
    ]:
        assert known.statement.endswith(said)
        assert (known.any_sample, known.radius) == (any_sample, 0.5)
    assert short.smoothness < 1.25 < near.smoothness, "(2, 0) is within 1 of the sample, and of norm 2"


def _mixed() -> tuple[list[Layer], np.ndarray]:
    """Sure of the wrong label and without slope in the outputs, the mixed term is all there is, and attained."""
    return [Layer(np.zeros((1, 1)), [0.0], "tanh"), Layer(np.zeros((2, 1)), [0.0, 40.0])], np.array([3.0])


def test_the_factor_2_of_the_mixed_term_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    layers, x = _mixed()
    largest = found(layers, x, 0.0, points=1, steps=1)[1]
    assert largest <= network_constants(layers, [x], 0.0).smoothness <= 1.001 * largest
    whole = constants._second_derivative

    def halved(*arguments: object) -> np.ndarray:
        form = whole(*arguments)  # type: ignore[arg-type]
        return (form + np.diag(np.diag(form))) / 2

    monkeypatch.setattr(constants, "_second_derivative", halved)
    assert network_constants(layers, [x], 0.0).smoothness < 0.51 * largest


class _Flatter(Activation):
    def curvature(self, x: arb) -> arb:
        return super().curvature(x) * 97 / 100


@pytest.mark.parametrize(
    ("name", "peak"), [("tanh", 0.6584789484624083), ("sigmoid", 1.3169578969248166), ("gelu", 0.0)]
)
def test_a_bend_three_percent_too_small_is_noticed(name: str, peak: float) -> None:
    """A long input and a sure, wrong label: phi'' at its peak is nearly all there is."""
    layers = [Layer([[0.0]], [peak], name), Layer([[1.0], [-1.0]], [0.0, 60.0])]
    largest = found(layers, np.array([1000.0]), 0.0, points=1, steps=1)[1]
    right = network_constants(layers, [[1000.0]], 0.0).smoothness
    assert largest <= right * _ROUNDING
    flatter = _Flatter(**vars(SMOOTH[name]))
    assert (
        network_constants([replace(layers[0], activation=flatter), layers[1]], [[1000.0]], 0.0).smoothness
        < largest
    )


@pytest.mark.parametrize("few", [0, 600])
def test_a_bend_is_taken_over_the_whole_ball(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a bias moves, up to the peak of tanh'': the Hessian is one number, and the bound is what it reaches."""
    layers = [
        Layer([[0.0]], [0.4], "tanh", weight_moves=False),
        Layer([[1.0], [-1.0]], [0.0, 60.0], weight_moves=False, bias_moves=False),
    ]
    monkeypatch.setattr(constants, "_FEW", few)
    largest = max(
        found(layers, np.array([0.0]), radius, points=4, steps=1)[1] for radius in (0.0, 0.1, 0.25, 0.2585)
    )
    assert largest <= network_constants(layers, [[0.0]], 0.2585).smoothness <= 1.001 * largest


def test_the_loss_may_not_be_thought_flat() -> None:
    """Without the growth of the loss's Hessian in the ball the constant of one layer is exceeded."""
    layers, x = [Layer([[2.0], [-2.0]], [1.0, 0.0])], np.array([1.0])
    largest = found(layers, x, 0.5, points=10, steps=20)[1]
    assert largest <= network_constants(layers, [x], 0.5).smoothness
    assert network_constants(layers, [x], 0.0).smoothness < 0.7 * largest


def test_a_kink_makes_the_constant_infinite_and_says_where() -> None:
    layers = [Layer(np.eye(2), [0.0, 0.0], "relu"), Layer(np.eye(2))]
    away = network_constants(layers, [[1.0, -1.0]], 0.1)
    assert away.smoothness < inf
    near = network_constants(layers, [[1.0, -1.0], [0.05, 1.0]], 0.1)
    assert near.smoothness == inf
    assert near.lipschitz < inf
    assert "relu of layer 0" in near.statement


def test_less_that_moves_has_smaller_constants() -> None:
    layers, x = random_network(3, 3, whole=True)
    frozen = [replace(layer, weight_moves=False, bias_moves=False) for layer in layers[:2]]
    head, everything = (network_constants(some, [x], 0.05) for some in ([*frozen, layers[2]], layers))
    assert head.smoothness < everything.smoothness
    assert head.lipschitz < everything.lipschitz
    widths = np.linalg.norm(np.asarray(layers[2].weight), 2)
    assert head.smoothness < 0.5 * (1 + (10 * widths) ** 2), (
        "a linear head is softmax regression on the last features"
    )
    gradient, hessian = found([*frozen, layers[2]], x, 0.05)
    assert gradient <= head.lipschitz * _ROUNDING
    assert hessian <= head.smoothness * _ROUNDING


@pytest.mark.parametrize("name", [*SMOOTH, "relu", "leaky_relu", "hardtanh"])
def test_ranges_of_activations_hold_on_grids(name: str) -> None:
    phi, rng = activation(name), np.random.default_rng(0)
    with precision():
        for low, width in zip(rng.normal(size=30) * 2, rng.exponential(size=30), strict=True):
            ends = exact(float(low)), exact(float(low + width))
            (least, most), bends = phi.slopes(*ends), phi.curvatures(*ends)
            grid = [arb(float(x)) for x in np.linspace(low, low + width, 23)]
            steps = [(phi.value(b) - phi.value(a)) / (b - a) for a, b in pairwise(grid)]
            assert all(step >= least - exact(1e-12) and step <= most + exact(1e-12) for step in steps)
            if name in SMOOTH:
                curved = [SMOOTH[name].curvature(x) for x in grid]
                assert all(bends[0] - exact(1e-30) <= one <= bends[1] + exact(1e-30) for one in curved)
                assert all(least <= SMOOTH[name].slope(x) + exact(1e-30) for x in grid)


@pytest.mark.parametrize("name", SMOOTH)
def test_slope_and_curvature_are_the_derivatives(name: str) -> None:
    phi, step = SMOOTH[name], exact(2.0**-40)
    with precision():
        for x in map(exact, (-2.5, -0.7, 0.0, 0.3, 1.9)):
            for lower, upper in ((phi.value, phi.slope), (phi.slope, phi.curvature)):
                slope = (lower(x + step) - lower(x - step)) / (2 * step)
                assert abs(slope - upper(x)) < exact(1e-20)


_LAYER = Layer([[1.0, 2.0]], [0.0])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Layer([1.0]), "weight needs a finite array with 2 dimensions"),
        (lambda: Layer("x"), "weight needs an array"),
        (lambda: Layer([[inf]]), "weight needs a finite"),
        (lambda: Layer([[1.0]], [1.0, 2.0]), "bias needs one number per output"),
        (lambda: Layer([[1.0]], activation="swish"), "activation='swish'"),
        (lambda: network_constants([], [[1.0]], 0.1), "at least one Layer"),
        (lambda: network_constants([_LAYER, _LAYER], [[1.0, 1.0]], 0.1), "got 2 inputs for 1 outputs"),
        (lambda: network_constants([Layer([[1.0]], weight_moves=False)], [[1.0]], 0.1), "a trained parameter"),
        (lambda: network_constants([_LAYER], [[1.0]], 0.1), "samples needs rows of 2"),
        (lambda: network_constants([_LAYER], [["a", "b"]], 0.1), "samples needs an array"),
        (lambda: network_constants([_LAYER], [[1.0, 1.0]], -1), "radius=-1"),
        (lambda: network_constants([_LAYER], [[1.0, 1.0]], inf), "radius=inf"),
        (lambda: network_constants([_LAYER], [[1.0, 1.0]], 1, input_radius=inf), "input_radius=inf"),
        (lambda: network_constants([_LAYER], [[1.0, 1.0]], 1, scale=0), "scale=0"),
        (lambda: network_constants([_LAYER], [[1.0, 1.0]], 1, loss="hinge"), "loss='hinge'"),
        (
            lambda: network_constants([Layer(np.eye(2))], [[1.0, 1.0]], 1, loss="logistic"),
            "loss='logistic' for 2",
        ),
    ],
)
def test_bad_input(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        call()


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("radius", [0.0, 1e-300, 1e300])
def test_numbers_of_every_size_give_no_nan(size: float, radius: float) -> None:
    layers = [Layer([[size, -size], [0.0, size]], [0.0, 1.0], "tanh"), Layer([[1.0, size], [size, 1.0]])]
    known = network_constants(layers, [[1.0, 1.0]], radius)
    assert known.lipschitz > 0
    assert known.smoothness > 0


def test_outputs_at_the_centre_are_known_up_to_their_rounding() -> None:
    """Exact sums of products in fractions; floats round most of them."""
    rng, inexact = np.random.default_rng(0), 0
    for _ in range(20):
        layers = [Layer(rng.normal(size=(2, 3)), rng.normal(size=2))]
        x = rng.normal(size=3)
        with precision():
            affine = [layer.affine(exact(0.0)) for layer in layers]
            center, spread = derivatives(layers, affine, exact(0.0), x, exact(0.0)).outputs
        weight, bias = np.asarray(layers[0].weight), np.asarray(layers[0].bias)
        for row, b, found, off in zip(weight, bias, center, spread.each, strict=True):
            truth = sum((Fraction(w) * Fraction(a) for w, a in zip(row, x, strict=True)), Fraction(b))
            assert abs(truth - Fraction(found)) <= Fraction(off) <= Fraction(1e-14)
            inexact += truth != Fraction(found)
    assert inexact > 20
