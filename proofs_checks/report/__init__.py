"""Reports on the ledger: a table, JSON, Markdown, and HTML pages that need nothing else."""
