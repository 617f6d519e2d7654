"""Certified constants of a feed-forward network's loss on a ball of parameters.

The second derivative of a per-sample loss along a unit direction v is

    f'(v)^T H f'(v) + sum over l of 2 (P_l^T g)^T V_l h_(l-1)'(v) + (U_l^T g)^T phi_l''(a_l) a_l'(v)^2,

where V_l is the part of v in the weights of layer l, g and H are the gradient and Hessian of the loss in the
outputs f, U_l = df/dphi_l(a_l) and P_l = U_l phi_l'. Bounds on the factors give a quadratic form in the
lengths (v_1, v_2, ...) of the parts of v in the layers. Its largest eigenvalue is the bound.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*).
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lastiterate.numeric.arrays import Array
from lastiterate.numeric.errors import InputError, echo, teaches, within
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.derivatives import Derivatives, Hessian, derivatives
from lastiterate.numeric.networks.layers import Layer, Sharing, fitting_layers, floats
from lastiterate.numeric.networks.matrices import (
    MatrixBall,
    as_float,
    length,
    round_up,
    spectral_norm,
    total_norm,
)
from lastiterate.numeric.networks.outputs import LOSSES, Gradient, OutputLoss
from lastiterate.numeric.rounding import exact, precision, upper

_FEW: Final = 600
"""Number of moving parameters up to which the Hessian is bounded as a matrix (0.1 s per sample and label)."""


@teaches()
def network_constants(
    layers: Sequence[Layer],
    samples: ArrayLike,
    radius: float,
    *,
    input_radius: float = 0.0,
    inputs: str = "",
    loss: str = "cross_entropy",
    scale: float = 1.0,
) -> LossConstants:
    """Constants of every per-sample loss on the ball of this radius around the given parameters.

    Args:
        layers: the network at the centre of the ball.
        samples: inputs, shape (n, features).
        radius: Euclidean length in the space of all parameters that move.
        input_radius: the constants hold for every input within this distance of a sample. With a zero sample
            and the largest norm of an input, they hold for all data and give a bound.
        inputs: description of a set that these neighbourhoods cover, if the set was chosen without looking at
            the data. The constants then hold for all data in the set and give a bound.
        loss: "cross_entropy" of the outputs, or "logistic" for one output and labels 0 and 1.
        scale: factor of the loss.

    Returns:
        Upper bounds, rounded up. The smoothness is infinite if the ball may contain a kink of an activation,
            which the statement names. The strong convexity is -inf.

    Raises:
        InputError: layers or samples do not fit, or a number is out of range.

    >>> layer = Layer([[0.5, -0.5], [0.0, 1.0]], [0.0, 0.0])
    >>> round(network_constants([layer], [[0.6, 0.8]], 1e6).smoothness, 12)
    1.0
    """
    network = fitting_layers(layers)
    rows, features, outputs = floats("samples", samples, 2), network[0].inputs, network[-1].outputs
    if rows.shape[1] != features:
        raise InputError(
            f"samples needs rows of {features} features, got samples of shape {rows.shape}; pass an array of "
            f"shape (n, {features})."
        )
    if not isinstance(loss, str) or loss not in LOSSES or (loss == "logistic" and outputs != 1):
        raise InputError(
            f"loss needs 'cross_entropy' or, for one output, 'logistic', got loss={echo(loss)} for {outputs}; choose "
            "one."
        )
    reach = within(
        "radius", radius, "a finite number of at least 0", lambda x: 0 <= x < inf, "0 means the centre only."
    )
    near = within(
        "input_radius", input_radius, "a finite number of at least 0", lambda x: 0 <= x < inf, "0 means none."
    )
    origin = not rows.any()
    of = (
        inputs
        or f"every input {f'of norm at most {near:g}' if origin else f'within {near:g} of one of the samples'}"
    )
    of = of if near else "the samples that were given, and no others"
    factor = within("scale", scale, "a finite positive number", lambda x: 0 < x < inf, "1 is the loss itself.")
    with precision(), np.errstate(all="ignore"):
        affine = [layer.affine(exact(reach)) for layer in network]
        moving = [one.weight for one in network if one.weight_moves] + [
            one.bias for one in network if one.bias_moves
        ]
        few = sum(np.asarray(one).size for one in moving) <= _FEW
        lipschitz, smoothness, kinks = 0.0, 0.0, set[int]()
        for row in rows:
            found = derivatives(network, affine, exact(reach), row, exact(near))
            here = LOSSES[loss](*found.outputs)
            if found.kinked is not None:
                kinks.add(found.kinked)
            hessian = None
            for gradient, slope, curvature in _of_sample(network, found, here):
                lipschitz, most = max(lipschitz, as_float(slope)), as_float(curvature)  # nan becomes inf
                if few and not kinks and most > smoothness:
                    hessian = hessian or Hessian(network, found, here)
                    most = min(most, as_float(hessian.of(gradient).norm))
                smoothness = max(smoothness, most)
        return LossConstants(
            lipschitz=upper(exact(factor) * exact(lipschitz)),
            smoothness=inf if kinks else upper(exact(factor) * exact(smoothness)),
            strong_convexity=-inf,
            statement=_statement(network, loss, reach, of, kinks),
            radius=reach,
            any_sample=bool(near) and (bool(inputs) or origin),
            input_norm=near if origin and not inputs else inf,
            loss=loss,
            scale=factor,
        )


def _of_sample(
    layers: Sequence[Layer], found: Derivatives, loss: OutputLoss
) -> Iterator[tuple[Gradient, arb, arb]]:
    moving, last = list(found.sizes), len(layers) - 1
    jacobian = [(found.outer[last, j], found.sizes[j]) for j in moving]
    bent = [(loss.root.turned.times(matrix), size) for matrix, size in jacobian]
    flat = (loss.growth * total_norm(bent) ** 2).min(loss.curvature * total_norm(jacobian) ** 2)
    joint = np.array([as_float(matrix.norm * size) for matrix, size in bent])
    growth = as_float(loss.growth)
    for gradient in loss.gradients:
        parts = [as_float(_pulled_norm(matrix, gradient)) for matrix, _ in jacobian]
        sizes = [as_float(size) for _, size in jacobian]
        slope = length(round_up(np.array(parts) * np.array(sizes), 2))
        form = _second_derivative(layers, found, gradient, dict(zip(moving, parts, strict=True)))
        together = round_up(form + growth * np.outer(joint, joint), 4)
        yield gradient, slope, (flat + spectral_norm(form)).min(spectral_norm(together))


def _pulled_norm(matrix: MatrixBall, gradient: Gradient) -> arb:
    pulled = length(_pulled(matrix, gradient)) + matrix.radius * gradient.norm
    return pulled.min(matrix.norm * gradient.norm)


def _pulled(matrix: MatrixBall, gradient: Gradient) -> Array:
    """Upper bounds on the entries of |C^T g| for every gradient g, where C is the centre of the ball."""
    outputs = len(gradient.center)
    middle = np.abs(matrix.center.T @ gradient.center)
    size = round_up(np.abs(matrix.center).T @ np.abs(gradient.center), outputs)
    columns = round_up(np.sqrt((matrix.center * matrix.center).sum(axis=0)), outputs + 2) + 1e-150
    near = round_up(middle + size * (outputs * 2.0**-52) + columns * as_float(gradient.radius), 4)
    return np.minimum(near, round_up(columns * as_float(gradient.norm), 1))


def _second_derivative(
    layers: Sequence[Layer], found: Derivatives, gradient: Gradient, pulled: dict[int, float]
) -> Array:
    """Quadratic form in (v_1, v_2, ...) that is at least |g^T f''|; shape (moving, moving)."""
    moving = list(found.sizes)
    form = np.zeros((len(moving), len(moving)))
    for k in range(moving[0], len(layers)):
        inside = [j for j in moving if j <= k]
        if layers[k].weight_moves:
            here = moving.index(k)
            sharing, slopes = layers[k].sharing, found.slopes[k]
            most = _mixed(sharing, found.upward[k].before(slopes), gradient) if sharing else pulled[k]
            for j in inside[:-1]:
                met = as_float(found.outer[k - 1, j].norm * found.sizes[j])
                form[here, moving.index(j)] += most * met
                form[moving.index(j), here] += most * met
        each = round_up(
            _pulled(found.upward[k], gradient) + as_float(found.upward[k].radius * gradient.norm), 1
        )
        bend = float(round_up((each * found.bends[k].above).max(), 2))
        moved = np.array([as_float(found.inner[k, j].norm * found.sizes[j]) for j in inside])
        count = len(inside)
        form[:count, :count] += bend * np.outer(moved, moved)
    return round_up(form, 4 * len(layers) + 8)


def _mixed(sharing: Sharing, ball: MatrixBall, gradient: Gradient) -> float:
    """Upper bound on the Euclidean norm of the bilinear map (V, h') -> (P^T g) . V X(h'), for P in the ball."""
    at, off = gradient.before(ball)
    near = spectral_norm(sharing.weighed(at)) + sharing.often * off.total
    return as_float(near.min(sharing.often * _pulled_norm(ball, gradient)))


def _statement(layers: Sequence[Layer], loss: str, radius: float, of: str, kinks: set[int]) -> str:
    names = " ".join(name for layer in layers if (name := layer.phi.name) != "identity") or "linear"
    plural = "s" * (len(layers) > 1)
    said = (
        f"{loss} of a network of {len(layers)} layer{plural} ({names}), parameters within {radius:g}, for {of}"
    )
    if not kinks:
        return said
    where = ", ".join(f"{layers[k].phi.name} of layer {k}" for k in sorted(kinks))
    return f"{said}; the gradient may jump: a kink of {where} may lie in the ball"
