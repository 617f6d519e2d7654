"""Optimisers and callbacks for custom training loops, which keep the account."""
