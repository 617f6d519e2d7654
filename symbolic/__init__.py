"""The claims of the papers, in Sympy. This subpackage imports no other part of the package."""
