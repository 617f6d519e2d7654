"""Philox against the known answers of Random123, and its two ways against each other."""

import pytest
import torch
from torch import Tensor

from lastiterate.runtime import philox
from lastiterate.runtime.philox import WORDS, enciphered, shifted, words

CPU = torch.device("cpu")
ONES = 2**64 - 1

KNOWN = (
    ((0, 0, 0, 0), (0, 0), "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
    ((ONES,) * 4, (ONES, ONES), "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0"),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
)
"""Counters, keys and answers of philox4x64 with 10 rounds, as in the file kat_vectors of Random123."""


def hexadecimal(values: Tensor) -> str:
    return " ".join(f"{value % 2**64:016x}" for value in values.tolist())


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_both_ways_know_the_answers_of_random123(
    counter: tuple[int, int, int, int], key: tuple[int, int], answer: str
) -> None:
    columns = tuple(torch.tensor([philox._signed(word)]) for word in counter)
    assert hexadecimal(torch.cat(enciphered(columns, key))) == answer
    assert hexadecimal(philox._of_numpy(key, counter, WORDS)) == answer


@pytest.mark.parametrize("first", [0, 1, 2**32 - 3, 2**63 - 2, 2**64 - 12])
@pytest.mark.parametrize("part", [0, 1, 2**63 + 5])
@pytest.mark.parametrize("key", [(0, 0), (7, 2**40), (ONES, 2**63)])
def test_torch_makes_the_bits_of_numpy(first: int, part: int, key: tuple[int, int]) -> None:
    counts = torch.tensor([philox._signed(first + k) for k in range(9)])
    rest = (torch.full_like(counts, philox._signed(word)) for word in (part, 0, 0))
    by_torch = torch.stack(enciphered((counts, *rest), key), dim=1).reshape(-1)
    assert torch.equal(by_torch, words(key, first, part, 9, CPU))


def test_every_place_of_a_counter_and_of_a_key_matters() -> None:
    some = (0, 1, 2**63)
    made = {
        hexadecimal(words((key, other), first, part, 1, CPU))
        for key in some for other in some for first in (0, 1, 2**62) for part in some
    }  # fmt: skip
    assert len(made) == 81


def test_words_are_shifted_without_their_sign() -> None:
    assert shifted(torch.tensor([-1, -(2**63), 2**62]), 11).tolist() == [2**53 - 1, 2**52, 2**51]


def test_words_that_are_not_made_by_numpy_are_made_where_they_are_asked_for() -> None:
    found = words((3, 4), 5, 6, 7, torch.device("meta"))
    assert (found.device.type, found.shape, found.dtype) == ("meta", (7 * WORDS,), torch.int64)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_makes_the_bits_of_numpy() -> None:
    made = words((2**63 + 9, 2**40), 2**33 - 500, 3, 1000, torch.device("cuda"))
    assert torch.equal(made.cpu(), words((2**63 + 9, 2**40), 2**33 - 500, 3, 1000, CPU))
