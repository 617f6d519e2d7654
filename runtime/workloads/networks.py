"""Proved constants of a network's loss on a ball, for every possible input or for given samples.

Source: docs/proofs/network_constants.md, "Graphs of operators".
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import inf
from typing import Any

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, echo, teaches, within
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.numeric.networks.centres import NoRuleError
from lastiterate.runtime.graphs import constants_of_graph
from lastiterate.runtime.trials import describe_error, refuse_complex


def no_constants(why: str) -> Callable[[nn.Module, float], LossConstants]:
    """Function ``constants`` for a network without proved constants; its results contain the reason."""
    return lambda _module, _diameter: LossConstants.unknown(why)


@teaches()
def constants_of_network(
    input_norm: float, *, shape: Sequence[int] | None = None, loss: str = "cross_entropy", scale: float = 1.0
) -> Callable[[nn.Module, float], LossConstants]:
    """Upper bounds on the constants of a network for all inputs of bounded norm and all labels, for `Workload`.

    Args:
        input_norm: largest norm of any possible input, with all of its entries in one vector.
        shape: shape of an input; None for one vector, as long as the first linear layer of the network needs.
        loss: "cross_entropy", or "logistic" for one output: the workload's loss up to its scale.
        scale: factor of the loss.
    """
    reach = within(
        "input_norm", input_norm, "a finite number of at least 0", lambda x: 0 <= x < inf, "shorten inputs."
    )

    def constants(module: nn.Module, diameter: float) -> LossConstants:
        if not isinstance(module, nn.Module):
            raise InputError(f"Certified constants need a torch module, got {type(module).__name__}; pass one.")
        if within("diameter", diameter, "a number of at least 0", lambda x: x >= 0, "0 is one point.") == inf:
            return LossConstants.unknown("the domain is unbounded, so the constants of a network may be, too")
        refuse_complex(
            "A network of certified constants", **{name: [one] for name, one in module.named_parameters()}
        )
        row = torch.zeros(1, *_shape_of(module, shape), dtype=torch.float64)
        of = f"every input of norm at most {reach:g}"
        return constants_of_any_label(
            module, row, diameter / 2, reach, of, loss, scale, any_sample=True, input_norm=reach
        )

    return constants


def _shape_of(module: nn.Module, shape: Sequence[int] | None) -> tuple[int, ...]:
    if shape is None:
        shape = next(((one.in_features,) for one in module.modules() if isinstance(one, nn.Linear)), None)
    try:
        return tuple(torch.zeros(tuple(shape)).shape)  # type: ignore[arg-type]
    except (RuntimeError, TypeError, ValueError):
        raise InputError(
            f"shape needs the sizes of one input, got shape={echo(shape)}; give (channels, *sizes), for example."
        ) from None


def constants_of_any_label(
    module: nn.Module, rows: Tensor, radius: float, near: float, of: str, loss: str, scale: float, **covers: Any
) -> LossConstants:
    """Constants for inputs within ``near`` of one of the rows, described by ``of``, with any label."""
    factor = within("scale", scale, "a finite positive number", lambda x: 0 < x < inf, "1 is the loss itself.")
    try:
        with torch.no_grad():
            outputs = tuple(deepcopy(module).cpu().double()(rows[:1]).shape)
    except Exception as error:  # of user code
        raise InputError(
            f"Certified constants need inputs of a shape that fits, got shape={tuple(rows.shape[1:])} and "
            f"{describe_error(error)}; correct it."
        ) from error
    if (
        loss not in ("cross_entropy", "logistic")
        or len(outputs) != 2
        or (loss == "logistic" and outputs[1] > 1)
    ):
        raise InputError(
            "loss needs 'cross_entropy' of one vector of outputs or 'logistic' of one output, got "
            f"loss={echo(loss)} for outputs of shape {outputs[1:]}; choose one."
        )

    def scaled(given: Any, target: Tensor) -> Any:
        if loss == "logistic":
            return factor * nn.functional.binary_cross_entropy_with_logits(given[:, 0], target.to(given))
        return factor * nn.functional.cross_entropy(given, target)

    labels = torch.arange(2 if loss == "logistic" else outputs[1])
    several = torch.repeat_interleave(rows, len(labels), dim=0), labels.repeat(len(rows))
    said = f"{loss} of {type(module).__name__}, parameters within {radius:g}, for {of}"
    return proved_constants(module, scaled, *several, radius, said, near, loss=loss, scale=factor, **covers)


def proved_constants(
    module: nn.Module,
    of_sample: Callable[[Any, Tensor], Tensor],
    inputs: Tensor,
    targets: Tensor,
    radius: float,
    said: str,
    near: float = 0.0,
    **covers: Any,
) -> LossConstants:
    """Constants of the losses of these samples, as in `constants_of_graph`, or the reason why there are none."""
    try:
        (found,) = constants_of_graph(module, of_sample, inputs, targets, [radius], near)
    except NoRuleError as why:
        return LossConstants.unknown(f"not known: {why}")
    if found.kinks:
        said = f"{said}; the gradient may jump: a kink of {found.kinks} may lie in the ball"
    return LossConstants(found.lipschitz, found.smoothness, -inf, said, radius=radius, **covers)
