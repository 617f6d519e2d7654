"""Answers of the engines, and the verdict on a claim that follows from them.

An unknown answer never counts as passed: a check that is undecided or in error makes the claim UNDECIDED.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from lastiterate.symbolic.checks import Engine
from lastiterate.symbolic.claim import Claim, Role

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Verdict(StrEnum):
    """Verdict on a claim."""

    PROVED = "PROVED"
    SUPPORTED = "SUPPORTED"
    CITED = "CITED"
    REFUTED = "REFUTED"
    GAP = "GAP"
    TYPO = "TYPO"
    UNDECIDED = "UNDECIDED"


STANDS = (Verdict.PROVED, Verdict.SUPPORTED, Verdict.CITED)
"""Verdicts on claims that hold."""


class Grade(StrEnum):
    """Strength of the evidence that a check holds, strongest first."""

    PROVED = "proved"
    CERTIFIED = "certified"
    NOT_REFUTED = "not refuted"
    CITED = "cited"


class Status(StrEnum):
    """Answer of an engine to one check."""

    HELD = "held"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    ERROR = "error"


@dataclass(frozen=True)
class Counterexample:
    """Point where the check certainly fails.

    Attributes:
        at: each parameter with its exact value, a rational ("3/4") or an exact decimal ("0.1").
        left: enclosure of the left side, "[middle +/- radius]" or an exact number.
        note: the meaning of the sides, if it is not obvious (which law is the numerator).
    """

    at: Mapping[str, str]
    left: str
    relation: str
    right: str
    note: str = ""

    @property
    def point(self) -> str:
        """Parameters with their values, in words."""
        return ", ".join(f"{name} = {value}" for name, value in self.at.items())


@dataclass(frozen=True)
class Outcome:
    """Answer of an engine to a check.

    Attributes:
        grade: strength of the evidence; None unless held.
        detail: how the check was shown, or what is left to show, in words.
        scope: the box, sample or settings to which the evidence of a check that holds is limited; else "".
        premises: hypotheses and claims that a derivation rests on.
        rests_on: works, and claims with their limits, on which a check that holds relies without a proof
            here.
    """

    check: str
    engine: str
    status: Status
    grade: Grade | None = None
    detail: str = ""
    counterexample: Counterexample | None = None
    scope: str = ""
    premises: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()

    @property
    def rejected(self) -> bool:
        """Tell whether a mutant is caught: refuted, or not obtained by its derivation; errors do not count."""
        stopped = self.engine == Engine.DERIVATION and self.status is Status.UNDECIDED
        return stopped or self.status is Status.REFUTED


@dataclass(frozen=True)
class ClaimReport:
    """Verdict on a claim with its evidence.

    Attributes:
        grade: weakest grade among the checks; None unless all hold.
        misprint: outcome of the check as printed, for a claim with a misprint.
        near_misses: an outcome for each near miss of a check that holds; see
            `lastiterate.proofs_checks.decide`.
        left_open: part of the statement that the checks leave open; see `lastiterate.proofs_checks.implies`.
        shown: outcome of the run on the page of a refuted claim; see `lastiterate.symbolic.claim`.
    """

    key: str
    verdict: Verdict
    grade: Grade | None
    outcomes: tuple[Outcome, ...]
    misprint: Outcome | None
    mutants: tuple[Outcome, ...]
    near_misses: tuple[Outcome, ...]
    left_open: str
    seconds: float
    shown: Outcome | None = None

    @property
    def errs(self) -> bool:
        """Tell whether an engine raised instead of answering."""
        beside = [outcome for outcome in (self.misprint, self.shown) if outcome is not None]
        return any(outcome.status is Status.ERROR for outcome in (*self.outcomes, *beside, *self.tried))

    @property
    def scope(self) -> str:
        """Limits of evidence that covers less than the assumptions allow; else ""."""
        scopes = (outcome.scope for outcome in carrying(self.outcomes))
        return "; ".join(dict.fromkeys(filter(None, scopes)))

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Works, and claims not fully proved, on which the evidence relies."""
        return tuple(dict.fromkeys(one for outcome in self.outcomes for one in outcome.rests_on))

    @property
    def tried(self) -> tuple[Outcome, ...]:
        """Outcomes of mutants and near misses, which should be rejected."""
        return (*self.mutants, *self.near_misses)

    @property
    def rejected(self) -> int:
        """Number of rejected mutants."""
        return sum(mutant.rejected for mutant in self.mutants)

    @property
    def near_rejected(self) -> int:
        """Number of rejected near misses."""
        return sum(wrong.rejected for wrong in self.near_misses)

    @property
    def near_close(self) -> int:
        """Number of rejected near misses within a few percent of a check."""
        return sum(wrong.rejected and not wrong.scope for wrong in self.near_misses)

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ClaimReport":
        """Report from the data of `to_json`.

        Raises:
            ValueError: the data is not a report.
        """
        return _adapter().validate_python(data)


@cache
def _adapter() -> "TypeAdapter[ClaimReport]":
    from pydantic import TypeAdapter

    return TypeAdapter(ClaimReport)


def with_noun(count: int, noun: str) -> str:
    """A count with its noun.

    >>> with_noun(1, "claim"), with_noun(2, "claim")
    ('1 claim', '2 claims')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def tally(*reports: ClaimReport) -> str:
    """Numbers of rejected mutants and near misses, in words.

    >>> tally()
    '0 of 0 mutants rejected'
    """
    mutants, rejected = sum(len(r.mutants) for r in reports), sum(r.rejected for r in reports)
    near, near_rejected = sum(len(r.near_misses) for r in reports), sum(r.near_rejected for r in reports)
    also = f" and {near_rejected} of {near} near misses" if near else ""
    return f"{rejected} of {mutants} mutants{also} rejected"


def weakest(outcomes: tuple[Outcome, ...]) -> Grade | None:
    """Weakest grade if all outcomes hold, else None; attacks do not lower the grade of a derivation."""
    grades = [
        outcome.grade for outcome in outcomes if outcome.status is Status.HELD and outcome.grade is not None
    ]
    if not outcomes or len(grades) < len(outcomes):
        return None
    return max((one.grade for one in carrying(outcomes) if one.grade is not None), key=list(Grade).index)


def carrying(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Outcomes that a verdict rests on: citations if any, else all, without attacks if anything is derived."""
    cited = tuple(outcome for outcome in outcomes if outcome.engine == Engine.CITATION)
    derived = any(outcome.engine == Engine.DERIVATION for outcome in outcomes)
    return cited or tuple(outcome for outcome in outcomes if not (derived and outcome.engine == Engine.ATTACK))


def limit_by(outcome: Outcome, key: str, used: tuple[Outcome, ...]) -> Outcome:
    """Limit an outcome that relies on a claim to the grade and scopes of the claim, and add its sources.

    The outcome is undecided if the claim is not shown to hold.
    """
    grade = weakest(used)
    if outcome.grade is None:
        return outcome
    if grade is None:
        why = f"it rests on {key}, which is not shown to hold"
        return replace(outcome, status=Status.UNDECIDED, grade=None, detail=why)
    scopes = dict.fromkeys(one.scope for one in carrying(used) if one.scope)
    limits = [*(["cited"] if grade is Grade.CITED else []), *scopes]
    named = [f"{key} ({'; '.join(limits)})"] if limits else []
    taken = dict.fromkeys((*outcome.rests_on, *named, *(one for other in used for one in other.rests_on)))
    scope = "; ".join(
        filter(None, (outcome.scope, f"derived from {key} ({'; '.join(scopes)})" if scopes else ""))
    )
    return replace(
        outcome, grade=max(outcome.grade, grade, key=list(Grade).index), scope=scope, rests_on=tuple(taken)
    )


def verdict_of(
    claim: Claim,
    outcomes: tuple[Outcome, ...],
    misprint: Outcome | None,
    left_open: str = "",
    shown: Outcome | None = None,
) -> Verdict:
    """Verdict on a claim from the outcomes of its checks.

    A refuted check makes the claim REFUTED, or a GAP if the claim is a step of a proof. A run on the claim's
    page must refute the claim, too. If all checks hold and imply the statement, a claim with a misprint is a
    TYPO if the printed form is refuted, a claim shown by another work is CITED, a claim whose evidence has a
    scope is SUPPORTED, and any other claim is PROVED. In all other cases, the verdict is UNDECIDED.
    """
    if shown is not None and shown.status is not Status.REFUTED:
        return Verdict.UNDECIDED
    if any(outcome.status is Status.REFUTED for outcome in outcomes):
        return Verdict.GAP if claim.role is Role.STEP else Verdict.REFUTED
    if weakest(outcomes) is None or left_open:
        return Verdict.UNDECIDED
    if claim.misprint is None:
        if any(outcome.grade is Grade.CITED for outcome in outcomes):
            return Verdict.CITED
        less = any(outcome.scope for outcome in carrying(outcomes))
        return Verdict.SUPPORTED if less else Verdict.PROVED
    printed = misprint is not None and misprint.status is Status.REFUTED
    return Verdict.TYPO if printed else Verdict.UNDECIDED
