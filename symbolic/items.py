"""The numbered items of each paper, listed by hand, with the claims that speak of each.

``symbolic/<paper>/items.toml`` holds one ``[[item]]`` for each definition, lemma, theorem, remark with content,
table and displayed step that carries weight: its ``number`` as printed, the ``line`` of the file in shared/seeds,
and either ``claims``, a list of keys, or ``none``, the reason why there is nothing to check. ``version`` says which
file is meant where a paper has two.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from lastiterate.symbolic.claim import Claim

__all__ = ["PAPERS", "Item", "Paper", "items", "parse", "problems"]

_WINDOW = 3
"""Lines before and after the line of an item in which its number must stand."""


@dataclass(frozen=True)
class Paper:
    """A paper: how readers call it, and its files by version; the first is meant where none is named."""

    title: str
    files: Mapping[str, str]


PAPERS: Final[Mapping[str, Paper]] = {
    "chien_li": Paper("Chien & Li 2025", {"": "004_62071bf32927f9d4.txt"}),
    "altschuler_talwar": Paper("Altschuler & Talwar 2022", {"": "001_96660e9b2b742051.txt"}),
    "liang": Paper("Liang et al. 2026", {"later": "000_b80854f0281a567d.txt", "earlier": "003_44d8e3677abe08fa.txt"}),
    "d2p2": Paper("D2P2-SGD", {"": "002_eb02520b5be3e2ca.txt"}),
    "ours": Paper("Ours", {}),
}
"""By what stands before the first slash of a claim's key."""


@dataclass(frozen=True)
class Item:
    """A numbered item of a paper.

    Attributes:
        number: as printed, "Lemma 3.4" or "(12)".
        line: in the file, from 1.
        claims: keys of the claims that speak of it.
        none: why there is no claim; "" where there are claims.
        version: which file of the paper; "" for the only one, or the first.
    """

    number: str
    line: int
    claims: tuple[str, ...] = ()
    none: str = ""
    version: str = ""


def items(paper: str) -> tuple[Item, ...] | None:
    """The items of a paper in their order; None where nobody has listed them yet.

    Raises:
        ValueError: the list is not of the shape that this module describes.
    """
    file = resources.files("lastiterate.symbolic") / paper / "items.toml"
    return parse(file.read_text(encoding="utf-8"), paper) if file.is_file() else None


def parse(text: str, paper: str) -> tuple[Item, ...]:
    r"""The items in the text of a list.

    Raises:
        ValueError: the text is no TOML, or an entry has not exactly the fields of an item.

    >>> parse('[[item]]\nnumber = "Lemma 3.4"\nline = 118\nnone = "a definition"', "chien_li")[0].line
    118
    """
    data = tomllib.loads(text)
    entries = next(iter(data.values()), None)
    if len(data) != 1 or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"A list of items needs [[item]] tables and nothing else, got keys={sorted(data)}; mend it.")
    return tuple(_item(entry, paper) for entry in entries)


def _item(entry: Mapping[str, Any], paper: str) -> Item:
    kinds = {"number": str, "line": int, "claims": list, "none": str, "version": str}
    for name, value in entry.items():
        if name not in kinds or type(value) is not kinds[name]:
            raise ValueError(f"An item needs {', '.join(kinds)} of the right type, got {name}={value!r}; mend {entry}.")
    if not entry.get("number") or entry.get("line", 0) < 1:
        raise ValueError(f"An item needs a number as printed and a line of at least 1, got item={entry}; add them.")
    claims = entry.get("claims", [])
    if not all(isinstance(key, str) for key in claims):
        raise ValueError(f"The claims of an item need to be keys, got claims={claims!r}; quote them.")
    version = entry.get("version", "")
    if version and version not in PAPERS[paper].files:
        names = ", ".join(PAPERS[paper].files)
        raise ValueError(f"version needs one of {names}, got version={version!r}; choose one.")
    return Item(entry["number"], entry["line"], tuple(claims), entry.get("none", ""), version)


def problems(
    paper: str, listed: Sequence[Item], claims: Sequence[Claim], text: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """One sentence for each way in which a list and the ledger do not fit together.

    Args:
        paper: the paper's name in keys.
        listed: its items.
        claims: its claims.
        text: the lines of each version's file; {} where the papers are not at hand.
    """
    known = {claim.key for claim in claims}
    found = []
    for item in listed:
        if bool(item.claims) == bool(item.none.strip()):
            found.append(f"{item.number} (line {item.line}) needs claims, or a reason why there is none.")
        found += [f"{item.number} names {key}, which is not in the ledger." for key in item.claims if key not in known]
        lines = text.get(item.version or next(iter(PAPERS[paper].files), ""))
        if lines is not None:
            found += _misplaced(item, lines)
    covered = {key for item in listed for key in item.claims}
    found += [f"{claim.key} appears under no item of {paper}." for claim in claims if claim.key not in covered]
    return tuple(found)


def _misplaced(item: Item, lines: Sequence[str]) -> list[str]:
    if item.line > len(lines):
        return [f"{item.number} is said to stand at line {item.line}, and the file has {len(lines)}."]
    near = " ".join(lines[max(0, item.line - 1 - _WINDOW) : item.line + _WINDOW]).lower()
    names = _names(item.number)
    if any(name in near for name in names):
        return []
    return [f"Line {item.line} does not name {item.number}: none of {', '.join(names)} stands near it."]


def _names(number: str) -> tuple[str, ...]:
    """What a line that names an item may hold: its numeral, or a word of it where it has none.

    >>> _names("Lemma 3.4"), _names("Related work")
    (('3.4',), ('related', 'work'))
    """
    numeral = re.search(r"[A-Z]?\.?\d+(?:\.\d+)*", number)
    return (numeral[0].lower(),) if numeral else tuple(re.findall(r"\w{4,}", number.lower())) or (number.lower(),)
