"""What checks conclude: a statement that says a little more than its derivations is left open."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sympy import Add, Eq, Expr, Function, Lambda, Le, Min, Rational, S, Sum, Symbol, Tuple
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.decide import decide
from lastiterate.proofs_checks.describe import describe
from lastiterate.proofs_checks.implies import left_open
from lastiterate.proofs_checks.verdict import Verdict
from lastiterate.symbolic import ledger
from lastiterate.symbolic.checks import Derived, Identity, Inequality
from lastiterate.symbolic.claim import Claim
from lastiterate.symbolic.derivations import DERIVATIONS
from lastiterate.symbolic.kernel.judgement import Guarantee
from lastiterate.symbolic.kernel.profiles import Gauss
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import (
    D,
    K,
    L,
    T,
    alpha,
    b,
    c,
    eta,
    lam,
    m,
    n,
    sensitivity,
    sigma,
    t,
    tau,
    w,
    z,
)
from lastiterate.symbolic.papers import Source
from lastiterate.symbolic.statement import (
    OTHER,
    SAMPLES,
    Clipped,
    Convex,
    ForAll,
    Hides,
    LastIterate,
    LeastOver,
    RenyiDivergence,
    closed,
)

WINDOW = "altschuler_talwar/appendix_b_1/bound"
COMPOSITION = "chien_li/theorem_3_1/composition"
LAST = "chien_li/remarks_3_1/last_step"
SHIFTS = "chien_li/theorem_3_1/direct/convex"
SHARES = "chien_li/theorem_3_7"
CONVEX = "chien_li/theorem_3_1/convex"


def _claim(key: str) -> Claim:
    return next(claim for claim in ledger.claims() if claim.key == key)


def _with(claim: Claim, statement: ForAll, *assumptions: Boolean) -> Claim:
    supposed = assumptions or claim.assumptions
    return Claim(claim.key, claim.title, claim.source, *claim.checks, assumptions=supposed, statement=statement)


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


def _terms(key: str) -> tuple[LeastOver, Expr, list[Tuple]]:
    """The minimum of a bound, what it is the least value of, and its ranges."""
    claim = _claim(key)
    assert isinstance(claim.statement, ForAll)
    assert isinstance(claim.statement.body, Relational)
    (minimum,) = claim.statement.body.atoms(LeastOver)
    first, *ranges = minimum.args
    return minimum, first, ranges


def _range(letter: Expr, low: Expr | int, high: Expr | int) -> Callable[[Expr], Expr]:
    """The first range of a minimum is another one."""
    return lambda bound: bound.replace(
        LeastOver, lambda first, _, *rest: LeastOver(first, (letter, low, high), *rest)
    )


def _hides(at: int, part: Expr) -> Callable[[Expr], Expr]:
    return lambda bound: bound.replace(Hides, lambda *of: Hides(*of[:at], part, *of[at + 1 :]))


def _split(bound: Expr) -> Expr:
    minimum, first, ranges = _terms(CONVEX)
    return bound.xreplace({minimum: Add(*(LeastOver(term, *ranges) for term in first.args))})


def _inside(bound: Expr) -> Expr:
    minimum, *_ = _terms(CONVEX)
    return bound.xreplace({minimum: Sum(minimum / 2, (Symbol("i", integer=True), 1, 2))})


def _subtracted(bound: Expr) -> Expr:
    minimum, first, ranges = _terms(CONVEX)
    return bound.xreplace({minimum: LeastOver(first + Sum(-tau, (t, tau, T - 1)), *ranges)})


@pytest.mark.parametrize(
    ("key", "change"),
    [
        (CONVEX, _range(tau, 0, T)),
        (CONVEX, _range(tau, -5, T - 1)),
        (WINDOW, _range(w, 0, T)),
        (WINDOW, _range(w, 1, 2 * T)),
        *((WINDOW, _range(one, 1, 5)) for one in (K, D, n, sigma, alpha, T)),
        (
            CONVEX,
            lambda bound: bound.replace(
                LeastOver, lambda first, *rest: LeastOver(first, *rest, (sigma, 1, 100))
            ),
        ),
        (WINDOW, lambda bound: bound.replace(LeastOver, lambda first, *_: first)),
        *((CONVEX, change) for change in (_split, _inside, _subtracted)),
        (SHIFTS, _hides(0, Lambda(t, 2 * Function("a")(t)))),
        (SHIFTS, _hides(0, Lambda(t, Function("q")(t)))),
        (SHIFTS, _hides(2, T)),
        (SHIFTS, _hides(3, Lambda((t, Symbol("z")), 0))),
        (
            SHARES,
            _hides(
                3, Lambda((t, z), Min(z + eta * L * z**lam + sensitivity(), z + Rational(97, 50) * eta * K))
            ),
        ),
    ],
)
def test_a_choice_that_is_not_open_is_no_choice(key: str, change: Callable[[Expr], Expr]) -> None:
    claim = _claim(key)
    assert isinstance(claim.statement, ForAll)
    body = claim.statement.body
    assert isinstance(body, Relational)
    made = closed(body.func(body.lhs, change(body.rhs)), *claim.statement.conditions)
    assert made.body != body
    assert left_open(_with(claim, made))


def test_two_data_sets_and_all_letters_are_bound() -> None:
    claim = _claim(COMPOSITION)
    assert isinstance(claim.statement, ForAll)
    assert left_open(_with(claim, replace(claim.statement, variables=())))
    assert isinstance(claim.statement.body, Relational)
    body = claim.statement.body.xreplace({OTHER: Symbol("S''")})
    assert left_open(_with(claim, closed(body, *claim.statement.conditions)))


@pytest.mark.parametrize("supposed", [Eq(L * eta, 1), Eq(tau, 0), Eq(w, 1)])
def test_an_assumption_that_the_statement_does_not_make_is_left_open(supposed: Boolean) -> None:
    claim = _claim(CONVEX)
    assert isinstance(claim.statement, ForAll)
    assert left_open(_with(claim, claim.statement, *claim.assumptions, supposed))


def test_a_letter_that_is_positive_stands_for_a_positive_number() -> None:
    claim = _claim("chien_li/theorem_3_1/strongly_convex")
    assert isinstance(claim.statement, ForAll)
    small = eta * m < 1
    fewer = replace(
        claim.statement, conditions=tuple(one for one in claim.statement.conditions if one != small)
    )
    assert left_open(_with(claim, fewer, *(one for one in claim.assumptions if one not in (small, c < 1))))


def test_a_general_statement_with_an_instance_for_a_check_is_undecided() -> None:
    x = Symbol("x", real=True)
    instance = Identity((x + 1) ** 2, x**2 + 2 * x + 1)
    claim = Claim("toy/square", "x^2 >= 0", Source("toy", "1"), instance, statement=closed(x**2 >= 2 * x - 1))
    report = decide(claim)
    assert (report.verdict, report.scope) == (Verdict.UNDECIDED, "")
    assert report.left_open == "whether the checks imply the statement"
    assert "  left open: whether the checks imply the statement\n" in describe(claim, report)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        (closed(sigma < 5, L < 2), Verdict.UNDECIDED),
        (closed(sigma < 5, sigma < 4), Verdict.UNDECIDED),
        (closed(Le(RenyiDivergence(alpha, LastIterate(SAMPLES), LastIterate(OTHER)), K)), Verdict.UNDECIDED),
        (
            closed(Le(RenyiDivergence(alpha, LastIterate(SAMPLES), LastIterate(OTHER)), sigma)),
            Verdict.UNDECIDED,
        ),
        (closed(Le(sigma, 3 * sigma**2 + 1, evaluate=False)), Verdict.PROVED),
    ],
)
def test_a_statement_that_the_checks_do_not_imply_is_undecided(statement: ForAll, verdict: Verdict) -> None:
    check = Inequality(sigma, "<=", 3 * sigma**2 + 1)
    claim = Claim("a/b", "", Source("toy", "1"), check, statement=statement)
    assert decide(claim).verdict is verdict


@pytest.mark.parametrize(
    "statement", [closed(sigma >= 2 * sigma), closed(sigma < T, S.false), closed(sigma > 0)]
)
def test_a_constant_statement_is_refused(statement: ForAll) -> None:
    with pytest.raises(ValueError, match=r"The statement of a/b says nothing: .* constant (True|False); write"):
        Claim("a/b", "", Source("toy", "1"), Identity(sigma, T), statement=statement)


@pytest.mark.parametrize("given", [True, False], ids=["in the derivation", "in its comparison"])
def test_what_is_given_of_batches_holds_for_full_ones(given: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice b is at most n only where b is not n: the bound below would be 0 for full batches."""
    claim = _claim(COMPOSITION)
    (check,) = (one for one in claim.checks if isinstance(one, Derived))
    assert isinstance(check.profile, Gauss)
    assert isinstance(claim.statement, ForAll)
    name = f"small batches, {given}"  # derivations are kept by name
    small, square = Le(2 * b, n), check.profile.square * 2 * (n - b) / n

    def small_batches(kernel: Kernel) -> Guarantee:
        made = DERIVATIONS[check.derivation](kernel if given else Kernel(kernel.prover, kernel.given - {small}))
        return Guarantee(
            *(
                kernel.weaken(span, profile=Gauss(square)) if given else span
                for span in (made.first, made.second)
            )
        )

    monkeypatch.setitem(DERIVATIONS, name, small_batches)
    body = claim.statement.body
    nothing = closed(Le(body.lhs, 0), *claim.statement.conditions, small)
    lie = replace(check, derivation=name, profile=Gauss(square), mutants=())
    found = Claim(claim.key, "t", claim.source, lie, assumptions=(*claim.assumptions, small), statement=nothing)
    report = decide(found)
    assert report.verdict is Verdict.UNDECIDED
    assert report.left_open
