"""A network with a per-sample loss and data, or with a random subset of the data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from lastiterate.numeric.errors import InputError, count, teaches
from lastiterate.numeric.losses.certified import LossConstants
from lastiterate.runtime.pair_table import Subset
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.trials import refuse_complex, user_code
from lastiterate.runtime.workloads.columns import read_rows
from lastiterate.runtime.workloads.independence import refuse_other_loss
from lastiterate.runtime.workloads.parts import Layout, Names, OnParts
from lastiterate.runtime.workloads.streaming import read_samples
from lastiterate.runtime.workloads.validation import refuse_mixing
from lastiterate.runtime.workloads.weights import read_weights, weights_for

_NAMED: Final = 3
"""Largest number of unused tensors of a checkpoint that are named."""


@teaches()
@dataclass(frozen=True)
class Workload:
    """A network, its per-sample loss and its data.

    Args:
        name: name of the workload in results.
        module: factory of a freshly initialised module, which draws only from torch's global generator.
        loss: loss(output, target), a scalar, for output and target of shape (rows, ...). Gradients use one
            row; the loss of several rows must be the mean, or the sum, of their single losses.
        inputs: shape (n, ...), one row per sample; or several such tensors, in a dict for a module that takes
            them by name, or in a tuple. Floating-point inputs are cast to the dtype of the measurement.
        targets: shape (n, ...), or a dict or tuple of such tensors, which the loss takes as it is.
        remark: remark for the reader of results.
        constants: constants(module, diameter), if proved, on the ball of ``diameter`` around the parameters
            of ``module``, for every sample whose features are no longer than stated.
        recommended: defaults for fields of `lastiterate.runtime.constants.sampling.Sampling`, for arguments
            of `lastiterate.runtime.training.descent.paper_run`, and for the number of ``samples`` to draw.
        subset: draw of these samples from a larger set; see `subset`.
        layout: layout of several inputs, which is found from them.

    Raises:
        InputError: data that are not real, finite, nonempty tensors of one length, or a module in place of a
            factory.
    """

    name: str
    module: Callable[[], nn.Module]
    loss: Callable[[Any, Any], Tensor]
    inputs: Tensor
    targets: Tensor
    remark: str = ""
    constants: Callable[[nn.Module, float], LossConstants] | None = None
    recommended: Mapping[str, object] = field(default_factory=dict)
    subset: Subset | None = None
    layout: Layout | None = None

    def __post_init__(self) -> None:
        if isinstance(self.module, nn.Module):
            raise InputError(
                f"A workload needs a function that makes its module, got module={type(self.module).__name__}, which is "
                "already a module; pass lambda: module."
            )
        for name in ("inputs", "targets"):
            if isinstance(getattr(self, name), Mapping | tuple):
                layout, rows = Layout.of(name, getattr(self, name))
                object.__setattr__(self, name, rows)
                own = ("layout", layout) if name == "inputs" else ("loss", OnParts(self.loss, layout))
                object.__setattr__(self, *own)
        for name, values in (("inputs", self.inputs), ("targets", self.targets)):
            if not isinstance(values, Tensor):
                raise InputError(
                    f"A workload needs its data as tensors, got {name}={type(values).__name__}; use torch.as_tensor."
                )
            refuse_complex("A workload", **{name: [values]})
            if values.layout is not torch.strided:
                got = str(values.layout).removeprefix("torch.")
                raise InputError(
                    f"A workload needs dense data, got {name} of layout={got}; use {name}.to_dense()."
                )
            if not values.ndim or not len(values):
                raise InputError(
                    f"A workload needs at least one sample, got {name}.shape={tuple(values.shape)}; give {name} of "
                    "shape (n, ...)."
                )
            if values.is_floating_point() and not bool(torch.isfinite(values).all()):
                raise InputError(
                    f"A workload needs finite data, got {name} with nan or inf; remove those samples."
                )
        if len(self.targets) != len(self.inputs):
            raise InputError(
                f"A workload needs one target per sample, got targets.shape={tuple(self.targets.shape)} for "
                f"{len(self.inputs)} samples; give targets of shape (n, ...)."
            )

    @classmethod
    def of_loader(
        cls,
        name: str,
        module: Callable[[], nn.Module],
        loss: Callable[[Any, Any], Tensor],
        loader: Iterable[Any] | Dataset[Any],
        *,
        samples: int | None = None,
        targets: Names | None = None,
        **others: Any,
    ) -> "Workload":
        """Workload on the samples of a DataLoader or Dataset.

        ``samples``, ``targets`` and errors are as in `lastiterate.runtime.workloads.streaming.read_samples`.
        """
        inputs, wanted = read_samples(loader, samples, targets)
        return cls(name, module, loss, inputs, wanted, **others)

    @property
    def samples(self) -> int:
        """Number of samples n."""
        return int(self.inputs.shape[0])

    def at_checkpoint(self, path: Path | str) -> "Workload":
        """Workload whose network starts from saved weights, for every seed.

        The privacy of the weights is not accounted for: if they were trained on the data, that training needs
        its own account. File and errors are as in `lastiterate.runtime.workloads.weights.read_weights` and
        `lastiterate.runtime.workloads.weights.weights_for`.
        """
        part, weights, others = weights_for(self.initial(0), read_weights(Path(path)), Path(path))

        def trained() -> nn.Module:
            module = self._made()
            module.load_state_dict(weights, strict=False)
            return module

        where = f"{part} in {Path(path).name}" if part else Path(path).name
        starts = f"Every run starts at the weights of {where}, whose own training is not accounted for."
        if others:
            starts += (
                f" Tensors of that file that are not used: {len(others)}, such as {', '.join(others[:_NAMED])}."
            )
        return replace(
            self,
            module=trained,
            remark=f"{self.remark} {starts}".lstrip(),
            recommended={**self.recommended, "inits": 1},
        )

    def on_file(self, path: Path) -> "Workload":
        """Workload on the samples of a .safetensors, .npz, .parquet or .jsonl file in place of its own.

        If the inputs are a dict, the columns have their names; if they are one tensor, all columns except that of
        the targets (named labels, label, targets, target or y) are put side by side. Values get its own dtypes.
        """
        inputs, targets, loss = self.inputs[:1], self.targets[:1], self.loss
        if self.layout is not None:
            inputs = self.layout.of_rows(inputs)
        if isinstance(loss, OnParts):
            targets, loss = loss.layout.of_rows(targets), loss.module
        inputs, targets = read_rows(path, inputs, targets)
        remark = f"{self.remark} The samples are those of {Path(path).name}.".lstrip()
        return replace(self, loss=loss, inputs=inputs, targets=targets, layout=None, subset=None, remark=remark)

    def certified(self, seed: int, diameter: float) -> LossConstants:
        """Constants of the loss on the ball of ``diameter`` around the parameters drawn from ``seed``."""
        if self.constants is None:
            raise InputError(
                f"Certified constants need a closed form, got workload={self.name}; define its constants, or "
                "measure it and use an estimate."
            )
        module = self.initial(seed)
        known = self.constants(module, diameter)
        if isfinite(known.smoothness) and diameter > 2 * known.radius:
            raise InputError(
                f"Certified constants must hold on the ball of diameter={diameter!r}, got radius={known.radius!r} "
                f"from workload={self.name}; return constants for the requested ball from its "
                "constants(module, diameter)."
            )
        longest = 0.0
        if known.input_norm < inf:
            longest = float(self.inputs.double().reshape(self.samples, -1).norm(dim=1).max())
        if longest > known.input_norm:
            raise InputError(
                f"Certified constants need inputs of norm at most {known.input_norm!r}, got a norm of {longest!r} in "
                f"workload={self.name}; scale its inputs down, or certify constants for longer inputs."
            )
        if known.loss:
            with torch.no_grad():
                outputs = module(self.inputs[:1].to(next(module.parameters()))).shape[-1]
            refuse_other_loss(self.loss, self.targets, outputs, known.loss, known.scale)
        return known

    def hessian_operator(self, point: Any = None, sample: int | None = None, **settings: Any) -> Any:
        """Hessian of a sample's loss, or of the mean loss (None), as a `scipy.sparse.linalg.LinearOperator`.

        ``point`` is the vector of all trained parameters; None for the initial ones. ``settings`` are fields
        of `lastiterate.runtime.constants.sampling.Sampling`, such as the seed of the initial parameters.
        """
        sampling, hessian = (
            import_module(f"lastiterate.runtime.{name}") for name in ("constants.sampling", "hessian")
        )
        return hessian.HessianOperator(sampling.Sampling().but(**settings).gradients(self), point, sample)

    def _made(self) -> nn.Module:
        mend = f"from workload={self.name}; correct its factory."
        with user_code("The module of a workload must be built without an error", mend):
            made = self.module()
        if self.layout is None or isinstance(made, OnParts) or not isinstance(made, nn.Module):
            return made
        return OnParts(made, self.layout)

    def initial(self, seed: int) -> nn.Module:
        """Module initialised from ``seed``, on the CPU; torch's global generator is left unchanged."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(count("seed", seed, least=0))
            module = self._made()
        if not isinstance(module, nn.Module):
            raise InputError(
                f"The module of a workload must be a torch.nn.Module, got {type(module).__name__} "
                f"from workload={self.name}; return one from its factory."
            )
        refuse_mixing(module)
        if not any(p.requires_grad for p in module.parameters()):
            raise InputError(
                f"A workload needs a module with parameters to train, got none in workload={self.name}; "
                "give it parameters with requires_grad."
            )
        return module


def described_workload(what: str, workload: object) -> Workload:
    """The workload itself; an `InputError` for any other object."""
    if not isinstance(workload, Workload):
        raise InputError(
            f"{what} needs a Workload, got workload={type(workload).__name__}; build one, or load one."
        )
    return workload


_SUBSET: Final = 2**50
"""Purpose of the stream that draws the samples."""


def subset(workload: Workload, samples: int, seed: int) -> Workload:
    """Workload on a uniformly drawn subset of its samples, in the order of the data.

    A run on the subset is accounted for as a run on ``samples`` samples; no privacy is claimed for the draw.
    """
    if count("samples", samples) > workload.samples:
        raise InputError(
            f"A subset can have at most the {workload.samples} samples of {workload.name}, got samples={samples}; "
            "draw fewer, or leave it out for all of them."
        )
    if workload.subset is not None:
        raise InputError(
            f"A subset must be drawn from all samples, got {workload.name} with {workload.subset}; draw only once."
        )
    order = stream(seed, purpose=_SUBSET).permutation(workload.samples)
    chosen = order[:samples].sort().values
    return replace(
        workload,
        inputs=workload.inputs[chosen],
        targets=workload.targets[chosen],
        subset=Subset(samples, workload.samples, seed),
    )
