"""Ratios against baselines, each measured in one run: ``python -m benchmarks`` writes RESULTS.md."""
