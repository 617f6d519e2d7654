"""Lengths of sums of vectors: a bound holds for all vectors of every dimension, or it is refuted by three of them."""

from collections.abc import Sequence

import pytest
import sympy as sp
from sympy.logic.boolalg import Boolean

from lastiterate.numeric.enclosure.operations import UnsupportedError
from lastiterate.proofs_checks.engines import vectors
from lastiterate.proofs_checks.verdict import Outcome, Status
from lastiterate.symbolic.checks import NormBound
from lastiterate.symbolic.vectors import Inner, Norm, Vector, inner

U, V, W, X = map(Vector, "uvwx")
R = sp.Rational
UNIT = tuple(sp.Eq(Norm(one), 1) for one in (U, V, W))


def _decide(vector: sp.Expr, bound: sp.Expr | int, given: Sequence[Boolean]) -> Outcome:
    return vectors.decide(NormBound(vector, sp.sympify(bound), tuple(given)), ())


@pytest.mark.parametrize(
    ("vector", "bound", "given", "holds"),
    [
        (U + V, 2, UNIT[:2], True),
        (U + V, R(199, 100), UNIT[:2], False),
        (U - V, sp.sqrt(2), (*UNIT[:2], inner(U, V) >= 0), True),
        (U - V, R(141, 100), (*UNIT[:2], inner(U, V) >= 0), False),
        (U + 2 * V, 3, (Norm(U) <= 1, Norm(V) <= 1), True),
        (U + 2 * V, R(29, 10), (Norm(U) <= 1, Norm(V) <= 1), False),
        (U + V + W, 3, UNIT, True),
        (U + V + W, sp.sqrt(3), (*UNIT, inner(U, V) <= 0, inner(V, W) <= 0, inner(U, W) <= 0), True),
        (U + V + W, R(173, 100), (*UNIT, inner(U, V) <= 0, inner(V, W) <= 0, inner(U, W) <= 0), False),
        (U - W, R(9, 10), (*UNIT, inner(U, V) <= -R(9, 10), inner(V, W) <= -R(9, 10)), True),
        (U - W, R(8, 10), (*UNIT, inner(U, V) <= -R(9, 10), inner(V, W) <= -R(9, 10)), False),
        (U, -1, UNIT[:1], False),
    ],
)
def test_a_bound_holds_in_every_dimension_or_fails(
    vector: sp.Expr, bound: sp.Expr | int, given: Sequence[Boolean], holds: bool
) -> None:
    assert _decide(vector, bound, given).status is (Status.HELD if holds else Status.REFUTED)


def test_two_vectors_near_the_opposite_of_a_third_are_near_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the determinant of the three says so: each pair by itself may be as far apart as it likes."""
    near = (*UNIT, inner(U, V) <= -R(9, 10), inner(V, W) <= -R(9, 10))
    assert _decide(U - W, 1, near).status is Status.HELD
    monkeypatch.setattr(vectors, "combinations", lambda letters, size: () if size == 3 else _pairs(letters))
    assert _decide(U - W, 1, near).status is not Status.HELD


def _pairs(letters: list[Vector]) -> list[tuple[Vector, Vector]]:
    return [(one, other) for one in letters for other in letters if str(one) < str(other)]


@pytest.mark.parametrize(
    ("vector", "given", "words"),
    [
        (U + V + W + X, (), "lengths of sums of at most 3 vectors, got 4"),
        (U + V, (Norm(U - V) <= 1,), "inner products need inner(), got |u - v|"),
        (U + V, (sp.Le(Inner(V, U), 0),), "inner products need inner(), got <v, u>"),
        (U + V, (sp.Le(Inner(U, U), 1),), "inner products need inner(), got <u, u>"),
        (U + V, (sp.Le(Inner(U, 2 * V), 0),), "inner products need inner(), got <u, 2*v>"),
        (U + V, (U <= 1,), "vectors may occur only in"),
        (U + Vector("u", integer=True), UNIT[:1], "two vectors share the same name"),
    ],
)
def test_what_has_no_meaning_for_vectors_is_refused(
    vector: sp.Expr, given: Sequence[Boolean], words: str
) -> None:
    with pytest.raises(UnsupportedError) as refused:
        _decide(vector, 2, given)
    assert words in str(refused.value)


def test_a_letter_called_as_a_length_or_an_inner_product_is_not_that() -> None:
    length, product = sp.Symbol("|u|", nonnegative=True), sp.Symbol("<u, v>", real=True)
    assert _decide(U, length, ()).status is not Status.HELD
    assert _decide(U + V, 2, (*UNIT[:2], product <= 0)).status is Status.HELD
    assert _decide(U + V, sp.sqrt(2), (*UNIT[:2], product <= 0)).status is not Status.HELD
