"""Optimisers and callbacks that account for the privacy of custom training loops."""
