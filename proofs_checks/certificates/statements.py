"""Statements of privacy for auditors: text made from a certificate and from what its author declares.

The text holds the certificate, so a statement is checked from the file alone: the certificate must hold, and the text
must be the one that `write_statement` makes from it, letter for letter. The topics are those of NIST SP 800-226
(2025): the guarantee, the unit of privacy, the mechanism, who is trusted, and what is not covered.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

from jinja2 import Environment, PackageLoader

from lastiterate.numeric.certificates.description import Node, seal_nodes
from lastiterate.numeric.certificates.proof import STANDING
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.certificates.checker import Refused, check

FORMS: Final = ("markdown", "modelcard")
"""A page, or a section of a model card; "json" is the content of the page as one JSON object."""
DECLARED: Final[Mapping[str, str]] = {
    "by": "the author of this statement",
    "unit": "one sample of the training data",
    "model": "the released model",
}
"""What the author declares, by field, with the words for a field that is not given."""
_RECORD: Final = re.compile(r"^```json\n(\{.*\})\n```$", re.MULTILINE)
_FORMAT: Final = "lastiterate statement 1"
_LONGEST: Final = 2000


def write_statement(certificate: Node, declared: Mapping[str, str], form: str) -> str:
    """Statement about a certificate in one of the `FORMS`, or as "json".

    Raises:
        InputError: the certificate is refused, or a declared text is not one line of plain text.
    """
    for field, text in declared.items():
        if (
            field not in DECLARED
            or not text.isprintable()
            or not 0 < len(text) <= _LONGEST
            or set(text) & set("`<>|")
        ):
            raise InputError(
                f"A declared text needs to be one line without the characters ` < > |, got {field}={text!r:.80}; "
                "shorten or change it."
            )
    try:
        said = check(json.dumps(certificate))
    except Refused as refused:
        raise InputError(
            f"A statement needs a certificate that holds, got {refused}; make it again."
        ) from refused
    # Hypotheses are left out, because nothing checks them.
    bare = seal_nodes({key: one for key, one in certificate.items() if key != "hypotheses"})
    record = {"format": _FORMAT, "form": form, "declared": dict(declared), "certificate": bare}
    content = {
        "guarantee": said,
        "digest": hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest(),
        "adjacency": certificate["run"]["adjacency"],
        "hypotheses": STANDING,
        **DECLARED,
        **declared,
    }
    if form == "json":
        more = {"digest": content["digest"], "guarantee": said, "hypotheses": STANDING}
        return json.dumps(record | more, ensure_ascii=False) + "\n"
    environment = Environment(  # noqa: S701 - text; the characters of markup are refused above
        loader=PackageLoader("lastiterate.proofs_checks", "certificates"), trim_blocks=True, lstrip_blocks=True
    )
    page = environment.get_template(f"{form}.md.j2").render(
        record=json.dumps(record, ensure_ascii=False), **content
    )
    return page.rstrip("\n") + "\n"


def read(text: str) -> Node | None:
    """Record that a statement holds; None if the text is not a statement."""
    found = _RECORD.search(text)
    try:
        record = json.loads(found[1] if found else text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("format") == _FORMAT else None


def verified(text: str, record: Node) -> str:
    """Guarantee of a statement that holds; raises `Refused` if the text was changed."""
    try:
        again = write_statement(record["certificate"], record["declared"], str(record["form"]))
        if record["form"] not in (*FORMS, "json") or again != text:
            raise Refused("the text is not the statement that its certificate and declarations make")
    except (InputError, LookupError, TypeError, AttributeError, StopIteration) as error:
        raise Refused(f"the record of the statement: {error}") from error
    return check(json.dumps(record["certificate"]))
