"""Time of checks: one inside another takes from its time, and z3 keeps to it."""

import signal
from time import process_time

import pytest
import sympy as sp

from lastiterate.proofs_checks.engines import decide_check
from lastiterate.proofs_checks.engines.time_limit import limited
from lastiterate.proofs_checks.verdict import Status
from lastiterate.symbolic.claim import Inequality

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGVTALRM"), reason="the platform has no timers of a process")


def test_blocks_inside_another_take_from_its_time() -> None:
    began = process_time()

    def often() -> None:
        while process_time() - began < 10:
            with limited(1):
                sum(range(1000))

    with pytest.raises(TimeoutError), limited(1):
        often()
    assert 0.5 < process_time() - began < 5


def test_a_question_that_outlasts_its_resources_ends() -> None:
    """Powers of a high degree, of which one resultant may take z3 many minutes."""
    x, y, z = sp.symbols("x y z", positive=True)
    power = sp.Rational(99, 100)
    check = Inequality(x**power * y + z ** (power + 1), "<=", (x + y) ** power * (z + y) ** (power + 1), name="steep")
    began = process_time()
    assert decide_check(check, (x < y, y < z), 2).status is not Status.HELD
    assert process_time() - began < 10
