"""Streams of random numbers, one for each purpose of a seed."""

import torch
from torch import Tensor

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


_AT_ONCE = 2**18
"""A multiple of 16: torch draws normal numbers by sixteens, so blocks of as many are the same numbers."""


def normals(count: int, generator: torch.Generator, like: Tensor) -> Tensor:
    """Standard normal numbers, shape (count,), drawn in double precision on the CPU, as ``like`` in type and place.

    They are those of ``torch.randn(count, dtype=torch.float64)``, drawn by blocks: large vectors need no room for it.
    """
    found = torch.empty(count, dtype=like.dtype)
    blocks = max(1, count // _AT_ONCE)
    for i in range(blocks):
        part = found[i * _AT_ONCE : (i + 1) * _AT_ONCE if i + 1 < blocks else count]
        part.copy_(torch.randn(len(part), generator=generator, dtype=torch.float64))
    return found.to(like.device)
