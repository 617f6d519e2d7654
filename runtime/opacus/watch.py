"""Checks that training with Opacus follows its description.

Before every step, the settings of the optimiser, the loader that drew the batch, the data set, the projection
and the parameters are compared with the description and with the state after the last step. A change is
refused before a step uses it, so the account stays valid for the last counted iterate.

Some samples are stored with their clipped gradient and the iterate. If such a sample is drawn again, the
gradients of one loss at two points are known and may refute the assumption. With module and loss, `try_on_data`
tests some of the data, with the network of ``make_private`` without Opacus's hooks.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

import torch
from opacus import GradSampleModule
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer
from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Assumption, Convex, Holder, StronglyConvex
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.refutation import TRIED, check_not_refuted, conjuncts
from lastiterate.runtime.fingerprint import fingerprint_of_values
from lastiterate.runtime.opacus.description import Description, step_size_of, weight_decay_of
from lastiterate.runtime.opacus.projection import Projection, attached, parameters_of
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.independence import Loss, refuse_tied_rows
from lastiterate.runtime.workloads.rows import Rows, some_rows
from lastiterate.runtime.workloads.validation import DROPOUT, refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

_SAMPLES: Final = 16
_NUMBERS: Final = 2**22
"""Largest number of stored samples, and of floats stored for all of them."""

_FLOOR: Final = 2.0**10
"""Assumed rounding error of a gradient, in units of its last place."""

SCHEDULED: Final = ("lr", "noise_multiplier")
"""Settings that may follow a schedule; clip norm, batch size and weight decay must not."""


class _Draws(UniformWithReplacementSampler):  # type: ignore[misc]
    """Poisson batches of a loader, with a queue of the batches that no step has used yet."""

    def __init__(self, drawn: UniformWithReplacementSampler) -> None:
        super().__init__(
            num_samples=drawn.num_samples,
            sample_rate=drawn.sample_rate,
            generator=drawn.generator,
            steps=drawn.steps,
        )
        self._waiting: deque[list[int]] = deque()

    def __iter__(self) -> Iterator[list[int]]:
        self._waiting.clear()
        for batch in super().__iter__():
            self._waiting.append(batch)
            yield batch

    def taken(self, size: int | None) -> list[int] | None:
        """Take the next batch of ``size`` samples (None: of any size); None if no such batch waits."""
        while self._waiting:
            batch = self._waiting.popleft()
            if size is None or len(batch) == size:
                return batch
        return None


class _Trial:
    """Test of an assumption on ``pairs`` pairs of gradients."""

    def __init__(self, assumption: Assumption) -> None:
        self._parts = [one for one in conjuncts(assumption) if isinstance(one, TRIED)]
        self._seen: dict[int, tuple[Tensor, Tensor]] = {}
        self.pairs = 0

    def refuted(self, optimizer: DPOptimizer, batch: Sequence[int]) -> str:
        """Clause that names a pair that refutes the assumption; empty if there is none."""
        point = torch.cat([one.detach().reshape(-1) for one in optimizer.params])
        most = max(1, min(_SAMPLES, _NUMBERS // (2 * len(point)))) if self._parts else 0
        for row, sample in enumerate(batch):
            if sample not in self._seen and len(self._seen) >= most:
                continue
            gradient = torch.cat([one[row].reshape(-1) for one in optimizer.grad_samples])
            gradient = gradient * min(1.0, optimizer.max_grad_norm / (float(gradient.norm()) + 1e-6))
            before = self._seen.get(sample)
            self._seen[sample] = (point, gradient)
            found = self._against(sample, before, (point, gradient)) if before else ""
            if found:
                return found
        return ""

    def _against(self, sample: int, before: tuple[Tensor, Tensor], now: tuple[Tensor, Tensor]) -> str:
        apart, change = (b.double() - a.double() for a, b in zip(before, now, strict=True))
        floor = _FLOOR * torch.finfo(now[1].dtype).eps * float(before[1].norm() + now[1].norm())
        distance, least = float(apart.norm()), float(change.norm()) - floor
        if not distance > 0 or not least < float("inf"):
            return ""
        self.pairs += bool(self._parts)
        along = (float(change @ apart) / distance + floor) / distance
        for part in self._parts:
            order = float(part.lam) if isinstance(part, Holder) else 1.0
            if least > part.L * distance**order:
                return (
                    f"{part!r}, but at two iterates {distance:.3g} apart the clipped gradients of sample {sample} "
                    f"differ by {least:.4g}: L{'' if order == 1 else f' of order {order:g}'} is at least "
                    f"{least / distance**order:.4g}"
                )
            if isinstance(part, Convex | StronglyConvex) and along < getattr(part, "m", 0.0):
                return (
                    f"{part!r}, but at two iterates {distance:.3g} apart the clipped gradients of sample {sample} "
                    f"differ along the line between them by {along:.4g} times that distance: losses are less convex, "
                    "or clipping acts"
                )
        return ""


class Watch:
    """Comparison of training with its description, from `describe` on.

    The sampler of the loader is replaced by one that draws the same batches and queues them. The assumption
    is tested unless items of the data are random. ``scheduled`` holds the members of `SCHEDULED` that may
    change between steps; ``last`` holds the noise multiplier and step size of the last step.
    """

    def __init__(
        self,
        optimizer: DPOptimizer,
        data_loader: DPDataLoader,
        described: Description,
        assumption: Assumption,
        scheduled: Collection[str],
        last: tuple[float, float] | None,
    ) -> None:
        sampler = data_loader.batch_sampler
        if type(sampler) not in (UniformWithReplacementSampler, _Draws):
            raise InputError(
                f"The theorems need Poisson batches, got batch_sampler={type(sampler).__name__}; pass the loader that "
                "make_private returned."
            )
        self._draws = sampler if isinstance(sampler, _Draws) else _Draws(sampler)
        # DataLoader forbids setting this attribute, and reads it in every epoch.
        vars(data_loader)["batch_sampler"] = self._draws
        self._loader, self._data, self._described = data_loader, data_loader.dataset, described
        self._seen = _contents(self._data)
        self._trial, self._refuted = _Trial(assumption) if described.data else None, ""
        self._scheduled, self._last = frozenset(scheduled), last or _numbers(optimizer)
        self._projection: Projection | None = attached(optimizer)
        self._parameters = parameters_of(optimizer)
        self._left = None if last is None else self._copied()
        self._counted = False
        self._hook = optimizer.original_optimizer.register_step_post_hook(self._after)

    def end(self) -> None:
        """Stop watching."""
        self._hook.remove()

    def check_step(self, optimizer: DPOptimizer, sample_rate: float) -> None:
        """Refuse a step that does not follow the description, before it is taken."""
        self._check_settings(optimizer)
        self.check_parameters()
        self._check_data(sample_rate)
        whole = type(optimizer) is DPOptimizer and not optimizer._is_last_step_skipped
        gradients = optimizer.params[0].grad_sample
        size = len(gradients) if whole and isinstance(gradients, Tensor) else None
        batch = self._draws.taken(size)
        if batch is None:
            raise InputError(
                "Every step needs a batch of its own from the data_loader that was described, got a "
                f"step{'' if size is None else f' on {size} samples'} that this loader did not draw; iterate over "
                "that loader, beginning after describe, and take one step for each of its batches."
            )
        if self._trial is not None and size is not None:
            self._refuted = self._refuted or self._trial.refuted(optimizer, batch)
        self.check_assumption()
        self._last, self._counted = _numbers(optimizer), True

    def check_assumption(self) -> None:
        """Refuse the assumption if a step refuted it."""
        if self._refuted:
            raise InputError(
                f"Training needs losses that meet the assumption, got assumption={self._refuted}; call describe "
                "again with an assumption that holds (the weakest is Clipped())."
            )

    @property
    def tried(self) -> str:
        """Description of how the steps tested the assumption; empty if they did not."""
        pairs = 0 if self._trial is None else self._trial.pairs
        return f"tested on {pairs} gradients of samples that were drawn again, not refuted" if pairs else ""

    def check_parameters(self) -> None:
        """Refuse parameters other than those after the last step."""
        if self._left is None or all(map(torch.equal, self._left, (one.detach() for one in self._parameters))):
            return
        raise InputError(
            "Only the described optimizer may change the parameters, got parameters that changed after its last "
            "step; restore them, or begin a new training run with a new PrivacyEngine."
        )

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters after the last step; empty before the first."""
        return "" if self._left is None else fingerprint_of_values(self._left)

    def _check_settings(self, optimizer: DPOptimizer) -> None:
        described = self._described
        now = (optimizer.expected_batch_size, optimizer.max_grad_norm, weight_decay_of(optimizer))
        if now != (described.batch_size, described.clip_norm, described.weight_decay):
            raise InputError(
                f"Clip norm, batch size and weight decay must stay as described, got max_grad_norm={now[1]:g}, "
                f"expected_batch_size={now[0]} and weight_decay={now[2]:g}; the accountant does not support "
                "schedules for them."
            )
        for name, before, value in zip(SCHEDULED, self._last[::-1], _numbers(optimizer)[::-1], strict=True):
            if before != value and name not in self._scheduled:
                raise InputError(
                    f"{name} must stay constant unless a schedule is declared, got {name}={value:g} after "
                    f"{name}={before:g}; if it follows a schedule that does not depend on the data, call "
                    f"describe(..., scheduled={(name,)!r})."
                )
        projection = attached(optimizer)
        if projection is not self._projection or (projection and projection.diameter > described.diameter):
            raise InputError(
                f"The projection must stay as described, with diameter={described.diameter:g}, got a "
                "different one; attach it with project before describe, and leave it in place."
            )

    def _check_data(self, sample_rate: float) -> None:
        loader, size = self._loader, self._described.dataset_size
        rates = {sample_rate, loader.sample_rate, self._draws.sample_rate}
        if len(rates) > 1 or loader.batch_sampler is not self._draws:
            raise InputError(
                f"The data loader must sample as described, with sample_rate={sample_rate:g}, got another sampler or "
                f"sample_rate={min(rates - {sample_rate}, default=sample_rate):g}; make a new PrivacyEngine for "
                "another batch size."
            )
        if (
            loader.dataset is not self._data
            or {len(self._data), self._draws.num_samples} != {size}
            or _contents(self._data) != self._seen
        ):
            raise InputError(
                f"The data set must stay as described, with dataset_size={size}, got a different or changed data "
                f"set of {len(loader.dataset)} samples; make a new PrivacyEngine for other data."
            )

    def _after(self, *_: Any) -> None:
        if self._counted:
            self._left, self._counted = self._copied(), False

    def _copied(self) -> list[Tensor]:
        return [one.detach().clone() for one in self._parameters]


def _numbers(optimizer: DPOptimizer) -> tuple[float, float]:
    return optimizer.noise_multiplier, step_size_of(optimizer)


def _contents(data: Any) -> list[tuple[int, int]]:
    return [(id(one), one._version) for one in getattr(data, "tensors", ()) if isinstance(one, Tensor)]


def try_on_data(
    module: nn.Module | None, loss: Loss | None, data_loader: Any, run: NoisySGD, assumption: Assumption
) -> str:
    """Test on some of the data whether rows change the gradients of others and whether the assumption holds.

    Returns a description of the tests; empty without module and loss.
    """
    if module is None and loss is None:
        return ""
    if module is None or loss is None:
        raise InputError(
            f"describe needs module and loss together, got only {'module' if loss is None else 'loss'}, which is not "
            "enough for a test; give both, or neither."
        )
    workload = _workload_of(module, loss, data_loader.dataset)
    plain = workload.module()
    for part in plain.modules():
        if isinstance(part, DROPOUT):
            part.eval()
    refuse_mixing(plain)
    held = next(plain.parameters())
    rows, targets = (Rows(values, held.device, held.dtype) for values in (workload.inputs, workload.targets))
    tied = refuse_tied_rows(workload.name, plain, workload.loss, rows, targets, batched=True)
    return "; ".join(filter(None, (tied, check_not_refuted("describe", workload, run, assumption))))


def _workload_of(module: nn.Module, loss: Any, items: Any) -> Workload:
    copied = deepcopy(module)
    plain = copied.to_standard_module() if isinstance(copied, GradSampleModule) else copied
    for part in plain.modules():  # the removal methods do not reach copied hooks
        for hooks in (part._forward_hooks, part._backward_hooks):
            for key, hook in list(hooks.items()):
                if str(getattr(getattr(hook, "func", hook), "__module__", "")).startswith("opacus."):
                    del hooks[key]
    with user_code(
        "A test of an assumption needs pairs of an input and a target",
        "in the data; leave out module and loss.",
    ):
        inputs, targets = some_rows(items)
    device = next(iter(plain.parameters())).device
    if isinstance(loss, DPLossFastGradientClipping):  # ghost clipping takes row losses
        criterion = deepcopy(loss.criterion)
        criterion.reduction = "none"
        loss = lambda output, target: criterion(output, target).reshape(len(output), -1).mean(dim=1).mean()  # noqa: E731
    return Workload("described", lambda: deepcopy(plain), loss, inputs.to(device), targets.to(device))
