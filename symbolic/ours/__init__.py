"""Results of our own, which the numeric solvers use."""
