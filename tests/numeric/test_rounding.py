"""From balls to floats, on the stated side."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from lastiterate.numeric.rounding import exact, lower, precision, printed_down, printed_up, upper

_NORMAL = st.floats(-1e100, 1e100)


@given(x=_NORMAL)
def test_a_float_is_itself(x: float) -> None:
    assert lower(exact(x)) == x == upper(exact(x))


@given(p=st.integers(-(10**30), 10**30), q=st.integers(1, 10**30))
def test_the_nearest_floats_around_a_fraction(p: int, q: int) -> None:
    with precision():
        ball = arb(p) / arb(q)
        low, high = lower(ball), upper(ball)
    assert Fraction(low) <= Fraction(p, q) <= Fraction(high)
    assert high <= nextafter(low, inf)


def test_what_is_unbounded_stays_unbounded() -> None:
    assert upper(arb(inf)) == inf
    assert lower(-arb(inf)) == -inf
    assert upper(arb("nan")) == inf
    assert lower(arb("nan")) == -inf


def test_precision_is_restored() -> None:
    before = ctx.prec
    with precision(500):
        assert ctx.prec == 500
        with precision(100):
            assert ctx.prec == 500  # never less than the caller's
    assert ctx.prec == before


def test_a_printed_number_stays_on_its_side_and_near(subtests: pytest.Subtests) -> None:
    for digits in [1, 3, 6]:
        for value in [0.1, -0.1, 1 / 3, 123456.5, 1234567.0, 1.0000001, 1e-300, 3.0000001e-5, 9.9999995, 1e300]:
            with subtests.test(value=value, digits=digits):
                up, down = Decimal(printed_up(value, digits)), Decimal(printed_down(value, digits))
                assert down <= Decimal(value) <= up
                last = Decimal(10) ** (Decimal(value).adjusted() - digits + 1)
                assert up - Decimal(value) <= last
                assert Decimal(value) - down <= last


def test_numbers_are_printed_with_six_digits_and_as_people_write_them() -> None:
    assert [printed_up(x) for x in (1 / 3, 12345.0, 123456.0, 1234567.0, 3.1e-4, 3e-5)] == [
        "0.333334", "12345", "123456", "1.23457e+06", "0.00031", "0.0000300001",
    ]  # fmt: skip
    assert [printed_down(x) for x in (1 / 3, 37.5, 1234567.0)] == ["0.333333", "37.5", "1.23456e+06"]


def test_what_is_not_finite_is_printed_as_it_is() -> None:
    assert [printed_up(inf), printed_down(inf), printed_down(-inf)] == ["inf", "inf", "-inf"]


def test_the_working_precision_keeps_twenty_digits_near_one() -> None:
    with precision():
        close = 1 - exact(1 - 2.0**-53)
        assert ctx.prec >= 192
        assert ((1 - exact(1 - 2.0**-53) ** 1000) / close - 1000).rad() < 1e-20
