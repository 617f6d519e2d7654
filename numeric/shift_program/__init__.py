"""The scalar optimal-control problem behind every bound, and its solvers."""
