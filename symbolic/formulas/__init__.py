"""Formulas of the theory as Sympy expressions, which claims use and `lastiterate.numeric` evaluates.

Numeric code that replaces a slow tape is compared with these formulas in tests/numeric/test_one_formula.py.
"""
