"""Contraction on a bounded domain: the noise of a block of steps brings two runs together without shifts."""
