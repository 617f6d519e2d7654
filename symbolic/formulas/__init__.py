"""Formulas of the theory as Sympy expressions, which the claims are about and `lastiterate.numeric` evaluates.

If a tape is too slow, numeric has its own code; tests/numeric/test_one_formula.py compares it with the formula.
"""
