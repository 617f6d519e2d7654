"""What the numeric solvers of the shift program rest on, stated and checked like the papers' claims."""
