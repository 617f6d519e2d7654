"""Accountant for the last iterate in Opacus, and the projection that it needs."""
