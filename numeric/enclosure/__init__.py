"""Interval arithmetic on Sympy expressions: guaranteed enclosures of values and gradients."""
