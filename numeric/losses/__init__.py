"""Assumptions on the per-sample losses, and the expansion of one update that each implies."""
