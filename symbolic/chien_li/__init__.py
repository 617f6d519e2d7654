"""Chien & Li 2025, "Convergent privacy loss of noisy-SGD without convexity and smoothness": the full-batch theory.

One module a theorem, lemma or appendix, in the order of the paper. `paper` says where a line stands.
"""
