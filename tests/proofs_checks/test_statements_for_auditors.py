"""Statements for auditors: what they say is derived from the certificate, and a changed letter is refused."""

import json
import random
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from lastiterate.__main__ import cli
from lastiterate.numeric.bound import bound
from lastiterate.numeric.certificates.description import Node, seal_nodes
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.losses.assumptions import Clipped, Convex, Smooth
from lastiterate.numeric.run import NoisySGD
from lastiterate.proofs_checks.certificates.checker import Refused
from lastiterate.proofs_checks.certificates.statements import FORMS, read, verified, write_statement

_RUN = Path(__file__).parents[2] / "examples" / "run.toml"
_DECLARED = {"unit": "one patient record", "by": "the hospital", "model": "net 3"}


def _certificates() -> list[Node]:
    full = NoisySGD(200, 0.1, 1.0, 2.0, 5, diameter=1.0)
    sampled = NoisySGD(20, 4.0, 0.16, 1.0, 200, batch_size=100, sampling="poisson", diameter=1.0)
    cyclic = NoisySGD(12, 0.1, 0.1, 1.0, 40, 10, "cyclic", 0.3)
    return [
        bound(full, Smooth(1.0), delta=1e-5).certificate(weaker=True),
        bound(sampled, Convex(0.25), delta=1e-5).certificate(weaker=True),
        bound(cyclic, Clipped(), order=4).certificate(weaker=True),
    ]


CERTIFICATES = _certificates()


@pytest.mark.parametrize("form", [*FORMS, "json"])
@pytest.mark.parametrize("certificate", CERTIFICATES, ids=["full", "poisson", "cyclic"])
def test_a_changed_number_or_word_is_refused(certificate: Node, form: str) -> None:
    text = write_statement(certificate, _DECLARED, form)
    record = read(text)
    assert record is not None
    assert re.search(r"is \(.*\)-(DP|RDP)$", verified(text, record))
    for said in _DECLARED.values():
        assert said in text
    places = [found.start() for found in re.finditer(r"\d", text)]
    chosen = random.Random(0)  # noqa: S311
    first = [place for place in places if place < 2000][:10]
    for place in (*first, *chosen.sample(places, 10)):
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        accepted = not _refused(changed)
        assert not accepted, text[place - 40 : place + 40]
    for word, other in (("patient", "person"), ("hospital", "hotel"), ("the last iterate", "every iterate")):
        accepted = not _refused(text.replace(word, other, 1))
        assert not accepted, word
    accepted = not _refused(text + "The number also holds for every iterate.\n")
    assert not accepted


def _refused(text: str) -> bool:
    record = read(text)
    if record is None:
        return True
    try:
        verified(text, record)
    except Refused:
        return True
    return False


def test_both_adjacencies_are_named() -> None:
    replaced, added, _ = (write_statement(one, {}, "markdown") for one in CERTIFICATES)
    assert "differ by replacing one sample" in replaced
    assert "differ by adding or removing one sample" in added


def test_hypotheses_that_no_rule_reads_are_not_repeated() -> None:
    lie = seal_nodes(CERTIFICATES[0] | {"hypotheses": ["the model is public and safe"]})
    assert write_statement(lie, {}, "markdown") == write_statement(CERTIFICATES[0], {}, "markdown")
    text = write_statement(CERTIFICATES[0], {}, "json")
    record = json.loads(text)
    record["certificate"] = lie
    assert _refused(json.dumps(record, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("said", ["", "two\nlines", "a | b", "`code`", "<b>", "x" * 3000])
def test_a_declared_text_is_one_plain_line(said: str) -> None:
    with pytest.raises(InputError, match="A declared text needs to be one line"):
        write_statement(CERTIFICATES[0], {"unit": said}, "markdown")


@pytest.mark.parametrize("record", [{}, {"form": "html"}, {"certificate": 3}, {"declared": 3}, {"form": []}])
def test_a_hostile_record_is_refused(record: Node) -> None:
    whole = json.loads(write_statement(CERTIFICATES[0], {}, "json"))
    assert _refused(json.dumps({"format": whole["format"]} | record))
    assert _refused(json.dumps(whole | record))


def test_the_commands(tmp_path: Path) -> None:
    told, page = CliRunner(), tmp_path / "new" / "privacy.md"
    made = told.invoke(
        cli, ["statement", str(_RUN), "--delta", "1e-5", "--by", "the hospital", "--out", str(page)]
    )
    assert (made.exit_code, made.output) == (0, "")
    assert told.invoke(cli, ["verify", str(page)]).output.startswith("holds: the last iterate on smooth")
    page.write_text(page.read_text().replace("2000 steps", "2001 steps"))
    refused = told.invoke(cli, ["verify", str(page), "--json"])
    assert refused.exit_code == 1
    assert json.loads(refused.output)["holds"] is False
    certificate = tmp_path / "run.json"
    certificate.write_text(json.dumps(CERTIFICATES[0]))
    section = told.invoke(cli, ["statement", str(certificate), "--format", "modelcard"]).output
    assert section.startswith("## Privacy\n")
    for arguments, needed in (
        ([str(certificate), "--delta", "1e-5"], "A certificate already has"),
        ([str(_RUN), "--unit", "a|b"], "A declared text"),
    ):
        assert needed in str(told.invoke(cli, ["statement", *arguments]).exception)
