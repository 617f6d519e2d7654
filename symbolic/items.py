"""The numbered items of each paper, listed by hand in its order, with the claims that speak of each.

``symbolic/<paper>/items.toml`` holds one ``[[item]]`` for each definition, lemma, theorem, remark with content,
table and displayed step that carries weight: its ``number`` as printed, and either ``claims``, a list of keys, or
``none``, the reason why there is nothing to check. ``version`` says which version is meant where a paper has two.
"""

import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Item:
    """A numbered item of a paper.

    Attributes:
        number: as printed, "Lemma 3.4" or "(12)".
        claims: keys of the claims that speak of it.
        none: why there is no claim; "" where there are claims.
        version: which version of the paper; "" where there is one.
    """

    number: str
    claims: tuple[str, ...] = ()
    none: str = ""
    version: str = ""


def items(paper: str) -> tuple[Item, ...] | None:
    """The items of a paper in their order; None where there is no list.

    Raises:
        TypeError: an entry has other fields than an item.
    """
    file = resources.files("lastiterate.symbolic") / paper / "items.toml"
    return parse(file.read_text(encoding="utf-8")) if file.is_file() else None


def parse(text: str) -> tuple[Item, ...]:
    r"""The items in the text of a list.

    >>> parse('[[item]]\nnumber = "Lemma 3.4"\nnone = "a definition"')[0].number
    'Lemma 3.4'
    """
    return tuple(Item(**entry | {"claims": tuple(entry.get("claims", ()))}) for entry in tomllib.loads(text)["item"])
