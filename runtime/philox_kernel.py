"""Philox-4x64-10 as one Triton kernel instead of 500 torch kernels; CUDA torch on Linux has Triton."""

import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor

_AT_ONCE = 256
"""Number of blocks computed by one program."""


def fill_words(
    made: Tensor, first: int, part: int, key: tuple[int, int], rounds: int, constants: tuple[int, ...]
) -> None:
    """Write the blocks of `lastiterate.runtime.random_streams.philox` as signed words, shape (4 * blocks,).

    ``constants`` are the two multipliers and two key increments.
    """
    blocks = len(made) // 4
    _made[(triton.cdiv(blocks, _AT_ONCE),)](made, first, part, *key, blocks, rounds, *constants, _AT_ONCE)


@triton.jit(do_not_specialize=["first", "part", "key_0", "key_1", "blocks"])  # type: ignore[untyped-decorator,unused-ignore]
def _made(  # type: ignore[no-untyped-def]
    out, first, part, key_0, key_1, blocks, rounds: tl.constexpr,
    multiplier_0: tl.constexpr, multiplier_1: tl.constexpr, raise_0: tl.constexpr, raise_1: tl.constexpr,
    at_once: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * at_once + tl.arange(0, at_once)
    zeros = at * 0
    a = (first + at).to(tl.uint64)
    b = (zeros + part).to(tl.uint64)
    c = zeros.to(tl.uint64)
    d = c
    one = (zeros + key_0).to(tl.uint64)
    other = (zeros + key_1).to(tl.uint64)
    m_0 = c + multiplier_0
    m_1 = c + multiplier_1
    for _ in tl.static_range(rounds):
        high_0 = tl.umulhi(a, m_0)
        high_1 = tl.umulhi(c, m_1)
        low_0 = a * m_0
        low_1 = c * m_1
        a = high_1 ^ b ^ one
        b = low_1
        c = high_0 ^ d ^ other
        d = low_0
        one += raise_0
        other += raise_1
    inside = at < blocks
    place = out + 4 * at
    tl.store(place, a.to(tl.int64), mask=inside)
    tl.store(place + 1, b.to(tl.int64), mask=inside)
    tl.store(place + 2, c.to(tl.int64), mask=inside)
    tl.store(place + 3, d.to(tl.int64), mask=inside)
