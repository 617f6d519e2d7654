"""Reports on the ledger: a table, JSON, JUnit, Markdown, and HTML pages that need nothing else."""
