"""Faults of one percent planted in source: in formulas and definitions of claims, and in the code of `bound`."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from lastiterate.numeric.store import ENVIRONMENT
from lastiterate.proofs_checks.places import formulas
from lastiterate.proofs_checks.places.code import code_places, try_code
from lastiterate.proofs_checks.places.everywhere import sweep
from lastiterate.proofs_checks.places.imports import dependents
from lastiterate.proofs_checks.places.planted import Fate, Planted, plant
from lastiterate.proofs_checks.places.source import SourcePlace, source_places
from lastiterate.proofs_checks.places.summary import by_module, survivors
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Engine

UPDATE = "lastiterate.symbolic.formulas.update"
SEED = 23


@pytest.fixture(autouse=True)
def _nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    ledger.claims()


def _place(module: str, owner: str, words: str) -> SourcePlace:
    return next(one for one in source_places(module) if (one.owner, one.words) == (owner, words))


def test_numbers_and_names_of_formulas_are_places() -> None:
    assert [one.words for one in source_places(UPDATE) if one.owner == "sensitivity"] == [
        "2 in 2 * eta", "eta in 2 * eta", "K in 2 * eta * K", "b in 2 * eta * K / b",
    ]  # fmt: skip
    assert not any(one.words.startswith(("Max", "range", "Integer in")) for one in source_places(UPDATE))


def test_modules_that_import_a_formula_are_built_again() -> None:
    names = dependents(UPDATE)
    assert {"lastiterate.symbolic.ours.expansions", "lastiterate.symbolic.formulas.published"} <= set(names)
    assert UPDATE not in names
    assert not any(name.startswith("lastiterate.symbolic.kernel") for name in names)


def test_a_fault_in_a_formula_turns_a_claim_and_is_told() -> None:
    place = _place(UPDATE, "sensitivity", "K in 2 * eta * K")
    (found,) = plant(formulas.try_formula, [place], jobs=1)
    assert found == Planted(str(place), Fate.NOTICED, "ours/expansions/sensitivity")
    assert plant(_never, [place], jobs=1) == (found,), "what was found is kept"
    assert [row[1] for row in by_module([found])] == ["noticed", "1", "1"]
    assert list(survivors([found])) == []


def _never(*_: object) -> Planted:
    raise AssertionError


def test_a_formula_that_claims_hold_with_in_any_case_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Outcome("any", Engine.IDENTITY, Status.HELD, Grade.PROVED)
    monkeypatch.setattr(formulas, "decide_check", lambda *_: held)
    place = _place(UPDATE, "sensitivity", "K in 2 * eta * K")
    (found,) = plant(formulas.try_formula, [place], jobs=1)
    assert found.kept
    assert "checks hold with it" in next(survivors([found]))


def test_a_fault_in_the_code_of_a_bound_is_noticed() -> None:
    place = next(one for one in code_places() if one.owner == "sensitivity" and one.words.startswith("2 in"))
    (found,) = plant(try_code, [place], jobs=1)
    assert found.fate is Fate.NOTICED, found
    assert found.by.startswith("ours/recomputed/")


@pytest.mark.long
def test_some_places_of_formulas_are_held_by_claims() -> None:
    _none_is_kept("formulas", 3)


@pytest.mark.nightly
def test_every_place_of_formulas_is_held_by_claims() -> None:
    _none_is_kept("formulas", None)


def _none_is_kept(where: str, count: int | None) -> None:
    def drawn(places: Sequence[SourcePlace]) -> Sequence[SourcePlace]:
        return Random(SEED).sample(places, count) if count else places  # noqa: S311 no secret is drawn

    found = sweep(where, drawn, jobs=2, on_place=lambda *_: None)
    assert [one for one in found if one.kept] == []
