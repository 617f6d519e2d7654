"""Conversion of dominating pairs of last iterates to an epsilon at an order or a delta."""
