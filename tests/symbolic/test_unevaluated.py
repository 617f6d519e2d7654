"""Values put into formulas and derivatives: stated as they are, and carried out all at once."""

import pytest
import sympy as sp
from sympy.abc import x, y, z

from lastiterate.symbolic.unevaluated import carried_out, put


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (put(x * y**2, {x: y, y: x}), y * x**2),
        (put(sp.Derivative(x**3 * y, x), {x: y}), 3 * y**3),
        (sp.Derivative(put(x * y, {x: y**2}), y), 3 * y**2),
        (1 + put(x, {x: y + z, z: 1}), 1 + y + z),
        (put(sp.Sum(x**z, (z, 1, 3)), {x: y}), y + y**2 + y**3),
    ],
)
def test_all_values_at_once_and_nothing_else(written, value):
    done = carried_out(written)
    assert done != written
    assert not done.has(sp.Subs, sp.Derivative)
    assert sp.simplify((done - value).doit()) == 0


@pytest.mark.parametrize("formula", [y + 1, put(x + y, {y: x})])
def test_a_formula_without_the_letter_is_refused(formula):
    with pytest.raises(ValueError, match=r"is not a put and contains one of the letters x, got"):
        put(formula, {x: y})


def test_a_value_with_a_letter_that_the_formula_binds_is_refused():
    with pytest.raises(ValueError, match=r"Values may not contain z"):
        put(sp.Sum(x**z, (z, 1, 3)), {x: z})
