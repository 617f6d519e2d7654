"""Measured constants of a network's gradients: lower estimates, statistical estimates, closed forms."""
