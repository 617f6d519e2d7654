"""Projected noisy SGD as a torch optimiser: for a training loop of one's own, and accounted for as it ran.

It is `lastiterate.runtime.training.descent.train` step by step, on a module whose parameters move in place. The
DPSGD-DC of Liang et al. 2026 (algorithm 1, "double clipping" of gradients and of parameters) has ``center="origin"``,
and ``run.diameter`` is twice the radius D of its domain |theta| <= D. The account does not depend on where the ball
lies, as long as its center does not depend on the data; the constants of the losses are needed on this ball.

A proximal map may come after the noise: the theorems speak of steps W <- P(phi(W) + noise), P any map that is
1-Lipschitz, the same in both runs and blind to the data (docs/proofs/shift_program.md). The proximal map of a convex
function is one; so is a projection after it.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from math import isfinite
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from lastiterate.numeric.bound import Bound, bound
from lastiterate.numeric.errors import InputError, teaches
from lastiterate.numeric.explain import UNTRIED
from lastiterate.numeric.losses.assumptions import Assumption
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.constants.refutation import check_not_refuted
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.optimisers.private import PrivateOptimiser
from lastiterate.runtime.random_streams import stream
from lastiterate.runtime.training.descent import project_onto_ball
from lastiterate.runtime.workloads.independence import refuse_tied_rows
from lastiterate.runtime.workloads.rows import Rows
from lastiterate.runtime.workloads.telling_rows import SAMPLES
from lastiterate.runtime.workloads.workload import Workload

Proximal = Callable[[Tensor], Tensor]
"""Takes all parameters one after the other, shape (dimension,), to such a vector."""

_PURPOSE: Final = 2**50
_SCALES: Final = 10.0 ** torch.arange(-6.0, 3.0)
_PAIRS: Final = 8
_ITERATIONS: Final = 12
_FLOOR: Final = 64.0
"""Rounding that is assumed of a map, in units of the last place of the longest vector."""


@teaches()
class ProjectedNoisySGD(PrivateOptimiser[NoisySGD]):
    """Per-sample clipping, Gaussian noise and projection, in the order that the theorems ask for.

    Args:
        module: its trained parameters are moved in place. Where they lie outside the domain they are projected to it
            at once, so that the run starts inside.
        loss: loss(output, target) of a batch of one sample, a scalar.
        run: what is to be run; `accounted` says what has been.
        center: of the ball to which iterates are projected: "initial", the parameters that the module comes with;
            "origin"; or a vector of shape (dimension,), which must not depend on the data.
        proximal: a map of all parameters, shape (dimension,), that comes after the noise and before the projection in
            every step, such as ``lambda w: softshrink(w, step_size * weight)`` for a penalty of absolute values. It
            must not look at the data and increase no distance; then the bound of the run is the same. It is tried
            on pairs of points, and what is not refused is not proved.
        seed: of the noise and of the batches; the same draws on every device.
        memory: bytes that one chunk of per-sample gradients may take; None for what the device has room for.
        cuda_graphs: on CUDA, record the gradients of a step and replay them in later ones, which is several times as
            fast for small batches. The module and the loss must then do the same in every step: a number in either that
            is changed between steps is not seen.

    Raises:
        InputError: the module mixes samples or is random, or has nothing to train; the center is not a point; or the
            proximal map increases the distance of two points.

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
        center: str | Tensor | Sequence[float] = "initial",
        proximal: Proximal | None = None,
        seed: int = 0,
        memory: int | None = None,
        cuda_graphs: bool = False,
    ) -> None:
        self._need("run", run, NoisySGD, "a NoisySGD")
        super().__init__(module, loss, run, seed=seed, memory=memory, cuda_graphs=cuda_graphs)
        self._looked: list[tuple[Tensor, Tensor]] = []  # samples that an assumption is tried on: the first of the steps
        self._room = SAMPLES  # for more of them
        self._trials: dict[tuple[Assumption, int], str] = {}
        self._around_start = isinstance(center, str) and center == "initial"
        self._center = _center(center, self._point())
        self._proximal = proximal
        if proximal is not None:
            radius = run.diameter / 2 if isfinite(run.diameter) else max(1.0, float(self._point().norm()))
            check_nonexpansive(proximal, self._center, radius)
        self._move(project_onto_ball(self._point(), self._center, run.diameter))

    def bound(self, assumption: Assumption, *, order: float | None = None, delta: float | None = None) -> Bound:
        """Bound of what was run so far, by an assumption that is tried on samples that the steps were made on.

        Arguments are those of `lastiterate.numeric.bound.bound`, which without samples cannot try it. What is returned
        says in ``tried`` on how many it was.

        Raises:
            InputError: as there; or two points and a sample refute the assumption, which are told.
        """
        found = bound(self.accounted(), assumption, order=order, delta=delta)
        return replace(found, tried=self._tried(assumption))

    def _tried(self, assumption: Assumption) -> str:
        """On what the assumption was tried, on the domain, in words."""
        if not self._looked:  # steps before a checkpoint were not seen
            return UNTRIED
        inputs, targets = map(torch.cat, zip(*self._looked, strict=True))
        key = assumption, len(inputs)
        if key not in self._trials:
            module = deepcopy(self._module, {id(self): self})  # where a hook is a method of the optimiser
            vector_to_parameters(self._center, [one for one in module.parameters() if one.requires_grad])
            workload = Workload("the samples", lambda: module, self._loss, inputs, targets)
            tied = self._tied(module, inputs, targets)
            tried = check_not_refuted("bound", workload, self.run, assumption)
            self._trials[key] = "; ".join(filter(None, (tried, tied)))
        return self._trials[key]

    def _tied(self, module: nn.Module, inputs: Tensor, targets: Tensor) -> str:
        """On what it was tried whether rows change the gradients of others, in words."""
        held = self._center.device, self._center.dtype
        rows = Rows(inputs, *held), Rows(targets, *held)
        return refuse_tied_rows("the samples", module, self._loss, *rows)

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs to go on bit by bit; safe for ``torch.load(weights_only=True)``."""
        return {**super().state_dict(), "center": self._center}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._center = state_dict["center"].to(self._center)
        self._trials.clear()

    def _check(self, state: dict[str, Any]) -> None:
        super()._check(state)
        self._check_point("center", state["center"])
        if not self._around_start and not torch.equal(state["center"].to(self._center), self._center):
            raise InputError(
                f"A checkpoint needs the domain of this optimiser, got center={state['center']}; "
                "build the optimiser with what was trained."
            )

    def _moved(self, point: Tensor, gradients: Gradients | None) -> Tensor:
        run, t = self.run, self.done
        total = torch.zeros_like(point)
        if gradients is not None:
            total = gradients.total(point, run.clip_norm, uneven=not run.scheme.fixed_size)
            if self._room > 0:
                inputs, targets = (rows[: self._room].clone() for rows in gradients.rows())
                self._looked.append((inputs, targets))
                self._room -= len(inputs)
        drawn = self._normal(len(point), point)
        decayed = (1 - run.step_size_at(t) * run.weight_decay) * point
        moved = decayed - run.step_size_at(t) * total / run.batch + run.noise_std_at(t) * drawn
        if self._proximal is not None:
            moved = self._proximal(moved)
        return project_onto_ball(moved, self._center, run.diameter)


def _center(center: str | Tensor | Sequence[float], start: Tensor) -> Tensor:
    """The point that ``center`` names, like ``start``."""
    if isinstance(center, str):
        if center not in ("initial", "origin"):
            raise InputError(f"center needs 'initial', 'origin' or a vector, got center={center!r}; choose one.")
        return start.clone() if center == "initial" else torch.zeros_like(start)
    try:
        given = torch.as_tensor(center).detach()
    except (TypeError, ValueError, RuntimeError):
        given = None
    if given is None or given.is_complex():
        raise InputError(
            f"center needs 'initial', 'origin' or a vector, got center={type(center).__name__}; choose one."
        )
    found = given.to(start, copy=True)
    if found.shape != start.shape or not bool(torch.isfinite(found).all()):
        raise InputError(
            f"center needs one finite number for each of the {len(start)} parameters, got a center of shape "
            f"{tuple(found.shape)}; give the parameters one after the other."
        )
    return found


@torch.no_grad()
def check_nonexpansive(proximal: Proximal, start: Tensor, radius: float) -> None:
    """Refuse a map that increases the distance of two points, with these; what is not refused is not proved.

    Pairs are drawn at many distances around many points of the ball of this radius around ``start``. Each of them is
    turned to where the map stretches more, by the powers of its derivative, which is symmetric for the proximal map of
    a convex function.

    Raises:
        InputError: the map does not return such vectors, is random, or expands.
    """
    generator = stream(0, purpose=_PURPOSE)

    def drawn(length: float) -> Tensor:
        one = generator.normals(1, len(start), start, torch.float64)[0]
        return one.mul_(length / float(one.norm()))

    if not torch.equal(_mapped(proximal, start), _mapped(proximal, start)):
        raise InputError(
            "proximal needs a map without randomness, got other values at the same point; draw nothing in it."
        )
    for scale in _SCALES.tolist():
        for _ in range(_PAIRS):
            x = start + drawn(radius * float(generator.uniform(1, 1)))
            direction = drawn(scale * radius)
            for _ in range(_ITERATIONS):
                y = x + direction
                there, here = _mapped(proximal, y), _mapped(proximal, x)
                moved, apart = float((there - here).double().norm()), float((y - x).double().norm())
                longest = max(float(one.norm()) for one in (x, y, here, there))
                floor = _FLOOR * torch.finfo(start.dtype).eps * longest
                if moved > apart + floor:
                    raise InputError(
                        f"proximal needs a map that moves no two points apart, got images {moved:.6g} apart of points "
                        f"{apart:.6g} apart; take the proximal map of a convex function, or a projection onto a convex "
                        "set."
                    )
                if not moved > floor:
                    break
                direction = (there - here) * (scale * radius / moved)


def _mapped(proximal: Proximal, point: Tensor) -> Tensor:
    found = proximal(point.clone())
    if not isinstance(found, Tensor) or found.shape != point.shape or not bool(torch.isfinite(found).all()):
        got = type(found).__name__
        if isinstance(found, Tensor):
            got = "nan or inf" if found.shape == point.shape else f"shape {tuple(found.shape)}"
        raise InputError(
            f"proximal needs to return {len(point)} finite numbers, got {got}; it takes all parameters one after the "
            "other."
        )
    return found
