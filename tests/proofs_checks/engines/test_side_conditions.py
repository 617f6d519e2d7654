"""Side conditions of derivations: what is false, or not a relation between numbers, is not shown."""

from collections.abc import Sequence

import pytest
from sympy import Derivative, Function, Le, Ne, Or, Rational, Subs, Sum, Symbol
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.kernel.judgement import FalseLineError, UnprovedError
from lastiterate.symbolic.notation import n, x

f = Function("f", real=True)
f_0 = Symbol("f_0", real=True)
TWO = Sum(f(n), (n, 1, 2))


@pytest.mark.parametrize(
    ("condition", "given"),
    [
        (Le(TWO, 2 * f(n)), ()),
        (Le(f(n), Rational(1, 2)), (Le(TWO, 1),)),
        (Le(Subs(f(n), n, 3), f(n)), ()),
        (Le(Derivative(f(x), x), 1), ()),
        (Ne(x, x**2 + x), ()),
        (Or(x > 0, x < -1), ()),
        (Le(f(1), f_0), ()),
        (Le(f(1), f(2)), ()),
    ],
)
def test_what_is_false_is_not_shown(condition: Boolean, given: Sequence[Boolean]) -> None:
    with pytest.raises(UnprovedError):
        prove(condition, frozenset(given))


@pytest.mark.parametrize("condition", [Le(f(1), f(2)), Ne(x, 0)])
def test_what_fails_for_some_function_or_is_no_order_is_not_called_false(condition: Boolean) -> None:
    with pytest.raises(UnprovedError) as raised:
        prove(condition, frozenset())
    assert not isinstance(raised.value, FalseLineError)
