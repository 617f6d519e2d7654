"""Attacks on the last iterate, lower confidence bounds on epsilon, and the distance between coupled runs."""
