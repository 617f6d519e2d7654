"""Every numbered item of a paper has claims or a reason, and every claim of a paper appears under an item."""

import re
from collections.abc import Sequence

import pytest

from lastiterate.symbolic import ledger
from lastiterate.symbolic import papers as lists
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.papers import PAPERS, Item, Source, parse

VERSIONS = {"liang": ("later", "earlier")}
"""The versions of a paper that has several."""

CLAIMS = ledger.claims()

LISTED = [key for key in PAPERS if key != "liang_earlier"]


def problems(paper: str, listed: Sequence[Item], claims: Sequence[Claim]) -> tuple[str, ...]:
    """One sentence for each way in which a list and the ledger do not fit together.

    Args:
        paper: the paper's name in keys.
        listed: its items.
        claims: its claims.
    """
    known = {claim.key for claim in claims}
    found = []
    for item in listed:
        if item.version not in ("", *VERSIONS.get(paper, ())):
            found.append(f"{item.number} is of version={item.version}, which {paper} does not have.")
        if bool(item.claims) == bool(item.none.strip()):
            found.append(f"{item.number} needs claims, or a reason why there is none.")
        found += [
            f"{item.number} names {key}, which is not in the ledger." for key in item.claims if key not in known
        ]
    covered = {key for item in listed for key in item.claims}
    found += [f"{claim.key} appears under no item of {paper}." for claim in claims if claim.key not in covered]
    return tuple(found)


def test_every_paper_of_the_ledger_is_known():
    assert {claim.key.split("/")[0] for claim in CLAIMS} == {*LISTED, "ours"}


@pytest.mark.parametrize("paper", LISTED)
def test_the_list_and_the_ledger_fit_together(paper):
    listed = lists.items(paper)
    assert listed is not None, f"symbolic/{paper}/items.toml is missing"
    claims = [claim for claim in CLAIMS if claim.key.startswith(f"{paper}/")]
    assert problems(paper, listed, claims) == ()


@pytest.fixture
def claim():
    return Claim("chien_li/lemma_3_4", "a toy", Source("toy", "Lemma 3.4"))


def found(claim, *listed):
    return problems("chien_li", listed, [claim])


def test_a_list_that_fits_has_no_problems(claim):
    right = Item("Lemma 3.4", ("chien_li/lemma_3_4",))
    assert found(claim, right, Item("Theorem 4", none="cited, not proved here")) == ()


def test_an_item_without_claims_or_reason(claim):
    right = Item("Lemma 3.4", ("chien_li/lemma_3_4",))
    assert found(claim, right, Item("Theorem 4")) == ("Theorem 4 needs claims, or a reason why there is none.",)
    both = Item("Lemma 3.4", ("chien_li/lemma_3_4",), none="and a reason")
    assert "needs claims, or a reason" in found(claim, both)[0]
    assert found(claim, right, Item("Theorem 4", none=" "))


def test_a_key_that_does_not_exist_and_a_claim_under_no_item(claim):
    assert found(claim, Item("Lemma 3.4", ("chien_li/lemma_3_5",))) == (
        "Lemma 3.4 names chien_li/lemma_3_5, which is not in the ledger.",
        "chien_li/lemma_3_4 appears under no item of chien_li.",
    )


def test_a_version_that_the_paper_does_not_have(claim):
    item = Item("Lemma 3.4", ("chien_li/lemma_3_4",), version="last")
    assert found(claim, item) == ("Lemma 3.4 is of version=last, which chien_li does not have.",)
    assert problems("liang", [Item("Lemma 3.4", ("chien_li/lemma_3_4",), version="later")], [claim]) == ()


@pytest.mark.parametrize("text", ["[[item]]", '[[item]]\nnumber = "1"\nremark = "?"'])
def test_an_entry_with_other_fields_than_an_item_is_refused(text):
    with pytest.raises(TypeError):
        parse(text)


def test_reasons_and_remarks_name_claims_that_exist():
    keys = [claim.key for claim in CLAIMS]
    known = {key.partition("/")[2] for key in keys} | set(keys)
    folders = {part for key in keys for part in key.split("/")[:2]}
    texts = [claim.remark for claim in CLAIMS]
    texts += [item.none for paper in LISTED for item in lists.items(paper) or ()]
    names = {name for text in texts for name in re.findall(r"[a-z]\w*(?:/[a-z]\w*)+", text)}
    named = {name for name in names if name.split("/")[0] in folders}
    assert len(named) > 20
    assert {name for name in named if not any(f"{key}/".startswith(f"{name}/") for key in known)} == set()
