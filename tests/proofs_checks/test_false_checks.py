"""Checks that are false, undefined somewhere or about nothing, each of which once held."""

from dataclasses import replace

import pytest
import sympy as sp
import z3
from sympy import And, Eq, Ge, Le, Rational

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines import (
    decide_check,
    identity,
    induction,
    inequality,
    z3_answers,
)
from lastiterate.proofs_checks.lock import failures
from lastiterate.proofs_checks.verdict import Status, Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import (
    Check,
    Derived,
    Identity,
    Induction,
    Inequality,
    Recursion,
    UpperBound,
)
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.kernel.profiles import Equal
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.notation import PREVIOUS, K, L, T, alpha, b, m, n, sigma_dp, t, x
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import closed

f, g, h = (sp.Function(name, real=True) for name in "fgh")
p, q = (sp.Function(name, nonnegative=True) for name in "pq")
z, r, s = sp.Symbol("z"), sp.Symbol("r", real=True), sp.Symbol("s", real=True)
k, i = sp.Symbol("k", integer=True), sp.Symbol("i", integer=True, nonnegative=True)
HALF = Rational(1, 2)
BOOK = Source("A book", "Theorem 1")


def law(left: sp.Expr, right: sp.Expr) -> sp.Basic:
    return Eq(left, right, evaluate=False)


CANCELLED = {
    "a pole at the start": Induction(t, Ge(t / r**2, 0)),
    "0/0 at the start": Induction(t, Le(t / p(t), 1), (Eq(p(0), 0),), (law(p(t + 1), p(t) + 1),)),
    "a power of a negative start": Induction(k, Ge(r ** (2 * k), 0), start=-1),
    "a value that is put in": Induction(
        t, Eq(p(t) / q(t), 1), (law(p(0), q(0)),), (law(p(t + 1), p(t)), law(q(t + 1), q(t)))
    ),
    "a complex letter in a recursion": Recursion(i, sp.Max(r, 0), PREVIOUS, sp.S.Zero, given=(Eq(r, -(z**2)),)),
    "a complex letter in an identity": Identity(sp.Abs(r), -r, given=(Eq(r + z**2, 0),)),
    "a complex value": Induction(
        t, Eq(sp.Max(f(t), 0), 0), (Eq(f(0) + sp.Function("C")(0) ** 2, 0),), (law(f(t + 1), f(t)),)
    ),
}
NOTHING = {
    "a bound that is passed": Induction(
        t, Eq(f(t), t), (Eq(f(0), 0),), (law(f(t + 1), f(t) + 1), Le(f(t), 50))
    ),
    "what is kept is passed": Induction(
        t, Le(t, 50), (Eq(f(0), 0),), (law(f(t + 1), f(t) + 1), Le(f(t), 50)), (law(f(t), t),)
    ),
    "laws that part": Induction(t, Le(t, 150), (), (Ge(f(t), t), Le(f(t), 150))),
    "few indices": Induction(t, Le(t, 1001), (), (Le(t, 1000),)),
    "a later value": Induction(t, Eq(f(t), 1), (Eq(f(0), 1), Eq(f(7), 0)), (law(f(t + 1), f(t)),)),
    "two arguments": Induction(
        t, Le(h(t, 1), 3), (Eq(h(0, 1), 0),), (law(h(t + 1, 1), h(t, 1) + 1), Le(h(t, 1), 3))
    ),
    "the conclusion is a law": Induction(t, Le(f(t), 5), (), (Le(f(t), 5),)),
    "a letter above every index": Induction(t, Le(t, s / K), (), (Le(K * t, s),)),
    "a letter above a sequence": Induction(t, Le(t, s), (), (Ge(f(t), t), Le(f(t), s))),
    "a nonnegative sequence that falls": Induction(t, Eq(p(t), p(0) - t), (), (law(p(t + 1), p(t) - 1),)),
    "half a start": Induction(t, Ge(f(t) ** 2, 0), start=0.5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", [*CANCELLED, *NOTHING])
def test_an_induction_or_identity_is_not_held(name: str) -> None:
    outcome = decide_check((CANCELLED | NOTHING)[name], ())
    assert outcome.status in (Status.UNDECIDED, Status.ERROR)
    assert "stopped" not in outcome.detail


def test_an_identity_that_is_met_at_no_point_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "find_points", lambda *_: ())
    outcome = decide_check(Identity((r + 1) ** 2, r**2 + 2 * r + 1), ())
    assert outcome.status is Status.UNDECIDED
    assert "no admissible point" in outcome.detail


def test_a_run_that_does_not_go_on_refutes_nothing() -> None:
    check = Induction(t, Le(p(t), 1), (), (law(p(t), q(t + 1)), Le(q(t), 1)))
    assert decide_check(check, ()).status is Status.UNDECIDED


def test_functions_of_a_late_index_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    entails = induction.entails
    monkeypatch.setattr(
        induction, "entails", lambda given, wanted: asked.extend(given) or entails(given, wanted)
    )
    check = Induction(
        t, Ge(f(t), 0), (Eq(f(0), 0),), (law(f(t + 1), f(t)), Le(f(t) * sp.factorial(t), f(t) ** 2 + r**2))
    )
    decide_check(check, ())
    assert asked
    assert max(abs(number) for one in asked for number in one.atoms(sp.Integer)) < sp.factorial(10**3)


def test_an_unequal_value_is_refuted_in_a_run() -> None:
    assert decide_check(Induction(t, sp.Ne(f(t), 0)), ()).status is Status.REFUTED


NEVER = (x < 1, x > 2)


@pytest.mark.parametrize(
    ("check", "assumptions", "words"),
    [
        (Derived("full_batch/convexe", Equal()), (), "did you mean full_batch/convex?"),
        (UpperBound("composition", ("linear",)), NEVER, "no sample"),
        (Recursion(i, sp.S.Zero, PREVIOUS + 1, i, start=0.5), (), "needs a whole number as its start"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    check: Check, assumptions: tuple[sp.Basic, ...], words: str
) -> None:
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.ERROR
    assert words in outcome.detail


@pytest.mark.parametrize("assumption", [sp.log(K - 5) >= 0, sp.sqrt(K - 5) >= 0, 1 / (K - 10) >= 0])
def test_settings_where_an_assumption_is_undefined_are_not_admitted(assumption: sp.Basic) -> None:
    outcome = decide_check(UpperBound("composition", ("linear",)), (assumption,))
    assert "stopped" not in outcome.detail


BY_KEY = {claim.key: claim for claim in ledger.claims()}
DIVERGENCE = replace(BY_KEY["altschuler_talwar/theorem_3_1"].checks[0], mutants=())
ORDER = DIVERGENCE.given[1]
BOUNDS: dict[str, Check] = {
    "infinite": replace(DIVERGENCE, bound=sp.oo),
    "undefined": replace(DIVERGENCE, bound=DIVERGENCE.bound + sp.Abs(sp.log(x))),
    "no such run": replace(DIVERGENCE, given=(*DIVERGENCE.given, x < 1, x > 2)),
    "no such order": replace(DIVERGENCE, given=(*DIVERGENCE.given, alpha > ORDER.gts)),
    "an order as an equation": replace(DIVERGENCE, given=(DIVERGENCE.given[0], Eq(alpha, ORDER.gts))),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_of_a_divergence_is_not_held(name: str) -> None:
    outcome = decide_check(BOUNDS[name], BY_KEY["altschuler_talwar/theorem_3_1"].assumptions)
    assert outcome.status in (Status.UNDECIDED, Status.ERROR)
    assert "stopped" not in outcome.detail


COMPOSITION, EARLIER = "chien_li/theorem_3_1/composition", "altschuler_talwar/section_5_2/earlier_bound"


@pytest.mark.parametrize(
    ("key", "more", "conditions"),
    [
        (COMPOSITION, 0, (x < 1, x > 2)),
        (COMPOSITION, 0, (alpha < 1,)),
        ("chien_li/theorem_3_1/direct/strongly_convex", 0, (m > L,)),
        (EARLIER, 0, (And(x < 1, x > 2),)),
        (
            "altschuler_talwar/theorem_3_1",
            0,
            (alpha > largest_order(b / n, b * sigma_dp / (2 * sp.sqrt(2) * K)),),
        ),
        (COMPOSITION, sp.oo, ()),
        (COMPOSITION, sp.Abs(sp.log(T - 1)), ()),
        (EARLIER, sp.Abs(sp.log(T - 1)), ()),
    ],
)
def test_a_statement_about_nothing_or_without_a_bound_is_not_proved(
    key: str, more: sp.Expr, conditions: tuple[sp.Basic, ...]
) -> None:
    claim = BY_KEY[key]
    said = claim.statement
    assert said is not None
    other = closed(said.body.func(said.body.lhs, said.body.rhs + more), *said.conditions, *conditions)
    checks = [replace(check, mutants=()) for check in claim.checks]
    report = decide(Claim("k", "title", claim.source, *checks, assumptions=claim.assumptions, statement=other))
    assert report.verdict is Verdict.UNDECIDED
    assert failures(report)


@pytest.mark.parametrize("answer", [z3.unknown, z3.sat])
def test_what_z3_does_not_refute_is_not_proved(
    monkeypatch: pytest.MonkeyPatch, answer: z3.CheckSatResult
) -> None:
    """No witness among statements is sure to be beyond z3 for ever; a solver that says so is."""
    monkeypatch.setattr(z3_answers, "ask_z3", lambda *_: answer)
    monkeypatch.setattr(inequality, "solve", lambda *_: (answer, None))
    letter = sp.Symbol("not asked before", positive=True)
    assert not z3_answers.entails((), letter**2 + 1 > letter)
    assert decide_check(Inequality(letter, "<=", letter**2 + 1), ()).status is Status.UNDECIDED


def test_a_question_that_z3_gives_up_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_answers, "_checked", lambda *_: z3.unknown)
    assert z3_answers._soon([z3.Real("x") > 0]) == z3.unknown
    assert z3_answers._for_long([z3.Real("x") > 0]) == (z3.unknown, None)
