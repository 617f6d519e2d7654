"""Answers of the engines about a claim one of whose places is off."""

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import ask, decide_check, in_error
from lastiterate.proofs_checks.engines.time_limit import limited
from lastiterate.proofs_checks.engines.z3_answers import entails
from lastiterate.proofs_checks.places.between import shown_between, steep
from lastiterate.proofs_checks.places.failing import failing_point
from lastiterate.proofs_checks.places.generate import Place, Question, places
from lastiterate.proofs_checks.places.occurrences import Kind
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried
from lastiterate.proofs_checks.unneeded import unneeded
from lastiterate.proofs_checks.verdict import Grade, Outcome, Status
from lastiterate.symbolic.claim import (
    Asymptotic,
    Check,
    Claim,
    Derived,
    Engine,
    Inequality,
    IntervalInequality,
    Role,
    Unbounded,
)

ONE_PERCENT: Final = (sp.Rational(1, 100), sp.Rational(-1, 100))
MORE: Final = tuple(map(sp.Rational, ("1/4", "-1/4", "1", "3", "9", "-9/10", "-2", "999", "-999/1000")))
"""Shares by which a place is off that has room: another size, orders of magnitude, another sign."""

SECONDS: Final = 3
"""An engine that computes for longer about a place that is off does not decide it."""

_PROOF: Final = (Grade.PROVED, Grade.CERTIFIED)

_NOT_EXACT: Final = frozenset({Engine.CERTIFICATE, Engine.RECOMPUTATION, Engine.SIMULATION, Engine.CITATION})
"""Engines that measure, so that one percent is within their tolerance, or that decide nothing."""

_SCALES: Final = (Kind.COEFFICIENT, Kind.CONSTANT)


def try_places(claim: Claim) -> PlacesReport:
    """Try every place of a claim, of the checks that hold and that its verdict rests on.

    A factor in a check up to a constant is none: it says nothing there.
    """
    started = process_time()
    found = () if claim.role is Role.CODE else tuple(_all(claim))
    return PlacesReport(claim.key, found, process_time() - started)


def _all(claim: Claim) -> Iterator[Tried]:
    derived = any(isinstance(check, Derived) for check in claim.checks)
    left_out = _NOT_EXACT | ({Engine.ATTACK} if derived else set())
    carry = [check for check in claim.checks if check.engine not in left_out]
    holds = {check.name for check in carry if decide_check(check, claim.assumptions).status is Status.HELD}
    scaleless = {check.name for check in carry if _scaleless(check)}
    known = {("", str(one)) for one in unneeded(claim)}
    for number, check in enumerate(claim.checks, 1):
        known |= {(check.name, str(one)) for one in unneeded(claim, number)}
    for place in places(claim, carry):
        if place.check in scaleless and place.kind in _SCALES:
            continue
        if place.without is not None and (place.check, place.words.partition(" in ")[2]) in known:
            yield Tried(place.check, place.kind, place.words, State.UNUSED)
        elif place.check in holds or (not place.check and len(holds) == len(carry)):
            found = _state(place)
            if found is not None:
                yield Tried(place.check, place.kind, place.words, *found)


def _scaleless(check: Check) -> bool:
    """Tell whether a factor means nothing to a check, which is one up to a constant."""
    return isinstance(check, Unbounded) or (isinstance(check, Asymptotic) and check.constant is None)


def _state(place: Place) -> tuple[State, str] | None:
    """Fate of a place; None for one that says nothing when it is off, as half a letter of a vector does."""
    asked = [one for share in ONE_PERCENT for one in _off(place, share)]
    if any(_fails_somewhere(*one) for one in asked):
        return State.LIVE, ""
    said: list[Outcome] = []
    for check, assumptions in asked:
        outcome = _answer(check, assumptions)
        if outcome is None:
            continue
        if notices(outcome, check, assumptions):
            return State.LIVE, ""
        said.append(outcome)
    if asked and not said:
        return None
    if place.without is not None and all(_holds(*one) for one in place.without):
        return State.UNUSED, ""
    for outcome in said:
        if outcome.status is not Status.HELD or outcome.grade not in _PROOF:
            return State.UNDECIDED, outcome.detail
    if place.without is None and place.kind not in (Kind.DIGIT, Kind.RANGE):
        for share in MORE:
            if any(_breaks(check, given) for check, given in _off(place, share)):
                return State.ROOM, f"noticed at {float(share):+.0%}"
    return (State.IDLE, "") if place.without is None else (State.ROOM, "needed")


def notices(outcome: Outcome, check: Check, assumptions: Sequence[Boolean]) -> bool:
    """Tell whether a check that was shown before is refuted now, or not even shown to be defined."""
    return outcome.rejected or (outcome.status is Status.UNDECIDED and _undefined(check, assumptions))


def _answer(check: Check, assumptions: tuple[Boolean, ...]) -> Outcome | None:
    """The engine's answer, None where it cannot read the question.

    A power that is off is to z3 a polynomial of a high degree, about which it is not asked.
    """
    known = _bound(check)
    try:
        if isinstance(known, Inequality) and steep(known):
            with limited(SECONDS):
                return shown_between(known, assumptions)
        return ask(known, assumptions, SECONDS)
    except InputError:
        return None
    except Exception as error:
        return in_error(known, error)


def _holds(check: Check, assumptions: tuple[Boolean, ...]) -> bool:
    outcome = _answer(check, assumptions)
    return outcome is not None and outcome.status is Status.HELD


def _bound(check: Check) -> Check:
    """A check up to a constant that is known with the constant: a path that refutes the rest is known to few."""
    if isinstance(check, Asymptotic) and check.constant is not None:
        return Inequality(check.left, "<=", check.constant * check.right, check.given, check.name)
    return check


def _fails_somewhere(check: Check, assumptions: tuple[Boolean, ...]) -> bool:
    """Tell whether a point is found that breaks an inequality."""
    known = _bound(check)
    return isinstance(known, Inequality) and failing_point(known, (*assumptions, *known.given)) is not None


def _breaks(check: Check, assumptions: tuple[Boolean, ...]) -> bool:
    """Tell whether a check is refuted; of an inequality by a point alone, for its powers may be high."""
    if isinstance(_bound(check), Inequality):
        try:
            with limited(SECONDS):
                return _fails_somewhere(check, assumptions)
        except TimeoutError:
            return False
    outcome = _answer(check, assumptions)
    return outcome is not None and outcome.rejected


def _off(place: Place, share: sp.Rational) -> Question:
    """The question; none where Sympy refuses to write it down, or a range is empty."""
    try:
        asked = place.off(share)
    except (ValueError, TypeError, NotImplementedError):
        return ()
    return () if any(_empty(check) for check, _ in asked) else asked


def _empty(check: Check) -> bool:
    return isinstance(check, IntervalInequality) and any((low > high) == True for low, high in check.box.values())  # noqa: E712


def _undefined(check: Check, assumptions: Sequence[Boolean]) -> bool:
    """Tell whether a side is not shown to be defined, which a claim that holds has shown."""
    sides = [side for name in ("left", "right") if isinstance(side := getattr(check, name, None), sp.Basic)]
    try:
        return bool(unmet(sides, (*assumptions, *getattr(check, "given", ())), entails))
    except UnsupportedError:
        return False
