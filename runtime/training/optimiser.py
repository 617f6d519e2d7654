"""Projected noisy SGD as a torch optimiser: for a training loop of one's own, and accounted for as it ran.

    optimiser = ProjectedNoisySGD(module, loss, run, seed=0)
    for batch in optimiser.batches():
        optimiser.step(inputs[batch], targets[batch])
    print(bound(optimiser.accounted(), Smooth(1.0), delta=1e-5))

It is `lastiterate.runtime.training.descent.train` step by step, on a module whose parameters move in place. With a
domain it is the DPSGD-DC of Liang et al. 2026 (algorithm 1: "double clipping" of gradients and of parameters), whose
domain is the ball of radius D around the origin; here the ball lies around the parameters that the module came with,
and ``run.diameter`` is its diameter.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from lastiterate.numeric.errors import InputError
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.memory import says_when_memory_runs_out
from lastiterate.runtime.training.batches import batches
from lastiterate.runtime.training.descent import BATCHES, project, stream
from lastiterate.runtime.workloads.probe import refuse_mixing
from lastiterate.runtime.workloads.workload import Workload

__all__ = ["ProjectedNoisySGD"]

_KEYS = frozenset({"done", "noise", "center", "run", "seed", "parameters"})


class ProjectedNoisySGD(torch.optim.Optimizer):
    """Per-sample clipping, Gaussian noise and projection, in the order that the theorems ask for.

    Args:
        module: its trained parameters are moved in place.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: what is to be run; `accounted` says what has been.
        seed: of the noise and of the batches; the same draws on every device.
        memory: bytes that one chunk of per-sample gradients may take.

    Raises:
        InputError: the module mixes samples or is random, or has nothing to train.

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
        seed: int = 0,
        memory: int = 256 * 2**20,
    ) -> None:
        refuse_mixing(module)
        self.run, self.seed, self.done = run, seed, 0
        self._module, self._loss, self._memory = module, loss, memory
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained:
            raise InputError("ProjectedNoisySGD needs parameters to train, got none; give some with requires_grad.")
        super().__init__(trained, {})
        self._noise = stream(seed, purpose=0)
        self._center = self._point()

    def batches(self) -> Iterator[Tensor]:
        """Indices of the samples of every step that is left, drawn as the run says."""
        return islice(batches(self.run, stream(self.seed, purpose=BATCHES)), self.done, None)

    @says_when_memory_runs_out
    @torch.no_grad()
    def step(self, inputs: Tensor, targets: Tensor) -> None:  # type: ignore[override]
        """One update on a batch.

        The account is of the batches that `batches` draws; rows that were chosen in another way have no bound.

        Args:
            inputs: shape (k, ...), the rows that `batches` chose; k may be 0 for Poisson batches.
            targets: shape (k, ...).

        Raises:
            InputError: the run is over, the batch has another size than the run says, or the parameters stop being
                finite; the parameters are then as before.
        """
        run, t = self.run, self.done
        if t >= run.steps:
            raise InputError(f"The run is over after steps={run.steps}, got one step more; describe a longer run.")
        if len(inputs) != len(targets) or (run.sampling != "poisson" and len(inputs) != run.batch):
            raise InputError(
                f"A step needs batch_size={run.batch} rows with a target each, got {len(inputs)} inputs and "
                f"{len(targets)} targets; take them from batches()."
            )
        point = self._point()
        total = self._total(point, inputs, targets) if len(inputs) else torch.zeros_like(point)
        drawn = torch.randn(len(point), generator=self._noise, dtype=torch.float64).to(point)
        moved = point - run.step_size_at(t) * total / run.batch + run.noise_std_at(t) * drawn
        moved = project(moved, self._center, run.diameter)
        if not bool(torch.isfinite(moved).all()):
            raise InputError(f"Training needs finite parameters, got nan or inf after step={t + 1}; lower step_size.")
        self._move(moved)
        self.done += 1

    def accounted(self) -> NoisySGD:
        """What has been run so far, as `lastiterate.numeric.bound.bound` takes it.

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

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs to go on bit by bit; safe for ``torch.load(weights_only=True)``."""
        return {
            "done": self.done,
            "noise": self._noise.get_state(),
            "center": self._center,
            "run": asdict(self.run),
            "seed": self.seed,
            "parameters": self._point(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken, parameters of the module included.

        Raises:
            InputError: it is no such state, or that of another run; nothing is changed then.
        """
        keys = set(state_dict) if isinstance(state_dict, dict) else set()
        if keys != _KEYS:
            raise InputError(
                f"A checkpoint needs the keys {', '.join(sorted(_KEYS))}, got {', '.join(sorted(map(str, keys)))}; "
                "load what state_dict() gave."
            )
        if state_dict["run"] != asdict(self.run) or state_dict["seed"] != self.seed:
            raise InputError(
                f"A checkpoint needs to be of the same run and seed={self.seed}, got seed={state_dict['seed']} and "
                f"run={state_dict['run']}; build the optimiser with what was trained."
            )
        if state_dict["parameters"].shape != self._center.shape:
            raise InputError(
                f"A checkpoint needs {len(self._center)} parameters, got {len(state_dict['parameters'])}; build the "
                "optimiser on the module that was trained."
            )
        self._noise.set_state(state_dict["noise"].cpu())
        self._center = state_dict["center"].to(self._center)
        self._move(state_dict["parameters"].to(self._center))
        self.done = int(state_dict["done"])

    def _trained(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def _point(self) -> Tensor:
        return torch.cat([p.detach().reshape(-1) for p in self._trained()])

    @torch.no_grad()
    def _move(self, point: Tensor) -> None:
        parts = torch.split(point, [p.numel() for p in self._trained()])
        for parameter, part in zip(self._trained(), parts, strict=True):
            parameter.copy_(part.reshape(parameter.shape))

    def _total(self, point: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        workload = Workload("a batch", lambda: self._module, self._loss, inputs, targets)
        dtype = str(point.dtype).removeprefix("torch.")
        gradients = Gradients(
            workload, self._module, dtype=dtype, device=str(point.device), memory=self._memory, tried=not self.done
        )
        return gradients.total(point, self.run.clip_norm)
