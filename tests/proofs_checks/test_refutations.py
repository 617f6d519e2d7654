"""Refuted claims: the run of each page is certified, and its two numbers are the same wherever they stand."""

import importlib.util
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from lastiterate.proofs_checks import describe
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.refutations import in_one_line, round_numbers
from lastiterate.proofs_checks.report.pages import entries, ledger_page
from lastiterate.proofs_checks.verdict import ClaimReport, Status, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim

CLAIMS = ledger.claims()
LOCKED = read_lock()
REFUTED = [claim for claim in CLAIMS if LOCKED[claim.key].verdict is Verdict.REFUTED]
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def numbers(claim: Claim) -> tuple[str, str]:
    """Both numbers as a reader sees them."""
    assert claim.refutation is not None
    both = round_numbers(claim.refutation)
    return both.claimed, both.true


def test_refuted_claims_have_a_run() -> None:
    assert REFUTED
    assert [claim.key for claim in CLAIMS if claim.refutation is not None] == [claim.key for claim in REFUTED]


@pytest.mark.parametrize("claim", REFUTED, ids=lambda claim: claim.key)
def test_the_run_is_certified(claim: Claim) -> None:
    told = claim.refutation
    assert told is not None
    assert decide_check(told.check, ()).status is Status.REFUTED
    found = [decide_check(check, claim.assumptions).status for check in claim.checks]
    assert found.count(Status.REFUTED) >= 2, "it has to be refuted by two means"
    claimed, true = map(Decimal, numbers(claim))
    assert {"<=": true > claimed, "<": true >= claimed, ">=": true < claimed}[told.sign], (
        "as shown, it is no refutation"
    )
    assert told.says is not None or claim.statement is not None, "the page needs what the paper says"
    for text, *parts in (told.fails, told.quantity):
        assert text.count("{}") == len(parts)


def test_a_run_that_refutes_nothing_is_noticed() -> None:
    claim = next(claim for claim in REFUTED if claim.key == "chien_li/appendix_a_13/small_lambda")
    assert claim.refutation is not None
    assert decide(claim).verdict is Verdict.REFUTED
    weak = replace(claim.refutation, claimed=claim.refutation.true)
    spoilt = Claim(claim.key, claim.title, claim.source, *claim.checks, refutation=weak)
    assert decide(spoilt).verdict is Verdict.UNDECIDED


def _reported(claim: Claim) -> ClaimReport:
    report = ClaimReport(claim.key, LOCKED[claim.key].verdict, None, (), None, (), (), "", 0.0)
    bare = decide_check(claim.refutation.check, ()) if claim.refutation else None
    outcomes = tuple(replace(bare, counterexample=None) for _ in claim.checks) if bare else ()
    mutants = tuple(outcomes[:1] * len(claim.mutants))
    return replace(report, outcomes=outcomes, mutants=mutants, shown=bare)


@pytest.fixture(scope="module")
def site() -> str:
    spec = importlib.util.spec_from_file_location("verdicts", ROOT / "docs" / "generate" / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.verdict_page())


def test_the_numbers_agree_wherever_they_stand(site: str) -> None:
    """`show`, a theorem asked for by name, the report in HTML and Markdown, and the site."""
    listed = entries(REFUTED, [_reported(claim) for claim in REFUTED])
    html, markdown = ledger_page(listed), ledger_page(listed, template="ledger.md.j2")
    for entry in listed:
        claim, told = entry.claim, entry.claim.refutation
        assert told is not None
        both = str(round_numbers(told))
        assert both in describe.describe(claim, entry.report)
        assert both in in_one_line(told)
        assert both in " ".join(markdown.split(f"`{claim.key}`")[1].split("\n- **")[0].split())
        boxes = tuple(
            re.findall(r"<dd>([^<]+)</dd></div>", html.split(f'id="{claim.key}"')[1].split("</dl>")[0])
        )
        assert boxes == numbers(claim)
        there = site.split(f'class="refuted" id="{claim.key}"')[1].split("</dl>")[0]
        assert tuple(re.findall(r"<dd>([^<]+)</dd></div>", there)) == numbers(claim)


def test_pages_quote_these_numbers() -> None:
    """A paragraph of a written page that names one refuted claim has no number but its two, in as many digits."""
    quoted = 0
    for page in PAGES:
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", page.read_text(encoding="utf-8")):
            named = [claim for claim in REFUTED if f"`{claim.key}`" in paragraph]
            if len(named) != 1:
                continue
            for found in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)", paragraph):
                quoted += 1
                unit = Decimal(1).scaleb(Decimal(found).as_tuple().exponent)  # type: ignore[arg-type]
                near = [abs(Decimal(found) - Decimal(number)) < unit for number in numbers(named[0])]
                assert any(near), (
                    f"{page.name}: {found} beside {named[0].key}, whose page has {numbers(named[0])}"
                )
    assert quoted, "the README quotes Theorem 3.12"
