"""Certificates of bounds, for anyone to check."""
