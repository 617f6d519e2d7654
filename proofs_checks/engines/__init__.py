"""Who decides a check: one module an engine."""
