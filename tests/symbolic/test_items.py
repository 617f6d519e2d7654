"""Every numbered item of a paper has claims or a reason, and every claim of a paper appears under an item."""

from pathlib import Path

import pytest

from lastiterate.symbolic import items as lists
from lastiterate.symbolic.claim import Claim, Source
from lastiterate.symbolic.items import PAPERS, Item, parse, problems
from lastiterate.symbolic.ledger import CLAIMS

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
TEXT = ["Preliminaries", "", "Lemma 3.4 (shift reduction).", "For all t", "", "", "", "", "We now turn to Theorem 4."]


def texts(paper):
    files = PAPERS[paper].files.items()
    return {version: (SEEDS / name).read_text().splitlines() for version, name in files} if SEEDS.is_dir() else {}


def test_every_paper_of_the_ledger_is_known():
    assert {claim.key.split("/")[0] for claim in CLAIMS} == set(PAPERS)


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if PAPERS[paper].files])
def test_the_list_and_the_ledger_fit_together(paper):
    listed = lists.items(paper)
    assert listed is not None, f"symbolic/{paper}/items.toml is missing"
    claims = [claim for claim in CLAIMS if claim.key.startswith(f"{paper}/")]
    assert problems(paper, listed, claims, texts(paper)) == ()


@pytest.fixture
def claim():
    return Claim("chien_li/lemma_3_4", "a toy", Source("toy.txt", 3, "Lemma 3.4"))


def found(claim, *listed, text=TEXT):
    return problems("chien_li", listed, [claim], {"": text})


def test_a_list_that_fits_has_no_problems(claim):
    right = Item("Lemma 3.4", 3, ("chien_li/lemma_3_4",))
    assert found(claim, right, Item("Theorem 4", 9, none="cited, not proved here")) == ()
    assert problems("chien_li", [right], [claim], {}) == ()


def test_an_item_without_claims_or_reason(claim):
    right = Item("Lemma 3.4", 3, ("chien_li/lemma_3_4",))
    assert found(claim, right, Item("Theorem 4", 9)) == (
        "Theorem 4 (line 9) needs claims, or a reason why there is none.",
    )
    both = Item("Lemma 3.4", 3, ("chien_li/lemma_3_4",), none="and a reason")
    assert "needs claims, or a reason" in found(claim, both)[0]
    assert found(claim, right, Item("Theorem 4", 9, none=" "))


def test_a_key_that_does_not_exist_and_a_claim_under_no_item(claim):
    assert found(claim, Item("Lemma 3.4", 3, ("chien_li/lemma_3_5",))) == (
        "Lemma 3.4 names chien_li/lemma_3_5, which is not in the ledger.",
        "chien_li/lemma_3_4 appears under no item of chien_li.",
    )


def test_a_line_that_is_elsewhere(claim):
    key = ("chien_li/lemma_3_4",)
    assert found(claim, Item("Lemma 3.4", 9, key)) == ("Line 9 does not name Lemma 3.4: none of 3.4 stands near it.",)
    assert found(claim, Item("Lemma 3.4", 10, key)) == ("Lemma 3.4 is said to stand at line 10, and the file has 9.",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "tables"),
        ("item = 3", "tables"),
        ("[[item]]\nnumber = 3\nline = 1", "number=3"),
        ('[[item]]\nnumber = "1"\nline = true', "line=True"),
        ('[[item]]\nnumber = "1"\nline = 0', "at least 1"),
        ("[[item]]\nline = 3", "number as printed"),
        ('[[item]]\nnumber = "1"\nline = 2\nremark = "?"', "remark="),
        ('[[item]]\nnumber = "1"\nline = 2\nclaims = [1]', "quote"),
        ('[[item]]\nnumber = "1"\nline = 2\nversion = "last"', "later, earlier"),
    ],
)
def test_a_list_of_the_wrong_shape_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        parse(text, "liang")
