"""What checks conclude: a statement that says a little more than its derivations is left open."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Expr, Integer, Rational, Symbol
from sympy.core.relational import Relational

from lastiterate.proofs_checks.conclusion import left_open
from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.claim import Claim, Identity
from lastiterate.symbolic.notation import D, K, n, sigma
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import Clipped, Convex, ForAll, closed

WINDOW = "altschuler_talwar/appendix_b_1/bound"
COMPOSITION = "chien_li/theorem_3_1/composition"
LAST = "chien_li/remarks_3_1/last_step"
SHIFTS = "chien_li/theorem_3_1/direct/convex"
SHARES = "chien_li/theorem_3_7"


def _claim(key: str) -> Claim:
    return next(claim for claim in ledger.claims() if claim.key == key)


def _with(claim: Claim, statement: ForAll) -> Claim:
    return Claim(
        claim.key, claim.title, claim.source, *claim.checks, assumptions=claim.assumptions, statement=statement
    )


@pytest.mark.parametrize("key", [WINDOW, COMPOSITION, LAST, SHIFTS, SHARES])
def test_derivations_conclude_what_the_paper_prints(key: str) -> None:
    assert left_open(_claim(key)) == ""


def _less(bound: Expr) -> Expr:
    return Rational(99, 100) * bound


def _put(old: Symbol, new: Expr) -> Callable[[Expr], Expr]:
    return lambda bound: bound.xreplace({old: new})


@pytest.mark.parametrize(
    ("key", "change"),
    [
        *((key, _less) for key in (WINDOW, COMPOSITION, LAST, SHIFTS, SHARES)),
        (WINDOW, _put(D, D / 2)),
        (COMPOSITION, _put(n, n + 1)),
        (LAST, _put(D, D * Rational(99, 100))),
        (SHIFTS, _put(K, K * Rational(99, 100))),
        (SHARES, _put(sigma, sigma * Rational(101, 100))),
    ],
)
def test_a_bound_one_percent_lower_is_left_open(key: str, change: Callable[[Expr], Expr]) -> None:
    claim = _claim(key)
    assert isinstance(claim.statement, ForAll)
    body = claim.statement.body
    assert isinstance(body, Relational)
    lower = replace(claim.statement, body=body.func(body.lhs, change(body.rhs)))
    assert left_open(_with(claim, lower))


@pytest.mark.parametrize("key", [WINDOW, COMPOSITION, LAST, SHIFTS, SHARES])
def test_a_statement_without_one_of_its_conditions_is_left_open(key: str, subtests: pytest.Subtests) -> None:
    claim = _claim(key)
    assert isinstance(claim.statement, ForAll)
    lipschitz = any(isinstance(one, Convex) for one in claim.statement.conditions)  # and so clipped already
    for condition in claim.statement.conditions[2:]:
        rest = tuple(one for one in claim.statement.conditions if one != condition)
        with subtests.test(condition=str(condition)):
            found = left_open(_with(claim, replace(claim.statement, conditions=rest)))
            assert bool(found) is not (lipschitz and isinstance(condition, Clipped))


def test_a_general_statement_with_an_instance_for_a_check_is_supported() -> None:
    x = Symbol("x", real=True)
    instance = Identity((Integer(2) + 1) ** 2 * x, 9 * x)
    claim = Claim("toy/square", "x^2 >= 0", Source("toy", "1"), instance, statement=closed(x**2 >= 0))
    report = decide(claim)
    assert report.verdict is Verdict.SUPPORTED
    assert report.scope == "what the checks say of the statement"
