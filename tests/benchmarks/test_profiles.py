"""A row of the table of profiles, of work that no GPU does."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.devices import there  # noqa: E402
from benchmarks.profiles import row  # noqa: E402


def test_a_row_says_how_long_work_takes() -> None:
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        torch.ones(8, 8) @ torch.ones(8, 8)

    seconds, busy, started, kernels, longest = row(work, "cpu").split(" | ")
    assert len(calls) == 5, "three times before, then with a clock and with a profiler"
    assert 0 < float(seconds) < 10
    assert (busy, longest) == ("0%", "")
    assert (started, kernels) == ("0", "0")


def test_a_device_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(SystemExit, match=r"error: The device must .* got device=cuda:99 .*; use cpu\."):
        there("cuda:99")
