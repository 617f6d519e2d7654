"""Opacus: an accountant for the last iterate, and the projection that it needs."""
