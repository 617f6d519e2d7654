"""A value has every property of its letter where it has those that the letter was declared with."""

import pytest
import sympy as sp

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.declared import admits_value, prepared
from lastiterate.symbolic.checks import Identity

SYMBOLS = [
    sp.Symbol("x", **{name: True})
    for name in (
        "positive",
        "prime",
        "composite",
        "irrational",
        "even",
        "odd",
        "zero",
        "imaginary",
        "noninteger",
    )
]
i, k = sp.symbols("i k", integer=True)
NUMBERS = [sp.Rational(p, q) for p in (*range(-9, 12), 91, 97) for q in (1, 2, 3)]


def test_a_number_is_admitted_where_it_has_every_declared_property() -> None:
    for symbol in SYMBOLS:
        declared = symbol.assumptions0.items()
        expected = [x for x in NUMBERS if all(getattr(x, f"is_{name}") is wanted for name, wanted in declared)]
        assert [x for x in NUMBERS if admits_value(symbol, x)] == expected


@pytest.mark.parametrize(
    "inner", [sp.Sum(k, (k, 1, 3)), sp.Integral(k, (k, 0, 1)), sp.Sum(k * i, (k, 1, i), (i, 1, 2))]
)
def test_a_letter_that_is_bound_and_free_is_refused(inner: sp.Expr) -> None:
    """Otherwise a value or a premise of the free letter would be taken for one of the bound letter."""
    for check, assumptions in ((Identity(k + inner, sp.S.One), ()), (Identity(inner, sp.S.One), (k < 2,))):
        with pytest.raises(UnsupportedError, match="may not also be free"):
            prepared(check, assumptions)
