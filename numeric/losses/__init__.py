"""Assumptions on the per-sample losses, and the expansions of an update that they imply."""
