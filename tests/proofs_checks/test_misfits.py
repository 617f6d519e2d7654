"""Claims with a field of another type: a sentence for each, and the claims beside them are decided."""

from dataclasses import fields, replace

import numpy as np
import pytest
import sympy as sp
from sympy import Integer, Rational

from lastiterate.proofs_checks import decide as deciding
from lastiterate.proofs_checks.cache import content, said_by
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.declared import misfit
from lastiterate.proofs_checks.describe import describe, evidence
from lastiterate.proofs_checks.verdict import ClaimReport, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Asymptotic,
    Check,
    Cited,
    Consequence,
    Derived,
    Identity,
    Induction,
    Inequality,
    IntervalInequality,
    NormBound,
    Printed,
    Recursion,
    RenyiBound,
    Tracked,
    Unbounded,
    Units,
    UpperBound,
    Value,
    VectorInequality,
)
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.kernel.profiles import Composed, Equal, Gauss
from lastiterate.symbolic.notation import PREVIOUS, T, c, n, t, u, x
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.vectors import Norm, Vector

BOOK = Source("A book", "Theorem 1")
F = sp.Function("f", real=True)
CITED = Cited(x <= 1, BOOK, (x < 1,))
CHECKS: tuple[Check, ...] = (
    Identity(x, x + 0 * u),
    Inequality(x, "<=", x + 1),
    IntervalInequality(x, "<=", x + 1, {x: (0, 1)}),
    Recursion(T, x, PREVIOUS, x),
    Value(sp.pi, "3.14"),
    Induction(t, F(t) >= 0, (sp.Eq(F(0), 0),), (sp.Eq(F(t + 1), F(t)),)),
    Asymptotic(x, x + 1, Integer(1)),
    Unbounded(x, Integer(1), {x: T}),
    Units(x, x),
    CITED,
    Consequence(x <= 2, (CITED,), (x < 1,)),
    Derived("full_batch/convex", Gauss(x)),
    Tracked("full_batch/convex", x),
    Printed("theorem_3_1"),
    RenyiBound("full_batch/convex", x),
    NormBound(Vector("v"), x),
    VectorInequality(Norm(Vector("v")), "<=", Norm(Vector("v"))),
    UpperBound("composition", ("linear",)),
)


class Odd:
    """A value that cannot be compared or hashed, and takes long to print."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "odd " * 30

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


WRONG = (
    None,
    "x",
    2.0,
    True,
    {x},
    lambda: x,
    np.float64(2),
    np.array([1, 2]),
    x.is_real,
    [x],
    Odd(),
    Identity,
    b"x",
)


def answer(*checks: object, **rest: object) -> ClaimReport:
    claim = Claim("k/one", "title", BOOK, *checks, **rest)  # type: ignore[arg-type]
    report = decide(claim)
    assert describe(claim, report)
    assert list(evidence(claim, report))
    assert content(claim)
    assert said_by(claim)
    return report


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: type(check).__name__)
def test_a_field_of_another_type_is_told_in_a_sentence(check: Check) -> None:
    told = 0
    for field in fields(check):
        for wrong in WRONG:
            try:
                other = replace(check, **{field.name: wrong})
            except (RuntimeError, TypeError, ValueError):  # refused when it is made
                continue
            claim = Claim("k/one", "title", BOOK, other)
            if not misfit(claim):
                assert isinstance(wrong, str | bool | int | type(None))
                continue
            told += 1
            report = answer(other)
            assert report.verdict is Verdict.UNDECIDED
            (outcome,) = report.outcomes
            assert outcome.detail.startswith(f"{field.name} of {type(check).__name__} needs ")
            assert outcome.detail.count(". ") == 0
    assert told > 15


@pytest.mark.parametrize(
    ("assumptions", "words"),
    [
        ((c == n,), "assumptions of Claim needs a Sympy condition, got False; write Eq(x, y) for x == y"),
        (c == n, "got False"),
        ((c == c,), "got True"),
        (None, "got None"),
        ([x > 1], "got [x > 1]"),
        ((x,), "got x"),
        (("x > 1",), "got 'x > 1'"),
        ((Odd(),), "got an object of type Odd"),
    ],
)
def test_assumptions_that_are_no_conditions(assumptions: object, words: str) -> None:
    (outcome,) = answer(Inequality(x, "<=", x + 1), assumptions=assumptions).outcomes
    assert words in outcome.detail


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ({"statement": 2.0}, "statement of Claim needs"),
        ({"misprint": "none"}, "misprint of Claim needs"),
        ({"letters": None}, "letters of Claim needs"),
        ({"refutation": "x"}, "refutation of Claim needs"),
    ],
)
def test_other_fields_of_a_claim(rest: dict[str, object], words: str) -> None:
    (outcome,) = answer(Inequality(x, "<=", x + 1), **rest).outcomes
    assert words in outcome.detail


def test_parts_inside_are_seen() -> None:
    inside = Derived("full_batch/convex", Composed((Gauss(0.5),)))  # type: ignore[arg-type]
    (outcome,) = answer(inside).outcomes
    assert outcome.detail == "square of Gauss needs a Sympy expression, got 0.5; write Rational('0.5')."
    mutant = Identity(x + x, 2 * x + 0 * u).mutant("float", right=0.5)  # type: ignore[arg-type]
    (outcome,) = answer(mutant).outcomes
    assert outcome.detail.startswith("right of Identity needs")
    assert answer(x).outcomes[0].detail.startswith("checks of Claim needs")


def test_no_claim_of_the_ledger_is_one() -> None:
    assert not [claim.key for claim in ledger.claims() if misfit(claim)]


@pytest.mark.parametrize("profile", [Equal(), Composed((Equal(), Equal()))])
def test_a_profile_with_nothing_to_lessen(profile: object) -> None:
    derived = Derived("full_batch/convex", profile)  # type: ignore[arg-type]
    assert answer(derived).verdict is Verdict.UNDECIDED


def test_what_raises_on_the_way_is_an_error_of_every_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(deciding, "near_misses", broken)
    report = answer(Inequality(x, "<=", x + Rational(1, 2)))
    assert report.verdict is Verdict.UNDECIDED
    assert report.outcomes[0].detail == "the engine stopped with ZeroDivisionError: division by zero"
