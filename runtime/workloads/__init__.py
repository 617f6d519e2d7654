"""Workloads: networks with losses and data, shipped with the package or provided by the user."""
