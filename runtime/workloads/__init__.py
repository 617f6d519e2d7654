"""Workloads: networks with losses and data, those that ship with the package and those of a user."""
