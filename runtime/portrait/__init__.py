"""Portrait of a network: all measurements of one workload on one page."""
