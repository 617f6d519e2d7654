"""Certificates of bounds that anyone can check."""
