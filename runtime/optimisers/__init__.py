"""Optimisers that account for the privacy of custom training loops."""
