"""Numerical results with a guaranteed direction of error."""
