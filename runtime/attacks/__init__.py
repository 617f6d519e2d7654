"""Attacks on the last iterate, lower confidence bounds of epsilon, and how far coupled runs drift apart."""
