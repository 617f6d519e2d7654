"""Reports on the ledger: a table, JSON, Markdown, and self-contained HTML pages."""
