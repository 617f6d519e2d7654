"""Facts about rational numbers that are not asked of Sympy are those that it knows."""

import sympy as sp

from lastiterate.proofs_checks.declared import admits_value, fact

SYMBOLS = [
    sp.Symbol("x", **{name: True})
    for name in ("positive", "prime", "composite", "irrational", "even", "odd", "zero", "imaginary", "noninteger")
]
NAMES = sorted(set().union(*(symbol.assumptions0 for symbol in SYMBOLS)))
NUMBERS = [sp.Rational(p, q) for p in (*range(-9, 12), 91, 97) for q in (1, 2, 3)]


def test_facts_are_those_of_sympy() -> None:
    wrong = [(x, name) for x in NUMBERS for name in NAMES if fact(x, name) is not getattr(x, f"is_{name}")]
    assert not wrong
    assert fact(sp.sqrt(2), "rational") is False
    assert fact(sp.I, "positive") is False


def test_a_number_is_admitted_where_it_has_every_declared_property() -> None:
    for symbol in SYMBOLS:
        declared = symbol.assumptions0.items()
        expected = [x for x in NUMBERS if all(getattr(x, f"is_{name}") is wanted for name, wanted in declared)]
        assert [x for x in NUMBERS if admits_value(symbol, x)] == expected
