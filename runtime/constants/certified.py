"""Constants and assumptions that are proved: of feed-forward networks, and of losses of linear scores in closed form.

Those of a network are the largest over its own samples, or over a set of inputs; nothing is measured.

Source: docs/proofs/network_constants.md (claims ours/certified/network/*); docs/proofs/constants.md;
docs/proofs/expansions.md, clipping that acts on convex losses.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite
from typing import Any, Final, cast

import torch
from torch import nn
from torch.nn import functional

from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.losses.assumptions import Convex, Smooth
from lastiterate.numeric.losses.certified import LossConstants, linear_score, softmax_regression
from lastiterate.numeric.networks.constants import network_constants
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.runtime.constants.sampling import InputSet
from lastiterate.runtime.workloads.independence import random_outputs, refuse_other_loss, refuse_tied_losses
from lastiterate.runtime.workloads.layers import layers_of
from lastiterate.runtime.workloads.rows import ClippedRows, pair_of
from lastiterate.runtime.workloads.telling_rows import some_rows
from lastiterate.runtime.workloads.workload import Workload, described_workload

_TRIED: Final = 8
_UP: Final = 1 + 1e-12
"""Samples that a loss is tried on; more than the rounding of a power and two products."""


@teaches()
def certified_constants(
    workload: Workload,
    radius: float,
    *,
    seed: int = 0,
    input_radius: float = 0.0,
    inputs: str = "",
    loss: str = "cross_entropy",
    scale: float = 1.0,
) -> LossConstants:
    """Constants of the losses of a workload's samples on a ball around its initial parameters. Direction: upper bounds.

    They are about the samples of the workload, with any label. A bound for a run needs them of every sample that
    adjacent data may hold: `constants_of_network` has them, of any input as short as it is told.

    Args:
        workload: its module is a Sequential of linear layers, convolutions, averages and activations; what
            asks for no gradient is frozen.
        radius: of the ball, a length.
        seed: of the initial parameters.
        input_radius: the constants hold for all inputs so near to those of the workload.
        inputs: as in `network_constants`.
        loss: "cross_entropy", or "logistic" of one output; the workload's loss is tried against it.
        scale: factor of the loss.

    Raises:
        InputError: a network that cannot be read, another loss, a number out of its range.

    >>> import torch
    >>> from torch import nn
    >>> line = Workload("line", lambda: nn.Linear(2, 2), nn.functional.cross_entropy,
    ...                 torch.tensor([[0.6, 0.8]]), torch.tensor([0]))
    >>> certified_constants(line, 0.01).smoothness < 1
    True
    """
    module = described_workload("certified_constants", workload).initial(seed)
    layers = layers_of(module, workload.inputs.shape[1:])
    if isinstance(layers, str):
        return LossConstants.unknown(layers)
    rows = workload.inputs.detach().cpu().double().flatten(start_dim=1).numpy()
    found = network_constants(layers, rows, radius, input_radius=input_radius, inputs=inputs, loss=loss, scale=scale)
    refuse_other_loss(workload.loss, workload.targets, layers[-1].outputs, loss, scale)
    return found


def certified_side(
    workload: Workload, seed: int, diameter: float, free: InputSet | None = None
) -> tuple[LossConstants | None, str]:
    """The constants on the ball of this diameter around the parameters initialised from ``seed``. Upper bounds.

    They are those that the workload brings along, or else, and where inputs are free, those that are proved of its
    network: for its own samples with any label, or for every input of the set.

    Returns:
        The constants, perhaps infinite, or None where nothing is known; and why there is no finite one, or "".
    """
    try:
        if free is None and workload.constants is not None:
            constants = workload.certified(seed, diameter)
        elif not isfinite(diameter):
            return None, "not known: the domain is unbounded"
        else:
            near: dict[str, Any] = {}
            if free is not None:
                some = workload.inputs[:_TRIED].double()
                middle, reach = free.around(some[0].numel())
                near = {"input_radius": reach, "inputs": f"every input of {free}"}
                workload = replace(workload, inputs=torch.full_like(some, middle), targets=workload.targets[:_TRIED])
            loss = "logistic" if _outputs(workload, seed) == 1 else "cross_entropy"
            constants = certified_constants(workload, diameter / 2, seed=seed, loss=loss, **near)
    except InputError as error:
        return None, f"not known: {str(error)[:1].lower()}{str(error)[1:]}"
    except (IndexError, RuntimeError, TypeError, ValueError):
        return None, "not known: the loss is not a cross-entropy of labels"
    said = constants.statement
    if "not known: " in said:
        why = said.partition("not known: ")[2]
        return None, f"not known: {why[:1].lower()}{why[1:]}"
    return constants, "" if isfinite(constants.smoothness) else said if said.startswith("inf") else f"infinite: {said}"


def certified_holder(constants: LossConstants | None, lam: float, diameter: float, clip_norm: float) -> float | None:
    """The certified constant of an order, gradient / length^lambda; None where none is known. An upper bound.

    Gradients that are L-Lipschitz and at most G long change by min(L r, 2 G) over a distance r, which is at most
    L min(D, 2 G / L)^(1 - lambda) r^lambda on a domain of diameter D. Clipping to K makes no change longer and G at
    most K, and a mean over samples has the constants of each.
    """
    if constants is None:
        return None
    smoothness = constants.smoothness
    if lam == 1 or not 0 < smoothness < inf:
        return smoothness
    reach = min(diameter, 2 * min(constants.lipschitz, clip_norm) / smoothness)
    return float(smoothness * reach ** (1 - lam) * _UP)


def _outputs(workload: Workload, seed: int) -> int:
    """The number of outputs of the network."""
    module = workload.initial(seed)
    row = workload.inputs[:1]
    with torch.no_grad():
        output = module(row.to(next(module.parameters())) if row.is_floating_point() else row)
    return int(output.shape[-1])


_INSTEAD = "take Clipped(), which always holds, certified_constants on a small ball, or refute what you believe"


@teaches()
def assumption_of(
    module: nn.Module, loss: Any, data: Any, *, clip_norm: float, read_rows: bool = False
) -> Convex | Smooth:
    """The strongest assumption that a closed form proves: the losses are those of a linear layer.

    The layer's rows must have a bound that holds of every sample that anybody could add, so by default the data must be
    `ClippedRows`. The number that follows is rounded up; the assumption says where it comes from.

    Args:
        module: a linear layer, alone or after layers that only flatten; as ``make_private`` returned it or before.
        loss: of torch.nn or torch.nn.functional, with its reduction to the mean: cross entropy; of one output
            binary cross entropy with logits, squared error, Huber and smooth L1.
        data: a data set or its loader.
        clip_norm: of a per-sample gradient. Gradients of one linear score stay those of a convex loss when they are
            clipped; cross entropy is convex only where the clip norm never acts, and smooth below that.
        read_rows: take the longest row of the data for the bound. That is a fact about these data and no public number,
            and neighbouring data may break it.

    Raises:
        InputError: no closed form is known, nothing keeps the rows short, or the loss ties the rows of a batch.

    >>> data = torch.utils.data.TensorDataset(torch.ones(4, 2), torch.zeros(4, 1))
    >>> assumption_of(nn.Linear(2, 1, bias=False), nn.MSELoss(), ClippedRows(data, 3.0), clip_norm=1.0)
    Convex(L=18.0)
    """
    rows = getattr(data, "dataset", data)
    try:
        number, (row, target) = len(rows), pair_of(rows[0])
    except (TypeError, LookupError):
        raise InputError(
            f"A closed form needs a map style data set with a sample, got data={type(data).__name__}; give one."
        ) from None
    layer = _linear(module)
    if row.numel() != layer.in_features:  # several scores a sample: clipped, their losses need not stay convex
        raise InputError(
            f"A closed form needs rows of in_features={layer.in_features} numbers, one score a sample, got a row of "
            f"shape {tuple(row.shape)}; flatten it, with nn.Flatten before the layer."
        )
    refuse_tied_losses(
        "described", random_outputs(getattr(loss, "criterion", loss), some_rows(rows)[1], layer.out_features)
    )
    norm, whence = _row_norm(rows, number, read_rows)
    with precision():
        square = exact(norm) ** 2 + (1 if layer.bias is not None else 0)
        reach = upper(square.sqrt())
    constants = _constants(layer, loss, target, reach)
    origin = f"{constants.statement}{', the constant one included' if layer.bias is not None else ''}, {whence}"
    if constants.linear_score or positive("clip_norm", clip_norm) >= constants.lipschitz:
        return Convex(constants.smoothness, origin=origin)
    return Smooth(constants.smoothness)


def _linear(module: nn.Module) -> nn.Linear:
    """The one layer that is trained, or an `InputError` that says why there is no closed form."""
    plain = getattr(module, "_module", module)
    layers = [one for one in plain if not isinstance(one, nn.Identity)] if type(plain) is nn.Sequential else [plain]
    while layers and type(layers[0]) is nn.Flatten and layers[0].start_dim == 1:
        layers = layers[1:]
    if len(layers) != 1 or type(layers[0]) is not nn.Linear:
        got = ", ".join(type(one).__name__ for one in layers)
        raise InputError(f"A closed form needs one linear layer, nn.Linear, got module of {got}; {_INSTEAD}.")
    layer = layers[0]
    frozen = [name for name, one in layer.named_parameters() if not one.requires_grad]
    if frozen:
        raise InputError(f"A closed form needs a layer that is trained whole, got frozen={frozen}; {_INSTEAD}.")
    return layer


def _constants(layer: nn.Linear, loss: Any, target: Any, reach: float) -> LossConstants:
    loss = getattr(loss, "criterion", loss)  # as ghost clipping wraps it
    name, curvature, slope = _score_loss(loss)
    if name == "cross entropy":
        if torch.as_tensor(target).is_floating_point():
            raise InputError(
                "A closed form of cross entropy needs targets that are numbers of classes, got weights of classes, "
                f"which nothing keeps small; {_INSTEAD}."
            )
        if layer.out_features > 1:
            return softmax_regression(reach)
    elif name and layer.out_features == 1:
        return linear_score(reach, slope=slope, curvature=curvature, name=name)
    raise InputError(
        "A closed form needs cross entropy, or of one output binary cross entropy with logits, squared error, Huber "
        f"or smooth L1, unweighted means, got loss={getattr(loss, '__name__', type(loss).__name__)} of "
        f"{layer.out_features} outputs; {_INSTEAD}."
    )


def _score_loss(loss: Any) -> tuple[str, float, float]:
    """Name, greatest curvature and greatest slope in the score; an empty name where they are not known."""
    plain = getattr(loss, "reduction", "mean") == "mean" and getattr(loss, "weight", None) is None
    kind = type(loss) if isinstance(loss, nn.Module) else cast(Callable[..., Any], loss)
    if kind in (nn.CrossEntropyLoss, functional.cross_entropy) and plain:
        return "cross entropy", 0.5, inf
    if (
        kind in (nn.BCEWithLogitsLoss, functional.binary_cross_entropy_with_logits)
        and plain
        and getattr(loss, "pos_weight", None) is None
    ):
        return "logistic loss", 0.25, inf  # its slope depends on targets, which nothing keeps in [0, 1]
    if kind in (nn.MSELoss, functional.mse_loss) and plain:
        return "squared error", 2.0, inf
    if kind in (nn.HuberLoss, functional.huber_loss) and plain:
        return "Huber loss", 1.0, float(getattr(loss, "delta", 1.0))
    if kind in (nn.SmoothL1Loss, functional.smooth_l1_loss) and plain and getattr(loss, "beta", 1.0) > 0:
        with precision():
            return "smooth L1 loss", upper(1 / exact(float(getattr(loss, "beta", 1.0)))), 1.0
    return "", inf, inf


def _row_norm(data: Any, number: int, read_rows: bool) -> tuple[float, str]:
    """The greatest norm of a row, and where it comes from."""
    if isinstance(data, ClippedRows):
        return data.norm, "to which every row is scaled down"
    if not read_rows:
        raise InputError(
            "A closed form needs rows with a bound that holds of every possible sample, got "
            f"data={type(data).__name__}, which keeps none; wrap the data set in ClippedRows(data, norm) before "
            "make_private, norm a number that does not look at the data, or say read_rows=True if neighbouring "
            "data have no longer rows."
        )
    lengths = [float(torch.linalg.vector_norm(pair_of(data[k])[0].double())) for k in range(number)]
    longest = max(lengths) * (1 + 2.0**-30)
    return positive("norm of the longest row", longest), "the longest row of these data, which is no public number"
