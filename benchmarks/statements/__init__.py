"""Statements with verdicts, for those who measure a prover or a grader."""
