"""More than 600 values of the code, each compared with another computation; what no file records is noticed.

The lower limit of a value is from a closed form, a quadrature or a run whose loss is known exactly, and the
upper limit from a closed form, a quadrature or the recorded value.
"""

import json
from collections.abc import Iterator
from functools import cache
from math import inf, nan
from pathlib import Path

import pytest
from recomputations import recomputations, record


@cache
def numbers(quantity: str) -> tuple[record.Number, ...]:
    return tuple(recomputations()[quantity]())


def outside(quantity: str, factor: float = 1.0) -> list[record.Number]:
    return [one for one in numbers(quantity) if not one.low <= one.value * factor <= one.high]


@pytest.mark.parametrize("quantity", recomputations())
def test_numbers_are_those_of_another_computation(quantity: str) -> None:
    assert outside(quantity) == []


@pytest.mark.parametrize("quantity", recomputations())
@pytest.mark.parametrize("factor", [0.998, 1.002], ids=["less", "more"])
def test_two_thousandths_are_noticed(quantity: str, factor: float) -> None:
    assert outside(quantity, factor)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    record.recorded_numbers.cache_clear()
    monkeypatch.setattr(record, "FILE", tmp_path / "numbers.json")
    yield record.FILE
    record.recorded_numbers.cache_clear()


@pytest.mark.parametrize(
    ("before", "stands"), [(2.0, True), (2.0 + 1e-7, True), (2.0 + 1e-5, False), (inf, False), (nan, False)]
)
def test_a_number_stands_where_it_is_the_one_of_the_file(file: Path, before: float, stands: bool) -> None:
    file.write_text(json.dumps({"a bound": before}), encoding="utf-8")
    one, other = (record.as_recorded(what, 2.0) for what in ("a bound", "another"))
    assert (one.low <= one.value <= one.high) is stands
    assert not other.low <= other.value <= other.high


def test_a_number_below_an_exact_run_does_not_stand_though_it_was_recorded(file: Path) -> None:
    file.write_text('{"a bound": 2.0}', encoding="utf-8")
    one = record.as_recorded("a bound", 2.0, least=2.0 + 1e-9)
    assert not one.low <= one.value
