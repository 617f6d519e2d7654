"""The formulas of the ledger's claims on networks and the code that computes with them give the same numbers."""

from math import exp, log1p, sqrt
from typing import Any

import numpy as np
import pytest
from flint import arb
from sympy import Eq, Function, Symbol

from lastiterate.numeric.losses.activations import SMOOTH
from lastiterate.numeric.networks import constants
from lastiterate.numeric.networks.derivatives import Hessian, derivatives
from lastiterate.numeric.networks.layers import Layer, Sharing
from lastiterate.numeric.networks.matrices import MatrixBall, box
from lastiterate.numeric.networks.outputs import Gradient, OutputLoss, cross_entropy
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.symbolic.notation import a, d, h, p, r, u, v, x, xi, y, z
from lastiterate.symbolic.ours.networks import CLAIMS

_CHECKS: dict[str, Any] = {check.name: check for claim in CLAIMS for check in claim.checks}
_K = Symbol("k", integer=True, nonnegative=True)


def _at(name: str, k: Any = _K) -> Any:
    return (Function(name, nonnegative=True) if name in "XYPNSM" else Function(name, real=True))(k)


def _law(check: str, defined: Any) -> Any:
    """The right-hand side of the law that defines a term of the next layer."""
    return next(law.rhs for law in _CHECKS[check].laws if isinstance(law, Eq) and law.lhs == defined)


def _chain(seed: int, *, shared: bool = False) -> tuple[list[Layer], float, np.ndarray]:
    """Layers of one neuron where nothing is negative, an input, and a direction of the weights."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 1.5, size=4)
    sharing = Sharing(1, np.array([[[0]]])) if shared else None
    return (
        [Layer([[w]], None, "softplus", sharing=sharing) for w in weights],
        rng.uniform(0.5, 2),
        rng.uniform(0.1, 1, size=4),
    )


def _by_the_claim(layers: list[Layer], x0: float, direction: np.ndarray) -> float:
    """The second derivative of the output along the direction: the sum over the layers that the claim unrolls."""
    states, moved, numbers = [x0], [0.0], []
    for layer, move in zip(layers, direction.tolist(), strict=True):
        w = float(np.asarray(layer.weight)[0, 0])
        before, da = w * states[-1], move * states[-1] + w * moved[-1]
        slope = 1 / (1 + exp(-before))
        numbers.append({"a": slope, "b": move, "c": w, "B": moved[-1], "C": slope * (1 - slope) * da**2})
        states.append(log1p(exp(before)))
        moved.append(slope * da)
    check = (
        "the sum over the layers of U (phi'' a'^2 + 2 phi' V h') is f'' less U h'' of the layer that is left"
    )
    total, adjoint = _law(check, _at("E", _K + 1)), _law(check, _at("U", _K + 1))
    now = {"E": 0.0, "U": 1.0}
    for one in reversed(numbers):
        put = {_at(name, _K + int(name == "C")): value for name, value in {**one, **now}.items()}
        now = {"E": float(total.xreplace(put)), "U": float(adjoint.xreplace(put))}
    return now["E"]


def _ball(
    layers: list[Layer], x0: float, gradient: Gradient, *, near: float = 0.0, curvature: float = 0.0
) -> MatrixBall:
    """The Hessian at the centre of a loss with this gradient and curvature in one output."""
    nought, root = exact(0.0), MatrixBall(np.array([[sqrt(curvature)]]), arb(0))
    at = derivatives(layers, [layer.affine(nought) for layer in layers], nought, np.array([x0]), exact(near))
    return Hessian(layers, at, OutputLoss((gradient,), arb(curvature), root, arb(1))).of(gradient)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_second_derivative_is_that_of_the_claim(seed: int, *, shared: bool) -> None:
    """Of the ball of Hessians, and of the form in lengths, which is equal where nothing is negative."""
    layers, x0, direction = _chain(seed, shared=shared)
    wanted = _by_the_claim(layers, x0, direction)
    with precision():
        nought = exact(0.0)
        at = derivatives(layers, [layer.affine(nought) for layer in layers], nought, np.array([x0]), nought)
        gradient = Gradient(np.ones(1), arb(0), arb(1))
        ball = _ball(layers, x0, gradient)
        pulled = {k: float(at.upward[k].before(at.slopes[k]).norm.upper()) for k in range(len(layers))}
        form = constants._second_derivative(layers, at, gradient, pulled)
    assert direction @ ball.center @ direction == pytest.approx(wanted, rel=1e-12)
    assert direction @ form @ direction == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", ["identity", "tanh"])
def test_a_gradient_of_which_the_length_is_known_widens_the_ball(name: str) -> None:
    """The mixed term alone, and the bend alone: both are attained at the longest gradient."""
    above = Layer([[2.0]], None, weight_moves=name == "identity")
    layers = [Layer([[0.5]], None, name), above]
    with precision():
        sure = _ball(layers, 1.5, Gradient(np.ones(1), arb(0), arb(1)))
        unsure = _ball(layers, 1.5, Gradient(np.zeros(1), arb(1), arb(1)))
        off = np.linalg.norm(sure.center - unsure.center, 2)
        assert 0 < off * (1 - 1e-12) <= upper(unsure.radius) <= off * (1 + 1e-9)


def test_an_input_that_is_not_known_widens_the_ball() -> None:
    """(x + r)^2 of a linear model; U^T g where the weight above is not known."""
    with precision():
        ball = _ball([Layer([[0.5]])], 1.5, Gradient(np.zeros(1), arb(0), arb(0)), near=0.5, curvature=9.0)
        assert upper(ball.norm) == pytest.approx(9 * 4, rel=1e-12)
        at, off = Gradient(np.ones(1), arb(0), arb(1)).before(MatrixBall(np.array([[2.0]]), exact(0.5)))
        assert at == [2.0]
        assert (off.each[0], upper(off.total)) == pytest.approx((0.5, 0.5), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_distances_pass_a_layer_as_the_claim_says(seed: int) -> None:
    """An input and a weight that move together, and a slope that is largest at the end of the ball."""
    weight, x0, near, radius = np.random.default_rng(seed).uniform(0.2, 1.5, size=4).tolist()
    layer = Layer([[weight]], None, "softplus")
    with precision():
        reach = exact(radius)
        at = derivatives([layer], [layer.affine(reach)], reach, np.array([x0]), exact(near))
    law = _law("distance from the centre, layer by layer", _at("Y", _K + 1))
    inside = law.xreplace({_at("N"): weight, _at("Y"): near, _at("S"): x0 + near, r: radius, _at("P"): 1})
    slope = 1 / (1 + exp(-(weight * x0 + float(inside))))
    assert upper(at.outputs[1].total) == pytest.approx(slope * float(inside), rel=1e-12)
    assert at.outputs[1].each[0] == pytest.approx(slope * float(inside), rel=1e-12)


def test_a_product_of_balls_is_that_of_the_claim() -> None:
    A, B, tau, rho = 3.0, 5.0, 0.25, 0.125
    law = _law("distance of a product of matrices from the product of the centres", _at("Y", _K + 1))
    wanted = law.xreplace({_at("N"): A, _at("Y"): tau, _at("P"): rho, _at("M"): B})
    right = _CHECKS["a product of two balls"].right
    with precision():
        ball = MatrixBall(np.array([[A]]), exact(rho)).times(MatrixBall(np.array([[B]]), exact(tau)))
    assert float(wanted) == pytest.approx(upper(ball.radius), rel=1e-12)
    assert float(right.xreplace({a: A, d: B, u: tau, v: rho})) == pytest.approx(upper(ball.radius), rel=1e-12)


def test_the_loss_in_its_outputs_is_that_of_the_claims() -> None:
    outputs = np.array([0.3, -0.9])
    with precision():
        loss = cross_entropy(outputs, box(np.zeros(2)))
    chances = np.exp(outputs) / np.exp(outputs).sum()
    roots = dict(zip((x, y), np.sqrt(chances).tolist(), strict=True))
    hessian = loss.root.center @ loss.root.center.T
    assert float(_CHECKS["B B^T, diagonal"].right.xreplace(roots)) == pytest.approx(hessian[0, 0], rel=1e-12)
    assert float(_CHECKS["B B^T, off it"].right.xreplace(roots)) == pytest.approx(hessian[0, 1], rel=1e-12)
    rows = float(_CHECKS["rows"].right.xreplace({p: chances[0], z: chances[1]}))
    assert rows == pytest.approx(upper(loss.curvature), rel=1e-12)


@pytest.mark.parametrize("at", [-2.5, 0.3, 1.7])
def test_activations_are_those_of_the_claims(at: float) -> None:
    with precision():
        gelu, tanh = (float(SMOOTH[name].curvature(exact(at))) for name in ("gelu", "tanh"))
        value, slope = float(exact(at).tanh()), float(SMOOTH["tanh"].slope(exact(at)))
        ends = [float(one) for name in ("gelu", "tanh") for one in SMOOTH[name].bends()]
    assert float(_CHECKS["GELU''"].right.xreplace({xi: at}).evalf()) == pytest.approx(gelu, rel=1e-12)
    assert float(_CHECKS["tanh''"].right.xreplace({h: at})) == pytest.approx(tanh, rel=1e-12)
    assert slope == pytest.approx(1 - value**2, rel=1e-12)
    for zero in ends[:-1]:
        assert abs(float(_CHECKS["GELU'''"].right.xreplace({xi: zero}).evalf())) < 1e-15
    assert abs(float(_CHECKS["tanh'''"].right.xreplace({h: ends[-1]}))) < 1e-15
