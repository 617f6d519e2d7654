"""Shuffled batches: a fresh uniform permutation in every epoch."""
