"""A value has every property of its letter where it has those that the letter was declared with."""

import sympy as sp

from lastiterate.proofs_checks.declared import admits_value

SYMBOLS = [
    sp.Symbol("x", **{name: True})
    for name in ("positive", "prime", "composite", "irrational", "even", "odd", "zero", "imaginary", "noninteger")
]
NUMBERS = [sp.Rational(p, q) for p in (*range(-9, 12), 91, 97) for q in (1, 2, 3)]


def test_a_number_is_admitted_where_it_has_every_declared_property() -> None:
    for symbol in SYMBOLS:
        declared = symbol.assumptions0.items()
        expected = [x for x in NUMBERS if all(getattr(x, f"is_{name}") is wanted for name, wanted in declared)]
        assert [x for x in NUMBERS if admits_value(symbol, x)] == expected
