"""What the papers claim, in Sympy. Imports nothing else of ours."""
