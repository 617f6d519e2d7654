"""Theorems of other papers, evaluated as printed.

Each function, named by the number of its theorem, computes the paper's claim for a run, rounded up.
`theorems` lists them with the claims that decide them; `lastiterate.numeric.bound` uses none of them.
"""
