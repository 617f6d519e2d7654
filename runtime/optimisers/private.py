"""Base of the private optimisers: batches as accounted for, an account of what ran, and checkpoints.

An optimiser takes one step on the rows that `PrivateOptimiser.batches` chose, counts it, and says at any time what has
been run. Steps on other rows have no bound, so what can be noticed is refused: a step without a batch drawn for it, one
of another size, and a sample whose row changes. A run that is taken up from a checkpoint goes on bit by bit: the state
holds the parameters, the number of steps, and how far every random stream is used. The batches are drawn again from the
seed.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError, count, echo
from lastiterate.numeric.random_projection import RandomProjectionRun
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.checkpointing import read_checkpoint, write_checkpoint
from lastiterate.runtime.devices import says_when_memory_runs_out
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.batches import draw_batches
from lastiterate.runtime.training.descent import BATCHES
from lastiterate.runtime.workloads.validation import refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

Run = TypeVar("Run", NoisySGD, RandomProjectionRun)

_FACTOR: Final = 6364136223846793005
"""Odd: powers of it weigh the words of a row, modulo 2^64."""


class PrivateOptimiser(torch.optim.Optimizer, Generic[Run]):
    """A torch optimiser with per-sample gradients that keeps its own account; arguments as those of its subclasses."""

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Tensor, Tensor], Tensor],
        run: Run,
        *,
        seed: int,
        memory: int | None,
        cuda_graphs: bool,
    ) -> None:
        self._need("module", module, nn.Module, "a torch.nn.Module")
        self._need("loss", loss, Callable, "a function of output and target")
        self._need("cuda_graphs", cuda_graphs, bool, "True or False")
        refuse_mixing(module)
        seed = count("seed", seed, least=0)
        memory = None if memory is None else count("memory", memory)
        self.run: Run = run
        self.seed, self.done = seed, 0
        self._module, self._loss, self._memory = module, loss, memory
        named = {name: p for name, p in module.named_parameters() if p.requires_grad}
        if not named:
            raise InputError(
                f"{type(self).__name__} needs parameters to train, got none; give some with requires_grad."
            )
        self._layout = {name: list(p.shape) for name, p in named.items()}
        super().__init__(named.values(), {})
        self._streams = {"noise": stream(seed, purpose=0)}
        self._waiting: dict[int, Tensor] = {}  # batches that were drawn, by their steps
        self._sums = torch.zeros(run.dataset_size, dtype=torch.int64)  # of each sample's row, 0 where it was not seen
        self._first: Gradients | None = None
        self._recorded = cuda_graphs

    def _need(self, name: str, value: object, kind: Any, need: str) -> None:
        if not isinstance(value, kind):
            raise InputError(f"{type(self).__name__} needs {need}, got {name}={type(value).__name__}; give one.")

    @abstractmethod
    def _moved(self, point: Tensor, gradients: Gradients | None) -> Tensor:
        """Point after step ``self.done`` from ``point``; no gradients for an empty batch."""

    def batches(self) -> Iterator[Tensor]:
        """Indices of the samples of every step that is left, drawn as the run says."""
        left = islice(enumerate(draw_batches(self.run, stream(self.seed, purpose=BATCHES))), self.done, None)
        for t, batch in left:
            self._waiting[t] = batch
            yield batch

    @says_when_memory_runs_out
    @torch.no_grad()
    def step(self, inputs: Tensor, targets: Tensor) -> None:  # type: ignore[override]
        """One update on a batch.

        The account is of the batches that `batches` draws; rows that were chosen in another way have no bound, and are
        refused as far as they can be told: by their number, and by a sample whose row changes.

        Args:
            inputs: shape (k, ...), the rows that `batches` chose; k may be 0 for Poisson batches.
            targets: shape (k, ...).

        Raises:
            InputError: the run is over, the rows are not those that it drew, or the parameters stop being finite;
                everything is then as before.
        """
        t = self.done
        if t >= self.run.steps:
            raise InputError(f"The run is over after steps={t}, got one step more; describe a longer run.")
        checksums, point = self._check_rows(t, inputs, targets), self._point()
        before = {name: drawn.done for name, drawn in self._streams.items()}
        try:
            moved = self._moved(point, self._gradients(point, inputs, targets) if len(inputs) else None)
            if not bool(torch.isfinite(moved).all()):
                raise InputError(
                    f"Training needs finite parameters, got nan or inf after step={t + 1}; lower step_size."
                )
        except BaseException:
            for name, drawn in self._streams.items():
                drawn.done = before[name]
            raise
        self._move(moved)
        self._sums[self._waiting.pop(t)] = checksums
        self.done += 1

    def _check_rows(self, t: int, inputs: Tensor, targets: Tensor) -> Tensor:
        """Checksums of the rows of step t, or an `InputError` where they are not those of its batch."""
        batch = self._waiting.get(t)
        if batch is None or not len(batch) == len(inputs) == len(targets):
            due = "none was drawn" if batch is None else f"{len(batch)} rows with a target each"
            raise InputError(
                f"A step needs the batch that the run drew ({due} for step={t + 1}), got {len(inputs)} inputs and "
                f"{len(targets)} targets; take the indices from batches(), which draws as the run says, one a step."
            )
        now = _checksums(inputs) * _FACTOR + _checksums(targets) | 1
        before = self._sums[batch]
        other = torch.nonzero((before != 0) & (before != now)).flatten().tolist()
        if other:
            raise InputError(
                f"A step needs the rows that the run drew, the same for a sample every time, got another row for "
                f"sample={int(batch[other[0]])} in step={t + 1}; give inputs[batch] and targets[batch] for each batch "
                "of batches(), in its order and without random transforms."
            )
        return now

    def accounted(self) -> Run:
        """Run so far, as the accountant takes it.

        Raises:
            InputError: no step has been made.
        """
        if not self.done:
            raise InputError("An account needs at least one step, got done=0; call step first.")
        if self.done == self.run.steps:
            return self.run
        cut: dict[str, Any] = {
            name: value[: self.done]
            for name in ("step_size", "noise_std")
            if isinstance(value := getattr(self.run, name), tuple)
        }
        return replace(self.run, steps=self.done, **cut)

    def save(self, path: str | Path) -> None:
        """Write `state_dict` to a file, whole or not at all: an older file stays until the new one is complete."""
        write_checkpoint(path, self.state_dict())

    def load(self, path: str | Path) -> None:
        """Go on where `save` was called, parameters of the module included, in this process or in another.

        Raises:
            InputError: the file is missing, damaged, no checkpoint, or that of another run; nothing is changed then.
        """
        self.load_state_dict(read_checkpoint(path))

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs to go on bit by bit; safe for ``torch.load(weights_only=True)``."""
        return {
            "optimiser": type(self).__name__,
            "done": self.done,
            "streams": {name: drawn.done for name, drawn in self._streams.items()},
            "run": asdict(self.run),
            "seed": self.seed,
            "layout": self._layout,
            "parameters": self._point(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken, parameters of the module included."""
        self._check(state_dict)
        for name, drawn in self._streams.items():
            drawn.done = state_dict["streams"][name]
        self._move(state_dict["parameters"].to(self._point()))
        self.done = state_dict["done"]

    def _check(self, state: dict[str, Any]) -> None:
        """Refuse a state that does not fit, before anything is changed."""
        mine, keys = self.state_dict(), set(state) if isinstance(state, dict) else set()
        if keys != set(mine):
            raise InputError(
                f"A checkpoint needs the keys {', '.join(sorted(mine))}, got {', '.join(sorted(map(str, keys)))}; "
                "load what save or state_dict gave."
            )
        for name in ("optimiser", "seed", "run", "layout"):
            if type(state[name]) is not type(mine[name]) or state[name] != mine[name]:
                raise InputError(
                    f"A checkpoint needs to be of the same run, with {name}={mine[name]}, got {name}={state[name]}; "
                    "build the optimiser with what was trained."
                )
        self._check_point("parameters", state["parameters"])
        streams = state["streams"]
        if not isinstance(streams, dict) or set(streams) != set(self._streams):
            raise InputError(
                f"A checkpoint needs the random streams {', '.join(self._streams)}, got streams={echo(streams)}; load "
                "an intact one."
            )
        numbers = {"done": (state["done"], self.run.steps)}
        numbers |= {f"streams[{name!r}]": (held, 2**63 - 1) for name, held in streams.items()}
        for name, (value, most) in numbers.items():
            if type(value) is not int or not 0 <= value <= most:
                raise InputError(
                    f"A checkpoint needs a whole number up to {most}, got {name}={echo(value)}; load an intact one."
                )

    def _check_point(self, name: str, value: object) -> None:
        """Refuse a value of a checkpoint that is not a finite point of this module's parameter space."""
        mine = self._point()
        fits = isinstance(value, Tensor) and (value.shape, value.dtype) == (mine.shape, mine.dtype)
        if not isinstance(value, Tensor) or not fits or not bool(torch.isfinite(value).all()):
            got = f"{tuple(value.shape)} of {value.dtype}" if isinstance(value, Tensor) else repr(value)
            raise InputError(
                f"A checkpoint needs finite {name} of shape ({len(mine)},) of {mine.dtype}, got {name}={got}; "
                "build the optimiser on the module that was trained."
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

    def _normal(self, size: int, like: Tensor) -> Tensor:
        """Standard normal noise of shape (size,), drawn in double precision where there is one."""
        return self._streams["noise"].normals(1, size, like, torch.float64)[0]

    def _gradients(self, point: Tensor, inputs: Tensor, targets: Tensor) -> Gradients:
        """Those of a batch; they are tried on the first one."""
        workload = Workload("a batch", lambda: self._module, self._loss, inputs, targets)
        if self._first is not None and (self._first.device, self._first.dtype) == (point.device, point.dtype):
            refuse_mixing(self._module)  # it may have been put into another mode
            return self._first.on(workload.inputs, workload.targets, recorded=self._recorded)
        dtype = str(point.dtype).removeprefix("torch.")
        self._first = Gradients(workload, self._module, dtype=dtype, device=str(point.device), memory=self._memory)
        return self._first


def _checksums(rows: Tensor) -> Tensor:
    """A number for each row by its bytes, shape (k,), on the CPU; equal rows have equal ones on every device."""
    if not isinstance(rows, Tensor) or not rows.numel():  # what is not a tensor is refused where gradients are made
        return torch.zeros(len(rows), dtype=torch.int64)
    words = rows.detach().contiguous().reshape(len(rows), -1).view(torch.uint8)
    words = words.view(torch.int32) if words.shape[1] % 4 == 0 else words
    weights = torch.full((words.shape[1],), _FACTOR, device=rows.device).cumprod(0)
    return (words * weights).sum(dim=1).cpu()
