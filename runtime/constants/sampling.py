"""Settings shared by all measurements, and sets from which points and inputs are drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import sqrt
from pathlib import Path
from typing import TypedDict, TypeVar, Unpack

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError, count, echo, positive, teaches
from lastiterate.numeric.store import Arrays, Store
from lastiterate.runtime.gradients import Gradients
from lastiterate.runtime.random_streams import Stream
from lastiterate.runtime.workloads.workload import Workload, described_workload

Choice = TypeVar("Choice", bound=StrEnum)
Parts = Mapping[str, Callable[[Mapping[str, Arrays]], Arrays]]
"""Parts of a measurement by name, each computed from the earlier parts."""


def choose_member(name: str, value: str, among: type[Choice]) -> Choice:
    """Enum member with this value; an `InputError` if there is none."""
    if value not in tuple(among):
        raise InputError(f"{name} needs one of {', '.join(among)}, got {name}={value}; choose one of them.")
    return among(value)


class Draw(StrEnum):
    """Distribution of the points in the ball.

    ``UNIFORM`` is the distribution of appendix A.13. In d dimensions, the median distance to the center is
    2^(-1/d) of the radius (0.9987 for d = 515), so the points give no information on short distances.
    ``LOG_UNIFORM`` draws the logarithm of the radius uniformly over three decades.
    """

    UNIFORM = "uniform"
    LOG_UNIFORM = "log-uniform"


class Settings(TypedDict, total=False):
    """Fields of `Sampling` as keywords."""

    inits: int
    centers: int | None
    points: int
    radius: float
    draw: Draw | str
    dtype: str
    device: str
    memory: int | None
    threads: int
    seed: int
    folder: Path | None
    on_step: Callable[[float, int], None] | None


@teaches()
@dataclass(frozen=True)
class Sampling:
    """Settings of a measurement; the defaults are those of appendix A.13.

    Attributes:
        inits: number of initialisations.
        centers: number of evenly spaced iterates measured, including the first and last; None for all.
        points: number of points drawn around each of these iterates.
        radius: radius of the ball in which points are drawn, a length.
        draw: ``uniform`` in the ball, or ``log-uniform`` radii.
        dtype: ``float32`` or ``float64``.
        device: a torch device name.
        memory: bytes per chunk of gradients, None for a default; affects speed and the last bits of results.
        threads: number of torch threads on the CPU; one is fastest for small networks.
        seed: seed of all random draws, at least 0.
        folder: folder that stores finished parts, which are not recomputed; None stores nothing.
        on_step: function called with the number of finished parts or steps and the total number.

    Raises:
        InputError: a number out of its range, an unknown draw, or a value of another type.
    """

    inits: int = 20
    centers: int | None = None
    points: int = 100
    radius: float = 1.0
    draw: Draw | str = Draw.UNIFORM
    dtype: str = "float64"
    device: str = "cpu"
    memory: int | None = None
    threads: int = 1
    seed: int = 0
    folder: Path | None = None
    on_step: Callable[[float, int], None] | None = None

    def __post_init__(self) -> None:
        least = {"inits": 1, "centers": 2, "points": 1, "memory": 1, "threads": 1, "seed": 0}
        for name, lowest in least.items():
            if getattr(self, name) is not None or name not in ("centers", "memory"):
                object.__setattr__(self, name, count(name, getattr(self, name), least=lowest))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        object.__setattr__(self, "draw", choose_member("draw", self.draw, Draw))
        if not isinstance(self.folder, str | Path | None):
            raise InputError(
                f"folder needs a path, got folder={echo(self.folder)}; leave it out to store nothing."
            )
        object.__setattr__(self, "folder", None if self.folder is None else Path(self.folder))
        if self.on_step is not None and not callable(self.on_step):
            raise InputError(
                f"on_step needs a function, got on_step={echo(self.on_step)}; give a function of (finished, all)."
            )

    @property
    def deciding(self) -> dict[str, object]:
        """Settings that determine the results of one initialisation."""
        names = ("centers", "points", "radius", "dtype", "seed")
        return {name: getattr(self, name) for name in names} | {"draw": str(self.draw)}

    def but(self, **changed: Unpack[Settings]) -> "Sampling":
        """Copy of the settings with some changed."""
        if unknown := changed.keys() - Settings.__annotations__:
            raise TypeError(f"unknown settings {unknown}")  # callers validate their settings
        return replace(self, **changed)

    def gradients(self, workload: Workload, seed: int | None = None) -> Gradients:
        """Gradients of a workload initialised from ``seed``; None for the seed of the settings."""
        module = described_workload("gradients", workload).initial(self.seed if seed is None else seed)
        return Gradients(workload, module, dtype=self.dtype, device=self.device, memory=self.memory)

    def compute(self, parts: Parts, store: Store, more: int = 0) -> dict[str, Arrays]:
        """Compute all parts in order, or read them from the store; ``more`` parts follow elsewhere."""
        found: dict[str, Arrays] = {}
        told = self.on_step or (lambda _finished, _all: None)
        told(0, len(parts) + more)
        for name, part in parts.items():
            found[name] = store.part(name, partial(part, found))
            told(len(found), len(parts) + more)
        return found


@dataclass(frozen=True)
class InputSet:
    """Inputs with every entry in [low, high]."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"box:{self.low:g},{self.high:g}"

    def projected(self, inputs: Tensor) -> Tensor:
        """Nearest inputs in the set, shape (inputs, ...)."""
        return inputs.clamp(self.low, self.high)

    def drawn(self, like: Tensor, generator: Stream) -> Tensor:
        """Random corners of the box, in the shape of ``like``."""
        found = generator.normals(len(like), like[0].numel(), like)
        return torch.where(found < 0, self.low, self.high).to(like).reshape(like.shape)

    def around(self, entries: int) -> tuple[float, float]:
        """Value of each entry of the center, and an upper bound on the distance from it to a corner."""
        middle = (self.low + self.high) / 2
        return middle, max(self.high - middle, middle - self.low) * sqrt(entries) * (1 + 1e-12)


def input_set(text: str) -> InputSet:
    """Set described by ``box:LOW,HIGH``; an `InputError` for other strings."""
    kind, _, rest = text.partition(":")
    try:
        low, high = map(float, rest.split(","))
    except ValueError:
        low = high = 0.0
    if kind != "box" or not -float("inf") < low < high < float("inf"):
        raise InputError(
            f"A set of inputs must be box:LOW,HIGH with LOW < HIGH, got inputs={text}; try box:0,1."
        )
    return InputSet(low, high)
