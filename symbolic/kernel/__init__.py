"""The proof kernel: one judgement about two runs, and the rules that lead to it."""
