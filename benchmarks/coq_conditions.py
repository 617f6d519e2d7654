"""The hypotheses of a theorem of Coq, read off its statement."""

import re
from collections.abc import Iterator

from benchmarks.coq_held import Item

_OPEN, _CLOSE = "([{", ")]}"


def _depths(text: str) -> Iterator[tuple[int, str, int]]:
    depth = 0
    for place, letter in enumerate(text):
        depth -= letter in _CLOSE
        yield place, letter, depth
        depth += letter in _OPEN


def split(text: str, at: str) -> list[str]:
    """The pieces of a text between separators outside parentheses."""
    cuts, last = [], 0
    for place, _, depth in _depths(text):
        if depth == 0 and place >= last and text.startswith(at, place):
            cuts.append(text[last:place])
            last = place + len(at)
    return [one.strip() for one in (*cuts, text[last:])]


def _place(text: str, of: str) -> int:
    """The position of the first separator outside parentheses, or -1."""
    return next((place for place, _, depth in _depths(text) if depth == 0 and text.startswith(of, place)), -1)


def _bare(text: str) -> str:
    """A text without enclosing parentheses."""
    while text.startswith("(") and all(depth for place, _, depth in _depths(text) if 0 < place < len(text) - 1):
        text = text[1:-1].strip()
    return text


def _of_type(text: str) -> Iterator[str]:
    """The hypotheses of a proposition: what is left of its arrows, after the letters that it binds."""
    text = _bare(text)
    if re.match(r"forall\b", text):
        yield from _of_type(text[_place(text, ",") + 1 :].strip())
    elif not re.match(r"exists\b", text) and (cut := _place(text, " -> ")) >= 0:
        yield _bare(text[:cut].strip())
        yield from _of_type(text[cut + 4 :].strip())


def _binders_and_type(text: str) -> str:
    """The type of a statement, after its name and its binders."""
    return " : ".join(split(text.rstrip("."), " : ")[1:])


def hypotheses(one: Item) -> list[str]:
    """The hypotheses of a theorem: first those of its sections, including variables of type nat, then its own."""
    found = []
    for said in one.context:
        word, *_ = said.split(" ", 1)
        names, *kind = split(said.rstrip(".").removeprefix(word).strip(), " : ")
        if word.startswith("Hypothes"):
            found.append(" : ".join(kind))
        elif kind == ["nat"]:
            found += [f"{name} : nat" for name in names.split()]
    return [*found, *_of_type(_binders_and_type(one.text))]


def premises(proposition: str) -> list[str]:
    """The hypotheses of a proposition."""
    return list(_of_type(proposition))


def fields(one: Item) -> dict[str, str]:
    """The fields of a record, by their names."""
    inside = one.text[one.text.index("{") + 1 : one.text.rindex("}")]
    pairs = (re.split(r" :>? ", field, maxsplit=1) for field in split(inside, ";"))
    return dict(pairs)


def conjuncts(one: Item) -> list[str]:
    """The conjuncts of a definition that is a conjunction of several."""
    body = one.text[one.text.index("[/\\") + 3 : one.text.rindex("]")]
    return [part.strip() for part in re.split(r"(?<!forall \w), | & ", body)]
