"""Results of our own, on which the numeric solvers rest."""
