"""The claims of the papers, in Sympy. It imports no other part of the package."""
