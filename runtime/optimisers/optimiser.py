"""Projected noisy SGD as a torch optimiser for custom training loops, with an account of the steps taken.

The optimiser performs `lastiterate.runtime.training.descent.train` step by step. Each step uses the rows
chosen by `ProjectedNoisySGD.batches`. Steps on other rows have no bound, so every detectable deviation is
refused: a step without a batch drawn for it, a batch of another size, or a sample whose row changes. A run
resumed from a checkpoint continues bit for bit.

For DPSGD-DC (Liang et al. 2026, algorithm 1, "double clipping"), ``center`` is "origin", and ``run.diameter``
is twice the radius D of the domain |theta| <= D. The center of the ball must not depend on the data, and the
constants of the losses must hold on this ball.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.errors import InputError, count, echo, teaches
from lastiterate.numeric.explain import UNTRIED
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.checkpointing import read_checkpoint, write_checkpoint
from lastiterate.runtime.constants.refutation import check_not_refuted
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.batches import draw_batches
from lastiterate.runtime.training.descent import BATCHES, project_onto_ball
from lastiterate.runtime.trials import user_code
from lastiterate.runtime.workloads.independence import refuse_tied_rows
from lastiterate.runtime.workloads.rows import SAMPLES, Rows
from lastiterate.runtime.workloads.validation import refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

_FACTOR: Final = 6364136223846793005
"""Odd factor, whose powers modulo 2^64 are the weights of a row's words in its checksum."""


@teaches()
class ProjectedNoisySGD(torch.optim.Optimizer):
    """Per-sample clipping, Gaussian noise and projection, in the order that the theorems require.

    Args:
        module: module whose trained parameters are updated in place, first by projection onto the domain.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: planned run; `accounted` returns the run so far.
        center: center of the domain: "initial", the initial parameters of the module, or "origin".
        seed: seed of noise and batches; draws are the same on every device.
        memory: bytes for one chunk of per-sample gradients; None for the memory available on the device.

    Raises:
        InputError: a module that mixes samples, is random or has no trained parameters; or another center.

    Source: Chien & Li 2025, update (1); Liang et al. 2026, algorithm 1.

    >>> from torch.nn.functional import mse_loss
    >>> run = NoisySGD(2, 0.1, 0.01, 1.0, dataset_size=4, batch_size=2, sampling="cyclic", diameter=1.0)
    >>> optimiser = ProjectedNoisySGD(nn.Linear(3, 1), mse_loss, run)
    >>> for batch in optimiser.batches():
    ...     optimiser.step(torch.ones(4, 3)[batch], torch.zeros(4, 1)[batch])
    >>> optimiser.accounted() == run
    True
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        run: NoisySGD,
        *,
        center: str = "initial",
        seed: int = 0,
        memory: int | None = None,
    ) -> None:
        needs: tuple[tuple[str, object, Any], ...] = (
            ("module", module, nn.Module), ("loss", loss, Callable), ("run", run, NoisySGD)
        )  # fmt: skip
        for name, value, kind in needs:
            if not isinstance(value, kind):
                raise InputError(
                    f"{type(self).__name__} needs a {kind.__name__} as {name}, got {name}={type(value).__name__}; pass "
                    "one."
                )
        refuse_mixing(module)
        self.run, self.seed, self.done = run, count("seed", seed, least=0), 0
        self._module, self._loss = module, loss
        self._memory = None if memory is None else count("memory", memory)
        named = {name: p for name, p in module.named_parameters() if p.requires_grad}
        if not named:
            raise InputError(
                f"{type(self).__name__} needs parameters to train, got none; pass parameters with requires_grad=True."
            )
        if not isinstance(center, str) or center not in ("initial", "origin"):
            raise InputError(f"center needs 'initial' or 'origin', got center={echo(center)}; choose one.")
        self._layout = {name: list(p.shape) for name, p in named.items()}
        super().__init__(named.values(), {})
        self._noise = stream(self.seed, purpose=0)
        self._waiting: dict[int, Tensor] = {}  # drawn batches by step
        # Checksums of the samples' rows, 0 if unseen.
        self._sums = torch.zeros(run.dataset_size, dtype=torch.int64)
        self._first: Gradients | None = None
        self._tried_on: list[tuple[Tensor, Tensor]] = []  # first rows of the steps
        self._room = SAMPLES  # room for further rows
        self._trials: dict[tuple[Assumption, int], str] = {}
        self._around_start = center == "initial"
        self._center = self._point() if self._around_start else torch.zeros_like(self._point())
        self._move(project_onto_ball(self._point(), self._center, run.diameter))
        self._previous = self._point()

    def batches(self) -> Iterator[Tensor]:
        """Sample indices for every remaining step, drawn as the run describes."""
        left = islice(enumerate(draw_batches(self.run, stream(self.seed, purpose=BATCHES))), self.done, None)
        for t, batch in left:
            self._waiting[t] = batch
            yield batch

    @says_when_memory_runs_out
    @torch.no_grad()
    def step(self, inputs: Tensor, targets: Tensor) -> None:  # type: ignore[override]
        """Take one step on the rows chosen by `batches`, shape (rows, ...); a Poisson batch may be empty.

        Raises:
            InputError: the run is over, the rows are not those drawn, or the parameters become non-finite;
                the state is then unchanged.
        """
        t = self.done
        if t >= self.run.steps:
            raise InputError(f"The run is over after steps={t}, got one more step; describe a longer run.")
        checksums, point, drawn = self._check_rows(t, inputs, targets), self._point(), self._noise.done
        try:
            moved = self._moved(point, self._gradients(point, inputs, targets) if len(inputs) else None)
            if not bool(torch.isfinite(moved).all()):
                raise InputError(
                    f"Training needs finite parameters, got nan or inf after step={t + 1}; lower step_size."
                )
        except BaseException:
            self._noise.done = drawn
            raise
        self._previous = point
        self._move(moved)
        self._sums[self._waiting.pop(t)] = checksums
        self.done += 1

    def _moved(self, point: Tensor, gradients: Gradients | None) -> Tensor:
        """Point after the next step; ``gradients`` is None for an empty batch."""
        run, t = self.run, self.done
        total, ahead = torch.zeros_like(point), point + run.momentum * (point - self._previous)
        taken = ahead if run.nesterov else point  # where the gradients are taken
        if gradients is not None:
            total = gradients.total(taken, run.clip_norm)
            if self._room > 0:
                inputs, targets = (rows[: self._room].clone() for rows in gradients.rows())
                self._tried_on.append((inputs, targets))
                self._room -= len(inputs)
        (drawn,) = self._noise.normals(1, len(point), point, torch.float64)
        decayed = (1 - run.step_size_at(t) * run.weight_decay) * taken + (ahead - taken)
        moved = decayed - run.step_size_at(t) * total / run.batch + run.noise_std_at(t) * drawn
        return project_onto_ball(moved, self._center, run.diameter)

    def _check_rows(self, t: int, inputs: Tensor, targets: Tensor) -> Tensor:
        batch = self._waiting.get(t)
        if batch is None or not len(batch) == len(inputs) == len(targets):
            due = "none was drawn" if batch is None else f"{len(batch)} rows with a target each"
            raise InputError(
                f"A step needs the batch that the run drew ({due} for step={t + 1}), got {len(inputs)} inputs and "
                f"{len(targets)} targets; use the indices from batches(), one batch for each step."
            )
        now = _checksums(inputs) * _FACTOR + _checksums(targets) | 1
        before = self._sums[batch]
        other = torch.nonzero((before != 0) & (before != now)).flatten().tolist()
        if other:
            raise InputError(
                "A step needs the rows that the run drew, with the same row for a sample in every step, got a "
                f"different row for sample={int(batch[other[0]])} in step={t + 1}; give inputs[batch] and "
                "targets[batch] for each batch of batches(), in the order of the batch and without random transforms."
            )
        return now

    def accounted(self) -> NoisySGD:
        """Run of the steps so far; an `InputError` before the first step."""
        if not self.done:
            raise InputError("An account needs at least one step, got done=0; call step first.")
        if self.done == self.run.steps:
            return self.run
        held = {name: getattr(self.run, name) for name in ("step_size", "noise_std")}
        cut: dict[str, Any] = {
            name: value[: self.done] for name, value in held.items() if isinstance(value, tuple)
        }
        return replace(self.run, steps=self.done, **cut)

    def bound(self, assumption: Assumption, *, order: float | None = None, delta: float | None = None) -> Bound:
        """Bound on the run so far, from `lastiterate.numeric.bound.bound`; samples test the assumption.

        Raises:
            InputError: as in `bound`, or if two points and a sample refute the assumption.
        """
        found = bound(self.accounted(), assumption, order=order, delta=delta)
        return replace(found, tried=self._tried(assumption))

    def _tried(self, assumption: Assumption) -> str:
        if not self._tried_on:  # steps before a checkpoint leave no samples
            return UNTRIED
        inputs, targets = map(torch.cat, zip(*self._tried_on, strict=True))
        key = assumption, len(inputs)
        if key not in self._trials:
            module = self._copied()
            vector_to_parameters(self._center, [one for one in module.parameters() if one.requires_grad])
            workload = Workload("the samples", lambda: module, self._loss, inputs, targets)
            tied = self._tied(module, inputs, targets)
            tried = check_not_refuted("bound", workload, self.run, assumption)
            self._trials[key] = "; ".join(filter(None, (tried, tied)))
        return self._trials[key]

    def _copied(self) -> nn.Module:
        rest = "in deepcopy; make it copyable, or call lastiterate.bound(accounted(), ...), without a test."
        with user_code("A test of the losses needs a copy of the module", rest):
            return deepcopy(self._module, {id(self): self})  # a hook may be a method of the optimiser

    def _tied(self, module: nn.Module, inputs: Tensor, targets: Tensor) -> str:
        held = self._center.device, self._center.dtype
        return refuse_tied_rows("the samples", module, self._loss, Rows(inputs, *held), Rows(targets, *held))

    def save(self, path: str | Path) -> None:
        """Write `state_dict` to a file; an older file stays until the new one is complete."""
        write_checkpoint(path, self.state_dict())

    def load(self, path: str | Path) -> None:
        """Resume from a file written by `save`, including the module's parameters.

        Raises:
            InputError: a file that is missing, damaged or not a checkpoint of this run; the state is then
                unchanged.
        """
        self.load_state_dict(read_checkpoint(path))

    def state_dict(self) -> dict[str, Any]:
        """State needed to resume the run; safe for ``torch.load(weights_only=True)``."""
        return {
            "optimiser": type(self).__name__,
            "done": self.done,
            "streams": {"noise": self._noise.done},
            "run": asdict(self.run),
            "seed": self.seed,
            "layout": self._layout,
            "parameters": self._point(),
            "previous": self._previous,
            "center": self._center,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from a `state_dict`, including the module's parameters."""
        self._check(state_dict)
        self._noise.done, self.done = state_dict["streams"]["noise"], state_dict["done"]
        self._move(state_dict["parameters"].to(self._point()))
        self._center = state_dict["center"].to(self._center)
        self._previous = state_dict["previous"].to(self._center)
        self._trials.clear()

    def _check(self, state: dict[str, Any]) -> None:
        mine, keys = self.state_dict(), set(state) if isinstance(state, dict) else set()
        if keys != set(mine):
            raise InputError(
                f"A checkpoint needs the keys {', '.join(sorted(mine))}, got {', '.join(sorted(map(str, keys)))}; "
                "load the output of save or state_dict."
            )
        for name in ("optimiser", "seed", "run", "layout"):
            if type(state[name]) is not type(mine[name]) or state[name] != mine[name]:
                raise InputError(
                    f"A checkpoint must come from the same run, with {name}={mine[name]}, got {name}={state[name]}; "
                    "build the optimiser as it was in training."
                )
        for name in ("parameters", "previous", "center"):
            value, like = state[name], mine[name]
            fits = isinstance(value, Tensor) and (value.shape, value.dtype) == (like.shape, like.dtype)
            if not fits or not bool(torch.isfinite(value).all()):
                got = f"{tuple(value.shape)} of {value.dtype}" if isinstance(value, Tensor) else repr(value)
                raise InputError(
                    f"A checkpoint needs finite {name} of shape ({len(like)},) and type {like.dtype}, got "
                    f"{name}={got}; build the optimiser on the module that was trained."
                )
        if not self._around_start and bool(state["center"].any()):
            raise InputError(
                f"A checkpoint needs the domain of this optimiser, got center={state['center']}; build the optimiser "
                "as it was in training."
            )
        streams = state["streams"]
        if not isinstance(streams, dict) or set(streams) != {"noise"}:
            raise InputError(
                f"A checkpoint needs the random stream 'noise', got streams={echo(streams)}; load an intact one."
            )
        for name, value, most in (
            ("done", state["done"], self.run.steps), ("streams['noise']", streams["noise"], 2**63 - 1)
        ):  # fmt: skip
            if type(value) is not int or not 0 <= value <= most:
                raise InputError(
                    f"A checkpoint needs a whole number up to {most}, got {name}={echo(value)}; load an intact one."
                )

    def _trained(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def _point(self) -> Tensor:
        return torch.cat([p.detach().reshape(-1) for p in self._trained()])

    @torch.no_grad()
    def _move(self, point: Tensor) -> None:
        parts = torch.split(point, [p.numel() for p in self._trained()])
        for parameter, part in zip(self._trained(), parts, strict=True):
            parameter.copy_(part.reshape(parameter.shape))

    def _gradients(self, point: Tensor, inputs: Tensor, targets: Tensor) -> Gradients:
        workload = Workload("a batch", lambda: self._module, self._loss, inputs, targets)
        if self._first is not None and (self._first.device, self._first.dtype) == (point.device, point.dtype):
            refuse_mixing(self._module)  # its mode may have changed
            return self._first.on(workload.inputs, workload.targets)
        dtype = str(point.dtype).removeprefix("torch.")
        self._first = Gradients(
            workload, self._module, dtype=dtype, device=str(point.device), memory=self._memory
        )
        return self._first


def _checksums(rows: Tensor) -> Tensor:
    """Checksum of each row's bytes, shape (rows,), on the CPU; equal rows agree on every device."""
    if not isinstance(rows, Tensor) or not rows.numel():  # other types are refused when gradients are computed
        return torch.zeros(len(rows), dtype=torch.int64)
    words = rows.detach().contiguous().reshape(len(rows), -1).view(torch.uint8)
    words = words.view(torch.int32) if words.shape[1] % 4 == 0 else words
    weights = torch.full((words.shape[1],), _FACTOR, device=rows.device).cumprod(0)
    return (words * weights).sum(dim=1).cpu()
