"""Sets in which the input of a sample may lie: a box or a ball, onto which an ascent in the input is projected."""

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from lastiterate.numeric.errors import InputError
from lastiterate.runtime.random_streams import Stream
from lastiterate.runtime.training.descent import project
from lastiterate.runtime.workloads.rows import in_parts


@dataclass(frozen=True)
class InputSet:
    """The box [low, high] in every entry of an input, or the ball around 0 in the Euclidean norm of all entries.

    Attributes:
        low: of the box, a length of inputs; minus the radius of a ball.
        high: of the box; the radius of a ball.
        ball: whether it is a ball.
    """

    low: float
    high: float
    ball: bool = False

    def __str__(self) -> str:
        return f"ball:{self.high:g}" if self.ball else f"box:{self.low:g},{self.high:g}"

    def projected(self, inputs: Tensor) -> Tensor:
        """The nearest inputs of the set, shape (k, ...)."""
        if not self.ball:
            return inputs.clamp(self.low, self.high)
        flat = inputs.flatten(start_dim=1)
        return project(flat, torch.zeros_like(flat[0]), 2 * self.high).reshape(inputs.shape)

    def holds(self, inputs: Tensor) -> bool:
        """Tell whether all of these inputs are in the set."""
        return all(torch.equal(self.projected(part), part) for part in in_parts(inputs))

    def drawn(self, like: Tensor, generator: Stream) -> Tensor:
        """Random corners of the box, or points of the sphere, in the shape of ``like``, (k, ...), one after another."""
        found = generator.normals(len(like), like[0].numel(), like)
        if not self.ball:
            return torch.where(found < 0, self.low, self.high).to(like).reshape(like.shape)
        return self.projected((found / found.norm(dim=1, keepdim=True) * self.high).reshape(like.shape))

    def around(self, entries: int) -> tuple[float, float]:
        """A value of all entries and an upper bound of the distance of any point of the set from there."""
        if self.ball:
            return 0.0, self.high
        middle = (self.low + self.high) / 2
        return middle, max(self.high - middle, middle - self.low) * sqrt(entries) * (1 + 1e-12)


def input_set(text: str) -> InputSet:
    """The set that a text names: ``box:LOW,HIGH`` or ``ball:RADIUS``.

    Raises:
        InputError: it names none.

    >>> input_set("box:0,1"), str(input_set("ball:5"))
    (InputSet(low=0.0, high=1.0, ball=False), 'ball:5')
    """
    kind, _, rest = text.partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    if kind == "ball" and len(numbers) == 1 and 0 < numbers[0] < float("inf"):
        return InputSet(-numbers[0], numbers[0], ball=True)
    if kind == "box" and len(numbers) == 2 and -float("inf") < numbers[0] < numbers[1] < float("inf"):
        return InputSet(numbers[0], numbers[1])
    raise InputError(
        f"A set of inputs is box:LOW,HIGH with LOW < HIGH or ball:RADIUS above 0, got inputs={text}; say box:0,1."
    )
