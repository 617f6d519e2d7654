"""Results of our own that the numeric solvers rest on, stated and checked like the papers' claims."""
