"""Theorems of other papers, evaluated as printed.

There is one function per theorem, named by its number. Every number is the paper's claim for the given run,
rounded up. `theorems` lists them with the claims that decide them; `lastiterate.numeric.bound` uses none.
"""
