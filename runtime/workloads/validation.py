"""Test of a workload by one forward pass and one gradient, before a long computation begins.

A per-sample gradient is a function of the parameters and of one sample only. Batch norm and dropout violate
this in training mode and are refused by type. Other modules are tested: the same row twice (randomness), a
row alone and among others (mixing of samples), and the buffers before and after (side effects of a forward
pass). Gradients are tested where they are computed (`lastiterate.runtime.engine`).

A part in eval mode is accepted. No theorem covers the release of batch-norm statistics of private data.
"""

from copy import deepcopy
from itertools import chain
from typing import Final

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.engine import without_recomputation
from lastiterate.runtime.trials import refuse_complex, user_code
from lastiterate.runtime.workloads.independence import (
    Loss,
    first_tensor,
    keep_random_state,
    outputs_differ,
    refuse_tied_rows,
)
from lastiterate.runtime.workloads.rows import Rows

_BATCH_NORM = nn.modules.batchnorm._BatchNorm
_INSTANCE_NORM = nn.modules.instancenorm._InstanceNorm
DROPOUT = nn.modules.dropout._DropoutNd


def refuse_mixing(module: nn.Module) -> None:
    """Refuse a module that is complex, or that mixes samples or is random by its type.

    Raises:
        InputError: in training mode, a batch norm, an instance norm that tracks statistics, or a dropout; a
            batch norm without stored statistics; a complex parameter or buffer; or a lazy parameter.
    """
    for name, one in module.named_parameters():
        if nn.parameter.is_lazy(one):
            raise InputError(
                f"Per-sample gradients need parameters with shapes, got the lazy {name}; specify its sizes, "
                "or pass a row through the module first."
            )
    refuse_complex(
        "A module", **{name: [one] for name, one in chain(module.named_parameters(), module.named_buffers())}
    )
    for name, part in module.named_modules():
        mixes = isinstance(part, _BATCH_NORM) and (part.training or part.running_mean is None)
        tracks = isinstance(part, _INSTANCE_NORM) and part.training and part.track_running_stats
        if mixes or tracks or (isinstance(part, DROPOUT) and part.training and part.p > 0):
            raise InputError(
                f"Per-sample gradients need a deterministic module whose output depends on only one sample, got "
                f"{name or 'module'}={type(part).__name__} in training mode; replace batch norm with group norm, "
                "remove dropout, or put that part in eval mode."
            )


def place_loss(loss: Loss, device: torch.device, dtype: torch.dtype) -> Loss:
    """The loss with its own tensors on the device and in the dtype."""
    held = [*loss.parameters(), *loss.buffers()] if isinstance(loss, nn.Module) else []
    if not isinstance(loss, nn.Module) or all((one.device, one.dtype) == (device, dtype) for one in held):
        return loss
    refuse_complex("A loss", held=held)
    return deepcopy(loss).to(device, dtype)


def probe(name: str, module: nn.Module, loss: Loss, inputs: Rows, targets: Rows) -> None:
    """Test a workload at the parameters of its module, on the device and in the dtype of the measurement.

    Raises:
        InputError: a module or loss that raises, is random, or mixes samples; a forward pass that changes a
            buffer; a loss that is not a finite number, or without a finite gradient.
    """
    for part, values in (*module.named_parameters(), *module.named_buffers()):
        if not bool(torch.isfinite(_entries(values)).all()):
            raise InputError(
                f"A module needs finite initial parameters and buffers, got nan or inf in {part} of workload={name}; "
                "initialise it again, or use a checkpoint from before it diverged."
            )
    with keep_random_state(inputs.device), torch.enable_grad(), without_recomputation():
        _refuse_unsteady(name, module, inputs)
        refuse_tied_rows(name, module, loss, inputs, targets)
        value, *_ = (
            _loss_of_row(row, name, module, loss, inputs, targets) for row in (0, *_extreme_labels(targets))
        )
        trained = [p for p in module.parameters() if p.requires_grad]
        with user_code("The loss must have a gradient", f"in workload={name}; use operators that have one."):
            parts = torch.autograd.grad(value, trained, allow_unused=True, materialize_grads=True)
        plain = torch.cat([part.reshape(-1) for part in parts])
        if not bool(torch.isfinite(plain).all()):
            raise InputError(
                f"The gradient must be finite, got nan or inf for the first sample of workload={name} at the initial "
                "parameters; correct the loss there (a root or a logarithm of 0?)."
            )


def _entries(values: Tensor) -> Tensor:
    """Stored entries of a dense or sparse tensor."""
    if values.layout is torch.strided:
        return values
    sparse: Tensor = values.to_sparse_coo()  # type: ignore[no-untyped-call]
    return sparse.coalesce().values()


def _refuse_unsteady(name: str, module: nn.Module, inputs: Rows) -> None:
    before = {key: _entries(value).clone() for key, value in module.named_buffers()}
    versions = [(key, value, value._version) for key, value in module.named_parameters()]
    outputs = []
    shape = (
        f"for inputs[:1] of shape={tuple(inputs[:1].shape)} and dtype={_dtype_name(inputs)} in workload={name}"
    )
    with (
        torch.no_grad(),
        user_code(
            "The module must take a batch of one row",
            f"{shape}; give inputs that the module takes, dtype float32 if it takes no other, or correct its forward.",
        ),
    ):
        for seed in range(2):
            torch.manual_seed(seed)
            outputs.append(first_tensor(module(inputs[:1])))
    for key, parameter, version in versions:
        if parameter._version != version:
            raise InputError(
                f"A forward pass must leave the module as it was, got a write to parameter={key} in workload={name}; "
                "leave the parameters unchanged (an embedding with max_norm rescales its table)."
            )
    for key, value in module.named_buffers():
        if not torch.equal(_entries(value), before[key]):
            raise InputError(
                f"A forward pass must leave the module as it was, got a change of buffer={key} in workload={name}; put "
                "that part in eval mode or freeze it."
            )
    first, again = outputs
    if first is not None and again is not None and outputs_differ(first, again):
        raise InputError(
            f"Per-sample gradients need a deterministic module, got two outputs for one row of workload={name}; "
            "remove dropout and noise, or put the module in eval mode."
        )


def _extreme_labels(rows: Rows) -> set[int]:
    """Rows with the smallest and the largest integer target."""
    targets = rows.values
    if (
        targets.is_floating_point()
        or targets.is_complex()
        or targets.dtype is torch.bool
        or not targets.numel()
    ):
        return set()
    each = targets.reshape(len(targets), -1)
    return {int(each.amin(dim=1).argmin()), int(each.amax(dim=1).argmax())} - {0}


def _loss_of_row(row: int, name: str, module: nn.Module, loss: Loss, inputs: Rows, targets: Rows) -> Tensor:
    rows = slice(row, row + 1)
    with user_code("The module must take one row", f"in workload={name}; use operators that have a gradient."):
        output, target = module(inputs[rows]), targets[rows]
    shapes = f"output.shape={tuple(output.shape)} and " if isinstance(output, Tensor) else ""
    shapes += f"targets[{row or ''}:{row + 1}] of shape={tuple(target.shape)} and dtype={_dtype_name(targets)}"
    shapes += f" ({target.item()})" if row and target.numel() == 1 else ""
    mend = (
        "give targets of the shape, dtype and range that the loss takes; tensors in the loss need the dtype of the "
        f"output, {_dtype_name(inputs)}, or give dtype float32 if that is theirs."
    )
    need = "The loss must take the output and the target of one row"
    with user_code(need, f"for {shapes} in workload={name}; {mend}"):
        value: object = loss(output, target)
    if not isinstance(value, Tensor) or value.ndim or not value.is_floating_point():
        got = type(value).__name__
        if isinstance(value, Tensor):
            got = f"loss.shape={tuple(value.shape)}, {_dtype_name(value)}"
        raise InputError(
            f"A per-sample loss must be one real number, a tensor of shape (), got {got} in workload={name}; return "
            "its sum or mean."
        )
    if not bool(torch.isfinite(value)):
        which = f"sample {row}" if row else "the first sample"
        raise InputError(
            f"The loss must be finite, got loss={float(value.detach())} for {which} of workload={name} at the initial "
            "parameters; correct the loss or that sample."
        )
    if not value.requires_grad:
        raise InputError(
            f"The loss must depend on a trained parameter, got a loss without a gradient in workload={name}; remove "
            "detach(), no_grad() or numpy from its computation."
        )
    return value


def _dtype_name(values: Tensor | Rows) -> str:
    return str(values.dtype).removeprefix("torch.")


_JUMPING: Final = (
    nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.RReLU, nn.Hardtanh, nn.Hardsigmoid, nn.Hardswish, nn.Hardshrink, nn.Softshrink,
    nn.Threshold, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d,
    nn.AdaptiveMaxPool3d,
)  # fmt: skip
"""Modules with a kink or a jump; functions in a forward pass are not detected."""


def jumps(module: nn.Module) -> str:
    """Warning about measured constants of a network with kinks; otherwise empty."""
    kind = next((type(part).__name__ for part in module.modules() if isinstance(part, _JUMPING)), "")
    said = "gradients jump, so no finite constant holds: those found describe the sampled distances only."
    return f"{kind} {said}" if kind else ""
