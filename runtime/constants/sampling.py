"""Points drawn around an iterate."""

from enum import StrEnum
from math import log
from typing import Final

import torch
from torch import Tensor

__all__ = ["SMALLEST_RADIUS", "Draw", "ball_points"]

SMALLEST_RADIUS: Final = 1e-3
"""The smallest radius of a log-uniform draw, as a share of the radius of the ball."""


class Draw(StrEnum):
    """Distribution of the points in the ball.

    ``UNIFORM`` is appendix A.13's draw. In many dimensions it puts nearly every point at the boundary (the
    median of |u| is 2^(-1/d), 0.9987 of the radius for d = 515), so it says nothing about short distances.
    ``LOG_UNIFORM`` draws the direction uniformly and the logarithm of the radius uniformly over three
    decades, so that a measured modulus has support at short distances too.
    """

    UNIFORM = "uniform"
    LOG_UNIFORM = "log-uniform"


def ball_points(count: int, dimension: int, radius: float, draw: Draw, generator: torch.Generator) -> Tensor:
    """Points of the Euclidean ball of this radius around the origin.

    Args:
        count: number of points.
        dimension: number of coordinates d.
        radius: radius of the ball, a length (not its diameter).
        draw: distribution of the radius; the direction is uniform.
        generator: on the CPU.

    Returns:
        Shape (count, dimension), float64, on the CPU.
    """
    directions = torch.randn(count, dimension, generator=generator, dtype=torch.float64)
    directions /= torch.linalg.vector_norm(directions, dim=1, keepdim=True)
    uniform = torch.rand(count, 1, generator=generator, dtype=torch.float64)
    if draw is Draw.UNIFORM:
        shares = uniform ** (1.0 / dimension)
    else:
        shares = torch.exp(uniform * log(SMALLEST_RADIUS))
    return directions * shares * radius
