"""Assumptions proved by a closed form, for losses of linear scores on rows with a public norm bound.

Source: docs/proofs/constants.md; docs/proofs/expansions.md, clipping that acts on convex losses.
"""

from collections.abc import Sized
from math import inf, nextafter
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset

from lastiterate.numeric.errors import InputError, positive, teaches
from lastiterate.numeric.losses.assumptions import ClippedConvex, Convex
from lastiterate.numeric.losses.certified import LossConstants, linear_score, softmax_regression
from lastiterate.numeric.rounding import exact, precision, upper
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.independence import random_outputs, refuse_tied_losses
from lastiterate.runtime.workloads.rows import some_rows, targets_of


@teaches()
class ClippedRows(Dataset[tuple[Tensor, Any]]):
    """Data set of pairs (input, target) in which longer inputs are scaled down to a given norm.

    The norm is taken over all entries of an input. ``norm`` must not depend on the data.

    >>> rows = ClippedRows(torch.utils.data.TensorDataset(torch.tensor([[3.0, 4.0]]), torch.zeros(1)), norm=1.0)
    >>> 0.9999 < float(rows[0][0].norm()) <= 1.0
    True
    """

    def __init__(self, data: Any, norm: float) -> None:
        if not isinstance(data, Sized):
            raise InputError(
                f"ClippedRows needs data with a length, got data={type(data).__name__}; give a Dataset."
            )
        self.data: Any = data
        self.norm = positive("norm", norm)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def targets(self) -> Tensor | None:
        """Targets of all pairs, or of some pairs if not stored together."""
        return targets_of(self.data)

    def __getitem__(self, index: int) -> tuple[Tensor, Any]:
        """Pair whose input has at most the given norm even after rounding."""
        item = self.data[index]
        row, target = item if isinstance(item, list | tuple) and len(item) == 2 else (None, None)
        if not isinstance(row, Tensor) or not row.is_floating_point() or not bool(torch.isfinite(row).all()):
            got = f"item={type(item).__name__} with {getattr(row, 'dtype', type(row).__name__)}"
            raise InputError(
                f"ClippedRows needs pairs (input, target) with finite real inputs, got {got}; correct the data."
            )
        tiny = 2.0**-40  # for the rounding of lengths
        most = self.norm * (1 - torch.finfo(row.dtype).eps - tiny)
        while (length := float(torch.linalg.vector_norm(row.double()))) > self.norm * (1 - tiny / 2):
            # halved, for subnormal numbers
            row, most = (
                (row.double() * (most / length)).to(row.dtype),
                most / 2,
            )
        return row, target


@teaches()
def assumption_of(
    module: nn.Module, loss: Any, data: ClippedRows, *, clip_norm: float
) -> Convex | ClippedConvex:
    """Strongest assumption that a closed form proves for a linear layer; its constant is rounded up.

    Args:
        module: a linear layer, possibly preceded by flattening, before or after ``make_private``.
        loss: mean loss of torch.nn or torch.nn.functional: cross entropy (`ClippedConvex` if clipping acts) or,
            for one output, the logistic loss, squared error, Huber or smooth L1 loss.
        data: rows in the form that the module takes.
        clip_norm: clip norm of a per-sample gradient.

    Raises:
        InputError: no closed form is known, no norm bounds the rows, or the loss ties the rows of a batch.

    >>> data = torch.utils.data.TensorDataset(torch.ones(4, 2), torch.zeros(4, 1))
    >>> assumption_of(nn.Linear(2, 1, bias=False), nn.MSELoss(), ClippedRows(data, 3.0), clip_norm=1.0)
    Convex(L=18.0)
    """
    clip_norm = positive("clip_norm", clip_norm)
    if type(data) is not ClippedRows:  # a subclass may scale rows up
        raise InputError(
            f"A closed form needs a bound on every possible row, got data={type(data).__name__}; wrap the data set in "
            "ClippedRows(data, norm) before make_private, with a norm that does not depend on the data."
        )
    with user_code("A closed form needs a Dataset of pairs of tensors", "from ClippedRows; wrap another."):
        row, targets = data[0][0], some_rows(data)[1]
    plain, loss = getattr(module, "_module", module), getattr(loss, "criterion", loss)  # Opacus wraps both
    given = [part for one in (module, loss) if isinstance(one, nn.Module) for part in one.modules()]
    if changed := next(filter(_is_changed, given), None):
        raise InputError(
            "A closed form needs unmodified layers and an unmodified loss, got a hook or a changed forward method "
            f"on {type(changed).__name__}; remove it, or use Clipped(), which always holds."
        )
    layers = list(plain) if type(plain) is nn.Sequential else [plain]
    while layers and type(layers[0]) is nn.Flatten and (layers[0].start_dim, layers[0].end_dim) == (1, -1):
        layers, row = layers[1:], row.flatten()
    named = dict(layers[0].named_parameters()) if [type(one) for one in layers] == [nn.Linear] else {}
    constants = None
    if {"weight"} <= set(named) <= {"weight", "bias"} and all(one.requires_grad for one in named.values()):
        outputs, inputs = named["weight"].shape
        refuse_tied_losses("described", random_outputs(loss, targets, outputs))
        with precision():
            reach = upper((exact(data.norm) ** 2 + (len(named) - 1)).sqrt())
        constants = _constants(outputs, loss, targets[0], reach) if row.shape == (inputs,) else None
    if constants is None:
        raise InputError(
            "A closed form needs a linear layer with all its parameters trained, rows of in_features numbers, and the "
            "unweighted mean of cross entropy of classes or, for one output and targets of shape (1,), of the "
            "logistic loss, squared error, Huber or smooth L1 loss, got "
            f"{', '.join(type(one).__name__ for one in layers)}, rows of shape {tuple(row.shape)}, "
            f"{getattr(loss, '__name__', type(loss).__name__)} and targets of shape {tuple(targets.shape[1:])}; use "
            "Clipped(), which always holds, or certified_constants."
        )
    if not constants.linear_score and clip_norm < constants.lipschitz:
        return ClippedConvex(constants.smoothness)
    one = ", the constant one included" if "bias" in named else ""
    return Convex(
        constants.smoothness, origin=f"{constants.statement}{one}: every row is scaled down to {data.norm:g}"
    )


def _is_changed(part: nn.Module) -> bool:
    hooks = (*part._forward_hooks.values(), *part._forward_pre_hooks.values())
    modules = (getattr(hook, "func", hook).__module__ or "" for hook in hooks)
    ours = (one.startswith(("opacus.", "lastiterate.")) for one in modules)
    return "forward" in vars(part) or not all(ours)


def _constants(outputs: int, loss: Any, target: Tensor, reach: float) -> LossConstants | None:
    weights = (getattr(loss, name, None) for name in ("weight", "pos_weight"))
    if getattr(loss, "reduction", "mean") != "mean" or any(one is not None for one in weights):
        return None
    if type(loss) is nn.CrossEntropyLoss or loss is functional.cross_entropy:
        return None if outputs == 1 or target.is_floating_point() else softmax_regression(reach)
    beta = float(getattr(loss, "beta", 1.0))
    for name, kind, function, curvature in (
        ("logistic loss", nn.BCEWithLogitsLoss, functional.binary_cross_entropy_with_logits, 0.25),
        ("squared error", nn.MSELoss, functional.mse_loss, 2.0),
        ("Huber loss", nn.HuberLoss, functional.huber_loss, 1.0),
        (
            "smooth L1 loss",
            nn.SmoothL1Loss,
            functional.smooth_l1_loss,
            nextafter(1 / beta, inf) if beta else inf,
        ),
    ):
        # Torch broadcasts targets of another shape over the batch.
        one_score = outputs == 1 and target.shape == (1,)
        if (type(loss) is kind or loss is function) and one_score and curvature < inf:
            return linear_score(reach, slope=inf, curvature=curvature, name=name)
    return None
