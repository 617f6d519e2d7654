"""Formulas of the theory as Sympy expressions; `lastiterate.numeric` evaluates them, and the claims are about them.

Where a tape is too slow, numeric has its own code; tests/numeric/test_one_formula.py holds the two together.
"""
