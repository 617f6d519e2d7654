"""The papers that the ledger judges, the works that it cites (``papers.toml``), and places in them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Paper:
    """A paper; ``short`` is its name in citations, and a missing identifier or venue is ""."""

    short: str
    authors: str
    year: int
    title: str
    arxiv: str = ""
    doi: str = ""
    venue: str = ""

    @property
    def url(self) -> str:
        """Address of the abstract; "" if there is no identifier."""
        if self.arxiv:
            return f"https://arxiv.org/abs/{self.arxiv}"
        return f"https://doi.org/{self.doi}" if self.doi else ""

    def __str__(self) -> str:
        """Authors, year, title, identifier and venue in one line.

        >>> print(next(paper for paper in CITED if paper.short == "Mironov 2017"))
        Mironov 2017, Rényi Differential Privacy, arXiv:1702.07476, CSF 2017
        """
        parts = (
            self.short,
            self.title,
            self.arxiv and f"arXiv:{self.arxiv}",
            self.venue,
            self.doi and f"doi:{self.doi}",
        )
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Source:
    """The place of a claim in a paper, on a page of our proofs (by path), or in a draft (by name).

    Attributes:
        number: the number of the statement as printed, or the section.
        detail: the number of an equation, or words of the line.
    """

    work: Paper | str
    number: str
    detail: str = ""

    @property
    def url(self) -> str:
        """Address of the paper; "" if there is none."""
        return self.work.url if isinstance(self.work, Paper) else ""

    def __str__(self) -> str:
        """The work, the number and the detail.

        >>> print(Source(PAPERS["chien_li"], "Lemma 3.5", "(7)"))
        Chien & Li 2025 (arXiv:2410.01068), Lemma 3.5, (7)
        """
        named = self.work if isinstance(self.work, str) else self.work.short
        if isinstance(self.work, Paper) and self.work.arxiv:
            named += f" (arXiv:{self.work.arxiv})"
        return ", ".join(part for part in (named, self.number, self.detail) if part)


def proof(page: str, section: str) -> Source:
    """A section of a page of our own proofs, by the name of the page.

    >>> print(proof("cyclic", "The strongly convex value"))
    docs/proofs/cyclic.md, The strongly convex value
    """
    return Source(f"docs/proofs/{page}.md", section)


_DATA: Final = tomllib.loads(
    (resources.files("lastiterate.symbolic") / "papers.toml").read_text(encoding="utf-8")
)

PAPERS: Final[Mapping[str, Paper]] = MappingProxyType(
    {key: Paper(**entry) for key, entry in _DATA["ledger"].items()}
)
"""The papers of the ledger, by the folder of their claims; two versions of a paper are two entries."""

MODULES: Final = MappingProxyType({paper: tuple(names) for paper, names in _DATA["modules"].items()})
"""The modules of claims of each paper, in order."""

CITED: Final = tuple(Paper(**entry) for entry in _DATA["cited"])
"""The literature cited in docstrings and proofs, in alphabetical order."""


def cited(short: str) -> Paper:
    """The work with this name in citations.

    >>> print(Source(cited("Mironov, Talwar & Zhang 2019"), "Theorem 11"))
    Mironov, Talwar & Zhang 2019 (arXiv:1908.10530), Theorem 11
    """
    (found,) = (paper for paper in CITED if paper.short == short)
    return found


@dataclass(frozen=True)
class Item:
    """A numbered item of a paper, like "Lemma 3.4" or "(12)", with its claims, or the reason why it has ``none``."""

    number: str
    claims: tuple[str, ...] = ()
    none: str = ""
    version: str = ""


@cache
def claim_remarks(paper: str) -> Mapping[str, str]:
    """The remarks on the claims of a paper, by key (``remarks.toml`` in its folder)."""
    file = resources.files("lastiterate.symbolic") / paper / "remarks.toml"
    texts = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return MappingProxyType({key: " ".join(text.split()) for key, text in texts.items()})


def items(paper: str) -> tuple[Item, ...] | None:
    """The items of a paper in order; None if there is no list."""
    file = resources.files("lastiterate.symbolic") / paper / "items.toml"
    return parse(file.read_text(encoding="utf-8")) if file.is_file() else None


def parse(text: str) -> tuple[Item, ...]:
    """The items in the text of a list."""
    return tuple(
        Item(**entry | {"claims": tuple(entry.get("claims", ()))}) for entry in tomllib.loads(text)["item"]
    )
