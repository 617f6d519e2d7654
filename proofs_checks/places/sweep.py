"""Answers of the engines about a claim one of whose places is off."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import process_time
from typing import Final

import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.defined import unmet
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.answers import refuted_at, undecided
from lastiterate.proofs_checks.engines.inequality import SPOTS, fails
from lastiterate.proofs_checks.engines.z3_terms import entails
from lastiterate.proofs_checks.feasible_points import NoPointError, free_symbols, points
from lastiterate.proofs_checks.places.generate import Place, Question, places
from lastiterate.proofs_checks.places.occurrences import Kind
from lastiterate.proofs_checks.places.record import PlacesReport, State, Tried
from lastiterate.proofs_checks.verdict import Outcome, Status
from lastiterate.symbolic.claim import Asymptotic, Check, Claim, Derived, Engine, Inequality, Role, Unbounded

ONE_PERCENT: Final = (sp.Rational(1, 100), sp.Rational(-1, 100))
MORE: Final = tuple(map(sp.Rational, ("1/20", "-1/20", "1/4", "-1/4", "1", "-1/2", "9", "-9/10")))
"""Shares by which a place is off that has room."""

SECONDS: Final = 3
"""An engine that computes for longer about a place that is off does not decide it."""

STEEP: Final = 12
"""Denominator of an exponent beyond which z3 is not asked."""

_NOT_EXACT: Final = frozenset({Engine.CERTIFICATE, Engine.SIMULATION, Engine.CITATION})
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
    for place in places(claim, carry):
        if place.check in scaleless and place.kind in _SCALES:
            continue
        if place.check in holds or (not place.check and len(holds) == len(carry)):
            state, detail = _state(place)
            yield Tried(place.check, place.kind, place.words, state, detail)


def _scaleless(check: Check) -> bool:
    """Tell whether a factor means nothing to a check, which is one up to a constant."""
    return isinstance(check, Unbounded) or (isinstance(check, Asymptotic) and check.constant is None)


def _state(place: Place) -> tuple[State, str]:
    said: list[Outcome] = []
    for share in ONE_PERCENT:
        for check, assumptions in _off(place, share):
            outcome = _answer(check, assumptions)
            if notices(outcome, check, assumptions):
                return State.LIVE, ""
            said.append(outcome)
    if place.without is not None and all(_answer(*one).status is Status.HELD for one in place.without):
        return State.UNUSED, ""
    for outcome in said:
        if outcome.status is not Status.HELD:
            return State.UNDECIDED, outcome.detail
    if place.kind not in (Kind.DIGIT, Kind.RANGE):
        for share in MORE:
            if any(_answer(check, given).rejected for check, given in _off(place, share)):
                return State.ROOM, f"noticed at {float(share):+.0%}"
    return (State.IDLE, "") if place.without is None else (State.ROOM, "needed")


def notices(outcome: Outcome, check: Check, assumptions: Sequence[Boolean]) -> bool:
    """Tell whether a check that was shown before is refuted now, or not even shown to be defined."""
    return outcome.rejected or (outcome.status is Status.UNDECIDED and _undefined(check, assumptions))


def _answer(check: Check, assumptions: tuple[Boolean, ...]) -> Outcome:
    """The engine's answer; of a power that is off only at points, for to z3 it is a polynomial of a high degree.

    Of a check up to a constant that is known the constant is part: a path that refutes the rest is known to few.
    """
    if isinstance(check, Asymptotic) and check.constant is not None:
        bound = Inequality(check.left, "<=", check.constant * check.right, check.given, check.name)
        return decide_check(bound, assumptions, SECONDS)
    if not (isinstance(check, Inequality) and any(_steep(side) for side in (check.left, check.right, *check.given))):
        return decide_check(check, assumptions, SECONDS)
    premises = (*assumptions, *check.given)
    with suppress(NoPointError, UnsupportedError, ValueError):
        for point in points(free_symbols(check.left, check.right, premises), premises, SPOTS):
            if fails(check, premises, point):
                return refuted_at(check, point)
    return undecided(check, "a power like this is tried at points alone, and it holds there")


def _steep(side: sp.Basic) -> bool:
    return any(power.exp.is_Rational and power.exp.q > STEEP for power in side.atoms(sp.Pow))


def _off(place: Place, share: sp.Rational) -> Question:
    """The question; none where Sympy refuses to write it down."""
    try:
        return place.off(share)
    except (ValueError, TypeError, NotImplementedError):
        return ()


def _undefined(check: Check, assumptions: Sequence[Boolean]) -> bool:
    """Tell whether a side is not shown to be defined, which a claim that holds has shown."""
    sides = [side for name in ("left", "right") if isinstance(side := getattr(check, name, None), sp.Basic)]
    try:
        return bool(unmet(sides, (*assumptions, *getattr(check, "given", ())), entails))
    except UnsupportedError:
        return False
