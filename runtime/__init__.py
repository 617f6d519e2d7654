"""Measures real networks. The only folder that imports torch."""
