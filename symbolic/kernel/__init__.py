"""The proof kernel: a judgement about two runs, and the rules that derive it."""
