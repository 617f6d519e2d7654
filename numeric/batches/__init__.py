"""Batches that are not the whole data: shuffled, drawn without replacement, Poisson."""
