import mpmath
import pytest
import sympy as sp
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.enclosure.tape import MAX_TERMS, Tape, enclose

x, y = sp.symbols("x y", positive=True)
k = sp.Symbol("k", integer=True, positive=True)

LEAVES = st.one_of(
    st.sampled_from([x, y]),
    st.fractions(min_value=-3, max_value=3, max_denominator=8).map(
        lambda f: sp.Rational(f.numerator, f.denominator)
    ),
)
UNARY = [sp.exp, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.atan, sp.sin, sp.cos, sp.erf, sp.erfc, sp.Abs]


def _grow(inner):
    return st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, inner).map(lambda p: sp.Min(*p)),
        st.tuples(inner, inner).map(lambda p: sp.Max(*p)),
        st.tuples(st.sampled_from(UNARY), inner).map(lambda p: p[0](p[1])),
        inner.map(lambda e: sp.log(1 + e**2)),
        inner.map(lambda e: sp.sqrt(1 + e**2)),
        inner.map(lambda e: (2 + e**2) ** sp.Rational(2, 3)),
        inner.map(lambda e: 1 / (1 + e**2)),
        st.tuples(inner, inner).map(lambda p: (1 + p[0] ** 2) ** sp.sin(p[1])),
        inner.map(lambda e: sp.Piecewise((e, x < y), (e**2, True))),
    )


EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=5)
POINTS = st.fractions(min_value=sp.Rational(1, 10), max_value=3, max_denominator=50)


def _arb(value):
    return arb(fmpq(value.numerator, value.denominator))


def _mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


def _as_mpf(ball):
    """An exact ball as an mpf, exactly."""
    mantissa, exponent = ball.man_exp()
    return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))


@settings(max_examples=100)
@given(expression=EXPRESSIONS, at_x=POINTS, at_y=POINTS)
def test_agrees_with_mpmath(expression, at_x, at_y):
    ball = enclose(expression, {x: _arb(at_x), y: _arb(at_y)})
    with mpmath.workdps(60):
        value = sp.lambdify([x, y], expression, modules="mpmath")(_mp(at_x), _mp(at_y))
        value = mpmath.mpmathify(value).real
        if not mpmath.isfinite(value) or not ball.is_finite():
            return
        slack = (1 + abs(value)) * mpmath.mpf(10) ** -50
        assert _as_mpf(ball.lower()) <= value + slack
        assert value - slack <= _as_mpf(ball.upper())
        if at_x != at_y:  # there the pieces meet, and both count
            assert _as_mpf(ball.rad()) <= mpmath.mpf("1e-6") * (1 + abs(value))


@settings(max_examples=60)
@given(
    expression=EXPRESSIONS, low=POINTS, width=POINTS, share=st.fractions(0, 1, max_denominator=16), at_y=POINTS
)
def test_a_box_holds_its_points_and_its_difference_quotients(expression, low, width, share, at_y):
    tape = Tape(expression, (x, y))
    inside = low + share * width
    edges = (_arb(low).lower(), _arb(low + width).upper())
    fixed = (_arb(at_y).lower(), _arb(at_y).upper())
    value, slopes = tape.gradient([edges, fixed])

    def at(where):
        return tape.value([(_arb(where).lower(), _arb(where).upper()), fixed])

    here, start = at(inside), at(low)
    assert not here[0] > value[1]
    assert not here[1] < value[0]
    if expression.has(sp.Piecewise) or inside == low:
        return
    run = _arb(inside) - _arb(low)
    quotient = (here[0].union(here[1]) - start[0].union(start[1])) / run
    if quotient.is_finite():
        assert not quotient > slopes[0][1]
        assert not quotient < slopes[0][0]


def test_ends_stay_exact_where_a_single_ball_spills():
    low, high = Tape(x * y, (x, y)).value([(arb(0), arb(1)), (arb(0), arb(1))])
    assert low == 0
    assert high == 1


def test_sums_are_written_out():
    geometric = sp.Sum(x**-k, (k, 1, sp.Symbol("w", integer=True, positive=True)))
    ball = enclose(geometric, {x: arb(2), sp.Symbol("w", integer=True, positive=True): arb(3)})
    assert ball == arb(7) / 8


def test_outside_the_domain_nothing_is_known():
    z = sp.Symbol("z", real=True)
    assert not enclose(sp.log(z), {z: arb(-1)}).is_finite()
    assert not enclose(1 / z, {z: arb(0)}).is_finite()


def test_precision_tightens():
    before = ctx.prec
    try:
        ctx.prec = 300
        assert enclose(sp.sqrt(x), {x: arb(2)}).rad() < 1e-80
    finally:
        ctx.prec = before


def test_a_ball_goes_in_and_the_whole_of_its_image_comes_out():
    found = enclose(x**2 + 1, {x: arb(2).union(arb(3))})
    assert found.lower() <= 5
    assert found.upper() >= 10
    assert found.rad() < 2.6
    assert enclose(x + 1, {x: arb(2)}) == 3
    assert enclose(sp.sqrt(x), {x: arb(2)}).overlaps(arb(2).sqrt())
    assert enclose(sp.sqrt(x), {x: arb(2)}).contains(arb(2).sqrt())


def test_a_float_in_an_expression_is_taken_as_it_is():
    for value in (0.1, -0.1, 3e-200):
        assert enclose(sp.Float(value), {}) == arb(value)


def test_infinite_numbers_are_enclosed():
    assert enclose(sp.oo, {}).lower() == arb("inf")
    assert enclose(-sp.oo, {}).upper() == -arb("inf")


@pytest.mark.parametrize(
    ("number", "value"),
    [(sp.pi, 3.141592653589793), (sp.E, 2.718281828459045), (sp.EulerGamma, 0.5772156649015329)],
)
def test_constants_are_enclosed(number, value):
    assert abs(enclose(number, {}) - value) < 1e-15


def test_a_sum_may_have_so_many_terms_and_no_more():
    assert enclose(sp.Sum(k - k + 1, (k, 1, MAX_TERMS)), {}) == MAX_TERMS
    with pytest.raises(UnsupportedError, match=f"has more than {MAX_TERMS} terms"):
        enclose(sp.Sum(x**-k, (k, 1, MAX_TERMS + 1)), {x: arb(2)})


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (sp.Integral(sp.exp(-(y**2)), (y, 0, x)), "is not a single integral or sum with numeric limits"),
        (sp.Sum(x**-k, (k, 1, x)), "needs integer limits to be enclosed"),
        (sp.zeta(x), "no enclosure of zeta in zeta(x)"),
        (x + y, "no value was given for the symbol y"),
        (sp.GoldenRatio + x, "no enclosure of the number GoldenRatio"),
        (sp.Piecewise((x, sp.Xor(x > 1, y > 1)), (2, True)), "no enclosure of a piece under the condition "),
    ],
)
def test_what_is_not_supported_is_said(expression, words):
    with pytest.raises(UnsupportedError) as refused:
        enclose(expression, {x: arb("1.5")})
    assert words in str(refused.value)
