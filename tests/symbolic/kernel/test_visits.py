"""Payments for visits in cyclic order: the plan of the proof, for small data sets, and what the rule asks for."""

from fractions import Fraction
from itertools import product

import pytest
from sympy import S, Symbol

from lastiterate.proofs_checks.engines.side_conditions import prove
from lastiterate.symbolic.derivations import noisy_sgd
from lastiterate.symbolic.kernel.induction import pay_in_cyclic_order, payments
from lastiterate.symbolic.kernel.judgement import UnprovedError
from lastiterate.symbolic.kernel.rules import Kernel
from lastiterate.symbolic.notation import L, b, eta, n, w


def _plan(size: int, batch: int, sample: int, begins: int, steps: int) -> list[Fraction]:
    """The payments of the proof, in which nothing is owed too early; all is paid in the end."""
    r = Fraction(size, batch)
    visits = [j for j in range(steps) if sample in {((begins + j) * batch + i) % size for i in range(batch)}]
    owed, made = Fraction(0), []
    for j in range(steps):
        x = (sample - (begins + j + 1) * batch) % size
        owed += r if j in visits else 0
        if not visits or not visits[0] <= j <= visits[-1]:
            pays = Fraction(0)
        elif j == visits[-1]:
            pays = owed
        else:
            pays = r - Fraction(x, batch) if j == visits[0] else Fraction(1)
        owed -= pays
        assert pays >= 0
        assert owed >= 0
        made.append(pays)
    assert owed == 0
    return made


def test_payments_add_up_to_what_the_rule_says() -> None:
    tight = False
    for size, batch in ((i, k) for i, k in product(range(1, 7), repeat=2) if k <= i):
        r = Fraction(size, batch)
        for sample, begins, steps in product(range(size), range(2), range(1, 10)):
            made = _plan(size, batch, sample, begins, steps)
            squares = sum(one**2 for one in made)
            assert sum(made) <= steps + r
            assert squares <= steps + 2 * r + r**2
            tight |= squares > steps + r**2
    assert tight  # where b does not divide n, less would not do


def test_the_letters_of_the_steps_stand_nowhere_else() -> None:
    kernel = Kernel(prove, frozenset({eta * L <= 2, b <= n}))
    made = noisy_sgd._cyclic(S.Zero, S.Zero, kernel).first
    steps = payments(kernel, Symbol("j", integer=True, nonnegative=True), w, n / b)
    with pytest.raises(UnprovedError, match="Payments"):
        pay_in_cyclic_order(kernel, steps, made, (b, n))
    with pytest.raises(UnprovedError):
        noisy_sgd._cyclic(S.Zero, S.Zero, Kernel(prove, frozenset({eta * L <= 2})))
