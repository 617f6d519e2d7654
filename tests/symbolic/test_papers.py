"""The bibliography: complete, without doubles, and everything that is cited stands in it."""

import re
import unicodedata
from pathlib import Path

from lastiterate.symbolic.papers import CITED, PAPERS

ROOT = Path(__file__).parents[2]
_NAME = r"\b[A-Z](?![A-Z])[\w\-]*"
_CITATION = re.compile(rf"((?:{_NAME}(?:, {_NAME})* & )?{_NAME}(?: et al\.)?) \(?((?:19|20)\d\d)\)?(?!\d|-\d)")


def test_identifiers_are_those_of_arxiv_and_no_work_stands_twice():
    works = [paper for key, paper in PAPERS.items() if key != "liang_earlier"] + list(CITED)
    assert [
        work.short for work in works if work.arxiv and not re.fullmatch(r"\d{4}\.\d{4,5}", work.arxiv)
    ] == []
    assert [work.short for work in works if not (work.arxiv or work.venue)] == []
    for values in ([work.short for work in works], [work.arxiv for work in works if work.arxiv]):
        assert len(set(values)) == len(values)


def test_works_are_in_alphabetical_order_and_named_by_their_first_author():
    def plain(text):
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()

    names = [work.short for work in CITED]
    assert names == sorted(names, key=plain)
    for work in (*PAPERS.values(), *CITED):
        first = plain(re.split(r" |,", work.short)[0])
        assert first in plain(work.authors.split(",")[0]), work.short


def test_every_citation_stands_in_the_bibliography():
    known = tuple(work.short for work in (*PAPERS.values(), *CITED))
    files = [
        path
        for folder in ("symbolic", "numeric", "runtime", "proofs_checks")
        for path in (ROOT / folder).rglob("*.py")
    ]
    missing = []
    for path in [*files, *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        for who, year in _CITATION.findall(text):
            if not f"{who} {year}".endswith(known):
                missing.append(f"{path.relative_to(ROOT)}: {who} {year}")
    assert missing == []


def test_pages_of_proofs_that_are_cited_exist():
    folders = ("symbolic", "numeric", "runtime", "proofs_checks", "docs", "src/lastiterate/commands")
    files = [path for folder in folders for kind in ("py", "md") for path in (ROOT / folder).rglob(f"*.{kind}")]
    cited = {
        (path, page)
        for path in files
        for page in re.findall(r"docs/(proofs/\w+)", path.read_text(encoding="utf-8"))
    }
    assert cited
    assert [f"{path}: {page}" for path, page in cited if not (ROOT / f"docs/{page}.md").is_file()] == []
