"""The claims of the papers, in Sympy. Imports nothing else of ours."""
