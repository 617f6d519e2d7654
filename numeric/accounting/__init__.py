"""Conversion of dominating pairs of last iterates to a number at one order or one delta."""
