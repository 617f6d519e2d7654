"""Projected noisy SGD inside the loop of a trainer, compared with the run at every step.

A trainer calls ``optimizer.step()`` without a batch. `RecordedSGD` sees the batch of the module's last
forward pass, compares it with the batch that the run draws, and takes the private step with its own
per-sample gradients, not with the trainer's. Training that the theory does not cover (several forward passes
per step, mixed precision, other batches, an undescribed schedule, parameters moved by other code) raises an
`InputError`.
"""

from collections.abc import Callable
from math import isclose
from typing import Any

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, teaches
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.numeric.schemes import SCHEMES
from lastiterate.runtime.optimisers.optimiser import ProjectedNoisySGD
from lastiterate.runtime.workloads.rows import spread_over, telling_rows
from lastiterate.runtime.workloads.validation import refuse_mixing


@teaches()
class RecordedSGD(ProjectedNoisySGD):
    """`ProjectedNoisySGD` whose ``step()`` uses the batch of the last forward pass.

    Args:
        module: map from inputs to outputs; the trainer's model may be a larger module that calls it.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: planned run, with batches of one size.
        inputs: all samples, shape (dataset_size, ...).
        targets: shape (dataset_size, ...).
        **options: options of `ProjectedNoisySGD`.

    Raises:
        InputError: as in `ProjectedNoisySGD`; Poisson batches; or data of another size than the run's.

    >>> from torch.nn.functional import mse_loss
    >>> run = NoisySGD(2, 0.1, 0.01, 1.0, dataset_size=4, batch_size=2, sampling="cyclic", diameter=1.0)
    >>> line, rows, zeros = nn.Linear(3, 1), torch.eye(4, 3), torch.zeros(4, 1)
    >>> optimiser = RecordedSGD(line, mse_loss, run, rows, zeros)
    >>> for batch in optimiser.batch_sampler():
    ...     mse_loss(line(rows[batch]), zeros[batch]).backward()
    ...     optimiser.step()
    >>> optimiser.accounted() == run
    True
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        run: NoisySGD,
        inputs: Tensor,
        targets: Tensor,
        **options: Any,
    ) -> None:
        super().__init__(module, loss, run, **options)
        if not SCHEMES[run.sampling].fixed_size:
            raise InputError(
                f"A trainer's loop needs batches of one size, got sampling={run.sampling!r}; choose other batches, or "
                "train with Opacus."
            )
        for name, values in (("inputs", inputs), ("targets", targets)):
            if not isinstance(values, Tensor) or values.ndim == 0:
                raise InputError(
                    "A record needs all of the data as tensors, one sample per row, got "
                    f"{name}={type(values).__name__}; stack the samples."
                )
        if not len(inputs) == len(targets) == run.dataset_size:
            raise InputError(
                f"The run needs dataset_size={run.dataset_size} inputs and targets, got {len(inputs)} and "
                f"{len(targets)}; give all of the data, and describe a run on it."
            )
        self._inputs, self._targets = inputs, targets
        chosen = sorted({*spread_over(len(inputs)), *telling_rows(inputs, targets)})
        self._tried_on, self._room = [(inputs[chosen], targets[chosen])], 0
        self._tied(self._copied(), inputs, targets)
        self._seen: list[object] = []
        self._autocast = self._stepping = False
        self._plan, self._kept = self.batches(), self._point()
        self._due = next(self._plan)
        for group in self.param_groups:  # read by schedulers, and compared in every step
            group["lr"] = run.step_size_at(0)
        module.register_forward_pre_hook(self._see, with_kwargs=True)

    def batch_sampler(self) -> list[list[int]]:
        """Sample indices for every remaining step, for one pass of a DataLoader."""
        return [batch.tolist() for batch in self.batches()]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Take one step on the batch with which the module was called; return the result of ``closure``.

        Raises:
            InputError: as in `ProjectedNoisySGD.step`, or the trainer deviates from the run.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        try:
            self._check_step()
            self._stepping = True
            super().step(*(part[self._due].to(self._kept.device) for part in (self._inputs, self._targets)))
        finally:
            self._seen, self._autocast, self._stepping = [], False, False
        self._kept, self._due = self._point(), next(self._plan, self._due)
        return loss

    def _tried(self, assumption: Assumption) -> str:
        self._stepping = True  # ignore forward passes of the test
        try:
            return super()._tried(assumption)
        finally:
            self._stepping = False

    def check_ended(self) -> None:
        """Refuse a training run with fewer steps than ``run``, or with parameters changed since the last step."""
        if self.done < self.run.steps:
            raise InputError(
                f"The run needs steps={self.run.steps}, got {self.done} when training ended; the number of steps must "
                "not depend on the data: leave out early stopping, or describe the shorter run beforehand."
            )
        self._check_unmoved()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._plan, self._kept, self._seen = self.batches(), self._point(), []
        self._due = next(self._plan, self._due)

    def _see(self, module: nn.Module, given: tuple[object, ...], named: dict[str, object]) -> None:  # noqa: ARG002
        if torch.is_grad_enabled() and not self._stepping:
            self._seen.append(next(iter((*given, *named.values())), None))
            self._autocast |= torch.is_autocast_enabled(self._kept.device.type)

    def _check_step(self) -> None:
        t = self.done
        if t >= self.run.steps:
            raise InputError(
                f"The run is over after steps={self.run.steps}, got one more step; train for as many epochs as it has "
                "(max_epochs=1 with batch_sampler, which holds all steps), or describe a longer run."
            )
        refuse_mixing(self._module)  # a trainer may have set training mode
        if len(self._seen) != 1:
            raise InputError(
                f"A step needs one forward pass of one batch, got passes={len(self._seen)} in step={t + 1}; do not use "
                "gradient accumulation, and describe a larger batch_size."
            )
        if self._autocast:
            raise InputError(
                f"A step needs gradients in the precision of the parameters, got autocast in step={t + 1}; turn off "
                "mixed precision."
            )
        seen, due = self._seen[0], self._inputs[self._due]
        if (
            not isinstance(seen, Tensor)
            or seen.shape != due.shape
            or not torch.equal(seen.detach().to(due), due)
        ):
            got = tuple(seen.shape) if isinstance(seen, Tensor) else type(seen).__name__
            raise InputError(
                f"A step needs the batch that the run draws, {len(due)} rows, got others (shape={got}) in "
                f"step={t + 1}; make the loader with batch_sampler=optimiser.batch_sampler(), and go through it once."
            )
        for group in self.param_groups:
            if not isclose(group["lr"], self.run.step_size_at(t), rel_tol=1e-9):
                raise InputError(
                    f"A step needs the step size of the run, {self.run.step_size_at(t):g}, got lr={group['lr']:g} in "
                    f"step={t + 1}; leave out the scheduler, or describe it: step_size=(...), one number per step."
                )
        self._check_unmoved()

    def _check_unmoved(self) -> None:
        if not torch.equal(self._point(), self._kept):
            raise InputError(
                f"The run needs the parameters as its last step left them, got different ones after step={self.done}; "
                "leave out whatever else changes them, such as weight averaging or another optimiser."
            )
