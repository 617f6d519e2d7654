"""The scalar optimal-control problem behind every bound, and what solves it."""
