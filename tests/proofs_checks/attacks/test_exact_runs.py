"""Settings of attacked bounds as runs."""

from math import inf

import pytest

from lastiterate.numeric.published.record import run_of

_ONE = {"T": 1.0, "eta": 1.0, "sigma": 1.0, "K": 1.0, "D": inf, "L": 1.0, "lam": 1.0, "m": 0.0, "alpha": 4.0}


@pytest.mark.parametrize(("n", "batch"), [(1, 1), (2, 1), (7, 1), (10, 5), (12, 6), (35, 7)])
def test_the_batch_is_the_largest_proper_divisor(n: int, batch: int) -> None:
    assert run_of({**_ONE, "n": float(n)}, "poisson").batch == batch
