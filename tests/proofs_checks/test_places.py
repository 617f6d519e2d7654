"""Places of claims: all of them are found, and it is told what notices that they are one percent off."""

import pytest
import sympy as sp
from sympy import Rational, Symbol

from lastiterate.proofs_checks.engines import identity
from lastiterate.proofs_checks.places.generate import places
from lastiterate.proofs_checks.places.kept import PlaceCache
from lastiterate.proofs_checks.places.occurrences import Kind, occurrences
from lastiterate.proofs_checks.places.record import PlacesReport, State
from lastiterate.proofs_checks.places.summary import dead, share, table
from lastiterate.proofs_checks.places.sweep import try_places
from lastiterate.proofs_checks.runner import find_all
from lastiterate.symbolic.claim import (
    Asymptotic,
    CodeTest,
    Identity,
    Inequality,
    IntervalInequality,
    Recursion,
    Units,
    Value,
)
from lastiterate.symbolic.letters import x, y
from lastiterate.symbolic.notation import GRADIENT, LENGTH, PREVIOUS, K, L, c, eta, s, t

n = Symbol("n", integer=True, positive=True)
SQUARE = Identity((x + y) ** 2, x**2 + 2 * x * y + y**2)
GEOMETRIC = Recursion(t, sp.S.Zero, c * PREVIOUS + s, s * (1 - c**t) / (1 - c))
MEANS = Inequality(2 * x * y, "<= and attained", x**2 + y**2)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (3 * x**2 + 1, {"3 coefficient", "x coefficient", "2 exponent", "1 constant"}),
        (sp.exp(-x / 2) - y, {"-1/2 exponent", "x exponent", "y coefficient"}),
        (sp.Sum(x**t, (t, 0, n - 1)), {"x coefficient", "t exponent", "0 range", "n range", "-1 range"}),
        (x >= y + 2, {"x coefficient", "y coefficient", "2 constant"}),
    ],
)
def test_every_number_and_symbol_is_an_occurrence(expression: sp.Basic, found: set[str]) -> None:
    assert {f"{one.what} {one.kind.value}" for one in occurrences(expression)} == found
    assert all(one.put(one.what) == expression for one in occurrences(expression))


@pytest.mark.parametrize(
    ("check", "assumptions", "least"),
    [
        (SQUARE, (), 8),
        (GEOMETRIC, (c < 1,), 7),
        (MEANS, (), 5),
        (Value(sp.sqrt(2), "1.41"), (), 3),
        (Units(eta * (K + L * x), x, {L: GRADIENT / LENGTH}), (), 4),
        (IntervalInequality(sp.exp(-x), "<=", 1 - x / 2, {x: (0, Rational(3, 2))}), (), 1),
        (Asymptotic(x * y, x**2 + y**2, constant=sp.S.One), (x > 0, y > 0), 4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_leaves_no_room_is_live(make_claim, check, assumptions, least) -> None:
    report = try_places(make_claim(check, assumptions=assumptions))
    states = [place.state for place in report.places if place.kind not in (Kind.PREMISE, Kind.ASSUMPTION)]
    assert states.count(State.LIVE) >= least, list(dead([report]))


def test_room_is_measured(make_claim) -> None:
    report = try_places(make_claim(Inequality(x, "<=", Rational(6, 5) * x), assumptions=x > 0))
    (place,) = (one for one in report.places if one.kind is Kind.COEFFICIENT and one.words == "x")
    assert (place.state, place.detail) == (State.ROOM, "noticed at +25%")


def test_an_assumption_is_used_or_said_to_be_unused(make_claim) -> None:
    z = Symbol("z", real=True)
    needed = Inequality(sp.S.Zero, "<=", z**3 + z)
    report = try_places(make_claim(needed, assumptions=(z >= 0, y < 3)))
    assert {place.words: place.state for place in report.places if place.kind is Kind.ASSUMPTION} == {
        "0 in z >= 0": State.LIVE,
        "y in y < 3": State.UNUSED,
        "3 in y < 3": State.UNUSED,
    }
    assert any("y < 3: the claim is shown without it." in line for line in dead([report]))


def test_a_division_needs_its_premise(make_claim) -> None:
    z = Symbol("z", real=True)
    report = try_places(make_claim(Identity((z**2 + y) / z, z + y / z), assumptions=z > 0))
    assert [place.state for place in report.places if place.kind is Kind.ASSUMPTION] == [State.LIVE]


def test_an_engine_that_accepts_everything_leaves_every_place_idle(make_claim, monkeypatch) -> None:
    monkeypatch.setattr(identity, "compared", lambda *_: True)
    monkeypatch.setattr(identity, "vanishes", lambda *_: ("believing", 0))
    report = try_places(make_claim(SQUARE))
    assert {place.state for place in report.places} == {State.IDLE}
    assert share([report]) == 0


def test_what_does_not_hold_and_what_tests_code_has_no_place(make_claim) -> None:
    assert try_places(make_claim(Identity(x, 2 * x))).places == ()
    assert try_places(make_claim(SQUARE, kind=CodeTest)).places == ()


def test_places_that_are_the_same_when_off_are_one(make_claim) -> None:
    assert [place.words for place in places(make_claim(Identity(2 * x * y, sp.S.Zero)))] == ["2 in 2*x*y"]


def test_reports_are_kept_and_read_again(make_claim, tmp_path) -> None:
    claims, cache, told = [make_claim(SQUARE), make_claim(MEANS, key="toy/means")], PlaceCache(tmp_path), []
    first = find_all(try_places, claims, jobs=1, cache=cache, on_claim=lambda *count: told.append(count))
    assert find_all(_never, claims, jobs=1, cache=cache, on_claim=lambda *_: None) == first
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert [row[0] for row in table(first)] == ["places of", "toy", "coefficient", "exponent", "all checks"]


def _never(claim: object) -> PlacesReport:
    raise AssertionError(claim)
