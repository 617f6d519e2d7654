"""Integrals and infinite sums in balls: known values are inside, what may not exist has none."""

import pytest
import sympy as sp
from flint import arb, ctx

from lastiterate.numeric.enclosure.tape import enclose, enclose_limit, exists

x, k, j = sp.Symbol("x"), sp.Symbol("k"), sp.Symbol("j", positive=True)
oo, one, half = sp.oo, sp.S.One, sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (sp.Integral(sp.exp(-(x**2)), (x, 0, 1)), sp.sqrt(sp.pi) * sp.erf(1) / 2),
        (sp.Integral(1 / (1 + x**2), (x, -1, 1)), sp.pi / 2),
        (sp.Integral(sp.log(x), (x, 1, 2)), 2 * sp.log(2) - 1),
        (sp.Integral(sp.sqrt(x), (x, 1, 4)), sp.Rational(14, 3)),
        (sp.Integral(sp.cos(30 * x), (x, 0, 1)), sp.sin(30) / 30),
        (sp.Integral(1 / (x + sp.Rational(1, 1000)), (x, 0, 1)), sp.log(1001)),
        (sp.Sum(1 / k**2, (k, 1, oo)), sp.pi**2 / 6),
        (sp.Sum(k ** -(3 * half), (k, 2, oo)), sp.Rational(26123753486854883, 10**16) - 1),
        (sp.Sum(1 / (k * (k + 1)), (k, 1, oo)), one),
        (sp.Sum(k / 2**k, (k, 0, oo)), sp.Integer(2)),
        (sp.Sum(1 / sp.factorial(k), (k, 0, oo)), sp.E),
        (sp.Sum(sp.Rational(999, 1000) ** k, (k, 0, oo)), sp.Integer(1000)),
        (sp.Sum(-1 / k**2, (k, 3, oo)), sp.Rational(5, 4) - sp.pi**2 / 6),
    ],
)
def test_known_values_are_inside(part: sp.Expr, value: sp.Expr) -> None:
    for bits in (53, 128):
        before, ctx.prec = ctx.prec, bits
        try:
            ball = enclose_limit(part)
            assert ball.overlaps(enclose(value, {}) + arb(0, 1e-15))
            assert abs(ball).rad() < 1e-3 * abs(ball).mid()
            assert not ball.overlaps(enclose(value * sp.Rational(101, 100), {}))
        finally:
            ctx.prec = before


@pytest.mark.parametrize(
    "part",
    [
        *(
            sp.Integral(body, (x, -1, 1))
            for body in (1 / x, x**-2, sp.log(x), sp.sqrt(x), sp.Abs(x), 1 / sp.sin(x))
        ),
        *(
            sp.Integral(body, (x, 0, 1))
            for body in (1 / x, sp.log(x), 1 / sp.sqrt(x), sp.acos(2) * x, 1 / (3 * x - 1))
        ),
        sp.Integral(x, (x, 1, 0)),
        sp.Integral(sp.exp(-x), (x, 0, oo)),
        sp.Integral(j, (j, -1, 1)),
        sp.Integral(x * k, (x, 0, 1)),
        sp.Integral(x, x),
        *(
            sp.Sum(body, (k, 2, oo))
            for body in (1 / k, one, 2**k, (-1) ** k, 1 / (k * sp.log(k)), k**-1.01, sp.sin(k))
        ),
        *(
            sp.Sum(body, (k, 1, oo))
            for body in (1 / (k - 500) ** 2, sp.sqrt(1000 - k) / 2**k, 1 / (k - 3) ** 2)
        ),
        sp.Sum(sp.factorial(500 - k) / 2**k, (k, 1, oo)),
        sp.Sum(1 / k**2, (k, 0, oo)),
        sp.Sum(1 / k**2, (k, half, oo)),
        sp.Sum(1 / j**2, (j, 0, oo)),
    ],
)
def test_what_may_not_exist_has_no_value(part: sp.Expr) -> None:
    assert not exists(part)
