"""Streams of random numbers, one for each purpose of a seed: the same on every device and in chunks of any size.

A number is a function of the seed, the purpose and its place alone. Draws are in rows: row i begins at a block of its
own, so many rows at once are what as many draws of one row are, and a stream goes on anywhere by setting ``done``.

The bits are Philox-4x64-10, a function of a key and a counter,

    (c_0, c_1, c_2, c_3) -> (hi(M_1 c_2) ^ c_1 ^ k_0, lo(M_1 c_2), hi(M_0 c_0) ^ c_3 ^ k_1, lo(M_0 c_0)), ten times,

with the key raised by (W_0, W_1) between rounds. On the CPU it is NumPy's, in C; on CUDA a kernel of Triton, where that
is there; elsewhere integer operations of torch, which no device rounds. Tests hold the three together bit for bit, and
all to the known answers of Random123. No statistical test is known to tell the bits from random ones, but it is not a
cipher: who knows the seed knows them.

Normal numbers are made in pairs, sqrt(-2 log u) cos(v) and sqrt(-2 log u) sin(v) (Box & Muller 1958). The bits of u and
v are the same everywhere; torch's logarithm, cosine and sine are within 2 units in the last place of the truth on CPU
and CUDA, so two devices give numbers that are within 8 eps of each other, relatively. u has 53 bits, or 32 in
float32: no number is larger than 8.66, or 6.77, which cuts off tails of probability 6e-18, or 1.4e-11, for each number.
Both are below what a statistic of measured constants or of an attack can see. A bound speaks of exact Gaussians, which
no computer draws.

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
"""Words of 64 bits in a block."""

_MULTIPLIERS: Final = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_RAISES: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS: Final = 10
_LOW: Final = 2**32 - 1
_ALL: Final = 2**64 - 1

Key = tuple[int, int]
"""Two numbers from 0 to 2**64 - 1."""

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
        made = philox(self._key, self.done, self._part, rows * blocks, torch.device(device))
        self.done += rows * blocks
        return made.reshape(rows, blocks * WORDS)[:, :size]

    def uniform(self, rows: int, size: int, device: torch.device | str = "cpu") -> Tensor:
        """Uniform numbers of [0, 1), multiples of 2**-53 in float64, shape (rows, size); not for mps."""
        return shift_right(self.words(rows, size, device), 11).double().mul_(2.0**-53)

    def integers(self, high: int, count: int, device: torch.device | str = "cpu") -> Tensor:
        """Whole numbers from 0 to high - 1, shape (count,); one is more probable than another by high / 2**63."""
        return shift_right(self.words(1, count, device)[0], 1) % high

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
        u, v = (shift_right(bits[:, k::2], 11).double().add_(0.5).mul_(2.0**-53) for k in (0, 1))
    else:
        u, v = (part.to(found.dtype).add_(0.5).mul_(2.0**-32) for part in (bits & (2**32 - 1), shift_right(bits, 32)))
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


def philox(key: Key, first: int, part: int, blocks: int, device: torch.device) -> Tensor:
    """The blocks of the counters (first, part, 0, 0), (first + 1, part, 0, 0), and so on.

    Counters are from 0 to 2**64 - 1. The words are int64 with all 64 bits in use, shape (blocks * WORDS,).
    """
    if device.type == "cpu":
        return _of_numpy(key, (first, part, 0, 0), blocks * WORDS)
    if device.type == "cuda" and (fill := _kernel(device)) is not None:
        made = torch.empty(blocks * WORDS, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            _fill_words(fill, made, key, first, part)
        return made
    counts = torch.arange(blocks, device=device).add_(_signed(first))
    rest = (torch.full_like(counts, _signed(word)) for word in (part, 0, 0))
    return torch.stack(encipher((counts, *rest), key), dim=1).reshape(-1)


def encipher(counter: tuple[Tensor, ...], key: Key) -> tuple[Tensor, ...]:
    """The four words that four words of counters become, int64 tensors of one shape, on any device."""
    a, b, c, d = counter
    for step in range(_ROUNDS):
        one, other = (_signed(word + step * raised) for word, raised in zip(key, _RAISES, strict=True))
        a, b, c, d = (
            _high(c, _MULTIPLIERS[1]) ^ b ^ one,
            c * _signed(_MULTIPLIERS[1]),
            _high(a, _MULTIPLIERS[0]) ^ d ^ other,
            a * _signed(_MULTIPLIERS[0]),
        )
    return a, b, c, d


def shift_right(values: Tensor, places: int) -> Tensor:
    """The words as numbers without sign, shifted right by 1 to 63 places."""
    found: Tensor = (values >> places) & (2 ** (64 - places) - 1)
    return found


@cache
def _kernel(device: torch.device) -> Callable[..., None] | None:
    """The function that writes words by a kernel of Triton; None where there is none, or no compiler for it."""
    try:
        fill: Callable[..., None] = import_module("lastiterate.runtime.philox_kernel").fill_words
        with torch.cuda.device(device):
            _fill_words(fill, torch.empty(WORDS, dtype=torch.int64, device=device), (0, 0), 0, 0)
    except Exception:  # whatever keeps a compiler from working: torch does it, too, only slower
        return None
    return fill


def _fill_words(fill: Callable[..., None], made: Tensor, key: Key, first: int, part: int) -> None:
    """Let the kernel write the words, which knows numbers with sign alone."""
    fill(made, _signed(first), _signed(part), (_signed(key[0]), _signed(key[1])), _ROUNDS, (*_MULTIPLIERS, *_RAISES))


def _of_numpy(key: Key, counter: tuple[int, int, int, int], count: int) -> Tensor:
    """Some words by NumPy, which raises its counter of 256 bits before each block."""
    before = (sum(word << (64 * k) for k, word in enumerate(counter)) - 1) % 2**256
    made = np.random.Philox(key=sum(word << (64 * k) for k, word in enumerate(key)), counter=before)
    return torch.from_numpy(made.random_raw(count).view(np.int64))


def _high(values: Tensor, multiplier: int) -> Tensor:
    """The upper 64 bits of products without sign, from products of halves; sums of torch wrap around."""
    top, bottom = shift_right(values, 32), values & _LOW
    high, low = multiplier >> 32, multiplier & _LOW
    left, right = top * low, bottom * high
    carried = shift_right(bottom * low, 32) + (left & _LOW) + (right & _LOW)
    return top * high + shift_right(left, 32) + shift_right(right, 32) + (carried >> 32)


def _signed(word: int) -> int:
    """The number from -2**63 to 2**63 - 1 with the same 64 bits."""
    return ((word & _ALL) ^ 2**63) - 2**63
