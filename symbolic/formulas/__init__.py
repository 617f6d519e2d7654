"""Formulas of the theory as Sympy expressions, which the claims are about and `lastiterate.numeric` evaluates.

Code of numeric that replaces a slow tape is compared with them in tests/numeric/test_one_formula.py.
"""
