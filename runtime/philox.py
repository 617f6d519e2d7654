"""Philox-4x64-10: random bits as a function of a key and a counter, the same on every device.

    (c_0, c_1, c_2, c_3) -> (hi(M_1 c_2) ^ c_1 ^ k_0, lo(M_1 c_2), hi(M_0 c_0) ^ c_3 ^ k_1, lo(M_0 c_0)), ten times,

with the key raised by (W_0, W_1) between rounds. On the CPU it is NumPy's, in C; on CUDA a kernel of Triton, where that
is there; elsewhere integer operations of torch, which no device rounds. Tests hold the three together bit for bit, and
all to the known answers of Random123. No statistical test is known to tell the bits from random ones, but a cipher they
are not: who knows the seed knows them.

Source: Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
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


def words(key: Key, first: int, part: int, blocks: int, device: torch.device) -> Tensor:
    """The blocks of the counters (first, part, 0, 0), (first + 1, part, 0, 0), and so on.

    Args:
        key: of all blocks.
        first: the first counter, from 0 to 2**64 - 1 - blocks.
        part: the second word of all counters, from 0 to 2**64 - 1.
        blocks: how many.
        device: where the words are made.

    Returns:
        int64 with all 64 bits in use, shape (blocks * WORDS,).
    """
    if device.type == "cpu":
        return _of_numpy(key, (first, part, 0, 0), blocks * WORDS)
    if device.type == "cuda" and (fill := _kernel(device)) is not None:
        made = torch.empty(blocks * WORDS, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            _written(fill, made, key, first, part)
        return made
    counts = torch.arange(blocks, device=device).add_(_signed(first))
    rest = (torch.full_like(counts, _signed(word)) for word in (part, 0, 0))
    return torch.stack(enciphered((counts, *rest), key), dim=1).reshape(-1)


def enciphered(counter: tuple[Tensor, ...], key: Key) -> tuple[Tensor, ...]:
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


def shifted(values: Tensor, places: int) -> Tensor:
    """The words as numbers without sign, shifted right by 1 to 63 places."""
    found: Tensor = (values >> places) & (2 ** (64 - places) - 1)
    return found


@cache
def _kernel(device: torch.device) -> Callable[..., None] | None:
    """The function that writes words by a kernel of Triton; None where there is none, or no compiler for it."""
    try:
        fill: Callable[..., None] = import_module("lastiterate.runtime.philox_kernel").fill
        with torch.cuda.device(device):
            _written(fill, torch.empty(WORDS, dtype=torch.int64, device=device), (0, 0), 0, 0)
    except Exception:  # whatever keeps a compiler from working: torch does it, too, only slower
        return None
    return fill


def _written(fill: Callable[..., None], made: Tensor, key: Key, first: int, part: int) -> None:
    """Let the kernel write the words, which knows numbers with sign alone."""
    fill(made, _signed(first), _signed(part), (_signed(key[0]), _signed(key[1])), _ROUNDS, (*_MULTIPLIERS, *_RAISES))


def _of_numpy(key: Key, counter: tuple[int, int, int, int], count: int) -> Tensor:
    """Some words by NumPy, which raises its counter of 256 bits before each block."""
    before = (sum(word << (64 * k) for k, word in enumerate(counter)) - 1) % 2**256
    made = np.random.Philox(key=sum(word << (64 * k) for k, word in enumerate(key)), counter=before)
    return torch.from_numpy(made.random_raw(count).view(np.int64))


def _high(values: Tensor, multiplier: int) -> Tensor:
    """The upper 64 bits of products without sign, from products of halves; sums of torch wrap around."""
    top, bottom = shifted(values, 32), values & _LOW
    high, low = multiplier >> 32, multiplier & _LOW
    left, right = top * low, bottom * high
    carried = shifted(bottom * low, 32) + (left & _LOW) + (right & _LOW)
    return top * high + shifted(left, 32) + shifted(right, 32) + (carried >> 32)


def _signed(word: int) -> int:
    """The number from -2**63 to 2**63 - 1 with the same 64 bits."""
    return ((word & _ALL) ^ 2**63) - 2**63
