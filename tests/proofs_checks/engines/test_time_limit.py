"""Time of checks: one inside another takes from its time, and z3 keeps to it."""

from time import process_time

import pytest
import z3
from sympy import Symbol

from lastiterate.proofs_checks import feasible_points
from lastiterate.proofs_checks.engines import z3_answers
from lastiterate.proofs_checks.engines.time_limit import allowing, limited, seconds_left


def test_a_block_inside_another_has_what_is_left_of_its_time() -> None:
    began = process_time()

    def often() -> None:
        while process_time() - began < 10:
            with limited():
                seconds_left()

    with pytest.raises(TimeoutError, match=r"within 0\.4 s"), allowing(0.4), limited():
        often()
    assert 0.2 < process_time() - began < 5


def hard() -> list[z3.BoolRef]:
    """Polynomials of degree seven, of which z3 computes for many minutes where its resources allow it."""
    a, b, c, d, e = z3.Reals("a b c d e")
    return [
        *(x > 0 for x in (a, b, c, d, e)),
        (a + b + c + d + e) ** 7 < 7**7 * a * b * c * d * e * (a + b) * (c + d) / 16,
        a**5 + b**3 * c**2 > d**5 + e * a**4,
        a * b * c * d * e == a + 2 * b + 3 * c * d,
    ]


@pytest.mark.timeout(60)
def test_a_question_that_outlasts_its_resources_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_answers, "EFFORT", 2**31 - 1)
    began = process_time()
    with pytest.raises(TimeoutError), allowing(0.4), limited():
        z3_answers.ask_z3(z3_answers.Terms(whole=False), hard())
    assert process_time() - began < 20


@pytest.mark.timeout(60)
def test_it_ends_without_an_answer_where_nothing_else_limits_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_answers, "EFFORT", 2**31 - 1)
    monkeypatch.setattr(z3_answers, "_LONGEST", 0.1)
    assert z3_answers.ask_z3(z3_answers.Terms(whole=False), hard()) == z3.unknown


def test_points_that_time_ran_out_for_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*_: object) -> bool:
        raise TimeoutError("no time is left")

    letter = Symbol("letter_of_this_test", real=True)
    with monkeypatch.context() as late:
        late.setattr(feasible_points, "truth_at", too_late)
        with pytest.raises(TimeoutError):
            list(feasible_points.find_points((letter,), (letter > 0,), 3))
    assert len(list(feasible_points.find_points((letter,), (letter > 0,), 3))) == 3
