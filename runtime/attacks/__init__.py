"""Attacks on the last iterate: lower confidence bounds of epsilon."""
