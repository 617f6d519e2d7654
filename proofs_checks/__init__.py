"""Decision of the claims of the ledger: engines, verdicts, lock file, reports."""
