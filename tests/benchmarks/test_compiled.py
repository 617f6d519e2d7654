"""The table of torch.compile: what is faster pays back after some calls, what is slower never, what fails says so."""

from collections.abc import Callable
from time import process_time

import pytest
import torch

from benchmarks.compiled import _row, _Work


def after(seconds: float, value: float = 1.0) -> Callable[[], torch.Tensor]:
    def work() -> torch.Tensor:
        until = process_time() + seconds
        while process_time() < until:
            pass
        return torch.full((2,), value)

    return work


def test_only_what_is_faster_pays_back() -> None:
    fast, slow = (_row(_Work("w", 7, after(one), (), after(two))) for one, two in ((0.02, 0.0), (0.0, 0.02)))
    assert fast.startswith("w | 7 | ")
    assert fast.endswith(" calls")
    assert slow.endswith("| never")


def test_a_failure_is_said_and_a_wrong_value_is_none_of_ours() -> None:
    def fails() -> torch.Tensor:
        raise NotImplementedError

    assert _row(_Work("w", 7, after(0.0), (), fails)).endswith("does not compile: NotImplementedError")
    with pytest.raises(AssertionError):
        _row(_Work("w", 7, after(0.0), (), after(0.0, 2.0)))
