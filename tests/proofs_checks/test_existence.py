"""Sequences that an induction is about: where none is shown to obey the laws for ever, the scope says so."""

from collections.abc import Sequence

import pytest
import sympy as sp
from sympy import Eq, Ge, Gt, Le, Lt, Ne, sqrt

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.induction import NOT_SHOWN, sequences_exist
from lastiterate.proofs_checks.verdict import Status, Verdict
from lastiterate.symbolic.checks import Induction
from lastiterate.symbolic.notation import K, c, s, t

f, g = (sp.Function(name, real=True) for name in "fg")
ratio = sp.Function("ratio", rational=True)
p, q = (sp.Function(name, nonnegative=True) for name in "pq")
above = sp.Function("above", positive=True)
whole = sp.Function("whole", integer=True)
FAR = sp.Integer(10) ** 13
COUNTS = (Eq(f(0), 0),)
STEP = Eq(f(t + 1), f(t) + 1, evaluate=False)


@pytest.mark.parametrize(
    ("first", "laws"),
    [
        ((), ()),
        (COUNTS, (STEP,)),
        (COUNTS, (STEP, Eq(p(t + 1), p(t) + q(t)))),
        (COUNTS, (STEP, Ge(f(t), 0))),
        ((), (Lt(f(t + 1), f(t)), Gt(g(t), g(t + 1)))),
        ((), (Gt(f(t + 1), f(t)),)),
        ((Le(p(0), K),), (Le(p(t + 1), p(t) * c + s - q(t)), Le(q(t), K))),
        ((Eq(f(0), g(0)),), (Eq(f(t + 1), g(t)), Eq(g(t + 1), f(t + 1) + 1))),
        ((Eq(above(0), 1),), (Eq(above(t + 1), above(t) / (1 + above(t))),)),
        ((), (Ge((f(t + 1) - f(t)) * q(t), 0), Eq(f(t) ** 2, f(t)))),
    ],
)
def test_sequences_are_found(first: Sequence[sp.Basic], laws: Sequence[sp.Basic]) -> None:
    point = {K: sp.Integer(2), c: sp.S.Half, s: sp.Integer(3)}
    assert sequences_exist(Induction(t, Ge(t, 0), tuple(first), tuple(laws)), [point])


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
    assert not sequences_exist(Induction(t, Ge(t, 0), tuple(first), tuple(laws)), [{}])


def test_that_none_is_shown_to_exist_is_printed_with_the_verdict(make_claim) -> None:
    false = Induction(t, Le(f(t), FAR), COUNTS, (STEP, Le(f(t) ** 2, FAR**2)), (Ge(f(t), 0),))
    outcome = decide_check(false, ())
    assert (outcome.status, outcome.scope) == (Status.HELD, NOT_SHOWN)
    report = decide(make_claim(false))
    assert (report.verdict, report.scope) == (Verdict.SUPPORTED, NOT_SHOWN)
    there = Induction(t, Ge(f(t), 0), COUNTS, (STEP,))
    assert decide(make_claim(there)).verdict is Verdict.PROVED
