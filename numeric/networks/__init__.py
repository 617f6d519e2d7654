"""Certified constants of feed-forward networks: enclosures of their derivatives on a ball of parameters."""
