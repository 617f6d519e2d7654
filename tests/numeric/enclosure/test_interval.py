"""Interval operations at the edges of their domains: nothing is lost, and what is unknown is the whole line."""

from itertools import product
from math import cos, sin

import pytest
import sympy as sp
from flint import arb

from lastiterate.numeric.enclosure import interval as iv
from lastiterate.numeric.enclosure.interval import UNIT, WHOLE, Interval
from lastiterate.numeric.enclosure.operations import operation_of

x, y = sp.symbols("x y", real=True)
INF = float("inf")


def of(low: float, high: float) -> Interval:
    return arb(low), arb(high)


def ends(found: Interval) -> tuple[float, float]:
    return float(found[0]), float(found[1])


def test_the_constants() -> None:
    assert ends(WHOLE) == (-INF, INF)
    assert ends(UNIT) == (0.0, 1.0)


def test_sums_hulls_and_the_least_and_greatest() -> None:
    one, other, third = of(1, 2), of(-3, 5), of(0, 1)
    assert ends(iv.add(one, other)) == (-2, 7)
    assert ends(iv.add(one, of(-INF, INF))) == (-INF, INF)
    assert ends(iv.negative(other)) == (-5, 3)
    assert ends(iv.hull(one, other)) == (-3, 5)
    assert ends(iv.hull(one, third)) == ends(iv.hull(third, one)) == (0, 2)
    assert ends(iv.minimum([one, other, third])) == (-3, 1)
    assert ends(iv.maximum([one, other, third])) == (1, 5)
    assert ends(iv.increasing(arb.exp)(of(0, 1))) == pytest.approx((1, 2.718281828459045))
    assert ends(iv.decreasing(arb.erfc)(of(0, 1))) == pytest.approx((0.15729920705028513, 1))
    assert ends(iv.point(arb(1).union(arb(3)))) == pytest.approx((1, 3))


def test_whole_powers(subtests: pytest.Subtests) -> None:
    for one, n, found in [
        ((-3, 2), 2, (0, 9)),
        ((-3, 2), 3, (-27, 8)),
        ((-3, -2), 4, (16, 81)),
        ((-3, -2), 1, (-3, -2)),
        ((2, 3), 2, (4, 9)),
        ((-3, 2), 0, (1, 1)),
        ((2, 4), -1, (0.25, 0.5)),
        ((-4, -2), -2, (1 / 16, 0.25)),
        ((-4, 2), -2, (0.0625, INF)),
        ((-4, 2), -1, (-INF, INF)),
    ]:
        with subtests.test(one=one, n=n, found=found):
            assert ends(iv.integer_power(of(*one), n)) == found


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ((1, 2), (3, 5), (3, 10)),
        ((-1, 2), (3, 5), (-5, 10)),
        ((-1, 2), (-3, 5), (-6, 10)),
        ((-3, -2), (-7, -5), (10, 21)),
        ((1, 2), (-4, -3), (-8, -3)),
        ((-1, 0), (2, INF), (-INF, INF)),
        ((-1, 1), (-INF, INF), (-INF, INF)),
        ((0, 0), (0, INF), (0, INF)),
    ],
)
def test_products(one: tuple[float, float], other: tuple[float, float], found: tuple[float, float]) -> None:
    low, high = ends(iv.multiply(of(*one), of(*other)))
    assert low <= found[0]
    assert high >= found[1]
    if INF not in (*one, *other):
        assert (low, high) == found


@pytest.mark.parametrize(
    ("one", "found"),
    [
        ((2, 4), (0.25, 0.5)),
        ((-4, -2), (-0.5, -0.25)),
        ((0, 2), (0.5, INF)),
        ((0, 0), (-INF, INF)),
        ((-1, 1), (-INF, INF)),
        ((-2, 0), (-INF, INF)),
    ],
)
def test_reciprocals(one: tuple[float, float], found: tuple[float, float]) -> None:
    assert ends(iv.inverse(of(*one))) == found


def test_powers(subtests: pytest.Subtests) -> None:
    for base, exponent, found in [
        ((4, 9), (0.5, 0.5), (2, 3)),
        ((4, 16), (-0.5, 0.5), (0.25, 4)),
        ((0, 16), (0.5, 0.75), (0, 8)),
        ((0, 0), (0.5, 0.75), (0, 0)),
        ((-1e-20, 16), (0.5, 0.75), (0, 8)),  # below zero there is rounding alone
        ((0, 16), (-0.5, 0.75), (-INF, INF)),
        ((0, 16), (0, 0.75), (-INF, INF)),
        ((-2, -1), (0.5, 0.75), (-INF, INF)),
        ((-INF, 1), (0.5, 0.75), (-INF, INF)),
        ((2, INF), (-1.5, 0), (0, 1)),
        ((4, 9), (0.5, INF), (2, INF)),
        ((1, 2), (0.5, INF), (-INF, INF)),  # 1^inf
        ((-2, 3), (2, 2), (0, 9)),
        ((-2, 3), (3, 3), (-8, 27)),
        ((2, 4), (-2, -2), (1 / 16, 1 / 4)),
        ((-3, 2), (0, 0), (1, 1)),
    ]:
        with subtests.test(base=base, exponent=exponent, found=found):
            low, high = ends(iv.real_power(of(*base), of(*exponent)))
            assert low <= found[0]
            assert high >= found[1]
            assert low == pytest.approx(found[0], rel=1e-12)
            assert high == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize(
    ("one", "found"),
    [((1, 2), (1, 2)), ((-2, -1), (1, 2)), ((-3, 2), (0, 3)), ((-2, 3), (0, 3)), ((0, 0), (0, 0))],
)
def test_absolute_values(one: tuple[float, float], found: tuple[float, float]) -> None:
    assert ends(iv.absolute(of(*one))) == found


def test_values_and_slopes(subtests: pytest.Subtests) -> None:
    for expression, one, value, slope in [
        (sp.sin(x), (-INF, 1), (-1, 1), (-1, 1)),
        (sp.cos(x), (0, INF), (-1, 1), (-1, 1)),
        (sp.sin(x), (0, 10), (-1, 1), (-1, 1)),
        (sp.sign(x), (2, 3), (1, 1), (-INF, INF)),
        (sp.sign(x), (-3, -2), (-1, -1), (-INF, INF)),
        (sp.sign(x), (0, 0), (0, 0), (-INF, INF)),
        (sp.sign(x), (-1, 1), (-1, 1), (-INF, INF)),
        (sp.Abs(x), (-3, -2), (2, 3), (-1, -1)),
        (sp.Abs(x), (2, 3), (2, 3), (1, 1)),
        (sp.Abs(x), (-1, 2), (0, 2), (-1, 1)),
        (sp.Abs(x), (0, 0), (0, 0), (-1, 1)),
        (sp.floor(x), (0.5, 2.5), (0, 2), (-INF, INF)),
        (sp.ceiling(x), (0.5, 2.5), (1, 3), (-INF, INF)),
        (sp.log(x), (-1, 1), (-INF, 0), (-INF, INF)),
        (sp.acosh(x), (0, 2), (0, 1.3169578969248167), (-INF, INF)),
        (sp.acosh(x), (-1, 0), (-INF, INF), (-INF, INF)),
        (sp.acos(x), (0, 2), (0, 1.5707963267948966), (-INF, INF)),
        (1 / x, (-1, 1), (-INF, INF), (-INF, INF)),
        (x**-2, (-1, 1), (1, INF), (-INF, INF)),
        (x**-2, (0, 1), (1, INF), (-INF, INF)),
        (sp.log(x), (0, 1), (-INF, 0), (-INF, INF)),
        (sp.asin(x), (-1, 1), (-1.5707963267948968, 1.5707963267948968), (-INF, INF)),
    ]:
        with subtests.test(expression=expression, one=one, value=value, slope=slope):
            operation, _ = operation_of(expression)
            found = operation.value([of(*one)])
            assert ends(found) == pytest.approx(value)
            assert ends(operation.partials([of(*one)], found)[0]) == slope


def test_sine_and_cosine_are_cut_to_their_range_and_tight_on_short_intervals() -> None:
    for expression, function in ((sp.sin(x), sin), (sp.cos(x), cos)):
        low, high = ends(operation_of(expression)[0].value([of(0.7, 0.7)]))
        assert low <= function(0.7) <= high
        assert high - low < 1e-12


SLOPES = {
    ((0, 1), (2, 3)): [(1, 1), (0, 0)],
    ((2, 3), (0, 1)): [(0, 0), (1, 1)],
    ((0, 2), (1, 3)): [(0, 1), (0, 1)],
    ((0, 1), (1, 3)): [(0, 1), (0, 1)],
}


@pytest.mark.parametrize(("kind", "place"), [*product((sp.Min, sp.Max), SLOPES)])
def test_a_choice_has_the_slope_of_whatever_may_be_chosen(
    kind: type, place: tuple[tuple[int, int], ...]
) -> None:
    args = [of(*one) for one in place]
    operation, _ = operation_of(kind(x, y))
    found = [ends(one) for one in operation.partials(args, operation.value(args))]
    wanted = SLOPES[place]
    assert found == (wanted if kind is sp.Min else wanted[::-1])


def test_of_several_the_ones_that_cannot_be_chosen_have_no_weight() -> None:
    operation, _ = operation_of(sp.Min(x, y, evaluate=False))
    args = [of(0, 2), of(1, 3), of(5, 6)]
    assert [ends(one) for one in operation.partials(args, operation.value(args))] == [(0, 1), (0, 1), (0, 0)]
    operation, _ = operation_of(sp.Mul(x, y, evaluate=False))
    args = [of(1, 2), of(3, 4), of(5, 6)]
    assert [ends(one) for one in operation.partials(args, operation.value(args))] == [(15, 24), (5, 12), (3, 8)]
    operation, _ = operation_of(sp.Add(x, y, evaluate=False))
    assert [ends(one) for one in operation.partials(args, operation.value(args))] == [(1, 1)] * 3
    operation, _ = operation_of(x**3)
    assert ends(operation.partials([of(1, 2)], UNIT)[0]) == (3, 12)
    operation, _ = operation_of(sp.Pow(sp.Symbol("p", positive=True), y))
    base, exponent = operation.partials([of(1, 4), of(2, 3)], operation.value([of(1, 4), of(2, 3)]))
    assert ends(base) == pytest.approx((2, 48))
    assert ends(exponent) == pytest.approx((0, 64 * 1.3862943611198906))
    operation, _ = operation_of(sp.Pow(sp.Symbol("p", nonnegative=True), y))
    assert ends(operation.partials([of(0, 4), of(2, 3)], of(0, 64))[1]) == (-INF, INF)


def test_a_function_at_a_point_has_its_value_and_slope(subtests: pytest.Subtests) -> None:
    for function, slope in [
        (sp.exp, sp.exp),
        (sp.log, lambda x: 1 / x),
        (sp.sinh, sp.cosh),
        (sp.cosh, sp.sinh),
        (sp.tanh, lambda x: 1 - sp.tanh(x) ** 2),
        (sp.asinh, lambda x: 1 / sp.sqrt(1 + x**2)),
        (sp.sin, sp.cos),
        (sp.cos, lambda x: -sp.sin(x)),
        (sp.atan, lambda x: 1 / (1 + x**2)),
        (sp.erf, lambda x: 2 / sp.sqrt(sp.pi) * sp.exp(-(x**2))),
        (sp.erfc, lambda x: -2 / sp.sqrt(sp.pi) * sp.exp(-(x**2))),
        (sp.asin, lambda x: 1 / sp.sqrt(1 - x**2)),
        (sp.acos, lambda x: -1 / sp.sqrt(1 - x**2)),
        (sp.atanh, lambda x: 1 / (1 - x**2)),
    ]:
        with subtests.test(function=function, slope=slope):
            operation, _ = operation_of(function(x))
            for place in (0.25, 0.75):
                at, exact = of(place, place), sp.Rational(place)
                for (low, high), wanted in (
                    (operation.value([at]), function(exact)),
                    (operation.partials([at], at)[0], slope(exact)),
                ):
                    number = float(sp.N(wanted, 30))
                    assert float(low) <= number + 1e-15
                    assert float(high) >= number - 1e-15
                    assert float(high - low) < 1e-13
                    assert float(low) == pytest.approx(number, rel=1e-12)


def test_the_slope_of_the_inverse_of_cosh() -> None:
    operation, _ = operation_of(sp.acosh(x))
    assert ends(operation.partials([of(2, 2)], UNIT)[0]) == pytest.approx((1 / 3**0.5, 1 / 3**0.5))
