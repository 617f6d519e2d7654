"""Places of claims: all of them are found, and it is told what notices that they are one percent off."""

import pytest
import sympy as sp
from sympy import Rational, Symbol

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.engines import identity
from lastiterate.proofs_checks.engines.inequality import fails
from lastiterate.proofs_checks.places import statements, survivors, sweep
from lastiterate.proofs_checks.places.between import shown_between
from lastiterate.proofs_checks.places.failing import failing_point
from lastiterate.proofs_checks.places.generate import choices, places
from lastiterate.proofs_checks.places.kept import PlaceCache
from lastiterate.proofs_checks.places.occurrences import Kind, occurrences
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried
from lastiterate.proofs_checks.places.statements import try_statement
from lastiterate.proofs_checks.places.summary import dead, share, table
from lastiterate.proofs_checks.places.sweep import try_places
from lastiterate.proofs_checks.runner import find_all
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import (
    Asymptotic,
    CodeTest,
    Deduced,
    Identity,
    Inequality,
    IntervalInequality,
    Recursion,
    Units,
    Value,
)
from lastiterate.symbolic.letters import x, y
from lastiterate.symbolic.notation import GRADIENT, LENGTH, PREVIOUS, K, L, c, eta, s, t
from lastiterate.symbolic.statement import ForAll

n = Symbol("n", integer=True, positive=True)
u = sp.Function("u", real=True)
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
        (u(t + 1) - x * u(t), {"t range", "1 range", "x coefficient"}),
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


@pytest.mark.parametrize(
    ("left", "right", "premises"),
    [
        (x ** Rational(101, 50), x**2, (x > 0,)),
        (2 * x * y, Rational(201, 200) * (x**2 + y**2), (x > 1000 * y, y > 1, x * y < 1)),
        (2 * x, Rational(5, 2) * x ** Rational(51, 50), (x > 0,)),
        (x, x ** Rational(101, 100), (x >= 1, x <= 2)),
    ],
    ids=["steep", "no point", "tiny", "no point on a range"],
)
def test_a_point_is_found_where_an_inequality_fails(left, right, premises) -> None:
    check = Inequality(left, "<=", right)
    point = failing_point(check, premises)
    true_or_empty = len(premises) > 1
    assert (point is None) == true_or_empty
    assert point is None or fails(check, premises, point)


def test_numbers_alone_fail_or_hold() -> None:
    assert failing_point(Inequality(sp.Integer(3), "<=", sp.Integer(2)), ()) == {}
    assert failing_point(Inequality(sp.Integer(2), "<=", sp.Integer(3)), ()) is None


def test_what_no_engine_can_read_is_no_place(make_claim, monkeypatch) -> None:
    def unread(*_: object) -> None:
        raise InputError("A name needs one family, got two; put them into one.")

    monkeypatch.setattr(sweep, "ask", unread)
    assert try_places(make_claim(Value(sp.sqrt(2), "1.41"))).places == ()


def test_a_power_that_is_off_a_little_is_held_between_two() -> None:
    check = Inequality(x**2, "<=", x ** Rational(101, 50))
    assert shown_between(check, (x >= 1,)).status is Status.HELD
    assert shown_between(check, (x > 0,)).status is Status.UNDECIDED


def test_a_letter_called_as_a_power_is_not_that_power() -> None:
    power, other = x ** Rational(101, 50), Symbol("power_0", positive=True)
    assert shown_between(Inequality(power, "<=", power), (x >= 1,)).status is Status.HELD
    assert shown_between(Inequality(power, "<=", other), (x >= 1,)).status is Status.UNDECIDED


def test_what_says_nothing_is_no_place(make_claim) -> None:
    number = make_claim(Units(eta * K * n**2, x), key="toy/units")
    assert [place.words for place in places(number) if place.kind is Kind.EXPONENT] == []
    for_all = ForAll((x, y), (x > y,), sp.Le(x, 2 * y))
    found = [place.words for place in places(make_claim(Deduced(for_all, "none")))]
    assert found == ["x in x > y", "y in x > y", "x in x <= 2*y", "2 in 2*y"]


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


def test_a_statement_is_held_by_what_its_checks_conclude(make_claim, monkeypatch) -> None:
    said = ForAll((x,), (), sp.Le(x**2, 2 * y))
    key = "altschuler_talwar/theorem_3_1/price"
    claim = make_claim(SQUARE, key=key, statement=said)
    monkeypatch.setattr(statements, "left_open", lambda of: "y" if of.statement.body.rhs != 2 * y else "")
    states = {f"{place.words}": place.state for place in try_statement(claim).places}
    assert states["2 in 2*y"] is State.LIVE
    assert states["2 in x**2"] is State.ROOM
    assert try_statement(make_claim(SQUARE, key=key)).places == ()


def test_what_a_check_chooses_for_the_statement_is_a_place_of_it() -> None:
    key = "altschuler_talwar/section_5_2/theorem_5_6"
    claim = next(one for one in ledger.claims("altschuler_talwar") if one.key == key)
    chosen = {place.words: place for place, _ in choices(claim)}
    assert "D in D*n/(K*eta)" in chosen
    assert not {place.words for place in places(claim)} & chosen.keys()
    (check,) = (one for one, _ in chosen["D in D*n/(K*eta)"].off(sp.Rational(1, 100)))
    assert check.at != claim.checks[-1].at


def test_what_is_proved_when_off_is_not_live() -> None:
    counted = [State.LIVE] * 19 + [State.IDLE] + [State.ROOM] * 5
    report = PlacesReport("toy/claim", tuple(Tried("", Kind.CONSTANT, "1", state) for state in counted), 0.0)
    assert share([report]) == 0.95
    assert list(table([report]))[-1] == ("all checks", "19", "5", "0", "1", "0", "25", "95.0%")


@pytest.fixture
def lock(tmp_path, monkeypatch):
    path = tmp_path / "survivors.lock.json"
    path.write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(survivors, "location", lambda: path)
    return path


def test_what_is_not_noticed_is_kept_until_its_claim_changes(make_claim, monkeypatch, lock) -> None:  # noqa: ARG001
    claim = make_claim(SQUARE)
    monkeypatch.setattr(survivors.ledger, "claims", lambda: (claim,))
    places_of = [Tried("c", Kind.CONSTANT, "1", state) for state in (State.LIVE, State.IDLE, State.ROOM)]
    survivors.update_survivors([PlacesReport(claim.key, tuple(places_of), 0.0)])
    (entry,) = survivors.read_survivors().values()
    assert entry["survivors"] == {"c, constant 1": "nothing that was tried is noticed"}
    assert survivors.changed([claim]) == ()
    other = make_claim(MEANS)
    assert survivors.changed([other, make_claim(MEANS, key="toy/other")]) == (other,)


def test_no_claim_that_changes_gains_a_place_that_nothing_notices() -> None:
    for claim in survivors.changed(ledger.claims())[:2]:
        known = survivors.read_survivors()[claim.key]["survivors"]
        more = survivors.survivors_of(try_places(claim)).keys() - known.keys()
        assert not more, f"look at it, then: lastiterate places --lock --claim {claim.key}"
