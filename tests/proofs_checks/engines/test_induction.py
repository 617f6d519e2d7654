"""Inductions: what passes from the start and from each index to the next is proved, a false one fails in a run."""

from collections.abc import Sequence

import pytest
import sympy as sp
from sympy import Eq, Ge, Gt, Le, Lt, Ne, sqrt

from lastiterate.numeric.errors import InputError
from lastiterate.proofs_checks.decide import decide, near_misses
from lastiterate.proofs_checks.engines import decide_check, induction
from lastiterate.proofs_checks.engines.induction import NOT_SHOWN, POINTS, sequence_runs
from lastiterate.proofs_checks.verdict import Status, Verdict
from lastiterate.symbolic.checks import Induction, Recursion
from lastiterate.symbolic.notation import PREVIOUS, K, c, s, t

a, u, v, w, z = (sp.Function(name, nonnegative=True) for name in "auvwz")
x, y = (sp.Function(name, real=True) for name in "xy")
GROWS = (sp.Le(z(t + 1), c * z(t) + s),)
FROM_0 = (sp.Eq(z(0), 0),)
CLOSED = Induction(t, sp.Le(z(t), s * (1 - c**t) / (1 - c)), FROM_0, GROWS)
SQUARES = (
    sp.Eq(w(t + 1), w(t) + a(t) * z(t)),
    sp.Eq(u(t + 1), u(t) + a(t) ** 2),
    sp.Eq(v(t + 1), v(t) + z(t) ** 2),
)
DOUBLES = (sp.Eq(x(0), 0), sp.Eq(y(0), 1), sp.Eq(x(t + 1), x(t) + y(t)), sp.Eq(y(t + 1), 2 * y(t)))


@pytest.mark.parametrize(
    ("check", "assumptions", "status"),
    [
        (CLOSED, (c < 1,), Status.HELD),
        (CLOSED, (c <= 1,), Status.UNDECIDED),  # 0/0 at c = 1
        (CLOSED, (c > 1,), Status.HELD),
        (Induction(t, sp.Le(z(t), s * t), FROM_0, GROWS), (c <= 1,), Status.HELD),
        (Induction(t, sp.Le(z(t), s * t), FROM_0, GROWS), (), Status.REFUTED),
        (Induction(t, sp.Le(z(t), s * t), (), GROWS), (c <= 1,), Status.REFUTED),
        (
            Induction(t, sp.Le(w(t) ** 2, u(t) * v(t)), tuple(sp.Eq(f(0), 0) for f in (u, v, w)), SQUARES),
            (),
            Status.HELD,
        ),
        (Induction(t, sp.Ge((1 + s) ** t, 1 + t * s)), (), Status.HELD),
        (Induction(t, sp.Ge((1 + s) ** t, 1 + t * s + s**2)), (), Status.REFUTED),
        # true, and shown only with what is kept
        (Induction(t, sp.Le(y(t), 1 + 3 * x(t)), DOUBLES[:2], DOUBLES[2:]), (), Status.UNDECIDED),
        (Induction(t, sp.Le(y(t), 1 + 3 * x(t)), DOUBLES[:2], DOUBLES[2:], (sp.Le(0, y(t)),)), (), Status.HELD),
        # equalities: what the laws say of the next index is put in, and signs stay
        (Induction(t, sp.Eq(z(t), t * s), FROM_0, (sp.Eq(z(t + 1), z(t) + s),)), (), Status.HELD),
        (Induction(t, sp.Eq(z(t), t * s), FROM_0, (sp.Eq(s + z(t), z(t + 1)),)), (), Status.HELD),
        (
            Induction(t, sp.Eq(z(t), t * s), FROM_0, (sp.Eq(z(t + 1), sp.Rational(101, 100) * z(t) + s),)),
            (),
            Status.REFUTED,
        ),
        (Induction(t, sp.Eq(sp.Abs(z(t)), t * s), FROM_0, (sp.Eq(z(t + 1), z(t) + s),)), (), Status.HELD),
        (Induction(t, sp.Eq(y(t), 2**t), DOUBLES[1:2], (sp.Le(y(t + 1), 2 * y(t)),)), (), Status.UNDECIDED),
        # what the laws say of letters alone holds in every run
        (Induction(t, sp.Le(c**t, c), laws=(c <= 1,), start=1), (), Status.HELD),
        (Induction(t, sp.Le(c**t, c), laws=(c > 1,), start=1), (), Status.REFUTED),
        # nothing obeys the laws
        (Induction(t, sp.Le(z(t), 0), FROM_0, (sp.Ge(z(t), 1),)), (), Status.UNDECIDED),
    ],
)
def test_inductions(check, assumptions, status):
    assert decide_check(check, assumptions).status is status


def test_a_run_that_breaks_it_obeys_the_laws():
    found = induction.decide(Induction(t, sp.Le(z(t), s * t), FROM_0, GROWS), ()).counterexample
    at = {name: sp.Rational(value) for name, value in found.at.items()}
    assert at["z(0)"] == 0
    assert all(at[f"z({i + 1})"] <= at["c"] * at[f"z({i})"] + at["s"] for i in range(int(at["t"])))
    assert at[f"z({at['t']})"] > at["s"] * at["t"]


def test_near_misses_are_refuted():
    for check, assumptions in ((CLOSED, (c < 1,)), (Induction(t, sp.Ge((1 + s) ** t, 1 + t * s)), ())):
        (wrong,) = near_misses(check, assumptions)
        assert decide_check(wrong, assumptions).status is Status.REFUTED


def test_the_index_runs_over_all_whole_numbers_and_nothing_else_is_said_of_it():
    with pytest.raises(InputError, match="every whole number from start=0"):
        induction.decide(Induction(s, sp.Le(z(s), 1)), ())
    with pytest.raises(InputError, match="may not contain the index"):
        induction.decide(CLOSED, (t <= 3, c < 1))


@pytest.mark.parametrize(("start", "step", "status"), [(6, 6, Status.HELD), (14, 0, Status.REFUTED)])
def test_a_sum_binds_a_letter_of_the_name_of_the_index(start, step, status):
    n, bound = (sp.Symbol("n", integer=True, **{sign: True}) for sign in ("positive", "nonnegative"))
    closed = sp.Sum(n * bound, (bound, 1, 3))  # 6 n, and 14 where both letters are taken for one
    assert decide_check(Recursion(n, sp.Integer(start), PREVIOUS + step, closed, start=1), ()).status is status


def test_only_a_declared_sign_is_a_premise_of_what_is_put_in():
    said = sp.Eq(sp.Abs(y(1)), x(1))
    condition, known = induction._put_in(said, frozenset({sp.Eq(y(1), x(0) - s)}))
    assert condition.args == (sp.Abs(x(0) - s), x(1))
    assert known == frozenset()
    _, known = induction._put_in(said, frozenset({sp.Eq(z(1), x(0) - s)}))
    assert known == {sp.Ge(x(0) - s, 0)}


def test_a_run_obeys_what_is_said_of_values_at_letters_and_of_values_to_come() -> None:
    n = sp.Symbol("n", integer=True, nonnegative=True)
    above = Induction(t, sp.Ge(z(t), s), laws=(sp.Ge(z(t), a(n)),))
    found = [run for run in sequence_runs(above, (sp.Le(n, 0),)) if run.index == 0]
    assert found
    assert all(run.values[z(0)] >= run.values[a(0)] for run in found)
    falls = Induction(t, sp.Ge(z(t), s), laws=(sp.Eq(z(t + 1), z(t) - a(t)),))  # so a(t) is no more than z(t)
    found = list(sequence_runs(falls, ()))
    assert len({run.point[s] for run in found}) == POINTS
    assert all(run.values[z(i)] >= run.values[a(i)] for run in found for i in range(run.index + 1))


f, g = (sp.Function(name, real=True) for name in "fg")
ratio = sp.Function("ratio", rational=True)
p, q = (sp.Function(name, nonnegative=True) for name in "pq")
above = sp.Function("above", positive=True)
whole = sp.Function("whole", integer=True)
FAR = sp.Integer(10) ** 13
COUNTS = (Eq(f(0), 0),)
STEP = Eq(f(t + 1), f(t) + 1, evaluate=False)


def _found(first: Sequence[sp.Basic], laws: Sequence[sp.Basic]) -> bool:
    check = Induction(t, Ge(t, 0, evaluate=False), tuple(first), tuple(laws))
    return any(induction._exist(check, run) for run in sequence_runs(check, ()) if run.index == 0)


@pytest.mark.parametrize(
    ("first", "laws"),
    [
        ((), ()),
        (COUNTS, (STEP,)),
        (COUNTS, (STEP, Eq(p(t + 1), p(t) + q(t)))),
        (COUNTS, (STEP, Ge(f(t), 0))),
        ((Le(p(0), K),), (Le(p(t + 1), p(t) * c + s - q(t)), Le(q(t), K))),
        ((Eq(f(0), g(0)),), (Eq(f(t + 1), g(t)), Eq(g(t + 1), f(t + 1) + 1))),
        ((Eq(above(0), 1),), (Eq(above(t + 1), above(t) / (1 + above(t))),)),
        ((), (Ge((f(t + 1) - f(t)) * q(t), 0), Eq(f(t) ** 2, f(t)))),
    ],
)
def test_sequences_are_found(first: Sequence[sp.Basic], laws: Sequence[sp.Basic]) -> None:
    assert _found(first, laws)


@pytest.mark.parametrize(
    ("first", "laws"),
    [
        (COUNTS, (STEP, Ne(f(t), FAR))),  # ends at FAR
        (COUNTS, (STEP, Le(f(t), FAR))),
        (COUNTS, (Eq(f(t + 1), f(t) + 1 / (f(t) - FAR)),)),  # has no value after FAR
        ((Eq(p(0), FAR),), (Eq(p(t + 1), p(t) - 1),)),  # is declared nonnegative
        ((Eq(above(0), 1),), (Eq(above(t + 1), above(t) / 2 - 1 / FAR),)),
        ((Eq(f(0), 1), Eq(f(0), 2)), (STEP,)),
        (COUNTS, (STEP, Eq(f(t + 1), f(t) + 1 + sp.floor((t + 1) / FAR)))),
        ((), (Le(t, FAR),)),
        ((Eq(whole(0), 0),), (Eq(whole(t + 1), whole(t) + sp.floor(t / FAR) / 2),)),
        (COUNTS, (STEP, Ge(f(0), f(t) - FAR))),  # speaks of a value that is none of these
        ((), (Eq(p(t + 1), p(t + 2) + 1),)),  # is defined by later values
        ((), (Eq(p(t + 1), p(t + 1) + 1, evaluate=False),)),  # is defined by itself
        ((Eq(p(0), 0),), (Lt(p(t + 1), p(t)),)),
        ((Eq(f(0), -1),), (Eq(f(t + 1), f(t)), Ge(f(t), 0))),
        ((), (Eq(g(t + 1), 0), Ne(f(t + 1), g(t + 1)), Eq(sp.Max(0, t - FAR) * f(t + 1), 0))),
        ((), (Gt(g(t), g(t + 1)), Ge(g(t + 1), g(t)))),
        (COUNTS, (STEP, Ge(1 / (f(t) - FAR) ** 2, 0))),
        ((Eq(ratio(0), 0),), (Eq(ratio(t + 1), sqrt(sp.Max(2, t - FAR) - 2)),)),
    ],
)
def test_sequences_that_do_not_exist_are_not_found(first: Sequence[sp.Basic], laws: Sequence[sp.Basic]) -> None:
    assert not _found(first, laws)


def test_that_none_is_shown_to_exist_is_printed_with_the_verdict(make_claim) -> None:
    false = Induction(t, Le(f(t), FAR), COUNTS, (STEP, Le(f(t) ** 2, FAR**2)), (Ge(f(t), 0),))
    outcome = decide_check(false, ())
    assert (outcome.status, outcome.scope) == (Status.HELD, NOT_SHOWN)
    report = decide(make_claim(false))
    assert (report.verdict, report.scope) == (Verdict.SUPPORTED, NOT_SHOWN)
    there = Induction(t, Ge(f(t), 0), COUNTS, (STEP,))
    assert decide(make_claim(there)).verdict is Verdict.PROVED
