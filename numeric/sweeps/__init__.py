"""Bounds over a grid of runs: in parallel, resumable, as one table."""
