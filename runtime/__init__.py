"""Measurements on real networks; the only folder that imports torch."""
