"""Streams of random numbers, one for each seed and purpose, independent of device and chunk size.

A number depends only on the seed, the purpose and its position in the stream. Every row of a draw begins at a
new block, so rows drawn together and one by one are the same.

The bits are those of Philox-4x64-10, a function of a key and a counter,

    (c_0, c_1, c_2, c_3) -> (hi(M_1 c_2) ^ c_1 ^ k_0, lo(M_1 c_2), hi(M_0 c_0) ^ c_3 ^ k_1, lo(M_0 c_0)), ten times,

with the key raised by (W_0, W_1) between rounds. NumPy computes the bits; on CUDA, a Triton kernel does so if
Triton is installed. No statistical test is known to distinguish them from random bits, but Philox is not a
cipher.

Normal numbers are made in pairs, sqrt(-2 log u) cos(v) and sqrt(-2 log u) sin(v), from uniform u and v (Box &
Muller 1958). Torch's logarithm, cosine and sine have errors of at most 2 units in the last place on CPU and
CUDA, so numbers on two devices differ by a relative error of at most 8 eps. Since u has 53 bits (32 in
float32), no number is larger than 8.66 (6.77). The tails cut off have probability 6e-18 (1.4e-11), too little
to affect measured constants or attacks. Bounds hold for exact Gaussians.

Source: Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from math import pi
from typing import Final

import numpy as np
import torch
from torch import Tensor

WORDS: Final = 4
"""Number of 64-bit words in a block."""

_MULTIPLIERS: Final = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_RAISES: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS: Final = 10
_ALL: Final = 2**64 - 1

Key = tuple[int, int]
LARGE: Final = 2**20
"""Length of the longest row drawn in float64; longer rows are drawn in the precision in which they are used."""

_AT_ONCE: Final = 2**15
_AT_ONCE_ON_CUDA: Final = 2**20
"""Number of blocks computed at once on the CPU, so that they stay in its caches, and on a GPU."""

_SEEDS: Final = 1_000_003
"""Upper bound on the number of parts that share a seed."""


class Stream:
    """Stream of random numbers for one seed, purpose and part.

    Args:
        seed: at least 0; seeds that differ by a multiple of 2**64 are equivalent.
        purpose: from 0 to 2**64 - 1.
        part: index of the stream among the 2**64 streams of this purpose.
        done: number of blocks drawn so far; assigning it moves the stream to that block.
    """

    def __init__(self, seed: int, purpose: int, part: int = 0, done: int = 0) -> None:
        self._key, self._part, self.done = (seed % 2**64, purpose), part, done

    def part(self, index: int) -> "Stream":
        """Stream of part ``index`` of the same purpose, from the beginning."""
        return Stream(*self._key, part=1 + index)

    def words(self, rows: int, size: int, device: torch.device | str = "cpu") -> Tensor:
        """Random bits, int64, shape (rows, size)."""
        blocks = -(-size // WORDS)
        made = philox(self._key, self.done, self._part, rows * blocks, torch.device(device))
        self.done += rows * blocks
        return made.reshape(rows, blocks * WORDS)[:, :size]

    def uniform(self, rows: int, size: int, device: torch.device | str = "cpu") -> Tensor:
        """Uniform numbers in [0, 1), multiples of 2**-53 in float64, shape (rows, size)."""
        return shift_right(self.words(rows, size, device), 11).double().mul_(2.0**-53)

    def integers(self, high: int, count: int, device: torch.device | str = "cpu") -> Tensor:
        """Integers from 0 to high - 1, shape (count,), uniform up to a relative error of high / 2**63."""
        return shift_right(self.words(1, count, device)[0], 1) % high

    def permutation(self, count: int, device: torch.device | str = "cpu") -> Tensor:
        """Integers below ``count`` in random order."""
        return self.words(1, count, device)[0].argsort(stable=True)

    def normals(self, rows: int, size: int, like: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Standard normal numbers, shape (rows, size), with the device and dtype of ``like``.

        The numbers are computed in ``dtype``; None means float64, or ``like.dtype`` in rows longer than
        `LARGE`.
        """
        dtype, home = dtype or (like.dtype if size > LARGE else torch.float64), like.device
        found = torch.empty(rows, size, dtype=dtype, device=home)
        most = (_AT_ONCE if home.type == "cpu" else _AT_ONCE_ON_CUDA) * WORDS
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
    """Write normal numbers from bits, shape (rows, even); a pair takes two words, or one word in float32."""
    if found.dtype is torch.float64:
        u, v = (shift_right(bits[:, k::2], 11).double().add_(0.5).mul_(2.0**-53) for k in (0, 1))
    else:
        u, v = (
            part.to(found.dtype).add_(0.5).mul_(2.0**-32)
            for part in (bits & (2**32 - 1), shift_right(bits, 32))
        )
    length, angle = u.log_().mul_(-2.0).sqrt_(), v.mul_(2 * pi)
    even, odd = found[:, ::2], found[:, 1::2]
    torch.mul(length[:, : even.shape[1]], angle.cos()[:, : even.shape[1]], out=even)
    torch.mul(length[:, : odd.shape[1]], angle.sin_()[:, : odd.shape[1]], out=odd)


def stream(seed: int, purpose: int) -> Stream:
    """Stream for one seed and purpose."""
    return Stream(seed, purpose)


def seed_of(seed: int, part: int) -> int:
    """Seed for one part of a seeded computation, such as an initialisation or a block of runs."""
    return _SEEDS * seed + part


def philox(key: Key, first: int, part: int, blocks: int, device: torch.device) -> Tensor:
    """Blocks of the counters (first, part, 0, 0), (first + 1, part, 0, 0), and so on.

    Counters range from 0 to 2**64 - 1. The words are int64 with all 64 bits used, shape (blocks * WORDS,).
    """
    if device.type == "cuda" and (fill := _kernel(device)) is not None:
        made = torch.empty(blocks * WORDS, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            _fill_words(fill, made, key, first, part)
        return made
    low, high = key
    before = (first + (part << 64) - 1) % 2**256  # NumPy increments its 256-bit counter before each block
    words = np.random.Philox(key=low + (high << 64), counter=before).random_raw(blocks * WORDS)
    return torch.from_numpy(words.view(np.int64)).to(device)


def shift_right(values: Tensor, places: int) -> Tensor:
    """Words, as unsigned numbers, shifted right by 1 to 63 places."""
    found: Tensor = (values >> places) & (2 ** (64 - places) - 1)
    return found


@cache
def _kernel(device: torch.device) -> Callable[..., None] | None:
    try:
        fill: Callable[..., None] = import_module("lastiterate.runtime.philox_kernel").fill_words
        with torch.cuda.device(device):
            _fill_words(fill, torch.empty(WORDS, dtype=torch.int64, device=device), (0, 0), 0, 0)
    except Exception:  # any compiler failure: NumPy computes the same bits, more slowly
        return None
    return fill


def _fill_words(fill: Callable[..., None], made: Tensor, key: Key, first: int, part: int) -> None:
    fill(
        made,
        _signed(first),
        _signed(part),
        (_signed(key[0]), _signed(key[1])),
        _ROUNDS,
        (*_MULTIPLIERS, *_RAISES),
    )


def _signed(word: int) -> int:
    return ((word & _ALL) ^ 2**63) - 2**63
