"""Chien & Li 2025, "Convergent privacy loss of Noisy-SGD without convexity and smoothness"."""
