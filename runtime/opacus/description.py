"""Description of training with Opacus, read from the result of ``make_private``.

Opacus draws every sample with probability q = 1 / m, where m is the number of batches in an epoch, and
divides the sum of the gradients by b = floor(q n) for n samples. Both q and b depend on n (Opacus issues 571
and 819), and so does the scale of the noise, which is visible in the last iterate. No guarantee therefore
covers data sets of two sizes unless m and b are public numbers; otherwise n stays the same and one sample has
gradient 0.

If m does not divide n, the training is described as a run on more data: samples with gradient 0 are added
until m divides their number n', and the step size becomes eta n' / (m b). The iterates are the same.
"""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, fields
from hashlib import sha256
from math import isfinite
from typing import Any, cast

import torch
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
from pydantic import ConfigDict

from lastiterate.numeric.errors import InputError, count, positive
from lastiterate.numeric.losses.assumptions import Assumption, StronglyConvex
from lastiterate.numeric.rounding import exact, lower, precision, upper
from lastiterate.numeric.run import NoisySGD
from lastiterate.runtime.fingerprint import data_fingerprint
from lastiterate.runtime.opacus.projection import attached, parameters_of
from lastiterate.runtime.trials import refuse_complex


@dataclass(frozen=True)
class Description:
    """Numerical description of a training run.

    Attributes:
        dataset_size: number n of samples.
        batch_size: b, by which the sum of the gradients is divided.
        diameter: diameter of the domain, a length; inf without projection.
        centre: fingerprint of the centre of the domain; empty without projection.
        weight_decay: weight decay, added after clipping and noise; gradient / length.
        public: True if sampling rate and batch size do not depend on the data or on n.
        data: fingerprint of some items; empty if these are random.
    """

    dataset_size: int
    batch_size: int
    clip_norm: float
    diameter: float
    centre: str
    weight_decay: float = 0.0
    public: bool = False
    data: str = ""

    __pydantic_config__ = ConfigDict(extra="forbid")

    def check_continues(self, before: "Description") -> None:
        """Refuse to continue a different training run."""
        changed = [one.name for one in fields(self) if getattr(self, one.name) != getattr(before, one.name)]
        if changed == ["data"] and not (self.data and before.data):  # random items, or an older description
            return
        if changed == ["centre"]:
            raise InputError(
                "describe needs the centre of the domain that training began with, got a different one; keep "
                "copies of the initial parameters in the checkpoint, and call project(optimizer, diameter, "
                "centre=copies)."
            )
        if changed:
            name = changed[0]
            raise InputError(
                f"describe must match the steps taken so far, got {name}={getattr(self, name)!r} after "
                f"{name}={getattr(before, name)!r}; continue with the same data, batches, clip norm and domain."
            )

    def run(
        self,
        history: Sequence[tuple[float, float, int]],
        step_sizes: Sequence[tuple[float, int]],
        assumption: Assumption,
    ) -> NoisySGD:
        """Run with the given steps, with the noise rounded down; an `InputError` if no run has these steps.

        ``history`` is as in the accountant, and ``step_sizes`` lists (step size, number of steps), with step
        size 0 if unknown.
        """
        rates = {rate for _, rate, _ in history}
        if len(rates) != 1:
            raise InputError(
                f"A run needs steps of one sampling rate, got sample_rate={sorted(rates)}; make one engine for each "
                "rate."
            )
        n, b = self._padded(rates.pop(), assumption)
        # Rounding must neither raise eta lambda nor lower eta (L + lambda).
        above = exact(1 + 2.0**-50 if self.weight_decay else 1.0)
        with precision():
            decay = lower(exact(self.weight_decay) * self.batch_size / b / above**2)
        etas: list[float] = []
        noises: list[float] = []
        with precision():
            for eta, sigma in zip(
                _unrolled(step_sizes), _unrolled((s, times) for s, _, times in history), strict=True
            ):
                if not eta > 0:
                    raise InputError("Each step needs a step size and one batch, got a step without them; do not "
                                     "use gradient accumulation.")  # fmt: skip
                etas.append(eta if b == self.batch_size else upper(exact(eta) * b / self.batch_size * above))
                noise = exact(eta) * exact(positive("noise_multiplier", sigma)) * exact(self.clip_norm)
                noises.append(lower(noise / self.batch_size))
        return NoisySGD(
            steps=len(etas),
            step_size=tuple(etas),
            noise_std=tuple(noises),
            clip_norm=self.clip_norm,
            dataset_size=n,
            batch_size=b,
            sampling="poisson",
            diameter=self.diameter,
            weight_decay=self.weight_decay if b == self.batch_size else decay,
        )

    def _padded(self, rate: float, assumption: Assumption) -> tuple[int, int]:
        """Smallest numbers n' >= n and b' for which b' / n' is the sampling rate."""
        m = round(1 / rate)
        if abs(rate * m - 1) > 1e-12:
            raise InputError(
                f"The sampling rate must be one over a whole number, got sample_rate={rate:g}; pass the data "
                "loader that make_private returned, and do not use gradient accumulation."
            )
        b = -(-(self.dataset_size + self.public) // m)
        if b * m != self.dataset_size and _is_strongly_convex(assumption):
            raise InputError(
                f"Strongly convex losses need a batch size that divides dataset_size, got {m} batches for "
                f"dataset_size={self.dataset_size}; choose such a batch size, or assume Convex(L)."
            )
        return b * m, b


def describe_training(
    optimizer: Any, data_loader: Any, diameter: float, public: tuple[int, int] | None = None
) -> Description:
    """Describe a training run by the optimiser and the loader from ``make_private``."""
    check_plain(optimizer)
    if not isinstance(data_loader, DPDataLoader):
        raise InputError(
            f"The theorems need Poisson batches, got data_loader={type(data_loader).__name__}; pass the loader that "
            "make_private returned, and leave poisson_sampling as it is."
        )
    if getattr(data_loader.collate_fn, "rand_on_empty", False):
        raise InputError(
            "The theorems need empty batches to stay empty, got rand_on_empty=True; leave it out of make_private."
        )
    refuse_complex("The accountant", parameters=parameters_of(optimizer))
    diameter = positive("diameter", diameter, finite=False)
    if public is not None:
        _set_sizes(optimizer, data_loader, public)
    return Description(
        dataset_size=count("dataset_size", len(cast(Sized, data_loader.dataset))),
        batch_size=count("expected_batch_size", optimizer.expected_batch_size),
        clip_norm=positive("max_grad_norm", optimizer.max_grad_norm),
        diameter=diameter,
        centre=_centre(optimizer, diameter) if isfinite(diameter) else "",
        weight_decay=weight_decay_of(optimizer),
        public=public is not None,
        data=data_fingerprint(data_loader.dataset),
    )


def _set_sizes(optimizer: DPOptimizer, data_loader: DPDataLoader, public: tuple[int, int]) -> None:
    if not isinstance(public, tuple) or len(public) != 2:
        raise InputError(
            f"public needs two numbers, the batches in an epoch and the samples to divide by, got public={public!r}; "
            "choose both independently of the data."
        )
    batches, divisor = count("public[0]", public[0]), count("public[1]", public[1])
    sampler = data_loader.batch_sampler
    data_loader.sample_rate = sampler.sample_rate = 1 / batches
    sampler.steps, optimizer.expected_batch_size = batches, divisor


def step_size_of(optimizer: DPOptimizer) -> float:
    """Step size of all parameters."""
    return float(optimizer.param_groups[0]["lr"])


def weight_decay_of(optimizer: DPOptimizer) -> float:
    """Weight decay of all parameters; an `InputError` if it differs between them."""
    found = {float(group.get("weight_decay", 0.0)) for group in optimizer.original_optimizer.param_groups}
    if len(found) > 1:
        raise InputError(
            f"The theorems need one weight decay for all parameters, got weight_decay={sorted(found)}; put them in one "
            "group."
        )
    return found.pop()


def _centre(optimizer: DPOptimizer, diameter: float) -> str:
    projection = attached(optimizer)
    if projection is not None and projection.diameter <= diameter:
        return sha256(projection.centre.detach().cpu().contiguous().numpy().tobytes()).hexdigest()
    got = "none" if projection is None else f"one of diameter={projection.diameter:g}"
    raise InputError(
        f"diameter={diameter:g} needs an optimiser that projects onto a domain of that diameter, got {got}; call "
        f"project(optimizer, {diameter:g}) first."
    )


def _is_strongly_convex(assumption: Assumption) -> bool:
    return isinstance(assumption, StronglyConvex) or any(
        map(_is_strongly_convex, getattr(assumption, "parts", ()))
    )


def _unrolled(runs: Iterable[tuple[float, int]]) -> list[float]:
    return [value for value, times in runs for _ in range(times)]


_FLAT = (DPOptimizer, DPOptimizerFastGradientClipping)
"""Optimisers that clip each sample's whole gradient; the second optimiser ("ghost clipping") does not store it."""


def check_plain(optimizer: Any) -> None:
    """Refuse an update other than ``(1 - eta lambda) W - eta / b * (sum of clipped gradients + noise)``."""
    if isinstance(optimizer, torch.optim.Optimizer) and not isinstance(optimizer, DPOptimizer):
        raise InputError(
            f"The accountant needs the optimizer that make_private returned, got optimizer={type(optimizer).__name__}; "
            "pass that one."
        )
    if type(optimizer) not in _FLAT:
        raise InputError(
            f"The theorems need flat clipping to a fixed norm on one worker, got optimizer={type(optimizer).__name__}; "
            "use make_private with clipping='flat' and a model that is not distributed."
        )
    inner = optimizer.original_optimizer
    if type(inner) is not torch.optim.SGD:
        raise InputError(
            f"The theorems need plain SGD, got optimizer={type(inner).__name__}; use torch.optim.SGD."
        )
    for group in inner.param_groups:
        for name in ("momentum", "dampening", "nesterov", "maximize"):
            if group.get(name):
                raise InputError(
                    f"The theorems need plain SGD, got {name}={group[name]}; leave it out; the velocity of "
                    "torch.optim.SGD is not projected, so nothing bounds it (ProjectedNoisySGD moves by iterates)."
                )
        if group["lr"] != inner.param_groups[0]["lr"]:
            raise InputError(
                f"The theorems need one step size for all parameters, got lr={group['lr']:g} and "
                f"lr={inner.param_groups[0]['lr']:g}; put them in one group."
            )
    if optimizer.loss_reduction != "mean":
        raise InputError(
            f"The theorems need gradients that are divided by the batch size, got loss_reduction="
            f"{optimizer.loss_reduction!r}; use 'mean'."
        )
