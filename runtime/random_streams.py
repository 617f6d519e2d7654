"""Streams of random numbers, one for each purpose of a seed."""

import torch
from torch import Tensor

LARGE = 2**20
"""More numbers than this at once are drawn in the precision that they are used in."""

_GOLDEN = 0x9E3779B97F4A7C15
_SEEDS = 1_000_003
"""More parts than anything with one seed has."""


def stream(seed: int, purpose: int) -> torch.Generator:
    """A generator on the CPU for one purpose of one seed: the same draws whatever the device computes on.

    Torch's generator takes no more than the low 32 bits of a seed, so these must tell the streams apart. A purpose is
    an offset of 32 bits, spread so that two powers of two, 2**40 to 2**54, meet only at seeds millions apart.
    """
    offset = (purpose * _GOLDEN % 2**64) >> 32
    return torch.Generator().manual_seed((2 * seed + offset + 1) * _GOLDEN % 2**32)


def seed_of(seed: int, part: int) -> int:
    """The seed of one part of something with a seed: an initialisation, or a block of runs."""
    return _SEEDS * seed + part


def normals(count: int, generator: torch.Generator, like: Tensor) -> Tensor:
    """Standard normal numbers, shape (count,), drawn on the CPU, as ``like`` in type and place.

    They are drawn in double precision, large vectors in the type of ``like``: in float32 that is several times faster,
    and no number is larger than 5.8.
    """
    dtype = like.dtype if count > LARGE else torch.float64
    return torch.randn(count, generator=generator, dtype=dtype).to(like)
