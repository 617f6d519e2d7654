"""Optimisers and callbacks for training loops of one's own, which keep the account."""
