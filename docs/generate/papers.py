"""The table of the papers that the ledger judges and of the works that are cited."""

from html import escape

from lastiterate.symbolic.papers import CITED, PAPERS, Paper

__all__ = ["papers_table"]


def papers_table() -> str:
    """A row for each paper: how text cites it, authors and title, where it is found."""
    rows = "".join(_row(paper) for paper in (*PAPERS.values(), *CITED))
    return f"<table>\n<tr><th>Cited as</th><th>Authors and title</th><th>Where</th></tr>\n{rows}</table>\n"


def _row(paper: Paper) -> str:
    where = f'<a href="{paper.url}">arXiv:{paper.arxiv}</a>' if paper.arxiv else ""
    where += f"{', ' if where and paper.venue else ''}{escape(paper.venue)}"
    name = f"{escape(paper.authors)}. <em>{escape(paper.title)}</em>, {paper.year}"
    return f"<tr><td>{escape(paper.short)}</td><td>{name}</td><td>{where}</td></tr>\n"
