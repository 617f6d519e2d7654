"""Noisy training exactly as it is accounted for."""
