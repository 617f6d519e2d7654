"""The grid of whole trainings, in small."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.last_iterate import measured, table


def test_a_small_grid() -> None:
    (row,) = measured(sizes=((569, 64, 4.0),), domains=(0.3,), epochs=(30,))
    assert row.epsilon < 0.9 * min(row.composition, row.shifts)
    assert row.least != "none is installed"
    assert all(spent > 0 for spent in row.seconds)
    lines = table([row]).splitlines()
    assert len({line.count("|") for line in lines[:3]}) == 1
    assert lines[-1].startswith("Median gain of `bound` over the least of the others: ")
