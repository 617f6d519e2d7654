"""Suppositions about the largest order of a sampled Gaussian: one is not taken for another."""

import pytest
from sympy import Ge, Le, Lt
from sympy.logic.boolalg import Boolean

from lastiterate.proofs_checks.engines.derivation import supposed_order, unmeetable
from lastiterate.symbolic.kernel.renyi import largest_order
from lastiterate.symbolic.notation import alpha, q, x

ASKED = Le(alpha, largest_order(q, x))


def test_what_is_supposed_of_the_order_is_found() -> None:
    assert supposed_order(ASKED, (Lt(alpha, largest_order(q, x)),))
    assert supposed_order(ASKED, (Ge(largest_order(q, 2 * x - x), alpha),))


@pytest.mark.parametrize(
    "given",
    [
        Le(alpha, largest_order(q, 2 * x)),
        Le(alpha - 1, largest_order(q, x)),
        Le(largest_order(q, x), alpha),
        Le(alpha, q),
    ],
)
def test_another_supposition_is_not_taken_for_it(given: Boolean) -> None:
    assert not supposed_order(ASKED, (given,))


def test_suppositions_that_no_order_meets_are_told() -> None:
    assert unmeetable(frozenset({alpha > 1, alpha < 1}))
    assert unmeetable(frozenset({ASKED, largest_order(q, x) < 1, alpha > 1}))
    assert not unmeetable(frozenset({ASKED, alpha > 1}))
