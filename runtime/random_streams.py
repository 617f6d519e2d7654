"""Streams of random numbers, one for each purpose of a seed: the same on every device and in chunks of any size.

A number is a function of the seed, the purpose and its place alone. Draws are in rows: row i begins at a block of its
own, so many rows at once are what as many draws of one row are, and a stream goes on anywhere by setting ``done``.

Normal numbers are made in pairs, sqrt(-2 log u) cos(v) and sqrt(-2 log u) sin(v) (Box & Muller 1958). The bits of u and
v are the same everywhere; torch's logarithm, cosine and sine are within 2 units in the last place of the truth on CPU
and CUDA, so two devices give numbers that are within 8 eps of each other, relatively. u has 53 bits, or 32 in
float32: no number is larger than 8.66, or 6.77, which cuts off tails of probability 6e-18, or 1.4e-11, for each number.
Both are below what a statistic of measured constants or of an attack can see. A bound speaks of exact Gaussians, which
no computer draws.
"""

from math import pi
from typing import Final

import torch
from torch import Tensor

from lastiterate.runtime.philox import WORDS, shifted, words

LARGE: Final = 2**20
"""Rows of more numbers than this are drawn in the precision that they are used in."""

_AT_ONCE: Final = 2**15
"""Blocks that are made at once on the CPU, where they stay in its caches."""

_AT_ONCE_ELSEWHERE: Final = 2**20
_SEEDS: Final = 1_000_003
"""More parts than anything with one seed has."""


class Stream:
    """The random numbers of one purpose of one seed, or of a part of them.

    Args:
        seed: at least 0; seeds that are a multiple of 2**64 apart are the same.
        purpose: from 0 to 2**64 - 1.
        part: which of the 2**64 streams of this purpose.
        done: blocks that were drawn before.

    Attributes:
        done: blocks drawn so far: all that a stream needs to be taken up again.
    """

    def __init__(self, seed: int, purpose: int, part: int = 0, done: int = 0) -> None:
        self._key, self._part, self.done = (seed % 2**64, purpose), part, done

    def part(self, index: int) -> "Stream":
        """Another stream of the same purpose, from its beginning, for each index from 0 on."""
        return Stream(*self._key, part=1 + index)

    def words(self, rows: int, size: int, device: torch.device | str = "cpu") -> Tensor:
        """Random bits, int64, shape (rows, size)."""
        blocks = -(-size // WORDS)
        made = words(self._key, self.done, self._part, rows * blocks, torch.device(device))
        self.done += rows * blocks
        return made.reshape(rows, blocks * WORDS)[:, :size]

    def uniform(self, rows: int, size: int, device: torch.device | str = "cpu") -> Tensor:
        """Uniform numbers of [0, 1), multiples of 2**-53 in float64, shape (rows, size); not for mps."""
        return shifted(self.words(rows, size, device), 11).double().mul_(2.0**-53)

    def integers(self, high: int, count: int, device: torch.device | str = "cpu") -> Tensor:
        """Whole numbers from 0 to high - 1, shape (count,); one is more probable than another by high / 2**63."""
        return shifted(self.words(1, count, device)[0], 1) % high

    def permutation(self, count: int, device: torch.device | str = "cpu") -> Tensor:
        """The numbers below ``count`` in random order."""
        return self.words(1, count, device)[0].argsort(stable=True)

    def normals(self, rows: int, size: int, like: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Standard normal numbers, shape (rows, size), on the device of ``like`` and in its type.

        They are made in ``dtype``; if that is None in float64, but long rows in the type of ``like``: in float32 it is
        twice as fast.
        """
        dtype = dtype or (like.dtype if size > LARGE else torch.float64)
        home = torch.device("cpu") if like.device.type == "mps" else like.device  # no float64 on mps
        found = torch.empty(rows, size, dtype=dtype, device=home)
        most = (_AT_ONCE if home.type == "cpu" else _AT_ONCE_ELSEWHERE) * WORDS
        a_word = 1 if dtype is torch.float64 else 2
        if size <= most:
            for part in torch.split(found, max(1, most // max(1, size))):
                _fill(part, self.words(len(part), -(-size // (2 * a_word)) * 2, home))
            return found.to(like)
        for row in found:
            for part in torch.split(row, most * a_word):
                _fill(part[None], self.words(1, -(-len(part) // (2 * a_word)) * 2, home))
        return found.to(like)


def _fill(found: Tensor, bits: Tensor) -> None:
    """Write normal numbers of random bits, shape (rows, an even number), one pair of each two words or of each."""
    if found.dtype is torch.float64:
        u, v = (shifted(bits[:, k::2], 11).double().add_(0.5).mul_(2.0**-53) for k in (0, 1))
    else:
        u, v = (part.to(found.dtype).add_(0.5).mul_(2.0**-32) for part in (bits & (2**32 - 1), shifted(bits, 32)))
    length, angle = u.log_().mul_(-2.0).sqrt_(), v.mul_(2 * pi)
    even, odd = found[:, ::2], found[:, 1::2]
    torch.mul(length[:, : even.shape[1]], angle.cos()[:, : even.shape[1]], out=even)
    torch.mul(length[:, : odd.shape[1]], angle.sin_()[:, : odd.shape[1]], out=odd)


def stream(seed: int, purpose: int) -> Stream:
    """The stream of one purpose of one seed."""
    return Stream(seed, purpose)


def seed_of(seed: int, part: int) -> int:
    """The seed of one part of something with a seed: an initialisation, or a block of runs."""
    return _SEEDS * seed + part
