"""Formulas of the theory as Sympy expressions; `lastiterate.numeric` evaluates them, the claims speak of them.

Where speed forbids a tape, numeric keeps a text of its own; tests/numeric/test_one_formula.py holds the two together.
"""
