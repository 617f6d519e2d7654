"""The theorems of other papers, evaluated as they are printed.

One function a theorem, named by its number. Every number is the paper's claim for the run that is given, rounded up;
`theorems` lists them with the claims that decide them, and `lastiterate.numeric.bound` uses none.
"""
