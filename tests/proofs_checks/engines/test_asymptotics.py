"""Bounds up to a constant: paths that show that none serves, constants that do, and input that decides nothing."""

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import asymptotics, decide_check
from lastiterate.proofs_checks.statement import as_text, of_check
from lastiterate.proofs_checks.verdict import Grade, Status
from lastiterate.symbolic.checks import Asymptotic, Engine, Unbounded
from lastiterate.symbolic.notation import D, T, alpha, growth, n, x, y

R = sp.Rational
N = growth
ONE = sp.S.One

UNBOUNDED = [
    (x**2, x, {x: N}, ()),
    (ONE, x, {x: 1 / N}, (x < 1,)),
    (ONE, 1 + x - ONE, {x: 2 ** (-N)}, (x > 0,)),
    (sp.log(x), ONE, {x: 2**N}, (x > 1,)),
    (sp.Min(T, (1 + y) ** 2), sp.Min(T, y**2), {T: N, y: 1 / N}, (T >= 2,)),
    (sp.sqrt(n) * D, n ** R(1, 4) * D, {n: N**4, D: 1 / N}, (n > D,)),
    (sp.Max(x, y), sp.Min(x, y), {x: N, y: 1 / N}, ()),
    (sp.Abs(1 - x**2), x, {x: N}, ()),
    (x, ONE, {x: N, y: N}, (sp.Eq(x, y),)),
    (alpha * n, alpha + n, {alpha: 4 * sp.log(N), n: N}, (alpha > 1,)),
    (sp.exp(x), x**9, {x: N}, ((x > 1) & ((x < 0) | (x > 2)), ~(x < 3))),
]

BOUNDED = [
    (x, x + 1, {x: N}, ()),
    (sp.Min(T, (1 + y) ** 2), sp.Min(T, 1 + y**2), {T: N, y: 1 / N}, ()),
    (sp.log(x) ** 5, x, {x: N}, (x > 1,)),
    (3 * x, x, {x: N}, ()),
]


@pytest.mark.parametrize(("left", "right", "path", "given"), UNBOUNDED)
def test_a_ratio_without_limit_refutes_one_check_and_holds_the_other(left, right, path, given):
    refuted = decide_check(Asymptotic(left, right, path=path), given)
    assert (refuted.status, refuted.engine) == (Status.REFUTED, Engine.ASYMPTOTICS), refuted
    assert refuted.counterexample.at == {str(s): str(v) for s, v in path.items()}
    held = decide_check(Unbounded(left, right, path, given), ())
    assert (held.status, held.grade) == (Status.HELD, Grade.PROVED), held


@pytest.mark.parametrize(("left", "right", "path", "given"), BOUNDED)
def test_a_bounded_ratio_refutes_unbounded_and_says_nothing_of_the_constant(left, right, path, given):
    assert decide_check(Unbounded(left, right, path, given), ()).status is Status.REFUTED
    assert decide_check(Asymptotic(left, right, path=path), given).status is Status.UNDECIDED


CONSTANTS = [
    ((x + y) ** 2, x**2 + y**2, 2, ()),
    (sp.Min(T, (1 + y) ** 2), sp.Min(T, 1 + y**2), 2, ()),
    (sp.sqrt(x + y), sp.sqrt(x) + sp.sqrt(y), 1, ()),
    (x**2, x, 7, (x <= 7,)),
]


@pytest.mark.parametrize(("left", "right", "constant", "given"), CONSTANTS)
def test_a_constant_that_serves_is_proved_and_a_smaller_one_decides_nothing(left, right, constant, given):
    held = decide_check(Asymptotic(left, right, sp.Integer(constant)), given)
    assert (held.status, held.grade, held.engine) == (Status.HELD, Grade.PROVED, Engine.ASYMPTOTICS)
    smaller = decide_check(Asymptotic(left, right, constant - R(1, 10)), given)
    assert smaller.status is Status.UNDECIDED
    assert "a larger one may" in smaller.detail


@pytest.mark.parametrize(
    ("check", "assumptions", "message"),
    [
        (Unbounded(x * y, ONE, {x: N}), (), "symbol=y"),
        (Unbounded(x, ONE, {x: N}), (y < 1,), "symbol=y"),
        (Unbounded(n, ONE, {n: N / 2}), (), "path needs integer expressions"),
        (Unbounded(x, ONE, {x: y * N}), (), "only"),
        (Unbounded(x, ONE, {x: N}), (x < 5,), "x < 5"),
        (Unbounded(x, ONE, {x: N}), (x <= N - 1,), "symbol=N"),
        (Unbounded(sp.floor(x), ONE, {x: N}), (), "step functions"),
        (Unbounded(x**2, ONE, {x: 3 - N}), (), "the declared x >= 0"),
        (Unbounded(x, x - x**2, {x: N}), (), "positive"),
        (
            Unbounded(sp.Max(sp.sin(x), sp.cos(x)), ONE, {x: N}),
            (),
            "which of sin(N) and cos(N) is eventually smaller",
        ),
        (Asymptotic(x, y), (), "constant=None"),
        (Asymptotic(x, y, -ONE), (), "constant=-1"),
        (Asymptotic(x, y, z := sp.Symbol("z", positive=True)), (), f"constant={z}"),
    ],
)
def test_unusable_paths_and_constants_are_errors_never_verdicts(check, assumptions, message):
    outcome = decide_check(check, assumptions)
    assert outcome.status is Status.ERROR
    assert message in outcome.detail


def test_a_limit_that_certified_values_do_not_show_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asymptotics, "_limit", lambda _: sp.oo)
    for check in (Unbounded(x + 1, x, {x: N}), Asymptotic(1 / x, ONE, path={x: N})):
        assert decide_check(check, ()).status is Status.UNDECIDED


def test_both_have_a_statement():
    assert as_text(of_check(Asymptotic(x, y, ONE))).endswith("With the constant 1.")
    assert as_text(of_check(Asymptotic(x, y, path={x: N, y: 1 / N}, given=(x > y,)))).endswith(
        "Tried on the path x = N, y = 1/N."
    )
    assert as_text(of_check(Unbounded(x, y, {x: N, y: 1 / N}))).endswith("on the path x = N, y = 1/N.")
