"""Trial of a network on several rows together: its output for a row, and the gradient of that, need no other row."""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn
from torch.func import functional_call

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.workloads.trials import differ, first_tensor, nearby, tolerance

ROWS: Final = 4
"""Rows that are put through the module together."""

_PARAMETERS: Final = 2**22
"""Numbers in the parameters that are moved and differentiated, the smallest tensors first: some of every layer."""

_MOVED: Final = 0.01
"""By which parameters are moved: a part that begins at zero mixes nothing yet."""

_SLACK: Final = 16.0
"""Rounding of a gradient, in that of an output."""


def refuse_mixed_rows(name: str, module: nn.Module, rows: Tensor) -> bool:
    """Refuse a module that mixes rows, at its parameters and near them.

    Args:
        name: of the workload.
        module: on the device and in the dtype of the rows.
        rows: shape (k, ...), some inputs.

    Returns:
        Whether it could be tried: what is random, or takes one row at a time, shows nothing.

    Raises:
        InputError: another output, or another gradient, among the rows than alone.
    """
    if len(rows) == 1 and rows.is_floating_point():
        rows = torch.cat([rows, nearby(rows, 0.5)])
    for share in (0.0, _MOVED):
        point = _some_parameters(module, share)
        try:
            first, again = (_output(module, point, rows[:1]) for _ in range(2))
            together, each = _output(module, point, rows), [_output(module, point, row) for row in torch.split(rows, 1)]
        except Exception:  # made for one row at a time: then it cannot mix
            return False
        alone = [row for row in each if row is not None]
        if first is None or again is None or differ(first, again):
            return False
        if together is None or not alone or together.shape != (len(alone), *alone[0].shape[1:]):
            return False
        apart = torch.cat(alone)
        if differ(together, apart) or _pulled_apart(together, apart, list(point.values())):
            raise InputError(
                f"Per-sample gradients need a module whose output for a row does not depend on the rows beside it, got "
                f"another output among {len(rows)} rows than alone in workload={name}; normalise within a sample "
                "(group norm, layer norm)."
            )
    return True


def _some_parameters(module: nn.Module, share: float) -> dict[str, Tensor]:
    trained = [(key, one.detach()) for key, one in module.named_parameters() if one.requires_grad]
    point: dict[str, Tensor] = {}
    numbers = 0
    for key, one in sorted(trained, key=lambda pair: pair[1].numel()):
        numbers += one.numel()
        if numbers > _PARAMETERS and point:
            break
        size = share * (one.square().mean().sqrt() + 1)
        point[key] = (one + size * torch.randn_like(one) if share else one.clone()).requires_grad_()
    return point


def _output(module: nn.Module, point: dict[str, Tensor], rows: Tensor) -> Tensor | None:
    return first_tensor(functional_call(module, point, (rows,)))


def _pulled_apart(together: Tensor, apart: Tensor, leaves: Sequence[Tensor]) -> bool:
    """Tell whether the outputs of the rows together have another gradient than those of the rows alone."""
    if not together.requires_grad or not apart.requires_grad:
        return False
    along = torch.randn_like(together)
    here, there = (
        torch.cat([
            one.reshape(-1)
            for one in torch.autograd.grad(outputs, leaves, along, allow_unused=True, materialize_grads=True)
        ])
        for outputs in (together, apart)
    )  # fmt: skip
    return bool((here - there).norm() > _SLACK * tolerance(there) * there.norm())  # nan is not larger
