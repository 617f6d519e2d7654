"""Attacks on the last iterate, lower confidence bounds of epsilon, and the distance of coupled runs."""
