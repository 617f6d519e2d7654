"""The report as pages: one self-contained HTML file, one mapping page a paper, and Markdown."""
