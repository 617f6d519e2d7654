"""Philox against the known answers of Random123, and its two ways against each other."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from processes import TORCH, python
from torch import Tensor

import lastiterate
from lastiterate.runtime.random_streams import WORDS, philox, shift_right

CPU = torch.device("cpu")
ONES = 2**64 - 1

KNOWN = "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"
"""Answer of philox4x64 with 10 rounds for a counter and a key of zeros, as in the file kat_vectors of Random123."""


def hexadecimal(values: Tensor) -> str:
    return " ".join(f"{value % 2**64:016x}" for value in values.tolist())


def test_numpy_has_the_answer_of_random123() -> None:
    assert hexadecimal(philox((0, 0), 0, 0, 1, CPU)) == KNOWN


def test_every_place_of_a_counter_and_of_a_key_matters() -> None:
    some = (0, 1, 2**63)
    made = {
        hexadecimal(philox((key, other), first, part, 1, CPU))
        for key in some for other in some for first in (0, 1, 2**62) for part in some
    }  # fmt: skip
    assert len(made) == 81


def test_words_are_shifted_without_their_sign() -> None:
    assert shift_right(torch.tensor([-1, -(2**63), 2**62]), 11).tolist() == [2**53 - 1, 2**52, 2**51]


def test_words_that_are_not_made_by_numpy_are_made_where_they_are_asked_for() -> None:
    found = philox((3, 4), 5, 6, 7, torch.device("meta"))
    assert (found.device.type, found.shape, found.dtype) == ("meta", (7 * WORDS,), torch.int64)


INTERPRETED = """
import torch
from lastiterate.runtime import random_streams
from lastiterate.runtime.philox_kernel import fill_words

ones = 2**64 - 1
for key in ((0, 0), (7, 2**40), (ones, 2**63)):
    for first, part, blocks in ((0, 0, 1), (2**32 - 3, 2**63 + 5, 300), (2**63 - 2, 1, 9), (ones - 11, ones, 9)):
        made = torch.full((random_streams.WORDS * blocks + 4,), -77)
        random_streams._fill_words(fill_words, made[:-4], key, first, part)
        wanted = random_streams.philox(key, first, part, blocks, torch.device("cpu"))
        assert torch.equal(made[:-4], wanted), (key, first, part)
        assert made[-4:].tolist() == [-77] * 4
print("as by NumPy")
"""


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton")
def test_the_kernel_of_triton_makes_the_bits_of_numpy(tmp_path: Path) -> None:
    """By Triton's interpreter, which needs no GPU and is chosen before Triton is loaded."""
    source = str(Path(lastiterate.__file__).parents[1])
    ended = python(
        "-c", INTERPRETED, cwd=tmp_path, env=os.environ | {"PYTHONPATH": source, "TRITON_INTERPRET": "1"},
        libraries=TORCH,
    )  # fmt: skip
    assert ended.stdout == "as by NumPy\n", ended.stderr


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_makes_the_bits_of_numpy() -> None:
    made = philox((2**63 + 9, 2**40), 2**33 - 500, 3, 1000, torch.device("cuda"))
    assert torch.equal(made.cpu(), philox((2**63 + 9, 2**40), 2**33 - 500, 3, 1000, CPU))
