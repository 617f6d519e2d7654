"""The ledger against the files and the paper: nothing unlisted, unsourced, unnamed or unmeetable."""

import re
from pathlib import Path

import pytest
from sympy import Basic

from lastiterate.proofs_checks.admissible import free_symbols, points
from lastiterate.proofs_checks.engines import ENGINE_OF
from lastiterate.proofs_checks.engines.witness import assumed_by
from lastiterate.proofs_checks.witnesses import WITNESSES
from lastiterate.symbolic import altschuler_talwar, chien_li, d2p2, liang, ours
from lastiterate.symbolic.claim import Claim, Role, UpperBound
from lastiterate.symbolic.ledger import CLAIMS, MODULES
from lastiterate.symbolic.notation import MEANING

HELPERS = {"__init__", "contents", "paper"}
BY_KEY = {claim.key: claim for claim in CLAIMS}
SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
SHAPE = ("Statement", "Assumptions", "Derivation", "Source")

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)


def checks_of(claim: Claim) -> list:
    printed = [claim.misprint] if claim.misprint else []
    return [*claim.checks, *printed, *(mutant.check for mutant in claim.mutants)]


def test_every_module_on_disk_is_listed_once():
    on_disk = {
        f"{package.__name__}.{path.stem}"
        for package in (chien_li, altschuler_talwar, liang, d2p2, ours)
        for path in Path(package.__path__[0]).glob("*.py")
        if path.stem not in HELPERS
    }
    listed = [module.__name__ for module in MODULES]
    assert sorted(listed) == sorted(on_disk)


def test_keys_are_unique():
    assert len(BY_KEY) == len(CLAIMS)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rsplit(".", 1)[1])
def test_docstrings_have_the_shape_in_order(module):
    places = [module.__doc__.find(f"\n{word} ") for word in SHAPE]
    assert -1 not in places
    assert places == sorted(places)


@each_claim
def test_claim_is_complete(claim):
    assert re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_]+)+", claim.key)
    assert claim.title
    assert claim.checks
    assert claim.mutants
    assert claim.source.line >= 1
    assert claim.source.number
    names = [mutant.name for mutant in claim.mutants]
    assert len(set(names)) == len(names)


@each_claim
def test_mutants_differ_from_the_checks_and_name_the_engine_of_their_type(claim):
    for mutant in claim.mutants:
        assert ENGINE_OF[type(mutant.check)] is mutant.caught_by
        content = vars(mutant.check) | {"name": ""}
        assert all(content != vars(check) | {"name": ""} for check in claim.checks)


@each_claim
def test_remarks_stand_where_something_is_wrong_and_repairs_point_there(claim):
    if claim.misprint:
        assert claim.remark
    if claim.repairs:
        assert BY_KEY[claim.repairs].remark
    if claim.remark:
        assert 2 <= len(re.findall(r"[.?!](?:\s|$)", claim.remark)) <= 5


def test_what_is_wrong_has_a_repair_beside_it():
    wrong = {claim.key for claim in CLAIMS if claim.remark and not claim.misprint}
    assert wrong == {claim.repairs for claim in CLAIMS if claim.repairs}


@each_claim
def test_symbols_are_in_the_table_of_notation(claim):
    bases: list[Basic] = list(claim.assumptions)
    for check in checks_of(claim):
        bases += [value for value in vars(check).values() if isinstance(value, Basic)]
        bases += list(getattr(check, "given", ()))
    assert set(free_symbols(bases)) <= MEANING.keys()


@each_claim
def test_assumptions_can_be_met(claim):
    assert next(points(free_symbols(claim.assumptions), claim.assumptions, 1)) is not None


@each_claim
def test_bounds_and_witnesses_exist(claim):
    from lastiterate.numeric.published.evaluators import EVALUATORS

    for check in checks_of(claim):
        if isinstance(check, UpperBound):
            assert check.bound in EVALUATORS
            assert all(assumed_by(check.bound) in WITNESSES[name].meets for name in check.witnesses)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the papers are not in this checkout")
@each_claim
def test_the_source_line_is_in_the_file_and_names_the_statement(claim):
    if not claim.source.file.startswith(("000_", "001_", "002_", "003_", "004_")):
        pytest.skip("not a paper")
    lines = (SEEDS / claim.source.file).read_text().splitlines()
    assert claim.source.line <= len(lines)
    if claim.role is Role.STATEMENT and (tag := re.fullmatch(r"\((\d+)\)", claim.source.equation)):
        near = " ".join(lines[claim.source.line - 8 : claim.source.line + 4])
        assert f"({tag[1]})" in near or rf"\tag{{{tag[1]}}}" in near
