"""From what dominates a last iterate to a number at one order or at one delta."""
