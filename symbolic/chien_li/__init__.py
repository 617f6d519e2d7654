"""Chien & Li 2025, "Convergent privacy loss of noisy-SGD without convexity and smoothness": full batches."""
