"""From balls to floats, on the stated side."""

from fractions import Fraction
from math import inf, nextafter

from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from lastiterate.numeric.balls import exact, lower, precision, upper

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
