"""The table of power: more runs and canaries certify more, and never all of it."""

import pytest

from benchmarks import audits


@pytest.mark.parametrize("certified", [audits._many_runs, audits._one_training])
def test_more_is_certified_by_more_runs_and_never_more_than_there_is(certified: object) -> None:
    few, many = (audits.power(certified, 2.0, size) for size in (250, 2000))  # type: ignore[arg-type]
    assert 0.2 < few < many < 1
