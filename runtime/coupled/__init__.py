"""Pairs of runs with the same batches and noise, and distances between the laws of last iterates."""
