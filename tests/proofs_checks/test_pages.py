"""The report's files: complete, escaped, self-contained, whole or not there."""

import json
import re
import xml.etree.ElementTree as ET
from html import escape
from itertools import pairwise

import pytest
import sympy as sp

from lastiterate.__main__ import main
from lastiterate.numeric.errors import InputError
from lastiterate.numeric.store import ENVIRONMENT
from lastiterate.proofs_checks import lock
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.report.formulas import as_html, inline
from lastiterate.proofs_checks.report.pages import by_paper, entries, files, mapping_page, write_folder
from lastiterate.proofs_checks.statement import as_text, of_check, quantified
from lastiterate.symbolic import ledger as symbolic_ledger
from lastiterate.symbolic.checks import Identity, Inequality
from lastiterate.symbolic.claim import Step
from lastiterate.symbolic.notation import alpha, b, sigma_dp, x, y
from lastiterate.symbolic.papers import Item
from lastiterate.symbolic.statement import (
    FIRST,
    SECOND,
    LastIterate,
    LeastOver,
    Neighbours,
    RenyiDivergence,
    closed,
)

CLAIMS = symbolic_ledger.claims()

TRUE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
FALSE = Identity((x + y) ** 2, x**2 + y**2)


@pytest.fixture(scope="module")
def toys(make_claim):
    square = TRUE.mutant("no <cross> term", FALSE)
    return (
        make_claim(square, key="toy/square", assumptions=(x < y,), repairs="toy/wrong"),
        make_claim(
            Inequality(x * y, "<=", x + y), key="toy/wrong", remark="It says <b>all</b> & fails | at one point."
        ),
        make_claim(FALSE, key="other/gap", kind=Step),
        make_claim(TRUE, key="other/typo", misprint=FALSE, remark="A sign."),
    )


@pytest.fixture(scope="module")
def contents(toys):
    return files(toys, [decide(claim) for claim in toys], ["toy/wrong is new."])


def test_formulas_are_well_formed():
    for expression in (
        sp.Sum(x**b, (b, 1, 9)) / sigma_dp,
        sp.Product(x + b, (b, 1, 9)),
        sp.Piecewise((x, x < y), (y, True)),
        sp.Max(x, sp.sqrt(y)) ** alpha,
        sp.exp(-(x**2)),
        sp.And(x <= y, y > 0),
        sp.true,
    ):
        ET.fromstring(inline(expression))  # noqa: S314
    assert "<mo>&#x0003C;</mo>" in inline(x < y)
    assert "<mo>&#x0220F;</mo>" in inline(sp.Product(b, (b, 1, 3)))


def test_the_quantities_and_conditions_of_statements_have_formulas_of_their_own():
    runs = LastIterate(FIRST), LastIterate(SECOND)
    assert "<mo>&#x02225;</mo>" in inline(RenyiDivergence(alpha, *runs))
    assert inline(RenyiDivergence(alpha, *runs)).count("<mtext>last&#x000A0;iterate</mtext>") == 2
    assert "<munder><mrow><mo>min</mo>" in inline(LeastOver(x**2, sp.Tuple(x, 0, 1)))
    assert "Neighbours" not in inline(Neighbours(FIRST, SECOND))


def test_every_formula_of_the_ledger_is_well_formed_and_none_holds_latex():
    for claim in CLAIMS:
        lines = [line for check in [*claim.checks, *claim.mutants] for line in of_check(check)]
        if claim.statement is not None:
            lines += quantified(claim.statement)
        for line in as_html(lines):
            assert "\\" not in "".join(ET.fromstring(f"<div>{line}</div>").itertext()), line  # noqa: S314


def test_every_claim_is_there_with_verdict_evidence_and_counterexample(contents):
    page = contents["index.html"]
    assert re.findall(r'id="([a-z]+/[a-z]+)" data-verdict="([A-Z]+)"', page) == [
        ("toy/square", "PROVED"),
        ("toy/wrong", "REFUTED"),
        ("other/gap", "GAP"),
        ("other/typo", "TYPO"),
    ]
    assert (
        "4 claims: 1 PROVED, 0 SUPPORTED, 0 CITED, 1 REFUTED, 1 GAP, 1 TYPO, 0 UNDECIDED; "
        "1 of 1 mutants and 6 of 6 near" in page
    )
    assert "1 of 1 mutants and 3 of 3 near misses rejected" in page
    assert '<strong>What holds instead</strong>: <a href="#toy/square">a toy</a>' in page
    assert 'Repairs <a href="#toy/wrong">' in page
    assert "As printed" in page
    assert "toy/wrong is new." in page
    assert page.count("Counterexample</p>") == 3
    assert re.findall(r'<rect class="fill-([A-Z]+)" x="[0-9.]+" y="4" width="([0-9.]+)"', page) == [
        ("PROVED", "200.0"),
        ("REFUTED", "200.0"),
    ]


def test_a_claim_without_a_formal_statement_lists_what_its_derivations_suppose():
    (claim,) = (one for one in CLAIMS if one.key == "ours/derived/smooth_window")
    report = decide(claim)
    (outcome,) = report.outcomes
    assert claim.statement is None
    assert "every loss is L-smooth" in "".join(outcome.premises)
    said, _, _ = describe(claim, report).partition("\nAssumptions\n")
    page = files((claim,), [report], [])["index.html"]
    for one in outcome.premises:
        assert f"\n  {one}\n" in said
        assert f"<li>{escape(one)}</li>" in page


def test_a_counterexample_is_not_folded_and_counts_are_grammatical(contents):
    own = contents["index.html"].partition('id="toy/wrong"')[2].partition('<details class="claim"')[0]
    assert own.count("Counterexample</p>") == 1
    assert own.index("Counterexample</p>") < own.index("Evidence: 1 check;")


def test_a_statement_of_several_says_each_in_its_line_and_nothing_of_zero():
    said = as_text(quantified(closed(sp.And(sp.Implies(x < 1, y < 2), x < y, sp.Eq(0, 0, evaluate=False)))))
    assert said.splitlines() == ["For all x, y:", "x < y", "Where x < 1.", "y < 2"]
    assert as_text(quantified(closed(sp.Le(1, 2, evaluate=False)))) == "1 <= 2"


def test_text_is_escaped(contents):
    assert "It says &lt;b&gt;all&lt;/b&gt; &amp; fails" in contents["index.html"]
    assert "no &lt;cross&gt; term" in contents["index.html"]
    assert "\\<b\\>all\\</b\\> & fails \\| at one point." in contents["ledger.md"]


def test_nothing_comes_from_outside(contents):
    page = contents["index.html"].replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.findall(r"https?:|@import|<link(?! rel=\"icon\" href=\"data:,\")|<script src|url\(", page)
    assert not re.findall(r'(?:src|href)="(?!#|data:|claims/(?:toy|other)\.\w+\.html")', page)


def test_headings_go_down_by_one_level(contents):
    levels = [int(level) for level in re.findall(r"<h([1-6])", contents["index.html"])]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_counts(toys):
    shown = entries(toys, [decide(claim) for claim in toys])
    assert [(count.paper, sum(count.verdicts.values()), count.mutants) for count in by_paper(shown)] == [
        ("toy", 2, 4),
        ("other", 2, 3),
    ]


def test_other_programs_read_the_rest(contents):
    assert len(json.loads(contents["ledger.json"])["claims"]) == 4
    assert "| toy | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 4/4 |" in contents["ledger.md"]


def test_a_graph_has_every_claim_as_a_link_with_a_shape_and_an_arc_to_what_is_repaired(contents):
    graph = ET.fromstring(contents["graph.toy.svg"])  # noqa: S314
    svg = "{http://www.w3.org/2000/svg}"
    nodes = {node.get("href"): node for node in graph.iter(f"{svg}a")}
    assert set(nodes) == {"claims/toy.square.html", "claims/toy.wrong.html"}
    assert all(href in contents for href in nodes)
    assert nodes["claims/toy.wrong.html"].findtext(f"{svg}title") == "REFUTED: a toy (toy/wrong)"
    shapes = {href: node[-1].tag.removeprefix(svg) for href, node in nodes.items()}
    assert shapes == {"claims/toy.square.html": "circle", "claims/toy.wrong.html": "path"}
    assert [path.get("class") for path in graph.iter(f"{svg}path")].count("repairs") == 1
    assert contents["graph.toy.svg"] in contents["index.html"], "each paper's claims begin with its graph"


def test_the_badge_counts_the_claims_that_hold(contents):
    assert "1 of 4 claims hold" in contents["badge.svg"]
    ET.fromstring(contents["badge.svg"])  # noqa: S314


def test_a_mapping_page_leads_from_items_to_claims(toys):
    shown = entries(toys, [decide(claim) for claim in toys])
    listed = (Item("Lemma 1", ("toy/wrong",)), Item("Remark 2", none="words <only>", version="later"))
    page = mapping_page("liang", listed, shown, "index.html")
    assert (
        '<a href="index.html#toy/wrong"><code>toy/wrong</code></a> <span class="badge v-REFUTED">REFUTED'
        in page
    )
    assert "words &lt;only&gt;" in page
    assert "(later)" in page
    assert "arXiv:2502.17772" in page


def test_files_are_written_whole_and_again(tmp_path):
    target = tmp_path / "a" / "b"
    (first,) = write_folder(target, {"index.html": "one"})
    write_folder(target, {"index.html": "two"})
    assert first.read_text() == "two"
    assert [path.name for path in target.iterdir()] == ["index.html"]


def test_a_file_in_the_way_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="name another"):
        write_folder(tmp_path / "file", {"index.html": ""})
    assert (tmp_path / "file").read_text() == "mine"


def status(*arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


@pytest.fixture
def ledger(toys, monkeypatch, tmp_path):
    monkeypatch.setattr(lock, "lock_path", lambda: tmp_path / "lock.json")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "reports"))
    monkeypatch.setattr(symbolic_ledger, "claims", lambda *_: toys)
    assert status("check", "--update-lock", "--jobs", "1") == 0


@pytest.mark.usefixtures("ledger")
def test_the_command_writes_and_names_the_files(tmp_path, capsys):
    capsys.readouterr()
    assert status("report", "--out", str(tmp_path / "out"), "--jobs", "1") == 0
    written = capsys.readouterr().out.split()
    assert [path.rsplit("/", 1)[1] for path in written] == [
        "index.html", "graph.toy.svg", "graph.other.svg", "badge.svg", "ledger.md", "ledger.json"
    ]  # fmt: skip
    assert (tmp_path / "out/claims/toy.wrong.html").exists()
    assert "Not as expected" not in (tmp_path / "out/index.html").read_text()


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("more", "words"), [(("--paper", "tou"), "did you mean toy?"), (("--jobs", "0"), "jobs=0"), ((), "file")]
)
def test_bad_input_writes_nothing(tmp_path, capsys, more, words):
    out = tmp_path / "lock.json" if not more else tmp_path / "out"
    before = (tmp_path / "lock.json").read_text()
    assert status("report", "--out", str(out), *more) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "lock.json").read_text() == before


def test_a_letter_e_is_not_the_number_and_what_is_given_is_not_said_twice():
    e = sp.Symbol("e", positive=True)
    assert "<msup><mtext>e</mtext><mrow><mi>e</mi></mrow></msup>" in inline(sp.exp(e))
    said = closed(sp.Implies((e <= 1) & (x <= 3), e < x, evaluate=False), e <= 1)
    assert as_text(quantified(said)).splitlines() == ["For all e, x with e <= 1:", "Where x <= 3.", "e < x"]
