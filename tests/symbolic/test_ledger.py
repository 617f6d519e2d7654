"""The ledger against the files and the paper: nothing unlisted, unsourced, unnamed or unmeetable."""

import re
from pathlib import Path
from types import FunctionType

import pytest
from sympy import Basic
from sympy.core.relational import Relational

from lastiterate.proofs_checks.attacks import ATTACKS
from lastiterate.proofs_checks.declared import says_nothing
from lastiterate.proofs_checks.feasible_points import find_points, free_symbols
from lastiterate.proofs_checks.lock import read_lock
from lastiterate.proofs_checks.selection import mending, of_ledger
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import altschuler_talwar, chien_li, d2p2, ledger, liang, ours
from lastiterate.symbolic.checks import Cited, UpperBound
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.families import FunctionValue
from lastiterate.symbolic.notation import MEANING, PREVIOUS, UNITS, r
from lastiterate.symbolic.papers import PAPERS, Source
from lastiterate.symbolic.statement import Exists, ForAll
from lastiterate.symbolic.vectors import Vector

CLAIMS = ledger.claims()
MODULES = ledger.modules()

HELPERS = {"__init__", "paper"}
BY_KEY = {claim.key: claim for claim in CLAIMS}


def checks_of(claim: Claim) -> list:
    printed = [claim.misprint] if claim.misprint else []
    return [*claim.checks, *printed, *claim.mutants]


def test_every_module_on_disk_is_listed_once():
    on_disk = {
        f"{package.__name__}.{path.stem}"
        for package in (chien_li, altschuler_talwar, liang, d2p2, ours)
        for path in Path(package.__path__[0]).glob("*.py")
        if path.stem not in HELPERS
    }
    listed = [module.__name__ for module in MODULES]
    assert sorted(listed) == sorted(on_disk)


def test_a_module_opens_with_its_paper_and_has_one_prelude():
    """The statement is in the docstring's first line or below it; the letters come from the paper's own module."""
    for module in MODULES:
        paper = module.__name__.split(".")[-2]
        source = Path(module.__file__).read_text()
        starred = [line for line in source.splitlines() if line.endswith("import *")]
        assert starred == [f"from lastiterate.symbolic.{paper}.paper import *"], module.__name__
        assert paper == "ours" or PAPERS[paper].short in source.splitlines()[0], module.__name__


def test_keys_are_unique():
    assert len(BY_KEY) == len(CLAIMS)


def test_the_modules_that_name_a_key_have_its_claim_and_all_that_mend_it():
    mended = mending(CLAIMS)
    near = {key: ledger.naming(key) for key in BY_KEY}
    made_of_parts = {"ours/derived"}
    assert {
        key.rpartition("/")[0] for key, found in near.items() if key not in {claim.key for claim in found}
    } == made_of_parts
    assert of_ledger(keys=("ours/derived/poisson",)) == (BY_KEY["ours/derived/poisson"],)
    assert {key: found for key in BY_KEY if (found := mending(near[key]).get(key))} == mended
    assert max(map(len, near.values())) < len(CLAIMS) / 4
    assert ledger.naming("chien_li/no_such_claim") == ()


def offenders(wrong) -> list[str]:
    """The keys of the claims of which it is true."""
    return [claim.key for claim in CLAIMS if wrong(claim)]


def cited(claim: Claim) -> bool:
    return any(isinstance(check, Cited) for check in claim.checks)


def test_claims_are_complete():
    assert offenders(lambda claim: not re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_]+)+", claim.key)) == []
    assert offenders(lambda claim: not (claim.title and claim.checks)) == []
    fails = (Verdict.REFUTED, Verdict.GAP)  # a check that the engine refutes, as it would a mutant
    tried = {
        key
        for key, entry in read_lock().items()
        if entry.rejected + entry.near_misses or entry.verdict in fails
    }
    assert offenders(lambda claim: claim.key not in tried and not cited(claim)) == []
    assert offenders(lambda claim: not claim.source.number) == []
    assert offenders(lambda claim: len({mutant.name for mutant in claim.mutants}) < len(claim.mutants)) == []


def test_mutants_differ_from_the_checks():
    def content(check) -> dict:
        return vars(check) | {"name": "", "mutants": ()}

    def same(claim) -> bool:
        return any(content(mutant) == content(check) for mutant in claim.mutants for check in claim.checks)

    assert offenders(same) == []


def test_every_check_says_something():
    said = [
        (claim.key, check.name, says_nothing(check, claim.assumptions))
        for claim in CLAIMS
        for check in checks_of(claim)
    ]
    assert [entry for entry in said if entry[2]] == []


def test_remarks_stand_where_something_is_wrong_and_repairs_point_there():
    assert offenders(lambda claim: claim.misprint and not claim.remark) == []
    assert offenders(lambda claim: claim.repairs and not BY_KEY[claim.repairs].remark) == []
    sentences = {claim.key: len(re.findall(r"[.?!](?:\s|$)", claim.remark)) for claim in CLAIMS if claim.remark}
    assert {key: count for key, count in sentences.items() if not 2 <= count <= 5} == {}


def test_a_remark_is_on_one_claim_that_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "claim_remarks", lambda _: {"chien_li/lemma_3_5/typo": "It fails."})
    with pytest.raises(ValueError, match="needs a claim, got chien_li/lemma_3_5/typo"):
        ledger.claims("chien_li")


def test_a_claim_has_one_remark() -> None:
    def written() -> Claim:
        return Claim("chien_li/theorem_3_12", "", Source("toy", ""), remark="It fails.")

    assert written().remark == "It fails."
    with pytest.raises(ValueError, match="may have one remark, got one of chien_li/theorem_3_12"):
        FunctionType(written.__code__, globals() | {"__name__": "lastiterate.symbolic.toy"})()


def test_what_is_wrong_has_a_repair_beside_it_and_a_repair_that_says_more_is_not_proved():
    remarked = [claim for claim in CLAIMS if claim.remark and not claim.misprint and not cited(claim)]
    repaired = {claim.repairs for claim in CLAIMS if claim.repairs}
    assert {claim.key for claim in remarked if not claim.repairs} == repaired
    locked = read_lock()
    assert [
        claim.key for claim in remarked if claim.repairs and locked[claim.key].verdict is Verdict.PROVED
    ] == []


def unexplained(claim: Claim) -> set[str]:
    """The symbols of a claim that are not in the table of notation."""
    bases: list[Basic] = list(claim.assumptions)
    for check in checks_of(claim):
        bases += [value for value in vars(check).values() if isinstance(value, Basic)]
        bases += list(getattr(check, "given", ()))
    known = {*MEANING, *UNITS, *claim.letters, r, PREVIOUS}
    return {
        str(symbol)
        for symbol in free_symbols(bases)
        if not (isinstance(symbol, Vector | FunctionValue) or symbol in known)
    }


def test_symbols_are_in_the_table_of_notation():
    assert {claim.key: symbols for claim in CLAIMS if (symbols := unexplained(claim))} == {}


def test_assumptions_can_be_met():
    def met(claim) -> bool:
        return next(find_points(free_symbols(claim.assumptions), claim.assumptions, 1)) is not None

    assert offenders(lambda claim: not met(claim)) == []


def test_bounds_and_attacks_exist():
    from lastiterate.proofs_checks.attacks.targets import TARGETS

    bounds = [
        (claim.key, check) for claim in CLAIMS for check in checks_of(claim) if isinstance(check, UpperBound)
    ]
    assert bounds
    assert [key for key, check in bounds if check.bound not in TARGETS] == []
    assert [
        (key, name)
        for key, check in bounds
        for name in check.attacks
        if TARGETS[check.bound].assumed not in ATTACKS[name].meets
    ] == []


def test_sources_are_works_of_the_bibliography_and_sections_of_our_proofs():
    def lost(source: Source) -> bool:
        if isinstance(source.work, str):
            page = (Path(__file__).parents[2] / source.work).read_text(encoding="utf-8")
            return not re.search(rf"^#+ {re.escape(source.number)}$", page, re.MULTILINE)
        return source.work not in PAPERS.values()

    assert offenders(lambda claim: lost(claim.source)) == []


def test_what_is_refuted_names_a_theorem_or_says_that_none_is_proved():
    verdicts = {key: entry.verdict for key, entry in read_lock().items()}
    mended = {claim.repairs for claim in CLAIMS if verdicts[claim.key] is Verdict.PROVED}
    open_ones = [key for key in BY_KEY if verdicts[key] in {Verdict.REFUTED, Verdict.GAP} and key not in mended]
    assert [key for key in open_ones if "is proved in its place" not in BY_KEY[key].remark] == []
    assert open_ones == ["altschuler_talwar/theorem_4_1/one_nonzero"]


def bounded(claim: Claim) -> set[str]:
    """The kind of quantity that the statement of a claim, or of its refutation, bounds; empty if it has none."""
    said = claim.statement or (claim.refutation and claim.refutation.says)
    while isinstance(said, ForAll | Exists):
        said = said.body
    return {type(said.lhs).__name__} if isinstance(said, Relational) else set()


def test_what_holds_instead_bounds_the_same_quantity():
    """One bound of ours is an exception: another bound is proved in its place."""
    instead: dict[str, set[str]] = {}
    for claim in CLAIMS:
        if claim.repairs:
            instead[claim.repairs] = instead.get(claim.repairs, set()) | bounded(claim)
    others = {key for key, found in instead.items() if bounded(BY_KEY[key]) - found}
    assert {key for key in others if "RenyiDivergence" in bounded(BY_KEY[key])} == {
        "chien_li/theorem_3_1/direct/untested",
    }
