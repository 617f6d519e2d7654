"""Decides every claim of the ledger: engines, verdicts, lock file, reports."""
